/* Bytes that memories have read and written since the run began: all components and parts that
 * count `reads`, `bytes_read` and `bytes_written`, whatever their platform calls them. A DMA engine
 * counts bytes as well, but no reads: it moves them. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_MEMORY_TRAFFIC_H
#define HEDDLE_COMPONENTS_STATISTICS_MEMORY_TRAFFIC_H

#include <stdint.h>

struct memory_traffic {
    uint64_t read, written; /* bytes */
};

/* At the end of windows. Nothing where the run wants no statistics. */
struct memory_traffic memory_traffic_now(void);
/* The traffic since `from`. */
struct memory_traffic memory_traffic_since(struct memory_traffic from);

/* Statistics begin: blocks are found anew. */
void memory_traffic_reset(void);

#endif
