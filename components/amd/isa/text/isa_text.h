/* The disassembler's state and the helpers of its files. Private to components/amd/isa. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_TEXT_ISA_TEXT_H
#define HEDDLE_COMPONENTS_AMD_ISA_TEXT_ISA_TEXT_H

#include "components/amd/isa/tables/isa_table.h"

struct isa_text {
    char *buf;
    size_t size, length;
    const struct isa_inst *inst;
    const struct isa_table_row *row;
    unsigned kind;     /* kind of the row, as isa_kind_shape has it */
    unsigned operands; /* printed so far, for commas */
};

__attribute__((format(printf, 2, 3))) void isa_text_put(struct isa_text *t, const char *format,
                                                        ...);

/* A space before the first operand, a comma before the others. */
void isa_text_separate(struct isa_text *t);

/* A register tuple, any source by its type, and a source with its separator. */
void isa_text_register(struct isa_text *t, unsigned code, unsigned dwords);
void isa_text_source(struct isa_text *t, unsigned code, unsigned type);
void isa_text_operand(struct isa_text *t, unsigned code, unsigned type);

/* An inline constant or the literal: its negation prints in brackets. */
bool isa_text_is_constant(unsigned code);

/* Prints the operands after the mnemonic, by format. */
void isa_text_vector(struct isa_text *t);
void isa_text_smem(struct isa_text *t);
void isa_text_ds(struct isa_text *t);
void isa_text_flat(struct isa_text *t);
void isa_text_buffer(struct isa_text *t);

#endif
