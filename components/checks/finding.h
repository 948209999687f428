/* Mistakes of the simulated program that checks have found: kept as one report for each kind and
 * pair of places, with counts, and printed at the end.
 *
 * A check calls finding_report() as often as it sees something; only the first of each kind and
 * pair of instructions is kept whole. Reports are printed in the order of their first occurrence,
 * which is the same in each run. All calls come from one thread at a time. Nothing here changes
 * what is simulated. */
#ifndef HEDDLE_COMPONENTS_CHECKS_FINDING_H
#define HEDDLE_COMPONENTS_CHECKS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

enum finding_check {
#define CHECK(id, name) FINDING_CHECK_##id,
#define FINDING(id, check, name, what, fix)
#include "finding.def"
#undef CHECK
#undef FINDING
    FINDING_CHECKS
};

enum finding_kind {
#define CHECK(id, name)
#define FINDING(id, check, name, what, fix) FINDING_##id,
#include "finding.def"
#undef CHECK
#undef FINDING
    FINDING_KINDS
};

enum { FINDING_TEXT = 160 };
#define FINDING_LANE_NONE UINT32_MAX

/* The instruction that did something. For a call of the host `kernel` is "", `text` names the call.
 */
struct finding_place {
    char kernel[FINDING_TEXT]; /* as people call it */
    char text[FINDING_TEXT];   /* the instruction, or the call: "hipFree()" */
    char source[FINDING_TEXT]; /* "file.cpp:12", or "" */
    uint64_t pc;               /* 0: there is none */
    uint64_t launch;           /* number of the launch, from 1; 0: none */
    uint32_t gpu, group[3], wavefront;
    uint32_t lane;  /* or FINDING_LANE_NONE */
    uint32_t bytes; /* that were accessed; 0: nothing was */
};

enum finding_space { FINDING_NOWHERE, FINDING_GLOBAL, FINDING_LDS, FINDING_PRIVATE };

struct finding {
    enum finding_kind kind;
    uint32_t places; /* 0 to 2; the one that was seen first comes first */
    struct finding_place place[2];
    enum finding_space space;
    uint64_t address;              /* in `space`; LDS and private memory count from 0 */
    char memory[FINDING_TEXT];     /* global: where it lies, by program_describe() */
    char detail[2 * FINDING_TEXT]; /* one more sentence, or "" */
};

/* True if this check was asked for. */
bool finding_is_wanted(enum finding_check check);
/* True if any check was asked for. */
bool finding_any_is_wanted(void);

/* True if this kind is known already between these two instructions (0: none) of these two kernels.
 * It is counted then, and a check need not describe it again. */
bool finding_seen(enum finding_kind kind, uint64_t first, uint64_t second);
/* Keeps or counts what was found; it is copied. */
void finding_report(const struct finding *found);
/* Reports that were not suppressed. */
uint64_t finding_count(void);

/* "races,lds,suppress=FILE": what --check says. False: it is wrong, said on standard error. */
bool finding_open(const char *text);
/* The section `findings` of the statistics. */
void finding_write(struct json *out);
/* Prints all on standard error. */
void finding_print(void);
/* Prints the one that was made last, if any. */
void finding_print_last(FILE *out);

#endif
