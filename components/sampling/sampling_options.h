/* The choice of the kernels of a program that are simulated in detail, and the warm-up of the
 * platform before them: the options --kernels and --warmup, as text and as answers. Launches are
 * numbered from 1 in the order in which the program asks for them.
 *
 * Needs nothing of the engine, so that `heddle run` checks the options with the same code. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_SAMPLING_OPTIONS_H
#define HEDDLE_COMPONENTS_SAMPLING_SAMPLING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLING_ALL UINT64_MAX

/* The ways to warm caches up before a chosen kernel.
 *   none        caches and TLBs are empty
 *   perfect     every kernel is simulated in detail
 *   memory      the memory instructions of the preceding kernels go through the memory system
 *   functional  preceding kernels are executed without timing, touching caches and TLBs  */
enum sampling_warmup { SAMPLING_NONE, SAMPLING_PERFECT, SAMPLING_MEMORY, SAMPLING_FUNCTIONAL };

/* The way in which a launch is executed; from the most detail to the least. */
enum sampling_way { SAMPLING_DETAILED, SAMPLING_MEMORY_ONLY, SAMPLING_TOUCHING, SAMPLING_SKIPPED };

struct sampling {
    const char *kernels; /* NULL: all */
    bool automatic;      /* "auto": chosen while the program runs, see
                            components/sampling/stratified_sampler.h */
    bool in_parts;       /* `automatic`: large launches are simulated in parts
                            (components/sampling/launch_parts.h) */
    enum sampling_warmup warmup;
    uint64_t depth; /* preceding kernels that are used; SAMPLING_ALL */
    double
        aim; /* half of the interval that is enough, as a share of all cycles; with `automatic` */
};

/* Either text may be NULL: the default (all kernels; functional). False: `mistake` says what is
 * wrong with which of them. */
bool sampling_parse(const char *kernels, const char *warmup, struct sampling *out, char *mistake,
                    size_t size);

/* --error, in per cent; NULL: the default of 1 %. False: `mistake` is a sentence about it. */
bool sampling_parse_error(const char *error, struct sampling *s, char *mistake, size_t size);

/* Not with `automatic`, from here on. Is launch `number` of the kernel chosen? A name chooses every
 * launch of a kernel of that name (as people call it, up to its parameters, or as its code object
 * does). */
bool sampling_chosen(const struct sampling *s, uint64_t number, const char *name,
                     const char *symbol);

/* 1: element `index` of the list, from 0, chooses the launch; 0: it does not; -1: no such element.
 */
int sampling_element(const struct sampling *s, uint32_t index, uint64_t number, const char *name,
                     const char *symbol);
/* The element as it was given, cut to `size`. False: there is none. */
bool sampling_element_text(const struct sampling *s, uint32_t index, char *text, size_t size);
/* A kernel's name as an element of a list names it: without its parameters. Cut to `size`. */
void sampling_plain_name(const char *name, char *text, size_t size);

enum sampling_way sampling_way(const struct sampling *s, uint64_t number, const char *name,
                               const char *symbol);
/* "detailed", "memory", "functional", "skipped": for statistics. */
const char *sampling_way_name(enum sampling_way way);

/* The options of this run; set at its start. */
const struct sampling *platform_sampling(void);

/* The contents of kernels' records in functional mode: what they executed, or also what they
 * accessed, and what of that caches and TLBs would not have had. */
enum platform_profile { PLATFORM_PROFILE_NONE, PLATFORM_PROFILE_BLOCKS, PLATFORM_PROFILE_MEMORY };
enum platform_profile platform_profile(void);

#endif
