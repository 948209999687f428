/* Looks each access up in the cells of its dwords, reports what races with it there, and notes it.
 */
#include "race_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/likely.h"
#include "base/number.h"

static const struct hash_kind page_kind = HASH_KIND(struct race_page, number, RACE_MEMORY);

enum { PAGE_BYTES = 1 << RACE_PAGE_BITS, CELLS = PAGE_BYTES / 4 };

/* Accesses of a cell, or four cells of a split one. */
union more {
    struct {
        struct race_access access[RACE_KEPT];
        uint8_t use[RACE_KEPT], count;
        bool only_reads;
    };
    struct race_cell part[4];
    uint32_t next; /* next free cell */
};

static union more *pool; /* the first is never given */
static uint32_t pool_count, pool_free;
static size_t pool_capacity;

static uint32_t more_take(void)
{
    uint32_t taken = pool_free;
    if (taken) {
        pool_free = pool[taken].next;
    } else {
        taken = ++pool_count;
        grow_list(pool, (size_t)pool_count + 1, pool_capacity, RACE_MEMORY);
    }
    memset(&pool[taken], 0, sizeof pool[taken]);
    return taken;
}

static void more_give(struct race_cell *c)
{
    if (!c->more)
        return;
    for (unsigned i = 0; c->is_split && i < 4; i++)
        more_give(&pool[c->more].part[i]);
    pool[c->more].next = pool_free;
    pool_free = c->more;
    c->more = 0;
}

/* ---- one cell ---- */

static bool uses_conflict(enum race_use a, enum race_use b)
{
    bool writes = (a | b) & RACE_WRITE, atomics = a & b & RACE_ATOMIC_READ;
    bool releases = a == RACE_RELEASE && b == RACE_RELEASE;
    bool doubted =
        releases || (a == RACE_STORE && b == RACE_ATOMIC_READ)
        || (b == RACE_STORE && a == RACE_ATOMIC_READ) || (a == RACE_RELEASE && b & RACE_ATOMIC_READ)
        || (b == RACE_RELEASE && a & RACE_ATOMIC_READ) || (a == RACE_COMPARE && b == RACE_READ)
        || (b == RACE_COMPARE && a == RACE_READ);
    return writes && !atomics && !doubted;
}

/* True if whatever races with `old` is reported at `now`, which is ordered after it. */
static bool use_covers(enum race_use now, enum race_use old)
{
    return now == old || (old == RACE_ATOMIC_READ && now != RACE_ATOMIC_READ)
           || (old == RACE_COMPARE && now == RACE_ATOMIC_WRITE);
}

/* race_before(), with what is known of it already. */
static bool is_before(const struct race_event *e, const struct race_access *a)
{
    if (a->id == e->wave->id)
        return true;
    struct race_order *order = e->order;
    unsigned at = (a->id ^ a->id >> RACE_GROUP_BITS) % RACE_ORDERS;
    if (order->id[at] != a->id) {
        order->id[at] = a->id;
        order->before[at] = order->after[at] = 0;
    } else if (a->clock <= order->before[at]) {
        return true;
    } else if (order->after[at] && a->clock >= order->after[at]) {
        return false;
    }
    bool before = race_before(e->wave, a->id, a->clock);
    *(before ? &order->before[at] : &order->after[at]) = a->clock;
    return before;
}

/* true: they race. */
static bool check_access(const struct race_event *e, const struct race_access *a, enum race_use use)
{
    bool races = uses_conflict(use, e->use) && !is_before(e, a);
    if (races)
        e->report(e, a);
    return races;
}

/* Stands for a full list of reads; else 0. */
static uint64_t sum_of(const union more *m)
{
    uint64_t sum = 1;
    if (!m->only_reads || m->count < RACE_KEPT)
        return 0;
    for (unsigned i = 0; i < RACE_KEPT; i++)
        sum = hash_multiply(sum ^ ((uint64_t)m->access[i].id << 32 | m->access[i].clock));
    return sum | 1;
}

/* Adds the access to the cell's list and drops the accesses that it covers. False: there is no
 * room. */
static bool list_add(const struct race_event *e, struct race_cell *c, const struct race_access *own)
{
    union more *m = &pool[c->more];
    uint8_t remaining = 0, full = m->count == RACE_KEPT;
    bool all = e->use == RACE_READ && m->only_reads;
    while (all && remaining < m->count && !is_before(e, &m->access[remaining]))
        remaining++;
    if (all && remaining == m->count && full)
        return false;
    for (unsigned i = remaining; i < m->count; i++) {
        const struct race_access *a = &m->access[i];
        if (use_covers(e->use, m->use[i]) && is_before(e, a))
            continue;
        m->access[remaining] = *a;
        m->use[remaining++] = m->use[i];
    }
    if (remaining < RACE_KEPT) {
        m->access[remaining] = *own;
        m->use[remaining++] = (uint8_t)e->use;
    }
    m->count = remaining;
    m->only_reads = e->use == RACE_READ && m->only_reads;
    c->reads = sum_of(m);
    return true;
}

/* false: there is no room. */
static bool keep_access(const struct race_event *e, struct race_cell *c,
                        const struct race_access *own)
{
    if (!c->more) {
        const struct race_access *a = &c->other;
        if (!a->id || (use_covers(e->use, c->other_use) && is_before(e, a))) {
            c->other = *own;
            c->other_use = (uint8_t)e->use;
            return true;
        }
        c->more = more_take();
        union more *m = &pool[c->more];
        m->access[0] = *a;
        m->use[0] = c->other_use;
        m->count = 1;
        m->only_reads = c->other_use == RACE_READ;
        c->reads = 0;
    }
    return list_add(e, c, own);
}

static bool may_be_atomic(enum race_use use)
{
    return use == RACE_STORE || use == RACE_RELEASE;
}

/* Has the wavefront accessed the bytes so since its clock went on, and nothing written them since?
 * Then there is nothing new to find. */
static bool is_repeated(const struct race_event *e, const struct race_cell *c)
{
    race_id id = e->wave->id;
    uint32_t clock = e->wave->clock;
    if (!c->more)
        return c->other.id == id && c->other.clock == clock && c->other_use == e->use;
    const union more *m = &pool[c->more];
    unsigned i = 0;
    while (i < m->count
           && (m->access[i].id != id || m->access[i].clock != clock || m->use[i] != e->use))
        i++;
    return i < m->count;
}

/* Another cell of the instruction, with the same write and the same list of reads, had no race and
 * no room. */
static bool is_known(const struct race_event *e, const struct race_cell *c)
{
    const struct race_order *order = e->order;
    return c->more && e->use == RACE_READ && order->reads && c->reads == order->reads
           && c->write.id == order->write && c->write.clock == order->write_clock;
}

/* The access is a new one. */
static OUT_OF_LINE void touch_anew(const struct race_event *e, struct race_cell *c, uint64_t offset,
                                   unsigned bytes)
{
    const struct race_access own = {e->wave->id, e->wave->clock, e->site};
    uint32_t value = 0;
    bool races = false;
    if (e->data)
        memcpy(&value, e->data + offset, bytes);
    bool same =
        e->data && c->value == value && may_be_atomic(e->use) && may_be_atomic(c->write_use);
    if (c->write.id && c->write.id != own.id && !same)
        races = check_access(e, &c->write, c->write_use);
    if (c->more && e->use == RACE_READ && pool[c->more].only_reads)
        ; /* reads do not race */
    else if (c->more)
        for (unsigned i = 0; i < pool[c->more].count; i++)
            check_access(e, &pool[c->more].access[i], pool[c->more].use[i]);
    else if (c->other.id && c->other.id != own.id)
        check_access(e, &c->other, c->other_use);
    if (!(e->use & RACE_WRITE) || e->use & RACE_ATOMIC_READ) {
        if (!keep_access(e, c, &own) && !races) {
            e->order->reads = c->reads;
            e->order->write = c->write.id;
            e->order->write_clock = c->write.clock;
        }
        return;
    }
    more_give(c);
    c->write = own;
    c->write_use = (uint8_t)e->use;
    c->value = value;
    c->other.id = 0;
}

/* `offset`: of the cell in the access, of which it has `bytes`. */
static inline void touch_cell(const struct race_event *e, struct race_cell *c, uint64_t offset,
                              unsigned bytes)
{
    if (!is_known(e, c) && !is_repeated(e, c))
        touch_anew(e, c, offset, bytes);
}

/* The cell is not split. */
static struct race_cell cell_copy(const struct race_cell *c)
{
    struct race_cell copy = *c;
    if (c->more) {
        copy.more = more_take();
        pool[copy.more] = pool[c->more];
    }
    return copy;
}

/* Gives each byte of the dword a cell of its own. */
static void split(struct race_cell *c)
{
    uint32_t more = more_take();
    for (unsigned i = 0; i < 4; i++) {
        struct race_cell part = cell_copy(c);
        part.value = c->value >> 8 * i & 255;
        pool[more].part[i] = part;
    }
    more_give(c);
    *c = (struct race_cell){.more = more, .is_split = true};
}

/* ---- memory ---- */

static struct race_cell *cells_of(struct race_memory *m, uint64_t number)
{
    if (m->last_page == number + 1)
        return m->last_cells;
    struct race_page *p = hash_table_add(&m->pages, &page_kind, &number);
    if (!p->cells) {
        p->cells = grow_zeroed(CELLS * sizeof *p->cells, RACE_MEMORY);
        bool touched = p->whole.write.id || p->whole.other.id || p->whole.more;
        for (unsigned i = 0; touched && i < CELLS; i++)
            p->cells[i] = cell_copy(&p->whole);
        more_give(&p->whole);
    }
    m->last_page = number + 1;
    m->last_cells = p->cells;
    return p->cells;
}

/* The cell of a page that was only accessed as a whole so far, as now; NULL: it was not. */
static struct race_cell *whole_page(struct race_memory *m, uint64_t address, uint64_t bytes)
{
    if (m->flat || address % PAGE_BYTES || bytes < PAGE_BYTES)
        return NULL;
    struct race_page *p =
        hash_table_add(&m->pages, &page_kind, &(uint64_t){address >> RACE_PAGE_BITS});
    return p->cells ? NULL : &p->whole;
}

/* NULL: beyond the flat memory. */
static struct race_cell *cell_at(struct race_memory *m, uint64_t address)
{
    if (m->flat)
        return address < m->flat_bytes ? &m->flat[address / 4] : NULL;
    return &cells_of(m, address >> RACE_PAGE_BITS)[address / 4 % CELLS];
}

void race_touch(struct race_event *e)
{
    struct race_memory *memory = e->memory;
    uint64_t start = e->address, end = start + e->bytes;
    struct race_cell *one = e->bytes == 4 && !(start & 3) ? cell_at(memory, start) : NULL;
    if (one && !one->is_split) { /* as most are */
        touch_cell(e, one, 0, 4);
        return;
    }
    while (e->address < end) {
        struct race_cell *c = whole_page(memory, e->address, end - e->address);
        if (c) {
            touch_cell(e, c, e->address - start, 4);
            e->address += PAGE_BYTES;
            continue;
        }
        c = cell_at(memory, e->address);
        bool whole = !(e->address & 3) && end - e->address >= 4;
        if (!c)
            return;
        if (!whole && !c->is_split)
            split(c);
        if (!c->is_split) {
            touch_cell(e, c, e->address - start, 4);
            e->address += 4;
            continue;
        }
        uint64_t last = (e->address & ~(uint64_t)3) + 4;
        for (; e->address < end && e->address < last; e->address++) {
            struct race_cell part = pool[c->more].part[e->address & 3]; /* the pool may move */
            touch_cell(e, &part, e->address - start, 1);
            pool[c->more].part[e->address & 3] = part;
        }
    }
}

void race_clear_flat(struct race_memory *memory, uint64_t bytes)
{
    uint64_t before = divide_up(memory->flat_bytes, 4), cells = divide_up(bytes, 4);
    for (uint64_t i = 0; i < before; i++)
        more_give(&memory->flat[i]);
    if (cells > before || !memory->flat) {
        free(memory->flat);
        memory->flat = grow_zeroed((cells + 1) * sizeof *memory->flat, RACE_MEMORY);
    } else {
        memset(memory->flat, 0, before * sizeof *memory->flat);
    }
    memory->flat_bytes = cells > before ? bytes : memory->flat_bytes;
}

void race_release_memory(struct race_memory *memory)
{
    struct race_page *p;
    for (size_t at = 0; (p = hash_table_next(&memory->pages, &page_kind, &at));) {
        for (unsigned c = 0; p->cells && c < CELLS; c++)
            more_give(&p->cells[c]);
        more_give(&p->whole);
        free(p->cells);
    }
    free(memory->flat);
    hash_table_release(&memory->pages);
    *memory = (struct race_memory){0};
}
