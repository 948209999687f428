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
#include "base/number_pool.h"

static const struct hash_kind page_kind = HASH_KIND(struct race_page, number, RACE_MEMORY);

enum { PAGE_BYTES = 1 << RACE_PAGE_BITS, CELLS = PAGE_BYTES / 4 };

/* Accesses of a cell, or four cells of a split one. */
union overflow {
    struct {
        struct race_access access[RACE_KEPT];
        uint8_t use[RACE_KEPT], count;
        bool has_only_reads;
    };
    struct race_cell part[4];
};

static union overflow *overflows; /* the first is not used, as 0 stands for none */
static struct number_pool overflow_numbers;
static size_t overflow_capacity;

static uint32_t overflow_acquire(void)
{
    uint32_t number = 1 + number_pool_acquire(&overflow_numbers, RACE_MEMORY);
    grow_list(overflows, (size_t)number + 1, overflow_capacity, RACE_MEMORY);
    memset(&overflows[number], 0, sizeof overflows[number]);
    return number;
}

static void overflow_release(struct race_cell *c)
{
    if (!c->overflow)
        return;
    for (unsigned i = 0; c->is_split && i < 4; i++)
        overflow_release(&overflows[c->overflow].part[i]);
    number_pool_release(&overflow_numbers, c->overflow - 1);
    c->overflow = 0;
}

/* ---- one cell ---- */

#define USE(name) (1u << RACE_##name)

/* The uses that race with each use, if nothing orders them (enum race_use has the reasons). */
static const uint32_t conflicting_uses[] = {
    [RACE_READ] = USE(WRITE) | USE(ATOMIC_WRITE) | USE(STORE) | USE(RELEASE),
    [RACE_WRITE] = ~0u,
    [RACE_ATOMIC_READ] = USE(WRITE),
    [RACE_ATOMIC_WRITE] = USE(READ) | USE(WRITE) | USE(STORE),
    [RACE_STORE] = ~USE(ATOMIC_READ),
    [RACE_RELEASE] = USE(READ) | USE(WRITE) | USE(STORE),
    [RACE_COMPARE] = USE(WRITE) | USE(STORE),
};

static bool uses_conflict(enum race_use a, enum race_use b)
{
    return conflicting_uses[a] >> b & 1;
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

/* True if they race. A race is reported. */
static bool check_access(const struct race_event *e, const struct race_access *a, enum race_use use)
{
    bool races = uses_conflict(use, e->use) && !is_before(e, a);
    if (races)
        e->report(e, a);
    return races;
}

/* Stands for a full list of reads; else 0. */
static uint64_t sum_of(const union overflow *m)
{
    uint64_t sum = 1;
    if (!m->has_only_reads || m->count < RACE_KEPT)
        return 0;
    for (unsigned i = 0; i < RACE_KEPT; i++)
        sum = hash_multiply(sum ^ ((uint64_t)m->access[i].id << 32 | m->access[i].clock));
    return sum | 1;
}

/* Adds the access to the cell's list and drops the accesses that it covers. False: there is no
 * room. */
static bool list_add(const struct race_event *e, struct race_cell *c, const struct race_access *own)
{
    union overflow *m = &overflows[c->overflow];
    uint8_t remaining = 0, full = m->count == RACE_KEPT;
    bool all = e->use == RACE_READ && m->has_only_reads;
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
    m->has_only_reads = e->use == RACE_READ && m->has_only_reads;
    c->reads = sum_of(m);
    return true;
}

/* False: there is no room. */
static bool keep_access(const struct race_event *e, struct race_cell *c,
                        const struct race_access *own)
{
    if (!c->overflow) {
        const struct race_access *a = &c->other;
        if (!a->id || (use_covers(e->use, c->other_use) && is_before(e, a))) {
            c->other = *own;
            c->other_use = (uint8_t)e->use;
            return true;
        }
        c->overflow = overflow_acquire();
        union overflow *m = &overflows[c->overflow];
        m->access[0] = *a;
        m->use[0] = c->other_use;
        m->count = 1;
        m->has_only_reads = c->other_use == RACE_READ;
        c->reads = 0;
    }
    return list_add(e, c, own);
}

static bool may_be_atomic(enum race_use use)
{
    return use == RACE_STORE || use == RACE_RELEASE;
}

/* True if the wavefront has accessed the bytes so since its clock went on, and nothing has written
 * them since. There is nothing new to find then. */
static bool is_repeated(const struct race_event *e, const struct race_cell *c)
{
    race_id id = e->wave->id;
    uint32_t clock = e->wave->clock;
    if (!c->overflow)
        return c->other.id == id && c->other.clock == clock && c->other_use == e->use;
    const union overflow *m = &overflows[c->overflow];
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
    return c->overflow && e->use == RACE_READ && order->reads && c->reads == order->reads
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
    if (c->overflow && e->use == RACE_READ && overflows[c->overflow].has_only_reads)
        ; /* reads do not race */
    else if (c->overflow)
        for (unsigned i = 0; i < overflows[c->overflow].count; i++)
            check_access(e, &overflows[c->overflow].access[i], overflows[c->overflow].use[i]);
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
    overflow_release(c);
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
    if (c->overflow) {
        copy.overflow = overflow_acquire();
        overflows[copy.overflow] = overflows[c->overflow];
    }
    return copy;
}

/* Gives each byte of the dword a cell of its own. */
static void split(struct race_cell *c)
{
    uint32_t overflow = overflow_acquire();
    for (unsigned i = 0; i < 4; i++) {
        struct race_cell part = cell_copy(c);
        part.value = c->value >> 8 * i & 255;
        overflows[overflow].part[i] = part;
    }
    overflow_release(c);
    *c = (struct race_cell){.overflow = overflow, .is_split = true};
}

/* ---- memory ---- */

static struct race_cell *cells_of(struct race_memory *m, uint64_t number)
{
    if (m->last_page == number + 1)
        return m->last_cells;
    struct race_page *p = hash_table_add(&m->pages, &page_kind, &number);
    if (!p->cells) {
        p->cells = grow_zeroed(CELLS * sizeof *p->cells, RACE_MEMORY);
        bool touched = p->whole.write.id || p->whole.other.id || p->whole.overflow;
        for (unsigned i = 0; touched && i < CELLS; i++)
            p->cells[i] = cell_copy(&p->whole);
        overflow_release(&p->whole);
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
            struct race_cell part =
                overflows[c->overflow].part[e->address & 3]; /* the pool may move */
            touch_cell(e, &part, e->address - start, 1);
            overflows[c->overflow].part[e->address & 3] = part;
        }
    }
}

void race_clear_flat(struct race_memory *memory, uint64_t bytes)
{
    uint64_t before = divide_up(memory->flat_bytes, 4), cells = divide_up(bytes, 4);
    for (uint64_t i = 0; i < before; i++)
        overflow_release(&memory->flat[i]);
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
            overflow_release(&p->cells[c]);
        overflow_release(&p->whole);
        free(p->cells);
    }
    free(memory->flat);
    hash_table_release(&memory->pages);
    *memory = (struct race_memory){0};
}
