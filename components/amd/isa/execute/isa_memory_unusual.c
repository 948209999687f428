/* Accesses that are not just bytes between memory and vector registers: elements of typed buffers,
 * transfers between memory and LDS, elements that reach beyond a buffer, the status register of
 * tfe. Units that execute accesses call isa_memory_store and isa_memory_load. */
#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

#include "isa_buffer_format.h"
#include "isa_math.h"
#include "isa_valu.h"

enum { BYTES_MAX = 16 };

static uint32_t *vgpr(const struct isa_context *ctx, unsigned code)
{
    return ctx->vgpr + (size_t)isa_register(ctx, code) * 64;
}

/* The dword of LDS that belongs to a lane, or NULL outside of the allocation. */
static uint8_t *lds_place(const struct isa_context *ctx, const struct isa_memory *m, unsigned lane)
{
    uint64_t at = (uint64_t)m->lds_base + 4 * lane;
    return at + 4 <= ctx->lds_size ? ctx->lds + at : NULL;
}

/* ---- typed elements ---- */

/* The bits of component i of a 16-bit type: in a register of its own on gfx8, else two in each. */
struct place {
    unsigned reg, shift;
    uint32_t mask;
};

static struct place buffer_place(const struct isa_inst *inst, unsigned type, unsigned i)
{
    if (!isa_type_is_d16_format(type))
        return (struct place){i, 0, UINT32_MAX};
    if (type == TYPE_DHFX)
        return (struct place){0, 16, 0xffff};
    return isa_is_gfx9((enum isa_target)inst->target) ? (struct place){i / 2, i % 2 * 16, 0xffff}
                                                      : (struct place){i, 0, 0xffff};
}

static uint32_t selected(const struct isa_memory *m, unsigned i, const uint32_t component[4])
{
    unsigned select = m->select >> 3 * i & 7;
    return select >= 4 ? component[select - 4] : select == 1 ? isa_buffer_one(m->number_format) : 0;
}

static uint32_t narrowed(uint32_t value, unsigned number)
{
    float x = f32_bits(value);
    return isa_buffer_is_integer(number) ? value & 0xffff : x != x ? f16_nan(x) : f16_f32(x);
}

static uint32_t widened(uint32_t half, unsigned number)
{
    enum { SINT = 5 };
    if (isa_buffer_is_integer(number))
        return number == SINT ? (uint32_t)(int16_t)half : half;
    return bits_f32(f32_f16(half));
}

static void load_components(struct isa_context *ctx, const struct isa_inst *inst,
                            const struct isa_memory *m, unsigned lane, const uint32_t component[4])
{
    unsigned type = isa_table[inst->op].type[0];
    bool d16 = isa_type_is_d16_format(type);
    for (unsigned i = 0; i < isa_type_components(type); i++) {
        uint32_t value = selected(m, i, component);
        if (m->unusual & ISA_UNUSUAL_LDS) {
            uint8_t *place = i == 0 ? lds_place(ctx, m, lane) : NULL;
            if (place)
                memcpy(place, &value, 4);
            continue;
        }
        struct place p = buffer_place(inst, type, i);
        uint32_t *word = &vgpr(ctx, inst->dst)[64 * p.reg + lane];
        uint32_t kept = ~(p.mask << p.shift);
        value = d16 ? narrowed(value, m->number_format) << p.shift : value;
        /* One half alone leaves the other; of several the low one clears what nothing follows. */
        *word = p.shift == 0 && type != TYPE_DFX ? value : (*word & kept) | value;
    }
}

static void store_components(const struct isa_context *ctx, const struct isa_inst *inst,
                             const struct isa_memory *m, unsigned lane, void *out)
{
    unsigned type = isa_table[inst->op].type[0];
    uint32_t component[4] = {0};
    for (unsigned i = 0; i < isa_type_components(type); i++) {
        struct place p = buffer_place(inst, type, i);
        uint32_t word = vgpr(ctx, inst->src[1])[64 * p.reg + lane] >> p.shift & p.mask;
        component[i] = isa_type_is_d16_format(type) ? widened(word, m->number_format) : word;
    }
    isa_buffer_pack(m->data_format, m->number_format, component, out);
}

/* ---- one lane ---- */

static void load_plain(struct isa_context *ctx, const struct isa_inst *inst,
                       const struct isa_memory *m, unsigned lane, const uint8_t *data)
{
    uint32_t value = 0;
    if (!(m->unusual & ISA_UNUSUAL_LDS)) {
        if (inst->dst != ISA_OPERAND_NONE)
            isa_memory_load_lanes(ctx, inst, UINT64_C(1) << lane, data, 0);
        return;
    }
    uint8_t *place = lds_place(ctx, m, lane);
    memcpy(&value, data, min(m->bytes, 4));
    value = isa_extend(isa_table[inst->op].type[0], value, 0);
    if (place)
        memcpy(place, &value, 4);
}

static void load_lane(struct isa_context *ctx, const struct isa_inst *inst,
                      const struct isa_memory *m, unsigned lane, const uint8_t *data)
{
    uint8_t whole[BYTES_MAX] = {0};
    uint32_t component[4];
    bool is_short = (m->unusual & ISA_UNUSUAL_SHORT) && (m->short_mask >> lane & 1);
    memcpy(whole, data, is_short ? 4u * m->dwords[lane] : m->bytes);
    if (m->unusual & ISA_UNUSUAL_TYPED) {
        isa_buffer_unpack(m->data_format, m->number_format, whole, component);
        load_components(ctx, inst, m, lane, component);
    } else {
        load_plain(ctx, inst, m, lane, whole);
    }
    if (m->unusual & ISA_UNUSUAL_STATUS)
        vgpr(ctx, inst->dst)[64 * inst->dwords + lane] = 0;
}

/* ---- accesses ---- */

void isa_memory_load(struct isa_context *ctx, const struct isa_inst *inst,
                     const struct isa_memory *m, const void *data, size_t stride)
{
    if (!m->unusual) {
        isa_memory_load_lanes(ctx, inst, m->mask, data, stride);
        return;
    }
    FOR_LANES (lane, m->mask)
        load_lane(ctx, inst, m, lane, (const uint8_t *)data + lane * stride);
}

void isa_memory_load_zeros(struct isa_context *ctx, const struct isa_inst *inst,
                           const struct isa_memory *m)
{
    static const uint8_t zero[BYTES_MAX];
    static const uint32_t component[4];
    bool to_lds = m->kind == ISA_MEMORY_LOAD && (m->unusual & ISA_UNUSUAL_LDS);
    if (inst->dst == ISA_OPERAND_NONE && !to_lds)
        return;
    FOR_LANES (lane, m->zero_mask) {
        if (m->unusual & ISA_UNUSUAL_TYPED)
            load_components(ctx, inst, m, lane, component);
        else
            load_plain(ctx, inst, m, lane, zero);
        if (m->unusual & ISA_UNUSUAL_STATUS)
            vgpr(ctx, inst->dst)[64 * inst->dwords + lane] = 0;
    }
}

void isa_memory_store(const struct isa_context *ctx, const struct isa_inst *inst,
                      const struct isa_memory *m, void *out, size_t stride)
{
    if (!(m->unusual & (ISA_UNUSUAL_TYPED | ISA_UNUSUAL_LDS))) {
        isa_memory_store_lanes(ctx, inst, m->mask, out, stride);
        return;
    }
    FOR_LANES (lane, m->mask) {
        uint8_t *to = (uint8_t *)out + lane * stride;
        const uint8_t *place = lds_place(ctx, m, lane);
        if (m->unusual & ISA_UNUSUAL_TYPED)
            store_components(ctx, inst, m, lane, to);
        else if (place)
            memcpy(to, place, 4);
        else
            memset(to, 0, 4);
    }
}
