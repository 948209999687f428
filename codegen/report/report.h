/* Reports on the kernels of a run, or of two: what `heddle stats --report cpi` and `heddle run
 * --report cpi` print.
 *
 * Launches of the same kernel are added up. Its *slot-cycles* (wavefront slots of all compute units
 * times cycles) are divided as components/protocols/work/work_cycles.h and
 * components/amd/command_processor/kernel_account.c say; here they are rows of a group and a kind,
 * whatever their names, and have to add up to cycles * slots. */
#ifndef HEDDLE_CODEGEN_REPORT_H
#define HEDDLE_CODEGEN_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "dsl/arena.h"

struct report_row {
    const char *group, *kind;
    uint64_t value[2];
};

/* What a kind of component did with requests; its path has [*] for indices. Misses whose line was
 * already asked for (`merged`) asked nobody below. */
struct report_cache {
    const char *path;
    uint64_t hits[2], misses[2], merged[2];
};

/* Of one run. Shapes are those of the first launch; sums are over launches. */
struct report_occupancy {
    uint64_t compute_units, simds, slots_per_simd, wavefronts_per_work_group, work_groups_per_unit;
    uint64_t vgprs, sgprs, lds_bytes;
    const char *limited_by; /* all different answers, with commas */
    uint64_t wavefront_cycles, unit_cycles;
    uint64_t longest_unit_cycles; /* of the compute unit that had wavefronts longest */
    uint64_t all_unit_cycles;     /* cycles * compute units */
    uint64_t lds_busy, lds_conflict;
    /* Vector memory: instructions, their cycles from issue to return, lines. */
    uint64_t memory_instructions, memory_cycles, lines;
};

struct report_kernel {
    const char *name;
    uint64_t launches[2], overlapping[2], cycles[2], instructions[2], work_groups[2];
    uint64_t total[2], wavefronts[2]; /* slot-cycles: all; those of wavefronts that had not ended */
    struct report_occupancy occupancy[2];
    VECTOR(struct report_row) rows;
    VECTOR(struct report_cache) caches;
};

struct report {
    struct arena *arena;
    bool two;
    VECTOR(struct report_kernel) kernels; /* in order of their first launch */
};

/* Whether rows of this group are cycles of wavefronts' slots: issued, executing or waiting. */
bool report_is_of_wavefronts(const char *group);

/* 0 when there is no whole. */
static inline double report_per_cent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole * 100 : 0;
}

/* Reads the kernels of `root` (a statistics file, called `name` in messages) as run 0 or 1 into
 * `report`, which is zeroed but for its arena at first. false: it has kernels but none with
 * slot-cycles, or they do not add up, said on standard error. */
bool report_read(struct report *report, unsigned run, json_t *root, const char *name);

/* Slot-cycles of a kind; `kind` NULL: of the group. */
uint64_t report_value(const struct report_kernel *k, unsigned run, const char *group,
                      const char *kind);

void report_print(const struct report *report, FILE *out);
/* One line for each kernel and kind. */
void report_print_csv(const struct report *report, FILE *out);

/* Per cent of the SIMD-cycles in which the VALU works, of those in which its compute unit has
 * wavefronts. */
double report_valu_share(const struct report_kernel *k, unsigned run);

/* In words, what limits a kernel; report_words.c has the rules. Each line begins with `indent`. */
void report_print_words(const struct report_kernel *k, unsigned run, const char *indent, FILE *out);

#endif
