/* See stream.h. */
#include "stream.h"

void stream_init(struct stream *s, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    memset(s, 0, sizeof *s);
    uint32_t *words[] = {s->vgpr, (uint32_t *)(void *)s->memory, s->wave.sgpr};
    const size_t counts[] = {sizeof s->vgpr / 4, sizeof s->memory / 4, 102};
    for (unsigned part = 0; part < 3; part++) {
        for (size_t i = 0; i < counts[part]; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            /* small numbers, floats near 1, anything */
            words[part][i] = state % 4 == 0   ? (uint32_t)(state >> 40) & 0xff
                             : state % 4 == 1 ? 0x3f000000 | (uint32_t)(state >> 40)
                                              : (uint32_t)(state >> 32);
        }
    }
    s->ctx = (struct isa_context){.vgpr_count = STREAM_VGPRS,
                                  .agpr_count = STREAM_AGPRS,
                                  .lds_size = STREAM_LDS,
                                  .shared_aperture = UINT64_C(1) << 48,
                                  .private_aperture = UINT64_C(2) << 48};
    isa_wave_set_pair(&s->wave, ISA_EXEC, seed % 3 ? ~UINT64_C(0) : state);
    isa_wave_set_pair(&s->wave, ISA_VCC, state * 3);
    s->wave.sgpr[ISA_M0] = (uint32_t)(state >> 50);
    s->wave.mode = 0x300 | (uint32_t)(state >> 20 & 0xff);
}

static uint8_t *place(struct stream *s, uint64_t address)
{
    return s->memory + address % STREAM_MEMORY;
}

static void vector_lane(struct stream *s, const struct isa_memory *m, unsigned lane,
                        uint8_t data[16], const uint8_t *compare)
{
    if (m->kind == ISA_MEMORY_ATOMIC) {
        isa_atomic_apply((enum isa_atomic)m->atomic, m->bytes, place(s, m->address[lane]), data,
                         compare, data);
        return;
    }
    unsigned bytes = m->short_mask >> lane & 1 ? 4u * m->dwords[lane] : m->bytes;
    for (unsigned i = 0; i < bytes && i < 16; i++) {
        uint8_t *at = place(s, isa_memory_byte(m, lane, i));
        if (m->kind == ISA_MEMORY_LOAD)
            data[i] = *at;
        else
            *at = data[i];
    }
}

static enum isa_status vector_memory(struct stream *s, const struct isa_inst *inst)
{
    static struct isa_memory m;
    uint8_t data[64][16] = {{0}}, compare[64][16] = {{0}};
    enum isa_status status = isa_memory_addresses(&s->ctx, &s->wave, inst, &m);
    if (status != ISA_OK || m.kind == ISA_MEMORY_CACHE_OP)
        return status;
    if (m.kind != ISA_MEMORY_LOAD)
        isa_memory_store(&s->ctx, inst, &m, data, 16);
    if (m.kind == ISA_MEMORY_ATOMIC && m.atomic == ISA_ATOMIC_CMPSWAP)
        isa_memory_compare_data(&s->ctx, inst, m.mask, compare, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        if (m.mask >> lane & 1)
            vector_lane(s, &m, lane, data[lane], compare[lane]);
    if (m.kind == ISA_MEMORY_LOAD || m.returns)
        isa_memory_load(&s->ctx, inst, &m, data, 16);
    if (m.lds_mask)
        isa_memory_lds(&s->ctx, inst, &m);
    return ISA_OK;
}

static enum isa_status scalar_memory(struct stream *s, const struct isa_inst *inst)
{
    struct isa_scalar m;
    uint32_t data[16] = {0}, old[2] = {0};
    enum isa_status status = isa_scalar_address(&s->ctx, &s->wave, inst, &m);
    if (status != ISA_OK)
        return status;
    uint8_t *at = place(s, m.address);
    switch (m.kind) {
    case ISA_SCALAR_LOAD:
        memcpy(data, at, 4u * m.valid);
        isa_scalar_load(&s->wave, inst, data);
        break;
    case ISA_SCALAR_STORE:
        isa_scalar_store_data(&s->wave, inst, data);
        memcpy(at, data, 4u * m.valid);
        break;
    case ISA_SCALAR_ATOMIC:
        isa_scalar_store_data(&s->wave, inst, data);
        if (m.valid)
            isa_atomic_apply((enum isa_atomic)m.atomic, 4u * m.dwords, at, data, data + m.dwords,
                             old);
        if (m.glc)
            isa_scalar_load(&s->wave, inst, old);
        break;
    case ISA_SCALAR_TIME:
        isa_scalar_load(&s->wave, inst, data);
        break;
    default:
        break;
    }
    return ISA_OK;
}

static enum isa_status execute(struct stream *s, const struct isa_inst *inst)
{
    if (inst->unit != ISA_UNIT_VMEM && inst->unit != ISA_UNIT_SMEM)
        return isa_execute(&s->ctx, &s->wave, inst);
    enum isa_status status =
        inst->unit == ISA_UNIT_VMEM ? vector_memory(s, inst) : scalar_memory(s, inst);
    s->wave.pc += status == ISA_OK ? inst->size : 0;
    return status;
}

void stream_run(struct stream *s, enum isa_target target, const uint8_t *code, size_t size,
                unsigned steps)
{
    s->ctx.vgpr = s->vgpr;
    s->ctx.lds = s->lds;
    s->end = STREAM_STEPS;
    for (s->steps = 0; s->steps < steps; s->steps++) {
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        if (s->wave.pc >= size || s->wave.pc % 4) {
            s->end = STREAM_LEFT;
            return;
        }
        size_t left = size - s->wave.pc;
        if (isa_decode(target, code + s->wave.pc, left < 12 ? left : 12, &inst) <= 0) {
            isa_format(&inst, s->wave.pc, text, sizeof text);
            s->end = STREAM_ILLEGAL;
            return;
        }
        if (inst.flags & ISA_IS_ENDPGM) {
            s->end = STREAM_ENDED;
            return;
        }
        enum isa_status status = execute(s, &inst);
        if (status != ISA_OK && status != ISA_TRAPPED) {
            s->refused++;
            s->wave.pc += inst.size;
        }
    }
}

const char *stream_difference(const struct stream *a, const struct stream *b)
{
    return a->end != b->end                                      ? "their end"
           : a->steps != b->steps                                ? "their length"
           : memcmp(a->vgpr, b->vgpr, sizeof a->vgpr) != 0       ? "vector registers"
           : memcmp(&a->wave, &b->wave, sizeof a->wave) != 0     ? "scalar registers"
           : memcmp(a->lds, b->lds, sizeof a->lds) != 0          ? "LDS"
           : memcmp(a->memory, b->memory, sizeof a->memory) != 0 ? "memory"
                                                                 : NULL;
}
