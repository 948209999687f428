/* The builder that turns instructions into operations. Private to components/nvidia/warp.
 *
 * A builder works on one function. Registers of the PTX and temporaries have numbers in three
 * classes, by bank; at[] and places hold these numbers until warp_registers_assign() packs them
 * into rows. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_LOWER_WARP_BUILD_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_LOWER_WARP_BUILD_H

#include "components/nvidia/warp/warp_machine.h"

struct warp_build {
    struct warp_code *code;
    const struct ptx_function *function;
    const struct ptx_instruction *instruction; /* the one that is being made */
    uint32_t number;                           /* number of that in the module */
    uint32_t function_number;
    uint32_t registers[3]; /* in use, by bank: narrow, wide, predicates */
    uint32_t first_temporary[3];
    uint32_t first_place;
    uint32_t *number_of; /* number of each register of the PTX, in its bank */
    uint32_t *op_of;     /* first operation of each instruction */
    /* Each .param variable of the function: first number of a narrow register for each of its
     * words. */
    uint32_t *param_words_of;
    uint32_t first_op;
    uint32_t spilled; /* local offset of a copy of the parameters; PTX_NONE */
    uint32_t local;
    bool missing; /* the instruction, in this form */
};

/* An operand in registers or constants. */
struct warp_value {
    uint32_t at;
    uint8_t bank;
    bool negated; /* predicate */
    bool wide;    /* a constant of 64 bits */
};

/* Memory is asked for in its name (base/grow.h). */
#define WARP_CODE "the operations of a kernel"

#define WARP_VALUE_NONE ((struct warp_value){.bank = WARP_BANK_NONE})

/* Appends an operation, which becomes invalid with the next one. */
struct warp_op *warp_emit(struct warp_build *b, enum warp_run run);
/* enum warp_kind of an operation that reads the special register. */
uint8_t warp_kind_of_special(uint32_t which);
void warp_use(struct warp_op *op, unsigned i, struct warp_value v);
struct warp_value warp_temporary(struct warp_build *b, enum warp_bank bank);
/* A row in which all lanes have the bits. */
struct warp_value warp_constant(struct warp_build *b, uint64_t bits, bool wide);

/* Operand i as a source of the type, or as a destination. */
struct warp_value warp_input(struct warp_build *b, const struct ptx_operand *o, enum ptx_type type);
struct warp_value warp_output(struct warp_build *b, const struct ptx_operand *o, bool wide);
struct warp_value warp_input_predicate(struct warp_build *b, const struct ptx_operand *o);
/* PTX_OPERAND_PAIR: its halves; the second is NOTHING without. */
void warp_outputs(struct warp_build *b, const struct ptx_operand *o, bool wide,
                  struct warp_value *first, struct warp_value *second);

/* The target of an address and its parts: a register or constant, and an offset. */
struct warp_address {
    struct warp_value base;
    uint64_t offset;
    uint8_t space; /* enum ptx_space */
};
struct warp_address warp_address_of(struct warp_build *b, const struct ptx_operand *o,
                                    enum ptx_space space);
void warp_use_address(struct warp_op *op, struct warp_address a);

/* run of one to three sources, by values. */
struct warp_op *warp_emit1(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a);
struct warp_op *warp_emit2(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a, struct warp_value c);
struct warp_op *warp_emit3(struct warp_build *b, enum warp_run run, struct warp_value d,
                           struct warp_value a, struct warp_value c, struct warp_value e);

/* Adds a place to the code's list and returns its number. */
uint32_t warp_place(struct warp_build *b, struct warp_value v);

/* Lowers b->instruction, of the rooms below; sets b->missing. */
void warp_lower_arithmetic(struct warp_build *b);
void warp_lower_float(struct warp_build *b);
void warp_lower_compare(struct warp_build *b);
void warp_lower_convert(struct warp_build *b);
void warp_lower_move(struct warp_build *b);
void warp_lower_memory(struct warp_build *b);
void warp_lower_atomic(struct warp_build *b);
void warp_lower_control(struct warp_build *b);
void warp_lower_call(struct warp_build *b);
void warp_lower_lanes(struct warp_build *b);
void warp_lower_barrier(struct warp_build *b);
void warp_lower_mbarrier(struct warp_build *b);
void warp_lower_simd_video(struct warp_build *b);
void warp_lower_scalar_video(struct warp_build *b);
void warp_lower_matrix(struct warp_build *b);
void warp_lower_texture(struct warp_build *b);
void warp_lower_nothing(struct warp_build *b);

/* Chooses the room by the opcode. */
void warp_lower(struct warp_build *b);

/* Packs the registers of the function's operations into rows, and makes at[] offsets. */
void warp_registers_assign(struct warp_build *b, struct warp_function *f);

static inline bool warp_has(const struct warp_build *b, enum ptx_modifier modifier)
{
    return ptx_has(b->instruction, modifier);
}

/* The value that an instruction gets by one of its modifiers. */
struct warp_choice {
    uint16_t modifier;
    uint16_t value;
};

/* The value of the first choice whose modifier the instruction has. PTX_MODIFIER_NONE, for an
 * instruction without any of them, ends the list. */
static inline unsigned warp_choose(const struct warp_build *b, const struct warp_choice *choice)
{
    while (choice->modifier != PTX_MODIFIER_NONE
           && !warp_has(b, (enum ptx_modifier)choice->modifier))
        choice++;
    return choice->value;
}

/* The rounding in the control word of an operation. */
static inline uint8_t warp_rounding_control(const struct warp_build *b)
{
    static const struct warp_choice control[] = {{PTX_MOD_RZ, WARP_ROUND_ZERO},
                                                 {PTX_MOD_RM, WARP_ROUND_DOWN},
                                                 {PTX_MOD_RP, WARP_ROUND_UP},
                                                 {PTX_MODIFIER_NONE, 0}};
    return (uint8_t)warp_choose(b, control);
}

/* The bank of a register of the PTX. */
static inline enum warp_bank warp_bank_of(enum ptx_type type)
{
    return type == PTX_PRED ? WARP_PREDICATE : ptx_type_bits(type) > 32 ? WARP_WIDE : WARP_NARROW;
}

static inline unsigned warp_size_index(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);
    return bits <= 16 ? 0 : bits == 32 ? 1 : 2;
}

static inline unsigned warp_sign_index(enum ptx_type type)
{
    return warp_size_index(type) + (ptx_type_is_signed(type) ? 0 : 3);
}

static inline enum warp_run warp_run_at(enum warp_run first, unsigned distance)
{
    return (enum warp_run)((unsigned)first + distance);
}

#endif
