/* Addresses and data of vector and scalar memory instructions; no memory is touched but LDS, by
 * isa_memory_lds.
 *
 * Scratch is interleaved: the dwords of 64 lanes at one private offset are adjacent, so that offset
 * o of lane l is at base + (o / 4) * 256 + l * 4 + o % 4 (LLVM AMDGPU usage, "Flat Scratch";
 * element size 4, index stride 64 in the private segment's buffer resource); an access that is not
 * aligned continues in the lane's next dword. On gfx8 the base of flat accesses is
 * ctx->scratch_base + FLAT_SCRATCH_HI * 256, on gfx9 the 64-bit FLAT_SCRATCH itself. */
#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

#include "isa_buffer_format.h"
#include "isa_valu.h"

enum { SCRATCH_DWORD_STRIDE = 256 };

static uint32_t *vgpr(const struct isa_context *ctx, unsigned code)
{
    return ctx->vgpr + (size_t)isa_register(ctx, code) * 64;
}

/* ---- flat, global, scratch ---- */

static uint64_t scratch_base(const struct isa_context *ctx, const struct isa_wave *wave,
                             uint32_t target)
{
    if (isa_traits[target].scratch == ISA_SCRATCH_OFFSET)
        return ctx->scratch_base + (uint64_t)wave->sgpr[ISA_FLAT_SCRATCH + 1] * 256;
    return isa_wave_pair(wave, ISA_FLAT_SCRATCH);
}

static uint64_t interleaved(uint64_t base, uint32_t offset, unsigned lane)
{
    return base + (uint64_t)(offset & ~3u) * 64 + lane * 4 + (offset & 3);
}

uint64_t isa_memory_private(uint32_t target, const struct isa_context *ctx,
                            const struct isa_wave *wave, uint32_t offset, unsigned lane)
{
    return interleaved(scratch_base(ctx, wave, target), offset, lane);
}

/* No atomic straddles: unaligned atomics are refused. */
void isa_memory_find_straddling(struct isa_memory *m, uint64_t lanes)
{
    if (m->kind == ISA_MEMORY_ATOMIC || m->bytes == 1)
        return;
    FOR_LANES (lane, lanes) {
        unsigned begin = (unsigned)(m->address[lane] - m->skew) & 3;
        m->straddle_mask |= (uint64_t)(begin && begin + m->bytes > 4) << lane;
    }
}

static uint64_t lanes_with_upper_half(const struct isa_memory *m, uint64_t exec, uint64_t aperture)
{
    uint64_t out = 0;
    if (aperture)
        FOR_LANES (lane, exec)
            out |= (uint64_t)(m->address[lane] >> 32 == aperture >> 32) << lane;
    return out;
}

/* True if flat accesses of any lane may go to an aperture. Mostly none do, which one vectorised
 * pass finds over the registers of the upper halves, if these are the upper halves of the
 * addresses. Inactive lanes may give a false alarm, which costs time only. */
static bool any_in_apertures(const struct isa_context *ctx, const struct isa_inst *inst,
                             const struct isa_memory *m)
{
    uint64_t shared_half = ctx->shared_aperture >> 32, private_half = ctx->private_aperture >> 32,
             hits = 0;
    if (inst->soffset == ISA_OPERAND_NONE && !inst->simm)
        return isa_memory_words(vgpr(ctx, inst->src[0]) + 64, (uint32_t)shared_half,
                                (uint32_t)private_half);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t upper = m->address[lane] >> 32;
        hits |= (upper == shared_half ? 1u : 0u) | (upper == private_half ? 1u : 0u);
    }
    return hits;
}

static void split_apertures(const struct isa_context *ctx, const struct isa_wave *wave,
                            const struct isa_inst *inst, uint64_t exec, struct isa_memory *m)
{
    if (!any_in_apertures(ctx, inst, m))
        return;
    uint64_t shared = lanes_with_upper_half(m, exec, ctx->shared_aperture);
    uint64_t private = lanes_with_upper_half(m, exec, ctx->private_aperture);
    uint64_t base = scratch_base(ctx, wave, inst->target);
    FOR_LANES (lane, shared)
        m->address[lane] = (uint32_t)m->address[lane];
    FOR_LANES (lane, private)
        m->address[lane] = interleaved(base, (uint32_t)m->address[lane], lane);
    m->mask = exec & ~shared;
    m->lds_mask = shared;
    m->swizzle_mask = private;
    m->skew = base & 3;
    isa_memory_find_straddling(m, private);
}

static void flat_addresses(const struct isa_context *ctx, const struct isa_wave *wave,
                           const struct isa_inst *inst, struct isa_memory *m)
{
    const uint32_t *low = vgpr(ctx, inst->src[0]);
    uint64_t offset = (uint64_t)(int64_t)inst->simm;
    if (inst->soffset != ISA_OPERAND_NONE) {
        uint64_t base = isa_wave_pair(wave, inst->soffset) + offset;
        isa_memory_flat(low, NULL, base, m->address);
    } else {
        isa_memory_flat(low, low + 64, offset, m->address);
    }
}

static void scratch_addresses(const struct isa_context *ctx, const struct isa_wave *wave,
                              const struct isa_inst *inst, struct isa_memory *m)
{
    uint64_t base = scratch_base(ctx, wave, inst->target);
    uint32_t scalar = inst->soffset != ISA_OPERAND_NONE ? wave->sgpr[inst->soffset] : 0,
             all_offsets = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t vector = inst->src[0] != ISA_OPERAND_NONE ? vgpr(ctx, inst->src[0])[lane] : 0;
        uint32_t offset = vector + scalar + (uint32_t)inst->simm;
        all_offsets |= offset;
        m->address[lane] = interleaved(base, offset, lane);
    }
    m->swizzle_mask = m->mask;
    m->skew = base & 3;
    if (all_offsets & 3)
        isa_memory_find_straddling(m, m->mask);
}

/* ---- buffers ---- */

/* A buffer resource, GCN3 manual 8.1.8. */
struct resource {
    uint64_t base;
    uint32_t stride, records, element, index_stride;
    unsigned element_shift, index_shift; /* their logarithms */
    unsigned data_format, number_format, select;
    bool swizzled, adds_thread, is_buffer;
    bool counts_records; /* NUM_RECORDS, instead of bytes */
};

static struct resource read_resource(const struct isa_wave *wave, unsigned code)
{
    const uint32_t *word = &wave->sgpr[code];
    struct resource r = {
        .base = (uint64_t)word[0] | (uint64_t)(word[1] & 0xffff) << 32,
        .stride = word[1] >> 16 & 0x3fff,
        .swizzled = word[1] >> 31,
        .records = word[2],
        .element = 2u << (word[3] >> 19 & 3),
        .element_shift = 1 + (word[3] >> 19 & 3),
        .index_stride = 8u << (word[3] >> 21 & 3),
        .index_shift = 3 + (word[3] >> 21 & 3),
        .data_format = word[3] >> 15 & 15,
        .number_format = word[3] >> 12 & 7,
        .select = word[3] & 0xfff,
        .adds_thread = word[3] >> 23 & 1,
        .is_buffer = word[3] >> 30 == 0,
    };
    if (r.adds_thread) /* the data format field extends the stride */
        r.stride |= (word[3] >> 15 & 15) << 14;
    return r;
}

static uint64_t buffer_address(const struct resource *r, uint32_t index, uint32_t offset)
{
    if (!r->swizzled)
        return (uint64_t)r->stride * index + offset;
    uint64_t row = index >> r->index_shift, in_row = index & (r->index_stride - 1);
    uint64_t in_element = offset & (r->element - 1), elements = offset - in_element;
    return ((row * r->stride + elements) << r->index_shift) + (in_row << r->element_shift)
           + in_element;
}

/* NUM_RECORDS counts bytes, or records: on gfx8 of swizzled buffers, on gfx9 of those that the
 * instruction gives an index for (Mesa, radeonsi: "The NUM_RECORDS field has a different meaning").
 */
static bool counts_records(const struct resource *r, const struct isa_inst *inst)
{
    bool indexed =
        isa_is_gfx9((enum isa_target)inst->target) ? inst->memory & ISA_MEM_IDXEN : r->swizzled;
    return r->stride && indexed;
}

static bool buffer_covers(const struct resource *r, uint32_t index, uint64_t offset, unsigned bytes)
{
    if (r->counts_records)
        return index < r->records && (!r->swizzled || offset + bytes <= r->stride);
    uint64_t end = (r->swizzled ? 0 : (uint64_t)r->stride * index) + offset + bytes;
    return end <= r->records;
}

/* Each lane's index and offset before the resource is applied. */
struct buffer_lanes {
    uint32_t index[ISA_LANES], offset[ISA_LANES];
};

static void read_buffer_lanes(const struct isa_context *ctx, const struct isa_inst *inst,
                              bool adds_thread, struct buffer_lanes *lanes)
{
    bool offen = inst->memory & ISA_MEM_OFFEN, idxen = inst->memory & ISA_MEM_IDXEN;
    const uint32_t *index = idxen ? vgpr(ctx, inst->src[0]) : NULL;
    const uint32_t *offset = offen ? vgpr(ctx, inst->src[0]) + (idxen ? 64 : 0) : NULL;
    uint32_t thread = adds_thread ? 1 : 0, constant = (uint32_t)inst->simm;
    for (uint32_t lane = 0; lane < ISA_LANES; lane++) {
        lanes->index[lane] = lane * thread;
        lanes->offset[lane] = constant;
    }
    if (index)
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            lanes->index[lane] += index[lane];
    if (offset)
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            lanes->offset[lane] += offset[lane];
}

/* Lanes whose access lies inside the resource. A resource without stride covers all lanes if it
 * covers the highest offset. */
static uint64_t covered_lanes(const struct resource *r, const struct buffer_lanes *lanes,
                              uint32_t scalar, unsigned bytes)
{
    uint32_t highest = 0;
    uint64_t covered = 0;
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        highest = max(lanes->offset[lane], highest);
    if (!r->stride && (uint64_t)highest + scalar + bytes <= r->records)
        return ~UINT64_C(0);
    for (unsigned lane = 0; lane < ISA_LANES; lane++) {
        uint64_t offset = (uint64_t)lanes->offset[lane] + (r->stride ? 0 : scalar);
        covered |= (uint64_t)buffer_covers(r, lanes->index[lane], offset, bytes) << lane;
    }
    return covered;
}

/*
 * Loads and stores of several dwords are checked dword by dword; typed accesses and atomics are
 * inside or outside as a whole (AMD, "RDNA 3 Instruction Set Architecture", range checking, notes 3
 * and 4, which LLVM and Mesa take for all generations). Gives lanes of which only the first dwords
 * are covered their number, and returns the lanes.
 */
static uint64_t shorten(const struct resource *r, const struct buffer_lanes *lanes, uint32_t scalar,
                        uint64_t uncovered, struct isa_memory *m)
{
    uint64_t partly = 0;
    FOR_LANES (lane, uncovered) {
        unsigned dwords = 0;
        uint64_t offset = (uint64_t)lanes->offset[lane] + (r->stride ? 0 : scalar);
        while (buffer_covers(r, lanes->index[lane], offset, 4 * (dwords + 1)))
            dwords++;
        m->dwords[lane] = (uint8_t)dwords;
        partly |= (uint64_t)(dwords != 0) << lane;
    }
    return partly;
}

static void apply_range(const struct resource *r, const struct buffer_lanes *lanes, uint32_t scalar,
                        bool by_dwords, bool split, struct isa_memory *m)
{
    uint64_t covered = covered_lanes(r, lanes, scalar, m->bytes), partly = 0;
    if (by_dwords && (m->mask & ~covered))
        partly = shorten(r, lanes, scalar, m->mask & ~covered, m);
    m->zero_mask = m->mask & ~(covered | partly);
    m->mask &= covered | partly;
    m->dword_stride = r->swizzled && r->element == 4 ? r->index_stride * 4 : 4;
    m->swizzle_mask = split ? m->mask : partly;
    m->short_mask = partly;
    if (partly)
        m->unusual |= ISA_UNUSUAL_SHORT;
}

/* Finds the lanes of a swizzled buffer whose bytes pass the end of an element. False: they would be
 * split into elements of other sizes than 4. */
static bool find_straddling(const struct resource *r, const struct buffer_lanes *lanes,
                            bool lanes_differ, uint64_t base, struct isa_memory *m)
{
    uint32_t all_offsets = lanes->offset[0];
    if (m->bytes == 1)
        return true;
    if (lanes_differ)
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            all_offsets |= lanes->offset[lane];
    if (!(all_offsets & (r->element - 1)))
        return true;
    if (r->element == 4) {
        m->skew = base & 3;
        isa_memory_find_straddling(m, m->mask);
        m->swizzle_mask |= m->straddle_mask;
        return true;
    }
    FOR_LANES (lane, m->mask)
        if ((lanes->offset[lane] & (r->element - 1)) + m->bytes > r->element)
            return false;
    return true;
}

/* Typed accesses: MTBUF says the format itself, MUBUF leaves it to the resource. False: there is no
 * such format. */
static bool find_format(const struct resource *r, const struct isa_inst *inst, struct isa_memory *m)
{
    enum { IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9 };
    bool is_typed = inst->format == ISA_MTBUF;
    m->unusual |= ISA_UNUSUAL_TYPED;
    m->data_format = is_typed ? inst->format_bits & 15 : (uint8_t)r->data_format;
    m->number_format = is_typed ? inst->format_bits >> 4 : (uint8_t)r->number_format;
    m->select = is_typed ? IDENTITY : (uint16_t)r->select;
    m->bytes = (uint8_t)isa_buffer_format_bytes(m->data_format, m->number_format);
    return m->bytes;
}

static enum isa_status buffer_addresses(const struct isa_context *ctx, const struct isa_wave *wave,
                                        const struct isa_inst *inst, struct isa_memory *m)
{
    struct resource r = read_resource(wave, inst->sdst);
    struct buffer_lanes lanes;
    r.counts_records = counts_records(&r, inst);
    bool typed = isa_type_components(isa_table[inst->op].type[0]) != 0;
    bool exists = !typed || find_format(&r, inst, m);
    bool split = r.swizzled && m->bytes > r.element;
    if (!r.is_buffer || (split && r.element != 4))
        return ISA_BAD_RESOURCE;
    if (!exists) {
        m->zero_mask = m->mask;
        m->mask = 0;
        return ISA_OK;
    }
    uint32_t scalar = (uint32_t)isa_scalar_value(ctx, wave, inst, inst->soffset, TYPE_U32);
    read_buffer_lanes(ctx, inst, r.adds_thread, &lanes);
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        m->address[lane] =
            r.base + scalar + buffer_address(&r, lanes.index[lane], lanes.offset[lane]);
    bool by_dwords = m->bytes > 4 && !typed && m->kind != ISA_MEMORY_ATOMIC;
    apply_range(&r, &lanes, scalar, by_dwords, split, m);
    bool offen = inst->memory & ISA_MEM_OFFEN;
    if (r.swizzled && !find_straddling(&r, &lanes, offen, r.base + scalar, m))
        return ISA_BAD_RESOURCE;
    return ISA_OK;
}

/* ---- vector memory, public ---- */

/* Sets the scope at which the access is visible. The bits of gfx942 say so; sc0 of an atomic only
 * asks for the old value. Before it, glc goes past the vector L1, scc of gfx90a past the L2, and
 * the operations on the L2 are for others than its agent (LLVM, "User Guide for AMDGPU Backend",
 * memory models). */
static void describe_scope(const struct isa_inst *inst, struct isa_memory *out)
{
    bool first = inst->memory & ISA_MEM_GLC, second = inst->memory & ISA_MEM_SCC;
    if (isa_traits[inst->target].has_scope_bits) {
        bool atomic = out->kind == ISA_MEMORY_ATOMIC;
        out->scope = (uint8_t)((first || atomic ? 1 : 0) | second << 1);
        out->scope = atomic && !second ? ISA_SCOPE_AGENT : out->scope;
        out->glc = second;
        return;
    }
    bool l2 = inst->cache_op == ISA_CACHE_ACQUIRE || inst->cache_op == ISA_CACHE_RELEASE;
    out->glc = first || second;
    out->scope = l2 || second              ? ISA_SCOPE_SYSTEM
                 : first || inst->cache_op ? ISA_SCOPE_AGENT
                                           : ISA_SCOPE_WORK_GROUP;
}

static enum isa_memory_kind find_memory_kind(unsigned flags)
{
    if (flags & ISA_IS_LOAD)
        return ISA_MEMORY_LOAD;
    if (flags & ISA_IS_STORE)
        return ISA_MEMORY_STORE;
    return flags & ISA_IS_CACHE_OP ? ISA_MEMORY_CACHE_OP : ISA_MEMORY_ATOMIC;
}

void isa_memory_describe(const struct isa_inst *inst, struct isa_memory *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    out->kind = find_memory_kind(inst->flags);
    out->unusual =
        inst->memory & ISA_MEM_TFE && inst->dst != ISA_OPERAND_NONE ? ISA_UNUSUAL_STATUS : 0;
    out->bytes = (uint8_t)isa_type_bytes(row->type[0]);
    out->atomic = row->operation < ISA_ATOMIC_COUNT ? row->operation : 0;
    out->returns = inst->flags & ISA_RETURNS;
    out->slc = inst->memory & ISA_MEM_SLC;
    out->cache_op = inst->cache_op;
    describe_scope(inst, out);
    out->dword_stride = SCRATCH_DWORD_STRIDE;
    out->mask = out->lds_mask = out->swizzle_mask = out->zero_mask = out->short_mask = 0;
    out->straddle_mask = 0;
    out->skew = 0;
}

/* A cache operation accesses nothing; a skipped one is a load without lanes. */
static enum isa_status no_access(const struct isa_wave *wave, struct isa_memory *out)
{
    if (wave->mode & ISA_MODE_SKIP)
        out->kind = ISA_MEMORY_LOAD;
    out->mask = 0;
    return ISA_OK;
}

enum isa_status isa_memory_addresses(struct isa_context *ctx, const struct isa_wave *wave,
                                     const struct isa_inst *inst, struct isa_memory *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    if (inst->flags & ISA_UNIMPLEMENTED_SEMANTICS)
        return ISA_NOT_IMPLEMENTED;
    if (inst->vgprs > ctx->vgpr_count || inst->agprs > ctx->agpr_count)
        return ISA_BAD_REGISTER;
    isa_memory_describe(inst, out);
    if (row->kind == KIND_STORELDS || row->kind == KIND_LOADLDS || (inst->memory & ISA_MEM_LDS)) {
        out->unusual |= ISA_UNUSUAL_LDS;
        out->lds_base = (wave->sgpr[ISA_M0] & 0xffff) + (uint32_t)inst->simm;
    }
    out->mask = wave->mode & ISA_MODE_SKIP ? 0 : isa_wave_exec(wave);
    switch (inst->format) {
    case ISA_FLAT:
        flat_addresses(ctx, wave, inst, out);
        split_apertures(ctx, wave, inst, out->mask, out);
        return ISA_OK;
    case ISA_GLOBAL:
        flat_addresses(ctx, wave, inst, out);
        return ISA_OK;
    case ISA_SCRATCH:
        scratch_addresses(ctx, wave, inst, out);
        return ISA_OK;
    case ISA_MUBUF:
    case ISA_MTBUF:
        if (row->kind == KIND_CACHE)
            return no_access(wave, out);
        enum isa_status status = buffer_addresses(ctx, wave, inst, out);
        if (status == ISA_OK && out->zero_mask)
            isa_memory_load_zeros(ctx, inst, out);
        return status;
    default:
        return ISA_NOT_IMPLEMENTED;
    }
}

static void copy_out(const uint32_t *from, unsigned bytes, unsigned shift, uint64_t mask,
                     uint8_t *out, size_t stride)
{
    if (bytes < 4) {
        FOR_LANES (lane, mask) {
            uint32_t value = from[lane] >> shift;
            memcpy(out + lane * stride, &value, bytes);
        }
        return;
    }
    if (bytes == 4 && stride == 4 && mask == ~UINT64_C(0)) {
        memcpy(out, from, 64 * sizeof *from);
        return;
    }
    for (unsigned i = 0; i < bytes / 4; i++) {
        uint8_t *to = out + 4 * i;
        if (mask == ~UINT64_C(0))
            for (unsigned lane = 0; lane < 64; lane++)
                memcpy(to + lane * stride, &from[64 * i + lane], 4);
        else
            FOR_LANES (lane, mask)
                memcpy(to + lane * stride, &from[64 * i + lane], 4);
    }
}

void isa_memory_store_lanes(const struct isa_context *ctx, const struct isa_inst *inst,
                            uint64_t mask, void *out, size_t stride)
{
    unsigned type = isa_table[inst->op].type[0];
    unsigned shift = type == TYPE_D16_HI_U8 || type == TYPE_D16_HI_U16 ? 16 : 0;
    copy_out(vgpr(ctx, inst->src[1]), isa_type_bytes(type), shift, mask, out, stride);
}

/* The compared value is in the registers after the new one. */
void isa_memory_compare_data(const struct isa_context *ctx, const struct isa_inst *inst,
                             uint64_t mask, void *out, size_t stride)
{
    unsigned bytes = isa_type_bytes(isa_table[inst->op].type[0]);
    copy_out(vgpr(ctx, inst->src[1]) + 64 * (bytes / 4), bytes, 0, mask, out, stride);
}

uint32_t isa_extend(unsigned type, uint32_t wide, uint32_t old)
{
    switch (type) {
    case TYPE_I8:
        return (uint32_t)(int8_t)wide;
    case TYPE_I16:
        return (uint32_t)(int16_t)wide;
    case TYPE_D16_U8:
    case TYPE_D16_U16:
        return (old & 0xffff0000) | wide;
    case TYPE_D16_I8:
        return (old & 0xffff0000) | (uint16_t)(int8_t)wide;
    case TYPE_D16_HI_U8:
    case TYPE_D16_HI_U16:
        return (old & 0xffff) | wide << 16;
    case TYPE_D16_HI_I8:
        return (old & 0xffff) | (uint32_t)(uint16_t)(int8_t)wide << 16;
    default:
        return wide;
    }
}

void isa_memory_load_lanes(struct isa_context *ctx, const struct isa_inst *inst, uint64_t mask,
                           const void *data, size_t stride)
{
    unsigned type = isa_table[inst->op].type[0], bytes = isa_type_bytes(type);
    const uint8_t *from = data;
    if (inst->dst == ISA_OPERAND_NONE)
        return;
    uint32_t *to = vgpr(ctx, inst->dst);
    if (bytes < 4) {
        if (mask == ~UINT64_C(0) && (type == TYPE_U8 || type == TYPE_U16)) {
            for (unsigned lane = 0; lane < 64; lane++)
                to[lane] = from[lane * stride]
                           | (type == TYPE_U16 ? (uint32_t)from[lane * stride + 1] << 8 : 0);
            return;
        }
        FOR_LANES (lane, mask) {
            uint32_t wide = 0;
            memcpy(&wide, from + lane * stride, bytes);
            to[lane] = isa_extend(type, wide, to[lane]);
        }
        return;
    }
    if (bytes == 4 && stride == 4 && mask == ~UINT64_C(0)) {
        memcpy(to, from, 64 * sizeof *to);
        return;
    }
    for (unsigned i = 0; i < bytes / 4; i++, from += 4, to += 64) {
        if (mask == ~UINT64_C(0))
            for (unsigned lane = 0; lane < 64; lane++)
                memcpy(&to[lane], from + lane * stride, 4);
        else
            FOR_LANES (lane, mask)
                memcpy(&to[lane], from + lane * stride, 4);
    }
}

void isa_memory_lds(struct isa_context *ctx, const struct isa_inst *inst,
                    const struct isa_memory *memory)
{
    uint8_t data[ISA_LANES][16], compare[ISA_LANES][16];
    if (memory->kind != ISA_MEMORY_LOAD)
        isa_memory_store_lanes(ctx, inst, memory->lds_mask, data, 16);
    if (memory->kind == ISA_MEMORY_ATOMIC && memory->atomic == ISA_ATOMIC_CMPSWAP)
        isa_memory_compare_data(ctx, inst, memory->lds_mask, compare, 16);
    FOR_LANES (lane, memory->lds_mask) {
        uint8_t *at = NULL, old[16] = {0};
        if (memory->address[lane] + memory->bytes <= ctx->lds_size)
            at = ctx->lds + memory->address[lane];
        if (at && memory->kind == ISA_MEMORY_STORE)
            memcpy(at, data[lane], memory->bytes);
        else if (at && memory->kind == ISA_MEMORY_LOAD)
            memcpy(old, at, memory->bytes);
        else if (at)
            isa_atomic_apply((enum isa_atomic)memory->atomic, memory->bytes, at, data[lane],
                             compare[lane], old);
        if (inst->dst != ISA_OPERAND_NONE)
            isa_memory_load_lanes(ctx, inst, UINT64_C(1) << lane, old, 0);
    }
}

/* ---- scalar memory ---- */

static unsigned dwords_inside(const struct resource *r, uint64_t offset, unsigned dwords)
{
    uint64_t size = (uint64_t)r->records * (r->stride ? r->stride : 1);
    uint64_t room = size > offset ? (size - offset) / 4 : 0;
    return room < dwords ? (unsigned)room : dwords;
}

static enum isa_scalar_kind find_scalar_kind(unsigned flags)
{
    if (flags & ISA_IS_TIME)
        return ISA_SCALAR_TIME;
    if (flags & ISA_IS_CACHE_OP)
        return ISA_SCALAR_CACHE_OP;
    if (flags & ISA_IS_LOAD)
        return ISA_SCALAR_LOAD;
    return flags & ISA_IS_STORE ? ISA_SCALAR_STORE : ISA_SCALAR_ATOMIC;
}

static void isa_scalar_describe(const struct isa_inst *inst, struct isa_scalar *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    memset(out, 0, sizeof *out);
    out->dwords = out->valid = inst->dwords;
    out->glc = inst->memory & ISA_MEM_GLC;
    out->cache_op = inst->cache_op;
    out->atomic = row->operation < ISA_ATOMIC_COUNT ? row->operation : 0;
    out->kind = find_scalar_kind(inst->flags);
}

const char *isa_scalar_name(const struct isa_scalar *scalar)
{
    return scalar->kind == ISA_SCALAR_LOAD    ? "scalar load"
           : scalar->kind == ISA_SCALAR_STORE ? "scalar store"
                                              : "scalar atomic";
}

enum isa_status isa_scalar_address(const struct isa_context *ctx, const struct isa_wave *wave,
                                   const struct isa_inst *inst, struct isa_scalar *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    (void)ctx;
    isa_scalar_describe(inst, out);
    if (inst->flags & ISA_UNIMPLEMENTED_SEMANTICS)
        return ISA_NOT_IMPLEMENTED;
    if (out->kind == ISA_SCALAR_TIME || out->kind == ISA_SCALAR_CACHE_OP)
        return ISA_OK;
    bool buffer =
        row->kind == KIND_SBLOAD || row->kind == KIND_SBSTORE || row->kind == KIND_SBATOMIC;
    bool scratch = row->kind == KIND_SSCRLOAD || row->kind == KIND_SSCRSTORE;
    uint64_t scalar = inst->memory & ISA_MEM_OFFSET_IS_SGPR ? wave->sgpr[inst->soffset] : 0;
    /* For scratch, registers count in 64 bytes (Vega ISA manual, "Scalar memory addressing"). */
    uint64_t offset = (uint64_t)(int64_t)inst->simm + (scratch ? scalar * 64 : scalar);
    offset &= ~UINT64_C(3);
    if (buffer) {
        struct resource r = read_resource(wave, inst->sdst);
        if (!r.is_buffer)
            return ISA_BAD_RESOURCE;
        out->valid = (uint8_t)dwords_inside(&r, offset, inst->dwords);
        if (out->kind == ISA_SCALAR_ATOMIC && out->valid < inst->dwords)
            out->valid = 0;
        out->address = (r.base & ~UINT64_C(3)) + offset;
    } else {
        out->address = (isa_wave_pair(wave, inst->sdst) & ~UINT64_C(3)) + offset;
    }
    return ISA_OK;
}

void isa_scalar_load(struct isa_wave *wave, const struct isa_inst *inst, const uint32_t *data)
{
    for (unsigned i = 0; i < inst->dwords && inst->dst + i < 128; i++)
        wave->sgpr[inst->dst + i] = data[i];
}

void isa_scalar_store_data(const struct isa_wave *wave, const struct isa_inst *inst, uint32_t *out)
{
    bool compares = isa_table[inst->op].operation == ISA_ATOMIC_CMPSWAP;
    for (unsigned i = 0; i < inst->dwords * (compares ? 2u : 1u); i++)
        out[i] = inst->dst + i < 128 ? wave->sgpr[inst->dst + i] : 0;
}

/* ---- prepared instructions ---- */

static void prepare_scalar(const struct isa_inst *inst, struct isa_ready *out)
{
    if (isa_table[inst->op].kind != KIND_SLOAD || (inst->memory & ISA_MEM_OFFSET_IS_SGPR)
        || inst->dst + inst->dwords > 128 || inst->sdst >= 127)
        return;
    out->memory = ISA_READY_SCALAR_LOAD;
    out->base = inst->sdst;
    out->dst = inst->dst;
    out->dwords = inst->dwords;
    out->offset = (int64_t)inst->simm & ~INT64_C(3);
}

void isa_memory_prepare(const struct isa_inst *inst, struct isa_ready *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    if (inst->unit == ISA_UNIT_SMEM) {
        prepare_scalar(inst, out);
        return;
    }
    unsigned type = row->type[0];
    bool is_load = row->kind == KIND_LOAD, is_store = row->kind == KIND_STORE;
    unsigned data = is_load ? inst->dst : inst->src[1];
    bool as_it_is = isa_type_bytes(type) >= 4 || type == TYPE_U8 || type == TYPE_U16;
    bool is_signed = is_load && (type == TYPE_I8 || type == TYPE_I16);
    if ((inst->format != ISA_FLAT && inst->format != ISA_GLOBAL) || (!is_load && !is_store)
        || (!as_it_is && !is_signed) || (inst->memory & (ISA_MEM_LDS | ISA_MEM_TFE))
        || data == ISA_OPERAND_NONE)
        return;
    out->memory = is_signed ? ISA_READY_LOAD_SIGNED : is_load ? ISA_READY_LOAD : ISA_READY_STORE;
    out->bytes = (uint8_t)isa_type_bytes(type);
    out->base = inst->soffset;
    out->source[0] = (inst->src[0] - ISA_VGPR) * 64u;
    out->data = (data - ISA_VGPR) * 64;
    out->offset = inst->simm;
}
