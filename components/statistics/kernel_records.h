/* The table of kernels' records, as the files of this folder share it: kernel_stats.c keeps it,
 * kernel_messages.c sends it from rank to rank, kernel_state.c has it in states of a run, and
 * kernel_section.c writes it into the statistics. Texts are in the arena, so records are plain
 * bytes. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_KERNEL_RECORDS_H
#define HEDDLE_COMPONENTS_STATISTICS_KERNEL_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/observe/stats_span.h"

#include "memory_traffic.h"

enum kernel_state { KERNEL_BEGUN = 1, KERNEL_ENDED = 2, KERNEL_SPOOLED = 4, KERNEL_CUT = 8 };

struct kernel_record {
    uint32_t name, symbol; /* arena offsets */
    uint32_t gpu;
    uint32_t component; /* instance: the command processor */
    uint32_t number;
    uint32_t launch; /* 0: not known */
    uint32_t how;    /* arena offset of a word; 0: none */
    uint32_t state;  /* bits of enum kernel_state */
    uint32_t span;
    uint64_t start_ps;
    uint64_t end_ps;
    uint64_t start_cycle;
    uint64_t cycles;
    uint64_t work_groups;
    uint64_t instructions;
    struct memory_traffic traffic; /* until it has ended: the run's traffic when it began */
    struct stats_text details;     /* details from kernel_describe() */
    struct stats_text share;       /* its share of the components' statistics */
};

enum {
    KERNELS_MAX = 1 << 22,  /* records; as a handle: there is none */
    KERNELS_RANK_SHIFT = 23 /* handles have the number of the record's rank from this bit on */
};

struct kernel_records {
    struct kernel_record *record;
    uint32_t count;
    uint32_t running_count;
    bool has_unrecorded; /* kernels began without a record */
};
extern struct kernel_records kernel_records __attribute__((visibility("hidden")));

/* Reserves memory for the most records; it is not used before they are. */
void kernel_records_reserve(void);
/* One more record, with its number only. NULL: there are no more; the first time, a warning says
 * so. */
struct kernel_record *kernel_records_add(void);
/* A copy of the text in the arena. */
uint32_t kernel_records_keep_text(const char *text);
/* Notes for kernel_settle() that the kernel has begun or ended at that time. */
void kernel_records_mark(const struct kernel_record *record, uint64_t time_ps);
/* Passes the marks before `end_ps` to `give`, and removes them. */
void kernel_records_take_marks(uint64_t end_ps, void (*give)(uint32_t kernel, uint64_t end_ps));
bool kernel_has_ended(const struct kernel_record *record, uint64_t end_ps);

/* kernel_details.c: details as members of the kernel's record, each after a comma. */
struct kernel_detail;
struct stats_text kernel_details_write(const struct kernel_detail *details, uint32_t number);

/* kernel_state.c: states of a run include the records from now on. */
void kernel_state_register(void);

/* kernel_messages.c */
void kernel_handles_reset(void);

#endif
