/* A kernel that is being recorded; for amd_recording*.c alone. */
#ifndef HEDDLE_COMPONENTS_AMD_RECORDING_KERNEL_H
#define HEDDLE_COMPONENTS_AMD_RECORDING_KERNEL_H

#include <stdio.h>

#include "components/traces/instruction_trace/amd/amd_recording.h"

enum { RECORD_BLOCK = 4096, RECORD_HEAD = 8, RECORD_LINE = 64 };

/* What a wavefront did stands in a chain of blocks: 4 bytes number of the next block (0: the last),
 * 4 bytes how many follow, then steps. Block b lies at (b - 1) * RECORD_BLOCK.
 *
 * A step: flags; pc as difference unless STEP_FOLLOWS; mask unless STEP_SAME_MASK; for an access:
 * bytes, dwords' distance if STEP_APART, then addresses as differences, the first from that of the
 * wavefront's last access. Numbers are LEB128, differences zigzag. */
enum {
    STEP_FOLLOWS = 1,   /* the pc stands behind the instruction before */
    STEP_SAME_MASK = 2, /* of the step before */
    STEP_ACCESS = 4,
    STEP_STRIDE = 8, /* base and stride for all lanes of the mask */
    STEP_APART = 16
};

struct record_chain {
    uint64_t steps;
    uint32_t first; /* block; 0: the wavefront has not begun */
};

struct record_kernel {
    struct record_kernel *next;
    uint64_t number;
    char *symbol, *title;
    uint32_t queue;
    uint8_t *arguments;
    size_t argument_bytes;
    /* From its start on. */
    bool started;
    uint32_t dispatch;
    struct amd_recording_start start;
    struct aql_packet packet;
    struct aql_descriptor descriptor;
    uint32_t groups[3];
    uint32_t group_waves; /* of a whole work-group */
    uint64_t waves;
    struct record_chain *chain; /* by work-group and wavefront */
    uint8_t *line_used;         /* of the code object's lines: something was executed there */
    uint32_t blocks;            /* handed out */
    FILE *spool;
};

/* Writes the trace to `path`. false: errno, or *wrong says what is wrong. */
bool record_kernel_write(const struct record_kernel *k, const char *path, const char **wrong);

/* An instruction's parts of a line. */
struct record_text {
    char head[160];      /* "1 v2 v_add_u32_e32 2 v0 v1" */
    char immediates[40]; /* " 16", or "" */
    uint8_t size;
    uint8_t bytes; /* of a lane's access to the LDS; 0: none */
};
/* false: the bytes are no instruction. */
bool record_text_make(enum isa_target target, const uint8_t *bytes, size_t count,
                      struct record_text *text);

#endif
