/* What vector instructions on floats compute, by MPFR: exact values, rounded once to the
 * destination's format. Shares no code with the library.
 *
 * Formats are those of fp16, fp32 and fp64; a value is its bits. The rows stand in float_rows.tab.
 */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_FLOAT_ORACLE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_FLOAT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum float_format { FP16, FP32, FP64 };

/* MODE, spelled out. Rounding: 0 nearest even, 1 up, 2 down, 3 to zero. */
struct float_mode {
    unsigned round32, round64;
    bool keep32_in, keep32_out, keep64_in, keep64_out; /* denormals; 64: of fp64 and fp16 */
    bool dx10, ieee;
};

struct float_mode float_mode_of(uint32_t mode);

enum {
    ROW_FLUSHES = 1,   /* denormals of fp32 and fp16 in any mode */
    ROW_MINIMUM = 2,   /* keeps them in any mode on gfx8 */
    ROW_APPROX = 4,    /* within `ulps` of the exact value */
    ROW_PACKED = 8,    /* on both halves of registers */
    ROW_MIXED = 16,    /* sources are floats or halves, by op_sel_hi */
    ROW_SOURCES = 256, /* keeps denormal sources in any mode */
    ROW_FLAG = 32,     /* writes a mask, too: takes no modifiers */
    ROW_OP_SEL = 64,   /* on gfx9 its halves are chosen by op_sel; then, too: */
    ROW_KEEPS = 128,   /* on gfx9 the upper half of the destination stays */
};

struct float_call;

struct float_row {
    const char *mnemonic;
    /* destination=sources: h f d floats; n m o their raw bits; w W u H unsigned and signed words
     * and halves; b a mask; B a mask that replaces exec, too. */
    const char *signature;
    unsigned flags;
    uint64_t (*result)(const struct float_call *);
    int argument; /* what tells similar rows apart */
    double ulps;
};

extern const struct float_row float_rows[];
extern const size_t float_row_count;

/* One evaluation of a row. */
struct float_call {
    const struct float_row *row;
    uint64_t source[3]; /* abs and neg applied */
    struct float_mode mode;
    bool gfx8;
    bool bit; /* of vcc */
    /* Set by float_row_result(): formats, rounding and treatment of denormals. */
    int from[3];
    int to;
    unsigned round;
    bool flush_in32, flush_out32, flush_in64, flush_out64;
    bool *carry; /* v_div_scale's mask */
};

bool float_is_nan(enum float_format format, uint64_t u);
uint64_t float_quiet(enum float_format format, uint64_t u);
uint64_t float_convert_nan(enum float_format from, enum float_format to, uint64_t u);
uint64_t float_flush(enum float_format format, uint64_t u);
int float_format_of(char type); /* or -1 */

/* The result before omod and clamp. */
uint64_t float_row_result(struct float_call *c, bool *carry);

/* Is an approximate row's result good enough? */
bool float_row_accepts(struct float_call *c, uint64_t actual);

/* omod and clamp. */
uint64_t float_output(enum float_format format, uint64_t u, const struct float_mode *mode,
                      unsigned omod, bool clamp);

/* One rounding from one format to another. */
uint64_t float_round(enum float_format from, enum float_format to, uint64_t u, unsigned round);

/* The correctly rounded quotient, square root and fused multiply-add. */
uint64_t float_divide(enum float_format format, uint64_t a, uint64_t b, unsigned round);
uint64_t float_square_root(enum float_format format, uint64_t a, unsigned round);
uint64_t float_fma(enum float_format format, uint64_t a, uint64_t b, uint64_t c, unsigned round);

#endif
