/* Parameters of device functions, as words in rows of the callee's frame; see warp_prepare.c.
 * Private to components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_LOWER_WARP_FRAME_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_LOWER_WARP_FRAME_H

#include "warp_build.h"

enum {
    WARP_OUTGOING = 1 << 24, /* numbers of narrow registers from here on: rows after the frame */
    WARP_FIXED = 1 << 25     /* and from here on: rows at the frame's begin */
};

/* The places of a signature's parameters and results, in words. */
struct warp_signature {
    const struct ptx_variable *params, *results;
    uint32_t param_count, result_count;
    uint32_t param_words, result_words;
};

/* Words that a variable takes in a frame. */
uint32_t warp_words_of(const struct ptx_variable *v);

struct warp_signature warp_signature_of(const struct ptx_function *f);
struct warp_signature warp_signature_of_table(const struct ptx_table *t);
/* First word of parameter or result i. */
uint32_t warp_param_word(const struct warp_signature *s, uint32_t i);
uint32_t warp_result_word(const struct warp_signature *s, uint32_t i);

/* Gives rows to what the function has of .param, and emits its prologue. */
void warp_frame_begin(struct warp_build *b, struct warp_function *f);
/* Copies results that are registers, before a return. */
void warp_frame_results(struct warp_build *b);

/* ld.param and st.param of something that lies in rows: its first row as a number. */
bool warp_frame_words(struct warp_build *b, const struct ptx_operand *address, uint32_t *first,
                      uint32_t *words);

#endif
