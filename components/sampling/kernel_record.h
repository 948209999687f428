/* What kernel_stats.c keeps and stats.c writes. */
#ifndef HEDDLE_SAMPLING_KERNEL_RECORD_H
#define HEDDLE_SAMPLING_KERNEL_RECORD_H

#include <stdint.h>

enum kernel_state { KERNEL_SNAPSHOT = 1, KERNEL_ENDED = 2, KERNEL_SPOOLED = 4 };

struct kernel_record {
    uint32_t name, symbol; /* arena offsets */
    uint32_t gpu;
    uint32_t component; /* instance: the command processor */
    uint32_t number;
    uint32_t launch; /* 0: not said */
    const char *how;
    uint32_t state; /* bits of enum kernel_state */
    uint32_t snapshot;
    uint64_t start_ps;
    uint64_t end_ps;
    uint64_t start_cycle;
    uint64_t cycles;
    uint64_t work_groups;
    uint64_t instructions;
    uint64_t detail_offset; /* of what kernel_describe() was told, as JSON text in the spool */
    uint64_t detail_bytes;
    uint64_t spool_offset; /* of the components' statistics, as JSON text */
    uint64_t spool_bytes;
};

/* All records in order of (start, component, sequence); handles are void from then on. */
const struct kernel_record *kernel_records(uint32_t *number);
void kernel_forget(void);

#endif
