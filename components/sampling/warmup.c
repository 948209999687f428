/* Finds the component at the other end of a port and calls it. The tables hold pointers to
 * functions and instances by ring; they are built with each platform and are no state. */
#include "warmup.h"

#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring.h"
#include "runtime/observe/hang.h"
#include "runtime/state/memory.h"
#include "runtime/state/platform.h"

struct unit {
    uint32_t leaf;
    struct warm_unit warm;
};

struct end {
    struct component *component;
    void (*touch)(struct component *c, const struct warm_access *access);
};

static const struct warm_ops **ops; /* by instance */
static struct unit *units;
static uint32_t unit_count;
static struct end *ends; /* by ring; made when the first access passes */
static uint32_t *levels; /* by instance: connections to the furthest end below */
static uint64_t counts[WARM_KINDS];
static uint8_t *apart; /* by instance; NULL: none is */

/* NULL: the instance has nothing to do with the kernels that are chosen. */
static const struct warm_ops *ops_of(uint32_t leaf)
{
    return apart && apart[leaf] ? NULL : ops[leaf];
}

void warm_open(const struct platform_table *table)
{
    ops = arena_derive((table->instance_count + 1) * sizeof *ops);
    units = arena_derive((table->instance_count + 1) * sizeof *units);
    unit_count = 0;
    ends = NULL;
    levels = NULL;
    apart = NULL;
    warm_clear_counts();
}

void warm_register(const struct component *c, const struct warm_ops *own)
{
    if (ops)
        ops[c->leaf] = own;
}

void warm_register_unit(const struct component *c, const struct warm_unit *unit)
{
    if (units)
        units[unit_count++] = (struct unit){c->leaf, *unit};
}

static OUT_OF_LINE void find_ends(void)
{
    const struct platform_table *t = engine_base.platform;
    ends = arena_derive((t->ring_count + 1) * sizeof *ends);
    for (uint32_t i = 0; i < t->ring_count; i++) {
        uint32_t leaf = t->rings[i].receiver;
        ends[i].component = platform_component(leaf);
        ends[i].touch = ops[leaf] ? ops[leaf]->touch : NULL;
    }
}

void warm_pass(uint32_t ring, const struct warm_access *access)
{
    if (ring == RING_NONE)
        return;
    if (unlikely(!ends))
        find_ends();
    if (ends[ring].touch)
        ends[ring].touch(ends[ring].component, access);
    else
        counts[access->kind]++;
}

uint32_t warm_unit_count(void)
{
    return unit_count;
}

uint32_t warm_unit_leaf(uint32_t number)
{
    return units[number].leaf;
}

uint32_t warm_unit_lines_ahead(uint32_t number)
{
    return units[number].warm.lines_ahead;
}

bool warm_unit_keeps_code(uint32_t number)
{
    return number < unit_count && units[number].warm.code_kept;
}

void warm_touch(uint32_t unit, enum warm_port port, const struct warm_access *access)
{
    warm_pass(units[unit].warm.ring[port], access);
}

uint32_t warm_unit_behind(uint32_t ring)
{
    uint32_t i = 0;
    if (ring == RING_NONE)
        return UINT32_MAX;
    while (i < unit_count && units[i].leaf != engine_base.platform->rings[ring].receiver)
        i++;
    return i < unit_count ? i : UINT32_MAX;
}

const uint64_t *warm_counts(void)
{
    return counts;
}

void warm_count(enum warm_kind kind, uint64_t number)
{
    counts[kind] += number;
}

void warm_clear_counts(void)
{
    for (unsigned i = 0; i < WARM_KINDS; i++)
        counts[i] = 0;
}

bool warm_set_apart(uint32_t start, uint32_t except, uint32_t other)
{
    const struct platform_table *t = engine_base.platform;
    bool changed = true;
    if (!apart)
        apart = arena_derive(t->instance_count + 1);
    apart[start] = 1;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < t->ring_count; i++) {
            uint32_t a = t->rings[i].sender, b = t->rings[i].receiver;
            if (a == except || b == except || apart[a] == apart[b])
                continue;
            apart[a] = apart[b] = 1;
            changed = true;
        }
    }
    return !apart[other];
}

bool warm_is_quiet(uint32_t leaf)
{
    return hang_outstanding_except(leaf, apart) == 0;
}

void warm_drop_all(void)
{
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (ops_of(i) && ops_of(i)->drop)
            ops_of(i)->drop(platform_component(i));
}

void warm_begin_all(bool system)
{
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (ops_of(i) && ops_of(i)->begin)
            ops_of(i)->begin(platform_component(i), system);
}

void warm_flush_all(void)
{
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (ops_of(i) && ops_of(i)->flush)
            ops_of(i)->flush(platform_component(i));
}

void warm_executed(uint64_t entry, uint64_t first, uint64_t end, struct sampler_work *work)
{
    struct warm_code code = {entry, first, end, work, NULL};
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (ops_of(i) && ops_of(i)->executed)
            ops_of(i)->executed(platform_component(i), &code);
}

uint32_t *warm_line_marks(void)
{
    static uint32_t *marks;
    static uint64_t size;
    if (size != memory.size)
        marks = arena_reserve(memory.size / WARM_LINE * sizeof *marks);
    size = memory.size;
    return marks;
}

void warm_drop(uint32_t ring)
{
    uint32_t leaf = ring == RING_NONE ? 0 : engine_base.platform->rings[ring].receiver;
    if (ring != RING_NONE && ops[leaf] && ops[leaf]->drop)
        ops[leaf]->drop(platform_component(leaf));
}

void warm_carve(uint32_t ring, uint32_t bytes)
{
    uint32_t leaf = ring == RING_NONE ? 0 : engine_base.platform->rings[ring].receiver;
    if (ring != RING_NONE && ops[leaf] && ops[leaf]->carve)
        ops[leaf]->carve(platform_component(leaf), bytes);
}

/* Rounds of the longest way down; a circle (a ring of switches) ends where it is closed. */
static void find_levels(void)
{
    const struct platform_table *t = engine_base.platform;
    bool changed = true;
    levels = arena_derive((t->instance_count + 1) * sizeof *levels);
    for (uint32_t round = 0; changed && round < 16; round++) {
        changed = false;
        for (uint32_t i = 0; i < t->ring_count; i++) {
            const struct platform_ring *r = &t->rings[i];
            bool passes = !r->is_reply && ops[r->sender] && ops[r->sender]->touch;
            if (!passes || levels[r->sender] > levels[r->receiver])
                continue;
            levels[r->sender] = levels[r->receiver] + 1;
            changed = true;
        }
    }
}

/* Where two caches above each other hold the same dirty byte, the upper one has the newer: so it
 * comes last. */
void warm_write_out(void)
{
    const struct platform_table *t = engine_base.platform;
    uint32_t most = 0;
    if (!levels)
        find_levels();
    for (uint32_t level = 0; level <= most; level++) {
        for (uint32_t i = 0; i < t->instance_count; i++) {
            most = max(levels[i], most);
            if (levels[i] == level && ops_of(i) && ops_of(i)->write_out)
                ops_of(i)->write_out(platform_component(i));
        }
    }
}

void warm_read_in(void)
{
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (ops_of(i) && ops_of(i)->read_in)
            ops_of(i)->read_in(platform_component(i));
}
