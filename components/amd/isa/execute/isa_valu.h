/* Declarations that the executing files share: scalar sources, and the vector ALU in its variants.
 * Private to components/amd/isa. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_VALU_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_VALU_H

#include "isa_matrix.h"
#include "isa_ready.h"

/* Inline constants in the type's format, literals (of f64 the upper half, of other 64-bit types
 * extended), state bits. */
uint64_t isa_scalar_constant(const struct isa_context *ctx, const struct isa_wave *wave,
                             const struct isa_inst *inst, unsigned code, unsigned type);

/* Value of a source that is not a VGPR: a register, a pair if the type may be 64 bits wide, or a
 * constant as above. */
static inline uint64_t isa_scalar_value(const struct isa_context *ctx, const struct isa_wave *wave,
                                        const struct isa_inst *inst, unsigned code, unsigned type)
{
    if (code < 127)
        return isa_wave_pair(wave, code);
    return code == 127 ? wave->sgpr[127] : isa_scalar_constant(ctx, wave, inst, code, type);
}

/* Runs the statement for each lane whose bit is set, in ascending order. */
#define FOR_LANES(lane, mask)                                                                      \
    for (uint64_t left_##lane = (mask); left_##lane; left_##lane &= left_##lane - 1)               \
        for (unsigned lane = (unsigned)__builtin_ctzll(left_##lane), once_##lane = 1; once_##lane; \
             once_##lane = 0)

/* A register after loading a sub-dword value of a memory type: extended, or one half replaced. */
uint32_t isa_extend(unsigned type, uint32_t value, uint32_t old);

/* isa_gpr_index.c: the register `index` above `code`, v0 if there is none; false for a destination
 * that there is not. */
unsigned isa_gpr_index_source(const struct isa_context *ctx, unsigned code, uint32_t index,
                              unsigned dwords);
bool isa_gpr_index_destination(const struct isa_context *ctx, unsigned code, uint32_t index,
                               unsigned dwords, unsigned *out);

/* The instruction with the registers that M0 asks for. False: it does nothing. */
bool isa_move_registers(const struct isa_context *ctx, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct isa_inst *out);

/* isa_memory.c: isa_memory_store() and isa_memory_load() of an access that is not unusual. */
void isa_memory_store_lanes(const struct isa_context *ctx, const struct isa_inst *inst,
                            uint64_t mask, void *out, size_t stride);
void isa_memory_load_lanes(struct isa_context *ctx, const struct isa_inst *inst, uint64_t mask,
                           const void *data, size_t stride);

/* isa_memory_unusual.c: gives the lanes of m->zero_mask what a load from outside of a buffer gives.
 */
void isa_memory_load_zeros(struct isa_context *ctx, const struct isa_inst *inst,
                           const struct isa_memory *m);

/* Executes a vector or an LDS instruction. The caller has checked register ranges; pc is not
 * touched. */
typedef enum isa_status isa_execute_function(struct isa_context *, struct isa_wave *,
                                             const struct isa_inst *);
isa_execute_function isa_valu_execute_v2, isa_valu_execute_v3;
isa_execute_function isa_lds_execute_v2, isa_lds_execute_v3;

/* Makes an instruction ready; a run() of NULL: only the functions above can execute it. */
typedef void isa_prepare_function(const struct isa_inst *inst, struct isa_ready *out);
isa_prepare_function isa_valu_prepare_v2, isa_valu_prepare_v3;
isa_prepare_function isa_lds_prepare_v2, isa_lds_prepare_v3;

/* Fills in the fields of isa_ready for memory instructions. */
void isa_memory_prepare(const struct isa_inst *inst, struct isa_ready *out);

/* Matrix instructions, by a function of the variant. */
typedef void isa_matrix_function(const struct isa_matrix_form *,
                                 const struct isa_matrix_operands *);
void isa_mfma_execute(isa_matrix_function *multiply, const struct isa_context *ctx,
                      const struct isa_wave *wave, const struct isa_inst *inst);

/* Function that executes the instruction's row: isa_salu_execute without the search. */
typedef enum isa_status isa_salu_row(struct isa_context *, struct isa_wave *,
                                     const struct isa_inst *);
isa_salu_row *isa_salu_find(const struct isa_inst *inst);
enum isa_status isa_salu_execute(struct isa_context *ctx, struct isa_wave *wave,
                                 const struct isa_inst *inst);

/* isa_reach.c: isa_memory_reach(), the lanes' flat addresses: `low` and `high` words, or `low`
 * alone, and `base`; isa_lds_spans(), isa_memory_breaks(), isa_memory_pick(),
 * isa_memory_offsets(); whether any of the lanes' words is `one` or `other`. */
typedef void isa_reach_function(const struct isa_memory *m, struct isa_reach *out);
typedef void isa_flat_function(const uint32_t *low, const uint32_t *high, uint64_t base,
                               uint64_t *address);
typedef uint64_t isa_breaks_function(const uint64_t *address);
typedef void isa_pick_function(const uint8_t *offset, uint64_t lanes, const uint8_t *line,
                               uint8_t *to);
typedef void isa_offsets_function(const uint64_t *address, uint8_t *offset);
typedef bool isa_words_function(const uint32_t *words, uint32_t one, uint32_t other);
typedef void isa_spans_function(const uint32_t *address, unsigned lanes, uint32_t *dwords);
isa_reach_function isa_memory_reach_v2, isa_memory_reach_v3;
isa_flat_function isa_memory_flat_v2, isa_memory_flat_v3;
isa_spans_function isa_lds_spans_v2, isa_lds_spans_v3;
isa_breaks_function isa_memory_breaks_v2, isa_memory_breaks_v3;
isa_pick_function isa_memory_pick_v2, isa_memory_pick_v3;
isa_offsets_function isa_memory_offsets_v2, isa_memory_offsets_v3;
isa_words_function isa_memory_words_v2, isa_memory_words_v3;
/* These two call the current variant. */
bool isa_memory_words(const uint32_t *words, uint32_t one, uint32_t other);
void isa_memory_flat(const uint32_t *low, const uint32_t *high, uint64_t base, uint64_t *address);

#endif
