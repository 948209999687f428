/* Bulk copies: what one instruction of a tensor memory accelerator moves, as runs of rows in global
 * memory. Row i of a run begins `stride` * i bytes after its base. The streaming multiprocessor and
 * the trace player walk through it line by line. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_BULK_H
#define HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_BULK_H

#include "coalesce.h"

struct bulk_cursor {
    uint32_t run, row, done; /* bytes of the row */
};

static inline const uint32_t *bulk_head(const uint32_t *record)
{
    return record + (*record & TRACE_FULL ? 1 : 2);
}

static inline uint32_t bulk_runs(const uint32_t *record)
{
    return *record & TRACE_BULK ? *bulk_head(record) & 0xff : 0;
}

/* The barrier that waits for the copy, or of a wait or arrival, below TRACE_PHASES; TRACE_PHASES:
 * any of them; above: none. */
static inline uint32_t bulk_phase(const uint32_t *record)
{
    return *record & TRACE_BULK ? *bulk_head(record) >> 8 : TRACE_PHASES;
}

/* The number of copies to the barrier, or of arrivals, that a wait is for; 0: all copies under
 * way. */
static inline uint32_t bulk_need(const uint32_t *record)
{
    return *record & TRACE_BULK ? bulk_head(record)[1] : 0;
}

/* Finds the next line of the copy and its sectors. False: there is none. */
static bool bulk_next(const uint32_t *record, struct bulk_cursor *at, struct sm_request *request);
/* Lines of the whole copy. */
static uint32_t bulk_lines(const uint32_t *record);

#endif
