/* The decoder's state and the helpers of its files. Private to components/amd/isa.
 *
 * A decoder walks one instruction: it fetches words, finds the row, and fills the operands of *out.
 * Functions that return bool say whether the code exists; those that return int give 0 or an
 * ISA_ERROR_*. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_DECODE_ISA_DECODE_H
#define HEDDLE_COMPONENTS_AMD_ISA_DECODE_ISA_DECODE_H

#include "components/amd/isa/tables/isa_table.h"

struct isa_decoder {
    enum isa_target target;
    const uint8_t *bytes;
    size_t readable;
    uint32_t word[3];
    struct isa_inst *out;
    const struct isa_table_row *row;
    unsigned kind; /* kind of the row, as isa_kind_shape has it */
};

static inline unsigned isa_field(uint32_t word, unsigned low, unsigned count)
{
    return (word >> low) & ((1u << count) - 1);
}

/* Makes word[index] valid; false when the input ends before it. */
bool isa_decoder_fetch(struct isa_decoder *d, unsigned index);
int isa_decoder_find_row(struct isa_decoder *d, enum isa_format format, unsigned opcode);

bool isa_scalar_code_exists(unsigned code);
bool isa_source_code_exists(enum isa_target target, unsigned code);

/* Keep the highest registers named, vector or accumulation ones; codes that are no such register
 * are ignored. */
void isa_decoder_note_vgprs(struct isa_inst *out, unsigned code, unsigned dwords);
void isa_decoder_note_sgprs(struct isa_inst *out, unsigned code, unsigned dwords);

bool isa_decoder_source(struct isa_decoder *d, unsigned index, unsigned code, unsigned type);
void isa_decoder_vgpr_destination(struct isa_decoder *d, unsigned vgpr, unsigned type);
bool isa_decoder_sgpr_destination(struct isa_decoder *d, uint16_t *slot, unsigned code,
                                  unsigned dwords);

/* The word after the instruction; the second only if a source names the literal. */
int isa_decoder_literal(struct isa_decoder *d);
int isa_decoder_literal_if_named(struct isa_decoder *d);

/* isa_decode_vector.c: VOP2, VOP1 and VOPC; VOP3 and VOP3P. */
int isa_decode_vop2(struct isa_decoder *d);
int isa_decode_vop3(struct isa_decoder *d);

/* isa_decode_memory.c. */
int isa_decode_smem(struct isa_decoder *d);
int isa_decode_ds(struct isa_decoder *d);
int isa_decode_flat(struct isa_decoder *d);
int isa_decode_buffer(struct isa_decoder *d, enum isa_format format);

#endif
