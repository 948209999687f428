/* Flat operations, made of a module by warp_prepare.c and executed by warp_block.c. Private to
 * components/nvidia/warp.
 *
 * A function's operations are in the order of its text, functions one after the other, so that a
 * program counter is an index in warp_code.ops. An instruction becomes one operation or a few. One
 * of them is `counted`: observers see this operation as the instruction.
 *
 * Registers of a thread are columns. A narrow row holds 32 bits of each lane, a wide row 64 bits; a
 * frame is a run of narrow rows and one of wide rows, and predicates are a word of lanes each.
 * Lanes may have different frames at the same time. So narrow and wide rows do not share memory: a
 * lane's column of a narrow row would be another lane's column of a wide row. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_CODE_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_CODE_H

#include "base/hash_table.h"

#include "warp.h"

struct warp_machine;
struct warp_op;

/* Executes an operation for the lanes of `mask`, which is not 0. */
typedef void warp_handler(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

enum {
    WARP_ALL = -1, /* as a mask: all lanes */
    WARP_NARROW_BYTES = 4 * WARP_LANES,
    WARP_WIDE_BYTES = 8 * WARP_LANES,
    WARP_BARRIERS = 16,
    WARP_WARPGROUPS = 8, /* of a block at most; each has a barrier after the numbered ones */
    WARP_FRAME_ROWS = 4, /* narrow rows of a frame for the caller's state */
    WARP_OPERANDS = 5
};

/* The area that at[] is an offset in: bytes in the frame's narrow or wide rows, or in the
 * constants; a predicate's number in the frame. */
enum warp_bank { WARP_NARROW, WARP_WIDE, WARP_CONSTANT, WARP_PREDICATE, WARP_BANK_NONE };

enum warp_kind {
    WARP_PLAIN,  /* registers only */
    WARP_MEMORY, /* may fault */
    WARP_BRANCH, /* to `target` */
    WARP_SWITCH, /* brx.idx: list of targets, at[1] the index */
    WARP_CALL,   /* `target`: function, or at[1] its address */
    WARP_RETURN,
    WARP_EXIT,
    WARP_BARRIER,  /* at[1] the number, at[2] the count or nothing */
    WARP_SYNC,     /* waits for the lanes of at[4], then runs */
    WARP_TOGETHER, /* runs with the lanes that are there */
    WARP_CLUSTER,  /* barrier.cluster: `written` says which part of it */
    WARP_TIMED,    /* reads a clock: waits for the time, then runs */
    WARP_ALIGNED,  /* waits for all lanes of the warp, then runs */
    WARP_YIELD,    /* gives way */
    WARP_SYSTEM,   /* calls of the ABI: enum warp_system in `target` */
    WARP_TRAP,
    WARP_MISSING
};

enum warp_system { WARP_VPRINTF, WARP_MALLOC, WARP_FREE, WARP_ASSERTFAIL };

/* `written` of a barrier. */
enum warp_barrier_use {
    WARP_BARRIER_WAITS,
    WARP_BARRIER_ARRIVES,
    WARP_BARRIER_REDUCES,
    WARP_BARRIER_WARPGROUP /* all of the warp's warpgroup, without number and count */
};

enum warp_flag {
    WARP_COUNTED = 1,
    WARP_ENDS = 2,     /* the next operation begins a block, or this one is a branch */
    WARP_NOT = 4,      /* the guard is negated */
    WARP_NOT_INPUT = 8 /* the predicate that is an input is negated */
};

/* Reads and writes of an operation beside at[0] (written) and at[1] to at[4] (read). */
enum warp_effect {
    WARP_KEEPS = 1,     /* at[0] is read, too */
    WARP_SECOND = 2,    /* at[4] is a predicate that is written */
    WARP_THIRD = 4,     /* so is `target` - 1, if it is not 0 */
    WARP_LIST_KEEPS = 8 /* what is written of the list is read, too */
};

/* `value` of a video operation: the operation on each pair of parts, and the size of the parts. */
enum warp_video {
    WARP_VIDEO_ADD,
    WARP_VIDEO_SUB,
    WARP_VIDEO_AVERAGE,
    WARP_VIDEO_DIFFERENCE,
    WARP_VIDEO_MIN,
    WARP_VIDEO_MAX,
    WARP_VIDEO_SET,
    WARP_VIDEO_WHICH = 7,
    WARP_VIDEO_COMPARE = 3, /* at this bit, of three: eq, ne, lt, le, gt, ge */
    WARP_VIDEO_HALVES = 1 << 6,
    WARP_VIDEO_SIGNED_A = 1 << 7,
    WARP_VIDEO_SIGNED_B = 1 << 8,
    WARP_VIDEO_SIGNED = 1 << 9, /* the result */
    WARP_VIDEO_SATURATES = 1 << 10,
    WARP_VIDEO_ADDS = 1 << 11, /* the sum of the parts and c */
    WARP_VIDEO_MASK = 12,      /* at this bit, of four */
    WARP_VIDEO_A = 16,         /* at these bits four places of four bits */
    WARP_VIDEO_B = 32
};

/* `value` of a scalar video operation. A place is a byte (0 to 3), a half (4, 5) or all (6). */
enum { WARP_PLACE_HALVES = 4, WARP_PLACE_ALL = 6 };
enum warp_scalar_which { /* in the order of the opcodes */
                         WARP_SCALAR_ADD,
                         WARP_SCALAR_SUB,
                         WARP_SCALAR_DIFFERENCE,
                         WARP_SCALAR_MIN,
                         WARP_SCALAR_MAX,
                         WARP_SCALAR_SHL,
                         WARP_SCALAR_SHR,
                         WARP_SCALAR_MAD,
                         WARP_SCALAR_SET
};
enum warp_scalar_second { WARP_SECOND_NONE, WARP_SECOND_ADD, WARP_SECOND_MIN, WARP_SECOND_MAX };
struct warp_scalar {
    uint8_t which, second;
    uint8_t a, b, d; /* places */
    uint8_t compare; /* as WARP_VIDEO_COMPARE */
    uint8_t shift;   /* vmad: to the right */
    uint8_t signed_a : 1, signed_b : 1, signed_d : 1, saturates : 1;
    uint8_t wraps : 1, plus_one : 1, minus_product : 1, minus_c : 1;
};
_Static_assert(sizeof(struct warp_scalar) == 8, "it should be an operation's value");

/* The use that operations make of predicates beside their own: setp's combination. */
enum warp_combine { WARP_SET, WARP_AND, WARP_OR, WARP_XOR };

struct warp_op {
    warp_handler *run;
    uint64_t value;             /* offset of an address, immediate of an operation */
    uint32_t at[WARP_OPERANDS]; /* 0: destination */
    uint8_t bank[WARP_OPERANDS];
    uint8_t kind;
    uint8_t flags;
    uint8_t combine; /* enum warp_combine; of memory: enum ptx_space */
    uint16_t guard;  /* 1 + predicate, 0: none */
    uint8_t count;   /* elements of a vector, from `list` on */
    uint8_t control; /* what the host's MXCSR differs by: enum warp_control */
    uint32_t target;
    uint32_t list; /* first entry in warp_code.places or targets */
    uint32_t instruction;
    uint8_t written; /* so many of the `count` places, the first ones */
    uint8_t effect;  /* enum warp_effect */
};
_Static_assert(sizeof(struct warp_op) == 64, "an operation should be a line of the host's cache");

/* Bits of MXCSR, shifted right by 8: rounding, and denormals as zeros in and out. */
enum warp_control {
    WARP_ROUND_DOWN = 0x20,
    WARP_ROUND_UP = 0x40,
    WARP_ROUND_ZERO = 0x60,
    WARP_FLUSH = 0x81 /* FTZ; DAZ is bit 6 */
};

/* The place of an element of a vector or list; bank WARP_BANK_NONE: a sink. */
struct warp_place {
    uint32_t at;
    uint8_t bank;
    bool wide; /* constants: 64 bits a lane */
};

/* The place of a register of the PTX in a frame while it is live: from after the operation `first`,
 * or with it where it enters a block live, to `last`. */
struct warp_register {
    uint32_t at;
    uint8_t bank;
    bool enters;
    uint32_t first, last; /* first UINT32_MAX: it is not used */
};

struct warp_function {
    struct warp_register *named;       /* as many as the function of the module has */
    uint32_t entry;                    /* index in ops */
    uint32_t narrow, wide, predicates; /* rows of a frame */
    uint32_t local;                    /* bytes of a frame */
    uint32_t fixed;                    /* narrow rows before the registers */
    uint32_t registers;                /* 32 bits each, live at the same time */
    bool is_recursive;
    /* of it and its callees, along the longest path: */
    uint32_t deep_narrow, deep_wide, deep_local, deep_registers;
    uint32_t missing; /* instruction that the executor does not have; PTX_NONE */
};

struct warp_code {
    const struct ptx_module *module;
    uint64_t base;
    struct warp_op *ops;
    uint32_t op_count;
    size_t op_capacity;
    struct warp_place *places;
    uint32_t place_count;
    size_t place_capacity;
    uint32_t *targets;
    uint32_t target_count;
    size_t target_capacity;
    struct warp_function *functions; /* as many as the module has */
    struct warp_kernel *kernels;
    uint32_t kernel_count;
    char *constants; /* rows, as many as constant_bytes; aligned to 64 bytes */
    size_t constant_bytes, constant_capacity;
    struct hash_table constant_rows; /* by value and width */
    uint32_t outgoing;               /* the most narrow rows that a call writes before it begins */
};

#endif
