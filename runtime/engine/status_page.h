/* The status page of a run that is watched (`heddle run --view`): memory that the simulating
 * process writes and `heddle run`, which serves the page, reads; and the wishes that go the other
 * way.
 *
 * It is a file without a name that `heddle run` makes, with a place for each process that opens the
 * platform (runtime/session/run_ledger.h numbers them). A place is empty until its process opens
 * it. The simulator writes between windows, with `sequence` odd meanwhile; a reader takes a copy
 * and tries again when `sequence` was odd or has changed. Words that go both ways are read and
 * written atomically. python/heddle/view/status_page.py has the same layout. */
#ifndef HEDDLE_RUNTIME_ENGINE_STATUS_PAGE_H
#define HEDDLE_RUNTIME_ENGINE_STATUS_PAGE_H

#include <stdint.h>

#define STATUS_PAGE_MAGIC   UINT32_C(0x64726f62)
#define STATUS_PAGE_PLACES  32 /* processes that can be watched */
/* Bytes of a place; what is not written takes no memory. */
#define STATUS_PAGE_BYTES   ((uint64_t)256 << 20)
#define STATUS_PAGE_KERNELS 32 /* the latest that are shown */
#define STATUS_PAGE_WAITS   32768
#define STATUS_PAGE_NAME    160
#define STATUS_PAGE_HASH    72

enum status_page_state {
    STATUS_PAGE_RUNNING,
    STATUS_PAGE_PAUSED,
    STATUS_PAGE_HOST, /* the program does something else; simulated time does not pass */
    STATUS_PAGE_ENDED
};

struct status_page_kernel {
    char name[STATUS_PAGE_NAME];
    uint64_t number; /* from 1 */
    uint64_t start_ps;
    uint64_t end_ps; /* 0: it runs */
    uint64_t cycles;
};

/* The page's request. */
struct status_page_wishes {
    uint32_t pause; /* stop between windows for as long as this is set */
    uint32_t step;  /* go on to the end of a launch, then set `pause` */
    uint32_t waits; /* counted up: say what waits for what */
};

struct status_page {
    uint32_t magic; /* the last to be written when a place is opened */
    uint32_t sequence;
    struct status_page_wishes wishes;
    uint32_t state; /* enum status_page_state */
    uint32_t pid;
    uint32_t waits_answered; /* the wish that `waits` is the answer to */
    uint64_t time_ps, cycles, instructions, messages;
    uint64_t kernels_begun, kernels_ended;
    uint64_t launches_asked, parts, parts_done; /* struct run_counts */
    /* By number, modulo STATUS_PAGE_KERNELS. */
    struct status_page_kernel launches[STATUS_PAGE_KERNELS];
    char program[STATUS_PAGE_NAME], platform[STATUS_PAGE_NAME], model[STATUS_PAGE_HASH];
    char waits[STATUS_PAGE_WAITS];
    /* `names` and `values` are offsets in bytes from the beginning of the place. Names: SECTION,
     * PATH, COUNTER by column, with tabs between and a newline after each column. Values: a
     * uint64_t of each column. */
    uint64_t name_bytes, names;
    uint64_t value_count, values;
};

#endif
