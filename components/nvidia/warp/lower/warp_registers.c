/* Registers in rows: two registers share a row if no thread needs both at the same time.
 *
 * Which registers are live at the ends of blocks comes from the usual equations over the function's
 * flow graph; a register is taken to be live from the first to the last operation at which it is,
 * in the order of the operations. Rows are given in the order of first operations, lowest free row
 * first. A thread sees its own column of a row only, so threads that have parted do not disturb
 * each other. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

#include "warp_frame.h"

struct interval {
    uint32_t first, last; /* operations; first UINT32_MAX: never used */
};

struct block {
    uint32_t first, end;
    uint32_t next[2]; /* blocks, PTX_NONE */
    bool jumps;       /* brx.idx: see the operation */
};

struct flow {
    struct warp_build *b;
    struct warp_op *ops;
    uint32_t count;          /* number of ops */
    uint32_t base[3], total; /* number of a register among all: base[class] + number */
    struct block *block;
    uint32_t block_count;
    uint32_t *block_of; /* block of each op that begins one */
    uint64_t *in, *out, *use, *def;
    uint64_t *temporary; /* registers that are none of the PTX */
    uint32_t words;
    struct interval *interval;
};

/* Number among all, or PTX_NONE: no register that needs a row. */
static uint32_t number(const struct flow *f, uint8_t bank, uint32_t at)
{
    if (bank == WARP_PREDICATE)
        return f->base[2] + at;
    if (bank > WARP_WIDE || (bank == WARP_NARROW && at >= WARP_OUTGOING))
        return PTX_NONE;
    return f->base[bank] + at;
}

enum { ACCESSES_MAX = 160 }; /* a product of four warps has 128 and more */

struct accesses {
    uint32_t reads[ACCESSES_MAX], writes[ACCESSES_MAX];
    unsigned read_count, write_count;
};

static void add_register(uint32_t *list, unsigned *count, uint32_t value)
{
    if (value != PTX_NONE && *count < ACCESSES_MAX)
        list[(*count)++] = value;
}

static void accesses_of(const struct flow *f, const struct warp_op *op, struct accesses *a)
{
    a->read_count = a->write_count = 0;
    add_register(a->writes, &a->write_count, number(f, op->bank[0], op->at[0]));
    if (op->effect & WARP_KEEPS)
        add_register(a->reads, &a->read_count, number(f, op->bank[0], op->at[0]));
    for (unsigned i = 1; i < WARP_OPERANDS; i++) {
        uint32_t n = number(f, op->bank[i], op->at[i]);
        if (i == 4 && op->effect & WARP_SECOND)
            add_register(a->writes, &a->write_count, n);
        else
            add_register(a->reads, &a->read_count, n);
    }
    if (op->effect & WARP_THIRD && op->target)
        add_register(a->writes, &a->write_count, number(f, WARP_PREDICATE, op->target - 1));
    if (op->guard)
        add_register(a->reads, &a->read_count, number(f, WARP_PREDICATE, op->guard - 1u));
    const struct warp_place *place = f->b->code->places + op->list;
    bool listed = op->kind <= WARP_MEMORY || op->kind == WARP_ALIGNED;
    if (listed)
        for (unsigned i = 0; i < op->count; i++) {
            uint32_t n = number(f, place[i].bank, place[i].at);
            if (i < op->written)
                add_register(a->writes, &a->write_count, n);
            if (i >= op->written || op->effect & WARP_LIST_KEEPS)
                add_register(a->reads, &a->read_count, n);
        }
}

/* ---- blocks ---- */

static void find_blocks(struct flow *f)
{
    bool *begins = grow_zeroed((f->count + 1) * sizeof *begins, WARP_CODE);
    uint32_t base = f->b->first_op;
    begins[0] = true;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct warp_op *op = &f->ops[i];
        if (op->kind == WARP_BRANCH)
            begins[op->target - base] = true;
        if (op->kind == WARP_SWITCH)
            for (uint32_t k = 0; k < op->target; k++)
                begins[f->b->code->targets[op->list + k] - base] = true;
        if (op->kind == WARP_BRANCH || op->kind == WARP_SWITCH || op->kind == WARP_RETURN
            || op->kind == WARP_EXIT)
            begins[i + 1] = true;
    }
    for (uint32_t i = 0; i < f->count; i++)
        f->block_count += begins[i];
    f->block = grow_zeroed(f->block_count * sizeof *f->block, WARP_CODE);
    f->block_of = grow_zeroed((f->count + 1) * sizeof *f->block_of, WARP_CODE);
    for (uint32_t i = 0, n = 0; i < f->count; i++) {
        if (begins[i]) {
            f->block_of[i] = n;
            f->block[n++].first = i;
        }
        f->block[n - 1].end = i + 1;
    }
    free(begins);
}

static void find_edges(struct flow *f)
{
    uint32_t base = f->b->first_op;
    for (uint32_t i = 0; i < f->block_count; i++) {
        struct block *block = &f->block[i];
        const struct warp_op *last = &f->ops[block->end - 1];
        bool falls = last->guard
                     || (last->kind != WARP_BRANCH && last->kind != WARP_SWITCH
                         && last->kind != WARP_RETURN && last->kind != WARP_EXIT);
        block->next[0] = falls && block->end < f->count ? f->block_of[block->end] : PTX_NONE;
        block->next[1] = last->kind == WARP_BRANCH ? f->block_of[last->target - base] : PTX_NONE;
        block->jumps = last->kind == WARP_SWITCH;
    }
}

/* ---- liveness ---- */

static void set(uint64_t *bits, uint32_t n)
{
    bits[n / 64] |= (uint64_t)1 << n % 64;
}
static bool has_bit(const uint64_t *bits, uint32_t n)
{
    return bits[n / 64] >> n % 64 & 1;
}

static void find_uses(struct flow *f)
{
    struct accesses a;
    for (uint32_t i = 0; i < f->block_count; i++) {
        uint64_t *use = f->use + (size_t)i * f->words, *def = f->def + (size_t)i * f->words;
        for (uint32_t k = f->block[i].first; k < f->block[i].end; k++) {
            accesses_of(f, &f->ops[k], &a);
            for (unsigned r = 0; r < a.read_count; r++)
                if (!has_bit(def, a.reads[r]))
                    set(use, a.reads[r]);
            for (unsigned w = 0; w < a.write_count; w++) {
                /* a guarded write keeps what other threads have; temporaries are written and read
                   under one guard */
                uint32_t n = a.writes[w];
                if (f->ops[k].guard && !has_bit(def, n) && !has_bit(f->temporary, n))
                    set(use, n);
                else
                    set(def, n);
            }
        }
    }
}

static bool join_block(struct flow *f, uint32_t block, uint32_t next)
{
    uint64_t *out = f->out + (size_t)block * f->words;
    const uint64_t *in = f->in + (size_t)next * f->words;
    bool moved = false;
    for (uint32_t w = 0; w < f->words; w++) {
        moved |= (in[w] & ~out[w]) != 0;
        out[w] |= in[w];
    }
    return moved;
}

static void solve(struct flow *f)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = f->block_count; i--;) {
            const struct block *block = &f->block[i];
            const struct warp_op *last = &f->ops[block->end - 1];
            for (unsigned k = 0; k < 2; k++)
                if (block->next[k] != PTX_NONE)
                    moved |= join_block(f, i, block->next[k]);
            uint32_t jumps = block->jumps ? last->target : 0;
            for (uint32_t k = 0; k < jumps; k++) {
                uint32_t op = f->b->code->targets[last->list + k] - f->b->first_op;
                moved |= join_block(f, i, f->block_of[op]);
            }
            for (uint32_t w = 0; w < f->words; w++) {
                size_t at = (size_t)i * f->words + w;
                uint64_t in = f->use[at] | (f->out[at] & ~f->def[at]);
                moved |= in != f->in[at];
                f->in[at] = in;
            }
        }
    }
}

static void cover(struct interval *i, uint32_t op)
{
    i->first = min(op, i->first);
    i->last = max(op, i->last);
}

static void find_intervals(struct flow *f)
{
    struct accesses a;
    f->interval = grow_zeroed(f->total * sizeof *f->interval, WARP_CODE);
    for (uint32_t i = 0; i < f->total; i++)
        f->interval[i].first = UINT32_MAX;
    for (uint32_t i = 0; i < f->block_count; i++) {
        const struct block *block = &f->block[i];
        for (uint32_t n = 0; n < f->total; n++) {
            if (has_bit(f->in + (size_t)i * f->words, n))
                cover(&f->interval[n], block->first);
            if (has_bit(f->out + (size_t)i * f->words, n))
                cover(&f->interval[n], block->end);
        }
        for (uint32_t k = block->first; k < block->end; k++) {
            accesses_of(f, &f->ops[k], &a);
            for (unsigned r = 0; r < a.read_count; r++)
                cover(&f->interval[a.reads[r]], k);
            for (unsigned w = 0; w < a.write_count; w++)
                cover(&f->interval[a.writes[w]], k);
        }
    }
}

/* ---- rows ---- */

struct candidate {
    struct interval live;
    uint32_t number;
};

static int by_first(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->live.first != b->live.first)
        return a->live.first < b->live.first ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Rows of one class, `row[number]`. Returns how many there are. A row is free for a register that
 * begins after the operation at which the row's last register ends. At that operation the row is
 * not free yet: most handlers read a lane before they write it, but handlers of several places do
 * not. */
static uint32_t give_rows(const struct flow *f, unsigned class, uint32_t *row)
{
    uint32_t count = f->b->registers[class], used = 0, rows = 0;
    struct candidate *list = grow_zeroed(count * sizeof *list, WARP_CODE);
    uint32_t *until = grow_zeroed(count * sizeof *until, WARP_CODE);
    for (uint32_t i = 0; i < count; i++)
        if (f->interval[f->base[class] + i].first != UINT32_MAX)
            list[used++] = (struct candidate){f->interval[f->base[class] + i], i};
    qsort(list, used, sizeof *list, by_first);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t r = 0;
        while (r < rows && until[r] > list[i].live.first)
            r++;
        rows = r == rows ? rows + 1 : rows;
        until[r] = list[i].live.last + 1;
        row[list[i].number] = r;
    }
    free(list);
    free(until);
    return rows;
}

/* ---- at[] become offsets ---- */

struct rows {
    uint32_t *row[3];
    uint32_t fixed, narrow; /* rows of the frame */
};

static uint32_t offset_of(const struct rows *r, uint8_t bank, uint32_t at)
{
    if (bank == WARP_PREDICATE)
        return r->row[2][at];
    if (bank == WARP_WIDE)
        return r->row[WARP_WIDE][at] * WARP_WIDE_BYTES;
    if (bank != WARP_NARROW)
        return at;
    uint32_t row = at >= WARP_FIXED      ? at - WARP_FIXED
                   : at >= WARP_OUTGOING ? r->narrow + at - WARP_OUTGOING
                                         : r->fixed + r->row[WARP_NARROW][at];
    return row * WARP_NARROW_BYTES;
}

static void write_offsets(struct flow *f, const struct rows *r, uint32_t first_place)
{
    struct warp_code *c = f->b->code;
    for (uint32_t i = 0; i < f->count; i++) {
        struct warp_op *op = &f->ops[i];
        for (unsigned k = 0; k < WARP_OPERANDS; k++)
            op->at[k] = offset_of(r, op->bank[k], op->at[k]);
        if (op->effect & WARP_THIRD && op->target)
            op->target = 1 + r->row[2][op->target - 1];
        if (op->guard)
            op->guard = (uint16_t)(1 + r->row[2][op->guard - 1]);
    }
    for (uint32_t i = first_place; i < c->place_count; i++)
        c->places[i].at = offset_of(r, c->places[i].bank, c->places[i].at);
}

/* True if a block begins at the operation with the register in use. */
static bool enters_block(const struct flow *f, uint32_t op, uint32_t n)
{
    for (uint32_t i = 0; i < f->block_count; i++)
        if (f->block[i].first == op)
            return has_bit(f->in + (size_t)i * f->words, n);
    return false;
}

static void keep_names(const struct flow *f, const struct rows *r, struct warp_function *function)
{
    const struct ptx_function *ptx = f->b->function;
    function->named = grow_zeroed(ptx->register_count * sizeof *function->named, WARP_CODE);
    for (uint32_t i = 0; i < ptx->register_count; i++) {
        enum warp_bank bank = warp_bank_of((enum ptx_type)ptx->registers[i].type);
        uint32_t n = f->b->number_of[i], all = number(f, (uint8_t)bank, n);
        const struct interval *live = &f->interval[all];
        function->named[i] =
            (struct warp_register){.bank = (uint8_t)bank, .first = live->first, .last = live->last};
        if (live->first == UINT32_MAX)
            continue;
        function->named[i].at = offset_of(r, (uint8_t)bank, n);
        function->named[i].enters = enters_block(f, live->first, all);
        function->named[i].first += f->b->first_op;
        function->named[i].last += f->b->first_op;
    }
}

void warp_registers_assign(struct warp_build *b, struct warp_function *function)
{
    struct flow f = {.b = b, .ops = b->code->ops + b->first_op};
    struct rows r = {.fixed = function->fixed};
    uint32_t count[3];
    f.count = b->code->op_count - b->first_op;
    f.base[1] = b->registers[0], f.base[2] = f.base[1] + b->registers[1];
    f.total = f.base[2] + b->registers[2];
    f.words = divide_up(f.total, 64);
    find_blocks(&f);
    find_edges(&f);
    uint64_t *sets =
        grow_zeroed(((size_t)4 * f.block_count * f.words + f.words) * sizeof *sets, WARP_CODE);
    f.in = sets, f.out = f.in + (size_t)f.block_count * f.words;
    f.use = f.out + (size_t)f.block_count * f.words;
    f.def = f.use + (size_t)f.block_count * f.words;
    f.temporary = f.def + (size_t)f.block_count * f.words;
    for (unsigned class = 0; class < 3; class ++)
        for (uint32_t i = b->first_temporary[class]; i < b->registers[class]; i++)
            set(f.temporary, f.base[class] + i);
    find_uses(&f);
    solve(&f);
    find_intervals(&f);
    for (unsigned class = 0; class < 3; class ++) {
        r.row[class] = grow_zeroed(b->registers[class] * sizeof *r.row[class], WARP_CODE);
        count[class] = give_rows(&f, class, r.row[class]);
    }
    function->registers = count[WARP_NARROW] + 2 * count[WARP_WIDE];
    function->narrow = r.fixed + count[WARP_NARROW];
    if (function->narrow < count[2])
        function->narrow = count[2];
    if (!function->narrow)
        function->narrow = 1;
    function->wide = count[WARP_WIDE];
    function->predicates = count[2];
    r.narrow = function->narrow;
    write_offsets(&f, &r, b->first_place);
    keep_names(&f, &r, function);
    for (unsigned class = 0; class < 3; class ++)
        free(r.row[class]);
    free(sets);
    free(f.block);
    free(f.block_of);
    free(f.interval);
}
