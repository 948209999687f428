/* The static instructions of a trace: each is decoded once, however often it is executed.
 *
 * An instruction's line is, after the numbers of its block and warp if it carries them:
 *   [line_num] PC mask ndst {Rn} OPCODE nsrc {Rn} mem_width [mode addresses] [imm [imm]]
 *   [NoVal | Val {count {value}}]
 * with what itrace_bulk.h says for bulk copies and products of four warps.
 * All but mask, addresses and values is static. It is told by its text: a line whose text equals
 * that of an instruction already seen is not decoded again. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_PROGRAM_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/instruction_trace/nvidia/opcode_classes.h"

#include "itrace_bulk.h"

/* Maxima of a line. NVBit's tool has arrays for so many. */
#define ITRACE_DESTINATIONS_MAX 1
#define ITRACE_SOURCES_MAX      5
#define ITRACE_LANES_MAX        64
/* Uniform registers are numbered after the 256 of a thread, as the tracer numbers them itself. */
#define SASS_UNIFORM_REGISTER   256
/* A number that no register has. */
#define SASS_REGISTER_NONE      512
#define SASS_OPCODE_MAX         63

struct itrace_inst {
    uint32_t id;          /* 0, 1, ... in the order of first appearance */
    uint32_t pc;          /* offset in the function, bytes */
    uint32_t source_line; /* with -enable lineinfo; 0: not recorded */
    struct sass_opcode opcode;
    bool known;        /* the opcode is in the table */
    bool closes_group; /* a product of four warps that is the last of its group */
    bool at_barrier;   /* PTX: its line has a barrier, and what a wait is for */
    uint32_t bulk; /* bytes of each transfer of a bulk copy; 0: it is none, or they are not told */
    uint8_t destination_count, source_count, immediate_count;
    uint8_t width; /* bytes of one lane's access; 0: the line has no addresses */
    uint16_t destinations[ITRACE_DESTINATIONS_MAX], sources[ITRACE_SOURCES_MAX];
    int64_t immediates[2];
    uint64_t steps;                 /* how often it was executed so far */
    char name[SASS_OPCODE_MAX + 1]; /* with modifiers */

    /* For the reader: the line's text from ndst to mem_width, the immediates, and the neighbours.
     */
    char *head, *tail;
    uint32_t head_size, tail_size;
    struct itrace_inst *chain;     /* same bucket of the table */
    struct itrace_inst *successor; /* executed after this one last time */
    uint64_t base;                 /* for the cache: the last first address and stride */
    int64_t stride;
};

/* The form in which the trace wrote the addresses of an instruction. */
enum itrace_mode { ITRACE_MODE_LIST, ITRACE_MODE_STRIDE, ITRACE_MODE_DELTA, ITRACE_MODE_NONE };

/* One execution of an instruction by a warp. */
struct itrace_step {
    struct itrace_inst *inst;
    uint64_t mask; /* active and predicate */
    enum itrace_mode mode;
    int64_t stride; /* ITRACE_MODE_STRIDE */
    unsigned count; /* addresses: one for each active lane, from lane 0 up; 0 without addresses */
    uint64_t address[ITRACE_LANES_MAX];
    struct itrace_bulk copy;
};

/* The layout of the lines of a trace; found out by its first instruction. */
struct itrace_layout {
    unsigned ids;         /* numbers in front: 0, 4 (block and warp) or 6 (and SM and warp in it) */
    bool has_line;        /* -enable lineinfo = 1 */
    unsigned mask_digits; /* 8 or 16 */
    unsigned immediates;  /* at most */
    bool has_values;      /* NoVal or Val and values after them */
};

struct itrace_program {
    enum itrace_arch arch;
    struct itrace_inst **insts; /* by id */
    size_t count, capacity;
    struct itrace_inst **buckets; /* by PC */
    size_t bucket_count;
    struct itrace_inst *last; /* executed last */
    char error[200];
};

void itrace_program_init(struct itrace_program *program, enum itrace_arch arch);
void itrace_program_release(struct itrace_program *program);

/* Decodes the line at `text` (after the ids, NUL-terminated) into *step. False: `error` says what
 * is wrong with it, and nothing was executed. */
bool itrace_program_step(struct itrace_program *program, const struct itrace_layout *layout,
                         const char *text, struct itrace_step *step);
/* Takes `inst` into the program as its next id; head and tail may be NULL. False: too many. */
bool itrace_program_add(struct itrace_program *program, const struct itrace_inst *inst,
                        struct itrace_inst **added);
/* Notes the execution of *step's instruction. */
void itrace_program_count(struct itrace_program *program, struct itrace_step *step);

#endif
