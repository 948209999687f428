/* Coalescing: from the addresses of a warp's lanes to lines and their sectors of 32 bytes, in the
 * order in which the lanes name them. Two units need it: the streaming multiprocessor, whose memory
 * unit sends the requests, and the trace player, which touches caches with them when a kernel takes
 * no time. Both name coalesce.c among their files. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_COALESCE_H
#define HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_COALESCE_H

#include "components/protocols/thread_block/trace_stream.h"

enum {
    SM_LINE = 128,
    SM_SECTOR = 32,
    SM_WARPS = 64, /* most warps of an SM */
    SM_REQUESTS =
        256 /* most requests of an instruction: 32 lanes with 4 words of local memory each */
};

/* A line with what is wanted of it. */
struct sm_request {
    uint64_t line;
    uint32_t bytes[4]; /* bytes of each sector; stores only */
    uint32_t lanes;
    uint8_t sectors;
};

struct sm_lines {
    uint32_t count;
    struct sm_request request[SM_REQUESTS];
};

/* Fills `m` with the requests of a record. `own`: number of the warp's slot on the GPU, SM *
 * SM_WARPS + warp; each slot has a window of local memory of its own. */
static void coalesce(struct sm_lines *m, const uint32_t *record, unsigned width, uint64_t own);

/* Sectors of a request that are not wholly written. */
static uint8_t coalesce_partial(const struct sm_request *r);

#endif
