/* Keeps the bits of a block beside its registers and memory, and moves them as each operation moves
 * values. */
#include "warp_undefined.h"

#include "base/number.h"

#include "warp_cluster.h"

/* A register, or a predicate. */
struct row {
    uint32_t lanes;    /* undefined */
    uint32_t computed; /* those that are no copies of memory */
    uint32_t origin;   /* 1 + the instruction that has read it first; 0: not known */
};

/* Lanes that several rows leave undefined. */
struct sum {
    uint32_t lanes, computed, origin;
    uint32_t common; /* undefined in all of them */
};

static uint64_t words_for(uint64_t bytes)
{
    return divide_up(bytes, 64);
}

static uint64_t rows_of(const struct warp_block *b)
{
    return (uint64_t)b->warps * (2ull * b->narrow_capacity + b->wide);
}

uint64_t warp_undefined_bytes(const struct warp_block *b)
{
    uint64_t local = (uint64_t)b->warps * WARP_LANES * b->local;
    return ((rows_of(b) * sizeof(struct row) + 7) & ~7ull)
           + 8 * (words_for(b->shared) + words_for(local));
}

static struct row *rows_in(const struct warp_block *b)
{
    return (struct row *)(void *)((char *)(uintptr_t)b + b->undefined_offset);
}

/* Bits of the bytes of shared memory, or of local memory: those of all threads. */
static uint64_t *bits_in(const struct warp_block *b, enum ptx_space space)
{
    char *at = (char *)rows_in(b) + ((rows_of(b) * sizeof(struct row) + 7) & ~7ull);
    return (uint64_t *)(void *)at + (space == PTX_SPACE_SHARED ? 0 : words_for(b->shared));
}

void warp_undefined_begin(struct warp_block *b)
{
    uint64_t *bits = bits_in(b, PTX_SPACE_SHARED);
    memset(rows_in(b), 0, rows_of(b) * sizeof(struct row));
    memset(bits, 0xff, (size_t)((char *)rows_in(b) + warp_undefined_bytes(b) - (char *)bits));
}

/* ---- registers ---- */

/* NULL: a constant, or nothing. */
static struct row *row_at(const struct warp_machine *m, uint8_t bank, uint32_t at)
{
    const struct warp_block *b = m->block;
    struct row *rows = rows_in(b);
    const char *block = (const char *)b;
    switch (bank) {
    case WARP_NARROW:
        return rows + (m->base[bank] + at - (block + b->narrow_offset)) / WARP_NARROW_BYTES;
    case WARP_WIDE:
        return rows + (uint64_t)b->warps * b->narrow_capacity
               + (m->base[bank] + at - (block + b->wide_offset)) / WARP_WIDE_BYTES;
    case WARP_PREDICATE:
        return rows + (uint64_t)b->warps * (b->narrow_capacity + b->wide)
               + ((const char *)(m->predicate + at) - (block + b->predicates_offset)) / 4;
    default:
        return NULL;
    }
}

static void add_row(struct sum *sum, const struct row *row)
{
    sum->common &= row ? row->lanes : UINT32_MAX;
    if (!row || !row->lanes)
        return;
    sum->lanes |= row->lanes;
    sum->computed |= row->computed;
    sum->origin = sum->origin ? sum->origin : row->origin;
}

static struct sum sources_of(const struct warp_machine *m, const struct warp_op *op)
{
    struct sum sum = {.common = UINT32_MAX};
    unsigned last = op->effect & WARP_SECOND ? 3 : 4;
    for (unsigned i = op->effect & WARP_KEEPS ? 0 : 1; i <= last; i++)
        add_row(&sum, row_at(m, op->bank[i], op->at[i]));
    for (unsigned i = op->written; i < op->count; i++) {
        const struct warp_place *p = &m->code->places[op->list + i];
        add_row(&sum, row_at(m, p->bank, p->at));
    }
    return sum;
}

static void put_row(struct row *row, uint32_t mask, struct sum sum)
{
    if (!row)
        return;
    row->lanes = (row->lanes & ~mask) | (sum.lanes & mask);
    row->computed = (row->computed & ~mask) | (sum.computed & mask);
    if (sum.lanes & mask)
        row->origin = sum.origin;
}

static void put_all(const struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                    struct sum sum)
{
    put_row(row_at(m, op->bank[0], op->at[0]), mask, sum);
    if (op->effect & WARP_SECOND)
        put_row(row_at(m, op->bank[4], op->at[4]), mask, sum);
    if (op->effect & WARP_THIRD && op->target)
        put_row(row_at(m, WARP_PREDICATE, op->target - 1), mask, sum);
    for (unsigned i = 0; i < op->written; i++) {
        const struct warp_place *p = &m->code->places[op->list + i];
        put_row(row_at(m, p->bank, p->at), mask, sum);
    }
}

/* ---- uses ---- */

static void report_use(const struct warp_machine *m, const struct warp_op *op, enum warp_use use,
                       uint32_t lanes, uint32_t origin)
{
    const struct warp_undefined_use found = {
        .use = use,
        .block = (uint32_t)m->block->number,
        .warp = m->number,
        .lane = (uint32_t)__builtin_ctz(lanes),
        .instruction = op->instruction,
        .origin = origin ? origin - 1 : PTX_NONE,
    };
    m->launch->undefined->report(m->launch->context, &found);
}

/* A register that must be defined in these lanes. */
static void check_defined(const struct warp_machine *m, const struct warp_op *op, enum warp_use use,
                          struct row *row, uint32_t lanes)
{
    if (!row || !(row->lanes & lanes))
        return;
    report_use(m, op, use, row->lanes & lanes, row->origin);
    row->lanes = 0;
}

void warp_undefined_before(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (op->kind == WARP_MEMORY)
        check_defined(m, op, WARP_USE_ADDRESS, row_at(m, op->bank[1], op->at[1]), mask);
    else if (op->kind == WARP_SWITCH)
        check_defined(m, op, WARP_USE_BRANCH, row_at(m, op->bank[1], op->at[1]), mask);
    else if (op->kind == WARP_BRANCH && op->guard)
        check_defined(m, op, WARP_USE_BRANCH, row_at(m, WARP_PREDICATE, op->guard - 1),
                      m->split->mask);
}

/* ---- memory ---- */

static bool are_all_set(const uint64_t *bits, uint64_t at, uint64_t bytes)
{
    for (uint64_t i = at; i < at + bytes; i++)
        if (!(bits[i / 64] >> i % 64 & 1))
            return false;
    return bytes > 0;
}

static uint64_t place_in(const struct warp_machine *m, unsigned lane, uint64_t offset)
{
    if (m->space == PTX_SPACE_SHARED)
        return (m->address[lane] & WARP_RANK_OFFSET) + offset;
    return (uint64_t)(m->number * WARP_LANES + lane) * m->block->local + m->address[lane] + offset;
}

/* The bits of what a lane accesses, which may be shared memory of another block. */
static uint64_t *bits_of(const struct warp_machine *m, unsigned lane)
{
    bool is_own = m->space != PTX_SPACE_SHARED || !(m->address[lane] >> WARP_RANK_SHIFT);
    return bits_in(is_own ? m->block : warp_cluster_block(m->launch, m->block, m->address[lane]),
                   m->space);
}

static bool is_undefined(const struct warp_machine *m, unsigned lane, uint64_t offset,
                         uint32_t bytes)
{
    if (m->space == PTX_SPACE_GLOBAL)
        return m->launch->undefined->is_undefined(m->address[lane] + offset, bytes);
    return (m->space == PTX_SPACE_SHARED || m->space == PTX_SPACE_LOCAL)
           && are_all_set(bits_of(m, lane), place_in(m, lane, offset), bytes);
}

static void set(const struct warp_machine *m, unsigned lane, uint64_t offset, uint32_t bytes,
                bool undefined)
{
    if (m->space == PTX_SPACE_GLOBAL)
        m->launch->undefined->set(m->address[lane] + offset, bytes, undefined);
    if (m->space != PTX_SPACE_SHARED && m->space != PTX_SPACE_LOCAL)
        return;
    uint64_t *bits = bits_of(m, lane), at = place_in(m, lane, offset);
    for (uint64_t i = at; i < at + bytes; i++)
        bits[i / 64] = undefined ? bits[i / 64] | 1ull << i % 64 : bits[i / 64] & ~(1ull << i % 64);
}

#define OVER(mask)                                                                                 \
    for (uint32_t left = mask, lane; left && (lane = (uint32_t)__builtin_ctz(left), 1);            \
         left &= left - 1)

/* Lanes whose bytes nothing has written. */
static struct sum read_bytes(const struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                             uint64_t offset, uint32_t bytes)
{
    struct sum sum = {0};
    OVER(mask)
    {
        if (!is_undefined(m, lane, offset, bytes))
            continue;
        if (!sum.lanes)
            m->launch->undefined->note(op->instruction, m->space, m->address[lane] + offset);
        sum.lanes |= 1u << lane;
    }
    sum.origin = op->instruction + 1;
    return sum;
}

static struct row *element(const struct warp_machine *m, const struct warp_op *op, unsigned alone,
                           unsigned i)
{
    const struct warp_place *p = &m->code->places[op->list + i];
    return op->count ? row_at(m, p->bank, p->at) : row_at(m, op->bank[alone], op->at[alone]);
}

static void load_undefined(const struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    uint32_t bytes = op->count ? op->target & 255 : m->bytes;
    for (unsigned i = 0; i < (op->count ? op->count : 1u); i++)
        put_row(element(m, op, 0, i), mask, read_bytes(m, op, mask, (uint64_t)i * bytes, bytes));
}

static void store_undefined(const struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    uint32_t bytes = op->count ? op->target & 255 : m->bytes;
    for (unsigned i = 0; i < (op->count ? op->count : 1u); i++) {
        struct row *from = element(m, op, 2, i);
        if (m->space == PTX_SPACE_GLOBAL && from)
            check_defined(m, op, WARP_USE_STORE, from, from->computed & mask);
        OVER(mask) set(m, lane, (uint64_t)i * bytes, bytes, from && from->lanes >> lane & 1);
    }
}

/* Memory that is updated is read. */
static void update_memory(const struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                          bool overwrites)
{
    struct sum sum = read_bytes(m, op, overwrites ? 0 : mask, 0, m->bytes);
    if (sum.lanes)
        report_use(m, op, WARP_USE_STORE, sum.lanes, sum.origin);
    OVER(mask) set(m, lane, 0, m->bytes, false);
}

static void access(const struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    const struct ptx_function *f = ptx_function_of(m->code->module, op->instruction);
    const struct ptx_instruction *inst = &f->instructions[op->instruction - f->first_instruction];
    const uint64_t *local = bits_in(m->block, PTX_SPACE_LOCAL);
    switch (inst->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        load_undefined(m, op, mask);
        return;
    case PTX_OP_ST:
    case PTX_OP_ST_ASYNC:
        store_undefined(m, op, mask);
        return;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        update_memory(m, op, mask, ptx_has(inst, PTX_MOD_EXCH));
        break;
    case PTX_OP_CP_ASYNC:
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_STMATRIX:
    case PTX_OP_WMMA_STORE:
    case PTX_OP_ST_BULK: /* stores that are not followed: all memory that they may write counts as
                          * defined */
        for (uint64_t *b = bits_in(m->block, PTX_SPACE_SHARED); b < local; b++)
            *b = 0;
        if (m->space == PTX_SPACE_GLOBAL && inst->opcode != PTX_OP_CP_ASYNC
            && (inst->opcode != PTX_OP_CP_ASYNC_BULK || ptx_has(inst, PTX_MOD_BULK_GROUP)))
            OVER(mask) m->launch->undefined->set_around(m->launch->context, m->address[lane]);
        break;
    case PTX_OP_LDMATRIX:
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_TEX:
    case PTX_OP_SULD:
        break;
    default:
        OVER(mask) set(m, lane, 0, m->bytes, false);
    }
    put_all(m, op, mask, (struct sum){0});
}

/* ---- operations ---- */

/* True if the operation only moves a source, or bits of it. Structs are copied so, in parts. */
static bool only_moves(const struct warp_machine *m, const struct warp_op *op)
{
    static const uint16_t opcodes[] = {PTX_OP_MOV, PTX_OP_SELP, PTX_OP_CVT, PTX_OP_SHL,
                                       PTX_OP_SHR, PTX_OP_AND,  PTX_OP_OR,  PTX_OP_BFE,
                                       PTX_OP_BFI, PTX_OP_PRMT};
    const struct ptx_function *f = ptx_function_of(m->code->module, op->instruction);
    unsigned opcode = f->instructions[op->instruction - f->first_instruction].opcode;
    for (unsigned i = 0; i < ARRAY_COUNT(opcodes); i++)
        if (opcodes[i] == opcode)
            return true;
    return false;
}

void warp_undefined_after(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (op->run == warp_handler_of(WARP_RUN_SPILL_PARAM)) {
        m->space = PTX_SPACE_LOCAL;
        OVER(mask)
        {
            m->address[lane] = m->split->local + op->value;
            set(m, lane, 0, 4 * op->target, false);
        }
    } else if (m->bytes) {
        access(m, op, mask);
    } else if (op->kind == WARP_CLUSTER) {
        ; /* it has no registers */
    } else if (op->kind <= WARP_MEMORY || (op->kind >= WARP_SYNC && op->kind <= WARP_ALIGNED)) {
        bool is_move = only_moves(m, op);
        struct sum sum = sources_of(m, op);
        if (op->kind >= WARP_SYNC && (sum.lanes & mask) != mask)
            sum.lanes = 0; /* it moves between lanes */
        if (is_move)
            sum.lanes &= sum.common;
        else
            sum.computed = sum.lanes;
        put_all(m, op, mask, sum);
    } else if (op->kind == WARP_BARRIER || op->kind == WARP_SYSTEM) { /* they have no lists */
        put_row(row_at(m, op->bank[0], op->at[0]), mask, (struct sum){0});
    }
}
