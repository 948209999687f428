/* What a vector instruction on integers, bits or masks leaves in registers.
 *
 * A struct vector_form is one instruction as a test chose it: its encoding and its expected result
 * are both made from it, apart from each other and from the library. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_VECTOR_MODEL_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_VECTOR_MODEL_H

#include "exact.h"

/* Flags of rows, explained in vector_rows.tab; COMPARES and SETS_EXEC: v_cmp and v_cmpx. */
enum {
    SATURATES = 1,
    BORROWS = 2,
    CARRIES = 4,
    SELECTS = 8,
    HALVES = 16,
    PACKED = 32,
    DOT = 64,
    COMPARES = 128,
    SETS_EXEC = 256
};

struct vector_operands {
    uint64_t a, b, c;
    wide A, B, C;
    unsigned lane;
    bool bit;
};

struct vector_row {
    const char *name;
    const char *signature;
    unsigned flags;
    wide (*value)(const struct vector_operands *);
    /* Of compares: condition and type, as in the mnemonic. */
    char condition[8], type[8];
};

struct vector_form {
    const struct vector_row *row;
    enum isa_target target;
    enum isa_format format;
    enum covered_form form;
    unsigned opcode;
    unsigned dst, src[3];        /* dst: VGPR number; src: operand codes */
    unsigned mask_to, mask_from; /* SGPR pairs */
    uint32_t literal;
    unsigned abs, neg, clamp;
    unsigned opsel, opsel_hi;                     /* bit i: source i; opsel bit 3: destination */
    unsigned dst_select, unused, select[2], sext; /* SDWA */
    unsigned control, row_mask, bank_mask, bound; /* DPP */
};

/* The row of a mnemonic in a target's encoding; false: not one of integers, bits or masks. */
bool vector_row_find(const char *mnemonic, enum isa_target target, struct vector_row *out);

unsigned vector_sources(const struct vector_row *row);
bool vector_takes_signs(char type); /* neg and abs */

/* Words of the instruction, from the manuals' field layouts; how many. */
unsigned vector_encode(const struct vector_form *form, uint32_t word[3]);

/* Changes *m as the instruction should, but for the pc. */
void vector_expect(const struct vector_form *form, struct rows_machine *m);

#endif
