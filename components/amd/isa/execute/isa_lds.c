/* The ds_* instructions. Compiled once for each x86-64 level (ISA_VARIANT is the suffix);
 * isa_execute.c chooses.
 *
 * Accesses of which no lane lies outside go a vector of lanes at a time where they can. Lanes are
 * served in ascending order, which makes conflicting writes and atomics deterministic. An access
 * that does not lie wholly inside the work-group's allocation reads 0 or is dropped. */
#include "base/number.h"
#include "components/amd/isa/tables/isa_table.h"

#include "isa_lanes.h"
#include "isa_valu.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

static uint32_t *vgpr(const struct isa_context *ctx, unsigned code)
{
    return ctx->vgpr + (size_t)isa_register(ctx, code) * 64;
}

/* The bytes of an access, or NULL outside the allocation. */
static uint8_t *locate(const struct isa_context *ctx, uint64_t address, unsigned bytes)
{
    if (address + bytes <= ctx->lds_size)
        return ctx->lds + address;
    return NULL;
}

static void read_words(const uint32_t *from, unsigned lane, unsigned dwords, void *out)
{
    for (unsigned i = 0; i < dwords; i++)
        memcpy((uint8_t *)out + 4 * i, &from[64 * i + lane], 4);
}

static void write_words(uint32_t *to, unsigned lane, unsigned dwords, const void *in)
{
    for (unsigned i = 0; i < dwords; i++)
        memcpy(&to[64 * i + lane], (const uint8_t *)in + 4 * i, 4);
}

/* ---- loads and stores ---- */

/* True if all active lanes' accesses of `bytes` at address + offset lie inside. */
static bool all_inside(const struct isa_context *ctx, const struct lanes_span *s, uint32_t offset,
                       unsigned bytes)
{
    return (uint64_t)s->high + offset + bytes <= ctx->lds_size;
}

static uint32_t part_of(const uint8_t *from, unsigned bytes)
{
    uint32_t part = 0;
    if (from)
        memcpy(&part, from, bytes);
    return part;
}

static void load_checked(const struct isa_context *ctx, uint64_t exec, unsigned type,
                         const uint32_t *address, uint32_t offset, uint32_t *to)
{
    unsigned bytes = isa_type_bytes(type);
    FOR_LANES (lane, exec) {
        const uint8_t *from = locate(ctx, address[lane] + offset, bytes);
        static const uint8_t zero[16];
        if (bytes >= 4)
            write_words(to, lane, bytes / 4, from ? from : zero);
        else
            to[lane] = isa_extend(type, part_of(from, bytes), to[lane]);
    }
}

static void load_lanes(const struct isa_context *ctx, uint64_t exec, unsigned type,
                       const struct lanes_span *s, uint32_t offset, uint32_t *to)
{
    unsigned bytes = isa_type_bytes(type);
    bool is_signed = type == TYPE_I8 || type == TYPE_I16;
    bool whole = bytes >= 4 || is_signed || type == TYPE_U8 || type == TYPE_U16;
    if (!whole || !all_inside(ctx, s, offset, bytes)) {
        load_checked(ctx, exec, type, s->offset, offset, to);
        return;
    }
    const char *lds = (const char *)ctx->lds;
    struct lanes_memory memory = {lds, lds + ctx->lds_size};
    lanes_load(to, lds + offset + s->low, s, bytes, is_signed, &memory, exec);
}

static void store_lanes(const struct isa_context *ctx, uint64_t exec, unsigned type,
                        const struct lanes_span *s, uint32_t offset, const uint32_t *from)
{
    unsigned bytes = isa_type_bytes(type),
             shift = type == TYPE_D16_HI_U8 || type == TYPE_D16_HI_U16 ? 16 : 0;
    if (!shift && all_inside(ctx, s, offset, bytes)) {
        lanes_store((char *)ctx->lds + offset + s->low, from, s, bytes, exec);
        return;
    }
    FOR_LANES (lane, exec) {
        uint8_t *to = locate(ctx, s->offset[lane] + offset, bytes);
        uint32_t low = from[lane] >> shift;
        if (to && bytes >= 4)
            read_words(from, lane, bytes / 4, to);
        else if (to)
            memcpy(to, &low, bytes);
    }
}

/* Offsets of the two-element forms are in elements, or in 64 elements. */
static void two_offsets(const struct isa_inst *inst, unsigned bytes, bool by_64, uint32_t offset[2])
{
    uint32_t unit = bytes * (by_64 ? 64 : 1);
    offset[0] = (uint32_t)(inst->simm & 255) * unit;
    offset[1] = (uint32_t)(inst->simm >> 8 & 255) * unit;
}

static void load_two(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                     unsigned type, bool by_64)
{
    uint32_t offset[2], at[64];
    two_offsets(inst, isa_type_bytes(type), by_64, offset);
    memcpy(at, vgpr(ctx, inst->src[0]), sizeof at); /* what is loaded may overwrite it */
    struct lanes_span s = lanes_span_of(at, exec, isa_type_bytes(type));
    load_lanes(ctx, exec, type, &s, offset[0], vgpr(ctx, inst->dst));
    load_lanes(ctx, exec, type, &s, offset[1], vgpr(ctx, inst->dst) + 64 * isa_type_dwords(type));
}

static void store_two(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                      unsigned type, bool by_64)
{
    uint32_t offset[2];
    two_offsets(inst, isa_type_bytes(type), by_64, offset);
    struct lanes_span s = lanes_span_of(vgpr(ctx, inst->src[0]), exec, isa_type_bytes(type));
    store_lanes(ctx, exec, type, &s, offset[0], vgpr(ctx, inst->src[1]));
    store_lanes(ctx, exec, type, &s, offset[1], vgpr(ctx, inst->src[2]));
}

static void thread_addresses(const struct isa_wave *wave, uint32_t address[64])
{
    for (uint32_t lane = 0; lane < 64; lane++)
        address[lane] = (wave->sgpr[ISA_M0] & 0xffff) + 4 * lane;
}

/* ---- atomics ---- */

static uint64_t other_operation(unsigned kind, unsigned bytes, uint64_t old, uint64_t data0,
                                uint64_t data1)
{
    uint64_t mask = bytes == 4 ? 0xffffffff : ~UINT64_C(0);
    switch (kind) {
    case KIND_MSKOR:
    case KIND_MSKOR_RTN:
        return (old & ~data0) | data1;
    case KIND_WRAP:
        return (old >= data0 ? old - data0 : old + data1) & mask;
    default:
        return (data0 - old) & mask; /* rsub */
    }
}

static void atomic_lane(const struct isa_table_row *row, unsigned bytes, uint8_t *memory,
                        const uint64_t data[2], uint64_t *old)
{
    bool compare = row->kind == KIND_CMPST || row->kind == KIND_CMPST_RTN;
    if (compare) { /* data0 is compared, data1 written */
        isa_atomic_apply((enum isa_atomic)row->operation, bytes, memory, &data[1], &data[0], old);
    } else if (row->operation < ISA_ATOMIC_COUNT) {
        isa_atomic_apply((enum isa_atomic)row->operation, bytes, memory, &data[0], NULL, old);
    } else {
        memcpy(old, memory, bytes);
        uint64_t after = other_operation(row->kind, bytes, *old, data[0], data[1]);
        memcpy(memory, &after, bytes);
    }
}

static uint64_t lane_data(const uint32_t *from, unsigned lane, unsigned bytes)
{
    return from[lane] | (bytes == 8 ? (uint64_t)from[64 + lane] << 32 : 0);
}

/* The most frequent atomics, of 4 bytes: an addition, or (with `next`) a comparison. `to`, which
 * may be one of the sources, is NULL if nothing is returned. */
static void change_inside(uint8_t *lds, uint64_t exec, const uint32_t *address,
                          const uint32_t *data, const uint32_t *next, uint32_t *to)
{
    FOR_LANES (lane, exec) {
        uint32_t old, fresh;
        uint8_t *memory = lds + address[lane];
        memcpy(&old, memory, 4);
        fresh = !next ? old + data[lane] : old == data[lane] ? next[lane] : old;
        memcpy(memory, &fresh, 4);
        if (to)
            to[lane] = old;
    }
}

static void atomic(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                   const struct isa_table_row *row)
{
    unsigned bytes = isa_type_bytes(row->type[0]);
    bool two = inst->src[2] != ISA_OPERAND_NONE, returns = inst->dst != ISA_OPERAND_NONE;
    const uint32_t *address = vgpr(ctx, inst->src[0]), *data0 = vgpr(ctx, inst->src[1]),
                   *data1 = two ? vgpr(ctx, inst->src[2]) : data0;
    uint32_t *to = returns ? vgpr(ctx, inst->dst) : NULL;
    bool compare = row->operation == ISA_ATOMIC_CMPSWAP;
    if (bytes == 4 && (row->operation == ISA_ATOMIC_ADD || compare)) {
        struct lanes_span s = lanes_span_of(address, exec, 4);
        if (all_inside(ctx, &s, (uint32_t)inst->simm, 4)) {
            change_inside(ctx->lds + (uint32_t)inst->simm, exec, address, data0,
                          compare ? data1 : NULL, to);
            return;
        }
    }
    FOR_LANES (lane, exec) {
        uint64_t data[2] = {lane_data(data0, lane, bytes), lane_data(data1, lane, bytes)}, old = 0;
        uint8_t *memory = locate(ctx, (uint64_t)address[lane] + (uint32_t)inst->simm, bytes);
        if (memory)
            atomic_lane(row, bytes, memory, data, &old);
        if (returns)
            to[lane] = (uint32_t)old;
        if (returns && bytes == 8)
            to[64 + lane] = (uint32_t)(old >> 32);
    }
}

/* The signed distance in dwords of the second place of a *_src2 instruction, and the first place:
 * the offset's 15 bits, or, with its highest bit, the upper 15 of the address (GCN3 ISA manual). */
static int32_t second_place(uint32_t offset, uint32_t *address)
{
    if (!(offset & 0x8000))
        return (int16_t)(offset | (offset & 0x4000) << 1);
    int32_t distance = (int32_t)*address >> 17;
    *address &= 0x1ffff;
    return distance;
}

/* Both operands of ds_*_src2 are in LDS. */
static void operate_inside(const struct isa_context *ctx, uint64_t exec,
                           const struct isa_inst *inst, const struct isa_table_row *row)
{
    unsigned bytes = isa_type_bytes(row->type[0]);
    const uint32_t *address = vgpr(ctx, inst->src[0]);
    FOR_LANES (lane, exec) {
        uint32_t first = address[lane];
        uint64_t data[2] = {0, 0}, old;
        uint32_t second = 4 * (uint32_t)second_place((uint32_t)inst->simm, &first);
        uint8_t *to = locate(ctx, first, bytes), *from = locate(ctx, first + second, bytes);
        if (from)
            memcpy(data, from, bytes);
        if (to && row->kind == KIND_WRSRC2)
            memcpy(to, data, bytes);
        else if (to)
            atomic_lane(row, bytes, to, data, &old);
    }
}

/* ds_condxchg32_rtn_b64: each dword whose highest bit is set is written, without that bit. */
static void exchange_marked(const struct isa_context *ctx, uint64_t exec,
                            const struct isa_inst *inst)
{
    const uint32_t *address = vgpr(ctx, inst->src[0]), *data = vgpr(ctx, inst->src[1]);
    FOR_LANES (lane, exec) {
        uint32_t old[2] = {0, 0}, fresh[2] = {data[lane], data[64 + lane]};
        uint64_t at = ((uint64_t)address[lane] + (uint32_t)inst->simm) & ~UINT64_C(7);
        uint8_t *memory = locate(ctx, at, 8);
        if (memory)
            memcpy(old, memory, 8);
        for (unsigned i = 0; i < 2; i++) {
            uint32_t wrapped = fresh[i] & 0x80000000 ? fresh[i] & 0x7fffffff : old[i];
            if (memory)
                memcpy(memory + 4 * i, &wrapped, 4);
        }
        write_words(vgpr(ctx, inst->dst), lane, 2, old);
    }
}

static void exchange_two(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                         unsigned type, bool by_64)
{
    unsigned bytes = isa_type_bytes(type);
    uint32_t offset[2];
    two_offsets(inst, bytes, by_64, offset);
    const uint32_t *address = vgpr(ctx, inst->src[0]);
    FOR_LANES (lane, exec) {
        uint64_t data[2] = {0, 0}, old[2] = {0, 0};
        uint32_t at = address[lane];
        for (unsigned i = 0; i < 2; i++)
            read_words(vgpr(ctx, inst->src[1 + i]), lane, bytes / 4, &data[i]);
        for (unsigned i = 0; i < 2; i++) {
            uint8_t *memory = locate(ctx, at + offset[i], bytes);
            if (memory)
                isa_atomic_apply(ISA_ATOMIC_SWAP, bytes, memory, &data[i], NULL, &old[i]);
        }
        for (unsigned i = 0; i < 2; i++)
            write_words(vgpr(ctx, inst->dst) + 64 * i * (bytes / 4), lane, bytes / 4, &old[i]);
    }
}

/* ds_append and ds_consume: one counter for the whole wavefront. */
static void count_lanes(const struct isa_context *ctx, const struct isa_wave *wave,
                        const struct isa_inst *inst, bool append)
{
    uint64_t exec = isa_wave_exec(wave);
    uint32_t lanes = (uint32_t)__builtin_popcountll(exec), old = 0;
    uint8_t *memory =
        locate(ctx, (uint64_t)(wave->sgpr[ISA_M0] & 0xffff) + (uint32_t)inst->simm, 4);
    if (memory)
        isa_atomic_apply(append ? ISA_ATOMIC_ADD : ISA_ATOMIC_SUB, 4, memory, &lanes, NULL, &old);
    FOR_LANES (lane, exec)
        vgpr(ctx, inst->dst)[lane] = old;
}

/* ---- moves between lanes: no memory is touched ---- */

static unsigned swizzle_source(unsigned pattern, unsigned lane)
{
    if (pattern & 0x8000)
        return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
    unsigned in_group = lane & 31, and_mask = pattern & 31, or_mask = pattern >> 5 & 31,
             xor_mask = pattern >> 10 & 31;
    return (lane & 32) | (((in_group & and_mask) | or_mask) ^ xor_mask);
}

/* Each active lane gets the word at offset[lane] of the wavefront's 64; inactive lanes give 0. */
static void gather_lanes(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                         const uint32_t *data, const uint32_t offset[64])
{
    uint32_t masked[64], out[64];
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE)
        lanes_put(masked + lane, lanes_get(data + lane) & lanes_active(exec, lane));
    lanes_gather(out, (const char *)masked, offset, 0, UINT64_MAX);
    lanes_write(vgpr(ctx, inst->dst), out, exec);
}

static void permute_backward(const struct isa_context *ctx, uint64_t exec,
                             const struct isa_inst *inst)
{
    uint32_t offset[64];
    const uint32_t *address = vgpr(ctx, inst->src[0]);
    for (unsigned lane = 0; lane < 64; lane++)
        offset[lane] = (address[lane] + (uint32_t)inst->simm) & 63 * 4;
    gather_lanes(ctx, exec, inst, vgpr(ctx, inst->src[1]), offset);
}

/* Forward: where several lanes send to one, the highest wins. */
static void permute_forward(const struct isa_context *ctx, uint64_t exec,
                            const struct isa_inst *inst)
{
    uint32_t out[64] = {0};
    const uint32_t *address = vgpr(ctx, inst->src[0]), *data = vgpr(ctx, inst->src[1]);
    FOR_LANES (lane, exec)
        out[(address[lane] + (uint32_t)inst->simm) >> 2 & 63] = data[lane];
    FOR_LANES (lane, exec)
        vgpr(ctx, inst->dst)[lane] = out[lane];
}

static void swizzle(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst)
{
    uint32_t offset[64];
    for (unsigned lane = 0; lane < 64; lane++)
        offset[lane] = 4 * swizzle_source((unsigned)inst->simm, lane);
    gather_lanes(ctx, exec, inst, vgpr(ctx, inst->src[0]), offset);
}

/* ---- dispatch ---- */

static void load_at(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                    unsigned type, const uint32_t *address)
{
    struct lanes_span s = lanes_span_of(address, exec, isa_type_bytes(type));
    load_lanes(ctx, exec, type, &s, (uint32_t)inst->simm, vgpr(ctx, inst->dst));
}

static void store_at(const struct isa_context *ctx, uint64_t exec, const struct isa_inst *inst,
                     unsigned type, const uint32_t *address)
{
    struct lanes_span s = lanes_span_of(address, exec, isa_type_bytes(type));
    store_lanes(ctx, exec, type, &s, (uint32_t)inst->simm, vgpr(ctx, inst->src[1]));
}

/* Instructions that move values between lanes, or have addresses of their own. */
static enum isa_status execute_other(const struct isa_context *ctx, const struct isa_wave *wave,
                                     const struct isa_inst *inst, uint64_t exec)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    uint32_t address[64];
    switch (row->kind) {
    case KIND_SWIZZLE:
        swizzle(ctx, exec, inst);
        break;
    case KIND_PERMUTE:
    case KIND_BPERMUTE:
        (row->kind == KIND_PERMUTE ? permute_forward : permute_backward)(ctx, exec, inst);
        break;
    case KIND_APPEND:
    case KIND_CONSUME:
        count_lanes(ctx, wave, inst, row->kind == KIND_APPEND);
        break;
    case KIND_LOADTID:
    case KIND_STORETID:
        thread_addresses(wave, address);
        (row->kind == KIND_LOADTID ? load_at : store_at)(ctx, exec, inst, row->type[0], address);
        break;
    default:
        return ISA_NOT_IMPLEMENTED;
    }
    return ISA_OK;
}

enum isa_status PASTE(isa_lds_execute_, ISA_VARIANT)(struct isa_context *ctx, struct isa_wave *wave,
                                                     const struct isa_inst *inst)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    unsigned type = row->type[0];
    uint64_t exec = isa_wave_exec(wave);
    if (wave->mode & ISA_MODE_SKIP)
        return ISA_OK;
    if (!exec && row->kind != KIND_APPEND && row->kind != KIND_CONSUME)
        return isa_row_executable(row) ? ISA_OK : ISA_NOT_IMPLEMENTED;
    switch (row->kind) {
    case KIND_NOP:
    case KIND_GWS: /* see isa_sync() */
    case KIND_GWSV:
        break;
    case KIND_LOAD:
        load_at(ctx, exec, inst, type, vgpr(ctx, inst->src[0]));
        break;
    case KIND_STORE:
        store_at(ctx, exec, inst, type, vgpr(ctx, inst->src[0]));
        break;
    case KIND_LOAD2:
    case KIND_LOAD2ST:
        load_two(ctx, exec, inst, type, row->kind == KIND_LOAD2ST);
        break;
    case KIND_STORE2:
    case KIND_STORE2ST:
        store_two(ctx, exec, inst, type, row->kind == KIND_STORE2ST);
        break;
    case KIND_ATOMIC:
    case KIND_RTN:
    case KIND_CMPST:
    case KIND_CMPST_RTN:
    case KIND_MSKOR:
    case KIND_MSKOR_RTN:
    case KIND_WRAP:
        atomic(ctx, exec, inst, row);
        break;
    case KIND_XCHG2:
    case KIND_XCHG2ST:
        exchange_two(ctx, exec, inst, type, row->kind == KIND_XCHG2ST);
        break;
    case KIND_SRC2:
    case KIND_WRSRC2:
        operate_inside(ctx, exec, inst, row);
        break;
    case KIND_CONDXCHG:
        exchange_marked(ctx, exec, inst);
        break;
    default:
        return execute_other(ctx, wave, inst, exec);
    }
    return ISA_OK;
}

/* ---- prepared instructions ---- */

/* A load or store of one element: `bytes` at the register source[0] + `offset`. */
static enum isa_status run_one(struct isa_context *ctx, struct isa_wave *wave,
                               const struct isa_ready *ready, struct isa_workspace *work)
{
    uint64_t exec = isa_wave_exec(wave);
    uint32_t offset = (uint32_t)ready->offset, *data = ctx->vgpr + ready->data;
    (void)work;
    wave->pc += ready->size;
    if (!exec || (wave->mode & ISA_MODE_SKIP))
        return ISA_OK;
    struct lanes_span s = lanes_span_of(ctx->vgpr + ready->source[0], exec, ready->bytes);
    if (!all_inside(ctx, &s, offset, ready->bytes))
        return PASTE(isa_lds_execute_, ISA_VARIANT)(ctx, wave, ready->inst);
    char *lds = (char *)ctx->lds;
    struct lanes_memory memory = {lds, lds + ctx->lds_size};
    if (ready->memory == ISA_READY_STORE)
        lanes_store(lds + offset + s.low, data, &s, ready->bytes, exec);
    else
        lanes_load(data, lds + offset + s.low, &s, ready->bytes,
                   ready->memory == ISA_READY_LOAD_SIGNED, &memory, exec);
    return ISA_OK;
}

/* Loads of two elements, at constant[0] and constant[1] from the register source[0]. */
static enum isa_status run_two(struct isa_context *ctx, struct isa_wave *wave,
                               const struct isa_ready *ready, struct isa_workspace *work)
{
    uint64_t exec = isa_wave_exec(wave);
    const uint32_t *address = ctx->vgpr + ready->source[0];
    uint32_t *data = ctx->vgpr + ready->data, saved[64];
    (void)work;
    wave->pc += ready->size;
    if (!exec || (wave->mode & ISA_MODE_SKIP))
        return ISA_OK;
    if (!ready->is_direct)
        address = memcpy(saved, address, sizeof saved);
    struct lanes_span s = lanes_span_of(address, exec, ready->bytes);
    uint32_t first = (uint32_t)ready->constant[0], second = (uint32_t)ready->constant[1];
    if (!all_inside(ctx, &s, max(first, second), ready->bytes))
        return PASTE(isa_lds_execute_, ISA_VARIANT)(ctx, wave, ready->inst);
    char *lds = (char *)ctx->lds;
    struct lanes_memory memory = {lds, lds + ctx->lds_size};
    for (unsigned i = 0; i < 2; i++, data += 64 * (ready->bytes / 4))
        lanes_load(data, lds + ready->constant[i] + s.low, &s, ready->bytes, false, &memory, exec);
    return ISA_OK;
}

/* Instructions that move words and compute with none of them. */
static enum isa_status run_moves(struct isa_context *ctx, struct isa_wave *wave,
                                 const struct isa_ready *ready, struct isa_workspace *work)
{
    (void)work;
    enum isa_status status = PASTE(isa_lds_execute_, ISA_VARIANT)(ctx, wave, ready->inst);
    if (status == ISA_OK)
        wave->pc += ready->size;
    return status;
}

static enum isa_status run_any(struct isa_context *ctx, struct isa_wave *wave,
                               const struct isa_ready *ready, struct isa_workspace *work)
{
    isa_workspace_plain(work);
    return run_moves(ctx, wave, ready, work);
}

static void prepare_two(const struct isa_inst *inst, const struct isa_table_row *row,
                        struct isa_ready *out)
{
    uint32_t offset[2];
    out->run = run_two;
    out->bytes = (uint8_t)isa_type_bytes(row->type[0]);
    two_offsets(inst, out->bytes, row->kind == KIND_LOAD2ST, offset);
    out->constant[0] = offset[0];
    out->constant[1] = offset[1];
    out->source[0] = (inst->src[0] - ISA_VGPR) * 64u;
    out->data = (inst->dst - ISA_VGPR) * 64u;
    out->is_direct =
        out->source[0] - out->data >= 16u * out->bytes; /* not among the first loaded */
}

void PASTE(isa_lds_prepare_, ISA_VARIANT)(const struct isa_inst *inst, struct isa_ready *out)
{
    const struct isa_table_row *row = &isa_table[inst->op];
    unsigned type = row->type[0];
    bool is_load = row->kind == KIND_LOAD, is_signed = type == TYPE_I8 || type == TYPE_I16;
    bool whole = isa_type_bytes(type) >= 4 || type == TYPE_U8 || type == TYPE_U16;
    bool moves =
        row->kind == KIND_SWIZZLE || row->kind == KIND_PERMUTE || row->kind == KIND_BPERMUTE;
    out->run = moves ? run_moves : run_any;
    if (row->kind == KIND_LOAD2 || row->kind == KIND_LOAD2ST)
        prepare_two(inst, row, out);
    if ((!is_load && row->kind != KIND_STORE) || (!whole && !(is_load && is_signed)))
        return;
    out->run = run_one;
    out->memory = is_signed ? ISA_READY_LOAD_SIGNED : is_load ? ISA_READY_LOAD : ISA_READY_STORE;
    out->bytes = (uint8_t)isa_type_bytes(type);
    out->offset = (uint32_t)inst->simm;
    out->source[0] = (inst->src[0] - ISA_VGPR) * 64u;
    out->data = ((is_load ? inst->dst : inst->src[1]) - ISA_VGPR) * 64u;
}
