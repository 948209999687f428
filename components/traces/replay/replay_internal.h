/* Private to components/traces/replay. */
#ifndef HEDDLE_REPLAY_INTERNAL_H
#define HEDDLE_REPLAY_INTERNAL_H

#include "components/traces/instruction_trace/reader/itrace.h"
#include "components/traces/replay/replay.h"

enum {
    REPLAY_READERS =
        64,          /* of a launch: partitioned dispatchers have a place for each compute unit */
    REPLAY_KEPT = 64 /* work-groups of a reader */
};

struct replay_range {
    uint64_t address, size;
    uint8_t *bytes;
};

/* What is kept of a launch's header. */
struct replay_header {
    enum isa_target target;
    bool memory_only; /* steps need not follow each other */
    uint32_t grid[3]; /* work-groups */
    uint64_t entry, base;
    struct replay_layout layout;
    struct replay_range *range; /* machine code; ranges do not touch */
    size_t range_count;
};

/* A work-group's steps. A record is
 *
 *   word 0     distance of its PC from the launch's first code, in words; REPLAY_MODE, REPLAY_FULL
 *   mask       2 words, unless REPLAY_FULL; only of steps with addresses
 *   addresses  STRIDE: base (2 words), stride;  DELTA: base, a difference for each further lane;
 *              LIST: 2 words a lane;  scalar memory: STRIDE, bytes in place of the stride */
struct replay_block {
    struct replay_block *next;
    const struct replay_kernel *kernel;
    uint64_t index; /* of the work-group: x fastest */
    uint32_t *words;
    size_t count, capacity;
    uint32_t wavefronts; /* with steps */
    struct {
        uint32_t at, steps;
    } wave[REPLAY_WAVES];
};

enum { REPLAY_NONE, REPLAY_STRIDE, REPLAY_DELTA, REPLAY_LIST };
#define REPLAY_PC         0x03ffffffu
#define REPLAY_MODE_SHIFT 26
#define REPLAY_FULL       (1u << 28)

/* What the reader knows of a static instruction of the trace. */
struct replay_inst {
    bool known;
    uint8_t size;
    uint8_t flow; /* enum replay_flow */
    bool scalar;  /* scalar memory */
};

enum replay_flow { REPLAY_GOES_ON, REPLAY_JUMPS, REPLAY_ENDS };

struct replay_reader {
    bool open;
    uint64_t position; /* one more than the index of the work-group read last */
    uint64_t used;     /* when */
    struct itrace trace;
    struct replay_inst *inst; /* by id */
    size_t inst_capacity;
    struct replay_block *kept; /* the oldest first */
    uint32_t kept_count;
};

struct replay_kernel {
    uint32_t launch;
    char *path;
    bool use_cache;
    bool begun; /* header and code were read */
    struct replay_header header;
    struct replay_reader *reader; /* [REPLAY_READERS], once it has begun */
    struct replay_kernel *next;
};

/* The first complaint of a trace, for options.context; warnings are dropped. */
struct replay_complaint {
    char text[REPLAY_TEXT];
};
__attribute__((format(printf, 3, 4))) void replay_say(char text[REPLAY_TEXT], const char *path,
                                                      const char *format, ...);

/* ---- replay_header.c ---- */

/* false: `text` says what is wrong. Release it in any case. */
bool replay_header_take(struct replay_header *header, const struct itrace *trace,
                        char text[REPLAY_TEXT]);
void replay_header_release(struct replay_header *header);
/* The machine code at `address`, or NULL. */
const struct replay_range *replay_header_code(const struct replay_header *header, uint64_t address);

/* ---- replay_read.c ---- */

/* Work-group `index`, read from where `reader` stands; those passed on the way are kept, up to
 * REPLAY_KEPT, the last ones. NULL: `text` says why. */
struct replay_block *replay_read_block(struct replay_kernel *kernel, struct replay_reader *reader,
                                       uint64_t index, char text[REPLAY_TEXT]);
bool replay_reader_open(struct replay_kernel *kernel, struct replay_reader *reader,
                        char text[REPLAY_TEXT]);
void replay_reader_close(struct replay_reader *reader);
void replay_block_free(struct replay_block *block);

#endif
