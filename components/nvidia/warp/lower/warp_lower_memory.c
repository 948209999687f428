/* Lowers loads, stores, atomics and asynchronous copies. */
#include "base/number.h"

#include "warp_frame.h"

static enum ptx_type type_of(const struct warp_build *b, unsigned i)
{
    return (enum ptx_type)b->instruction->types[i];
}

static enum ptx_space space_of_variable(const struct warp_build *b, const struct ptx_operand *o)
{
    if (o->base == PTX_BASE_VARIABLE)
        return (enum ptx_space)b->code->module->variables[o->index].space;
    if (o->base == PTX_BASE_LOCAL)
        return (enum ptx_space)b->function->variables[o->index].space;
    return PTX_SPACE_PARAM;
}

struct warp_address warp_address_of(struct warp_build *b, const struct ptx_operand *o,
                                    enum ptx_space space)
{
    struct warp_address a = {.space = (uint8_t)space, .offset = (uint64_t)o->offset};
    if (o->base == PTX_BASE_REGISTER) {
        struct ptx_operand r = {.kind = PTX_OPERAND_REGISTER, .index = o->index};
        a.base = warp_input(b, &r, PTX_U64);
    } else if (o->base == PTX_BASE_NONE) {
        a.base = warp_constant(b, 0, true);
    } else {
        struct ptx_operand s = *o;
        s.kind = PTX_OPERAND_SYMBOL;
        s.offset = 0;
        a.base = warp_input(b, &s, PTX_U64);
        if (space == PTX_SPACE_GENERIC)
            a.space = (uint8_t)space_of_variable(b, o);
    }
    if (a.space == PTX_SPACE_PARAM && !b->function->is_entry) /* spilled: see warp_frame.c */
        a.space = PTX_SPACE_LOCAL;
    return a;
}

void warp_use_address(struct warp_op *op, struct warp_address a)
{
    warp_use(op, 1, a.base);
    op->value = a.offset;
    op->combine = a.space;
    op->kind = WARP_MEMORY;
}

static bool is_signed_small(enum ptx_type type)
{
    return ptx_type_is_signed(type) && ptx_type_bits(type) < 64;
}

/* ---- parameters in rows ---- */

/* Reads `bytes` at `offset` from the words that begin at `first`. */
static void get_words(struct warp_build *b, struct warp_value d, uint32_t first, uint64_t offset,
                      enum ptx_type type)
{
    unsigned bytes = ptx_type_bits(type) / 8;
    struct warp_value low = {.at = first + (uint32_t)(offset / 4), .bank = WARP_NARROW},
                      high = {.at = low.at + 1, .bank = WARP_NARROW};
    if (bytes == 8) {
        warp_emit2(b, WARP_RUN_PACK_32, d, low, high);
        return;
    }
    if (bytes < 4) {
        struct warp_value part = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, bytes == 1 ? WARP_RUN_EXTRACT_32_8 : WARP_RUN_EXTRACT_32_16, part, low)
            ->value = 8 * (offset % 4);
        low = part;
    }
    bool is_signed = is_signed_small(type);
    unsigned size = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
    if (d.bank == WARP_WIDE || bytes < 4)
        warp_emit1(b,
                   warp_run_at(d.bank == WARP_WIDE ? WARP_RUN_WIDEN64_S8 : WARP_RUN_WIDEN32_S8,
                               size + (is_signed ? 0 : 4)),
                   d, low);
    else
        warp_emit1(b, WARP_RUN_MOV_32, d, low);
}

static void put_words(struct warp_build *b, struct warp_value a, uint32_t first, uint64_t offset,
                      enum ptx_type type)
{
    unsigned bytes = ptx_type_bits(type) / 8;
    struct warp_value low = {.at = first + (uint32_t)(offset / 4), .bank = WARP_NARROW},
                      high = {.at = low.at + 1, .bank = WARP_NARROW};
    if (bytes < 8 && a.wide) {
        struct warp_value part = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, part, a);
        a = part;
    }
    if (bytes == 8) {
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, low, a);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, high, a)->value = 32;
    } else if (bytes == 4) {
        warp_emit1(b, WARP_RUN_MOV_32, low, a);
    } else {
        struct warp_op *op =
            warp_emit1(b, bytes == 1 ? WARP_RUN_INSERT_8 : WARP_RUN_INSERT_16, low, a);
        op->value = 8 * (offset % 4);
        op->effect = WARP_KEEPS;
    }
}

/* ---- ld and st ---- */

static const struct ptx_operand *element(const struct ptx_operand *o, unsigned i)
{
    return o->kind == PTX_OPERAND_VECTOR ? &o->elements[i] : o;
}

/* The destination of element i; of 128 bits, half `half` of it. */
static struct warp_value element_output(struct warp_build *b, const struct ptx_operand *o,
                                        enum ptx_type type, unsigned half)
{
    if (o->kind == PTX_OPERAND_SINK)
        return WARP_VALUE_NONE;
    struct warp_value v = warp_output(b, o, ptx_type_bits(type) > 32);
    v.at += half;
    return v;
}

static enum warp_run load_run(enum ptx_type type, bool wide)
{
    /* 8, 16, 32 and 64 bits; narrow or wide register; unsigned or signed */
    static const uint16_t runs[4][2][2] = {
        {{WARP_RUN_LD_U8N, WARP_RUN_LD_S8N}, {WARP_RUN_LD_U8W, WARP_RUN_LD_S8W}},
        {{WARP_RUN_LD_U16N, WARP_RUN_LD_S16N}, {WARP_RUN_LD_U16W, WARP_RUN_LD_S16W}},
        {{WARP_RUN_LD_32N, WARP_RUN_LD_32N}, {WARP_RUN_LD_U32W, WARP_RUN_LD_S32W}},
        {{WARP_RUN_LD_32N, WARP_RUN_LD_32N}, {WARP_RUN_LD_64W, WARP_RUN_LD_64W}}};
    return (enum warp_run)runs[__builtin_ctz(ptx_type_bits(type) / 8)][wide][is_signed_small(type)];
}

/* Parameters of a kernel at a constant offset. */
static void load_parameter(struct warp_build *b, const struct ptx_operand *to, unsigned count,
                           uint64_t offset, enum ptx_type type)
{
    unsigned bytes = ptx_type_bits(type) / 8;
    for (unsigned i = 0; i < count; i++) {
        struct warp_value d = element_output(b, element(to, i), type, 0);
        if (d.bank == WARP_BANK_NONE)
            continue;
        if (bytes > 8 || offset + (i + 1) * bytes > b->function->param_bytes) {
            b->missing = true;
            return;
        }
        struct warp_op *op =
            warp_emit(b, d.bank == WARP_WIDE ? WARP_RUN_PARAM_64 : WARP_RUN_PARAM_32);
        warp_use(op, 0, d);
        op->value = offset + (uint64_t)i * bytes;
        op->target = bytes | (is_signed_small(type) ? 256u : 0);
    }
}

static bool load_words(struct warp_build *b, const struct ptx_operand *to,
                       const struct ptx_operand *from, unsigned count, enum ptx_type type)
{
    uint32_t first, words;
    unsigned bytes = ptx_type_bits(type) / 8;
    if (!warp_frame_words(b, from, &first, &words))
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)from->offset + (uint64_t)i * bytes;
        if (bytes > 8 || offset + bytes > 4ull * words) {
            b->missing = true;
            return true;
        }
        struct warp_value d = element_output(b, element(to, i), type, 0);
        if (d.bank != WARP_BANK_NONE)
            get_words(b, d, first, offset, type);
    }
    return true;
}

static void lower_ld(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    unsigned count = ptx_vector_width(in), bytes = ptx_type_bits(type) / 8, half = bytes / 16;
    if (load_words(b, to, from, count, type))
        return;
    if (from->base == PTX_BASE_PARAM && b->function->is_entry) {
        load_parameter(b, to, count,
                       b->function->params[from->index].offset + (uint64_t)from->offset, type);
        return;
    }
    struct warp_address a = warp_address_of(b, from, ptx_space_of(in));
    if (count == 1 && !half) {
        struct warp_value d = element_output(b, element(to, 0), type, 0);
        if (d.bank == WARP_BANK_NONE)
            d = warp_temporary(b, bytes == 8 ? WARP_WIDE : WARP_NARROW);
        struct warp_op *op = warp_emit(b, load_run(type, d.bank == WARP_WIDE));
        warp_use(op, 0, d);
        warp_use_address(op, a);
        return;
    }
    uint32_t list = b->code->place_count;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k <= half; k++)
            warp_place(b, element_output(b, element(to, i), type, k));
    struct warp_op *op = warp_emit(b, WARP_RUN_LD_VECTOR);
    warp_use_address(op, a);
    op->list = list;
    op->count = op->written = (uint8_t)(count << half);
    op->target = (half ? 8 : bytes) | (is_signed_small(type) ? 256u : 0);
}

static bool store_words(struct warp_build *b, const struct ptx_operand *to,
                        const struct ptx_operand *from, unsigned count, enum ptx_type type)
{
    uint32_t first, words;
    unsigned bytes = ptx_type_bits(type) / 8;
    if (!warp_frame_words(b, to, &first, &words))
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)to->offset + (uint64_t)i * bytes;
        if (bytes > 8 || offset + bytes > 4ull * words) {
            b->missing = true;
            return true;
        }
        struct warp_value a = warp_input(b, element(from, i), type);
        put_words(b, a, first, offset, type);
    }
    return true;
}

static void lower_st(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    const struct ptx_operand *to = &in->operands[0], *from = &in->operands[1];
    unsigned count = ptx_vector_width(in), bytes = ptx_type_bits(type) / 8, half = bytes / 16;
    if (store_words(b, to, from, count, type))
        return;
    struct warp_address a = warp_address_of(b, to, ptx_space_of(in));
    if (count == 1 && !half) {
        struct warp_value v = warp_input(b, element(from, 0), type);
        struct warp_op *op =
            warp_emit(b, warp_run_at(WARP_RUN_ST_8, (unsigned)__builtin_ctz(bytes)));
        warp_use_address(op, a);
        warp_use(op, 2, v);
        return;
    }
    struct warp_value v[32];
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k <= half; k++) {
            v[n] = warp_input(b, element(from, i), type);
            v[n++].at += k;
        }
    uint32_t list = b->code->place_count;
    for (unsigned i = 0; i < n; i++)
        warp_place(b, v[i]);
    struct warp_op *op = warp_emit(b, WARP_RUN_ST_VECTOR);
    warp_use_address(op, a);
    op->list = list;
    op->count = (uint8_t)n;
    op->target = half ? 8 : bytes;
}

/* ---- cp.async, prefetches ---- */

/* The last operand is an mbarrier, at which so many bytes of each lane are complete: at once. */
static void lower_completion(struct warp_build *b, uint32_t bytes)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_address a = warp_address_of(b, &in->operands[2], ptx_space_of(in));
    struct warp_value v = warp_constant(b, bytes, false);
    struct warp_op *op = warp_emit(b, WARP_RUN_MBARRIER_TX);
    warp_use_address(op, a);
    warp_use(op, 2, v);
    op->target = 1;
}

static void lower_copy(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_address to = warp_address_of(b, &in->operands[0], PTX_SPACE_SHARED),
                        from = warp_address_of(b, &in->operands[1], PTX_SPACE_GLOBAL);
    struct warp_value rest = WARP_VALUE_NONE;
    bool hinted = warp_has(b, PTX_MOD_L2_CACHE_HINT);
    if (in->operand_count > 3u + hinted) {
        const struct ptx_operand *o = &in->operands[3];
        bool is_predicate =
            o->kind == PTX_OPERAND_REGISTER && b->function->registers[o->index].type == PTX_PRED;
        rest = is_predicate ? warp_input_predicate(b, o) : warp_input(b, o, PTX_U32);
    }
    struct warp_op *op = warp_emit(b, WARP_RUN_COPY);
    warp_use_address(op, from);
    warp_use(op, 2, to.base);
    warp_use(op, 3, rest);
    op->list = (uint32_t)to.offset;
    op->target = (uint32_t)in->operands[2].bits;
    if (in->operands[2].kind != PTX_OPERAND_INTEGER || op->target > 16)
        b->missing = true;
}

static void lower_fill(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_address to = warp_address_of(b, &in->operands[0], ptx_space_of(in));
    struct warp_value size = warp_input(b, &in->operands[1], PTX_U64);
    struct warp_op *op = warp_emit(b, WARP_RUN_FILL);
    warp_use_address(op, to);
    warp_use(op, 2, size);
}

/* An address as a value. */
static struct warp_value whole_address(struct warp_build *b, const struct ptx_operand *o,
                                       enum ptx_space space)
{
    struct warp_address a = warp_address_of(b, o, space);
    if (!a.offset)
        return a.base;
    bool wide = a.base.bank != WARP_NARROW;
    struct warp_value d = warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    warp_emit2(b, wide ? WARP_RUN_ADD_64 : WARP_RUN_ADD_32, d, a.base,
               warp_constant(b, a.offset, wide));
    return d;
}

/* cp.async.bulk; to several blocks, or of some bytes of each 16, it is not there. */
static void lower_bulk_copy(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool back = warp_has(b, PTX_MOD_BULK_GROUP);
    enum ptx_space from =
                       back || !warp_has(b, PTX_MOD_GLOBAL) ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                   to = back ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    if (warp_has(b, PTX_MOD_MULTICAST_CLUSTER) || warp_has(b, PTX_MOD_CP_MASK)) {
        b->missing = true;
        return;
    }
    struct warp_value source = whole_address(b, &in->operands[1], from),
                      target = whole_address(b, &in->operands[0], to),
                      size = warp_input(b, &in->operands[2], PTX_U32);
    if (!back) { /* nothing looks at it before the copy has brought the bytes */
        struct warp_address barrier = warp_address_of(b, &in->operands[3], PTX_SPACE_SHARED);
        struct warp_op *tx = warp_emit(b, WARP_RUN_MBARRIER_TX);
        warp_use_address(tx, barrier);
        warp_use(tx, 2, size);
        tx->kind = WARP_PLAIN;
        tx->target = 1;
    }
    struct warp_op *op = warp_emit3(b, WARP_RUN_BULK_COPY, WARP_VALUE_NONE, source, target, size);
    op->kind = WARP_MEMORY;
    op->target = (uint32_t)from | (uint32_t)to << 8;
    op->value = back;
}

void warp_lower_memory(struct warp_build *b)
{
    switch (b->instruction->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        lower_ld(b);
        return;
    case PTX_OP_ST:
        lower_st(b);
        return;
    case PTX_OP_ST_ASYNC:
        lower_st(b);
        if (warp_has(b, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES))
            lower_completion(b,
                             ptx_vector_width(b->instruction) * ptx_type_bits(type_of(b, 0)) / 8);
        return;
    case PTX_OP_CP_ASYNC:
        lower_copy(b);
        return;
    case PTX_OP_CP_ASYNC_BULK:
        lower_bulk_copy(b);
        return;
    case PTX_OP_CREATEPOLICY: /* hints change nothing, so any policy will do */
        warp_emit1(b, WARP_RUN_MOV_64, warp_output(b, &b->instruction->operands[0], true),
                   warp_constant(b, 0, true));
        return;
    default:
        lower_fill(b);
    }
}

/* ---- atomics ---- */

struct atomic {
    uint16_t modifier;
    /* unsigned or bits, and signed, each of 32 bits, then of 64; floats: F32, F16, BF16,
       F16X2, BF16X2, F64 */
    uint16_t run[3];
};

static const struct atomic atomics[] = {
    {PTX_MOD_AND, {WARP_RUN_ATOM_AND_32, WARP_RUN_ATOM_AND_32, 0}},
    {PTX_MOD_OR, {WARP_RUN_ATOM_OR_32, WARP_RUN_ATOM_OR_32, 0}},
    {PTX_MOD_XOR, {WARP_RUN_ATOM_XOR_32, WARP_RUN_ATOM_XOR_32, 0}},
    {PTX_MOD_EXCH, {WARP_RUN_ATOM_EXCH_32, WARP_RUN_ATOM_EXCH_32, 0}},
    {PTX_MOD_CAS, {WARP_RUN_ATOM_CAS_32, WARP_RUN_ATOM_CAS_32, 0}},
    {PTX_MOD_ADD, {WARP_RUN_ATOM_ADD_32, WARP_RUN_ATOM_ADD_32, WARP_RUN_ATOM_ADD_F32}},
    {PTX_MOD_MIN, {WARP_RUN_ATOM_MIN_U32, WARP_RUN_ATOM_MIN_S32, WARP_RUN_ATOM_MIN_F32}},
    {PTX_MOD_MAX, {WARP_RUN_ATOM_MAX_U32, WARP_RUN_ATOM_MAX_S32, WARP_RUN_ATOM_MAX_F32}},
    {PTX_MOD_INC, {WARP_RUN_ATOM_INC_U32, 0, 0}},
    {PTX_MOD_DEC, {WARP_RUN_ATOM_DEC_U32, 0, 0}},
};

static enum warp_run atomic_run(struct warp_build *b, enum ptx_type type)
{
    static const uint8_t floats[] = {PTX_F32, PTX_F16, PTX_BF16, PTX_F16X2, PTX_BF16X2, PTX_F64};
    enum ptx_modifier m = ptx_one_of(b->instruction, PTX_GROUP_OPERATION);
    for (size_t i = 0; i < ARRAY_COUNT(atomics); i++) {
        const uint16_t *run = atomics[i].run;
        if (atomics[i].modifier != m)
            continue;
        if (type == PTX_B16 && m == PTX_MOD_CAS)
            return WARP_RUN_ATOM_CAS_16;
        for (unsigned k = 0; k < sizeof floats - (m != PTX_MOD_ADD); k++)
            if (floats[k] == type && run[2])
                return warp_run_at((enum warp_run)run[2], k);
        unsigned wide = ptx_type_bits(type) == 64;
        uint16_t first = run[ptx_type_is_signed(type)];
        if (first && !ptx_type_is_float(type) && ptx_type_bits(type) >= 32)
            return warp_run_at((enum warp_run)first, wide);
    }
    b->missing = true;
    return WARP_RUN_NOP;
}

/* 128 bits: two places each for the destination and operands. */
static void lower_atomic_128(struct warp_build *b, struct warp_address a)
{
    const struct ptx_instruction *in = b->instruction;
    bool compares = warp_has(b, PTX_MOD_CAS);
    struct warp_value v[6];
    unsigned n = compares ? 6 : 4;
    for (unsigned i = 0; i < n; i++) {
        v[i] = i < 2 ? warp_output(b, &in->operands[0], true)
                     : warp_input(b, &in->operands[1 + i / 2], PTX_B128);
        v[i].at += i & 1;
    }
    uint32_t list = b->code->place_count;
    for (unsigned i = 0; i < n; i++)
        warp_place(b, v[i]);
    struct warp_op *op = warp_emit(b, compares ? WARP_RUN_ATOM_CAS_128 : WARP_RUN_ATOM_EXCH_128);
    warp_use_address(op, a);
    op->list = list;
    op->count = (uint8_t)n;
    op->written = 2;
}

static void lower_atomic_at(struct warp_build *b, struct warp_address a, enum ptx_type type,
                            struct warp_value d, const struct ptx_operand *x,
                            const struct ptx_operand *y)
{
    struct warp_value v = warp_input(b, x, type), w = WARP_VALUE_NONE;
    if (y)
        w = warp_input(b, y, type);
    struct warp_op *op = warp_emit(b, atomic_run(b, type));
    warp_use_address(op, a);
    warp_use(op, 0, d);
    warp_use(op, 2, v);
    warp_use(op, 3, w);
}

/* Elements are atomics of their own; a destination may be the source of a later one. */
static void lower_atomic_vector(struct warp_build *b, struct warp_address a, enum ptx_type type,
                                const struct ptx_operand *to, const struct ptx_operand *x)
{
    struct warp_value old[8];
    unsigned count = ptx_vector_width(b->instruction);
    for (unsigned i = 0; i < count; i++) {
        old[i] = to ? warp_temporary(b, WARP_NARROW) : WARP_VALUE_NONE;
        lower_atomic_at(b, a, type, old[i], element(x, i), NULL);
        a.offset += ptx_type_bits(type) / 8;
    }
    if (to)
        for (unsigned i = 0; i < count; i++)
            if (element(to, i)->kind != PTX_OPERAND_SINK)
                warp_emit1(b, WARP_RUN_MOV_32, warp_output(b, element(to, i), false), old[i]);
}

void warp_lower_atomic(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    bool returns = in->opcode == PTX_OP_ATOM;
    const struct ptx_operand *o = in->operands + returns;
    struct warp_address a = warp_address_of(b, &o[0], ptx_space_of(in));
    const struct ptx_operand *to = returns ? &in->operands[0] : NULL;
    if (type == PTX_B128)
        lower_atomic_128(b, a);
    else if (ptx_vector_width(in) > 1)
        lower_atomic_vector(b, a, type, to, &o[1]);
    else
        lower_atomic_at(b, a, type,
                        to && to->kind != PTX_OPERAND_SINK
                            ? warp_output(b, to, ptx_type_bits(type) > 32)
                            : WARP_VALUE_NONE,
                        &o[1], warp_has(b, PTX_MOD_CAS) ? &o[2] : NULL);
    if (in->opcode == PTX_OP_RED_ASYNC && warp_has(b, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES))
        lower_completion(b, ptx_type_bits(type) / 8);
}
