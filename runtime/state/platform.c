/* From tables to a machine: ids, instances, rings, parts and stores in the arena, bound to each
 * other and initialised.
 *
 * Ids are given in the order of shards, and in a shard in the order of groups, each group at a
 * multiple of 64; with one shard instance order and id order agree. Binding words are copied after
 * `struct component` (or `struct part`), with numbers of parts and stores replaced by arena
 * offsets. Called once by heddle_platform.start(), and by tests.
 *
 * With several ranks every instance has its place at all ranks, in the slice of its owner
 * (arena.h), but a rank touches and initialises only instances that are here (platform_is_here()).
 * A component that writes a store is at every rank, for the copies of the store, in the common
 * slice. */
#include "platform.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/engine/store_log.h"
#include "runtime/link/exchange.h"
#include "runtime/link/rank_rings.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/shard_cut.h"

#include "lookup.h"
#include "memory.h"

static const struct platform_table *table;
static struct engine_group *engine_groups;
static uint32_t *instance_ids; /* component id of each instance */
static uint8_t *instance_domains;
static uint32_t *part_offsets; /* arena offset of each part */
static uint32_t *store_offsets;
static struct platform_interleaving *interleavings; /* how each space is interleaved */
static const void *driver_api;

const char *platform_string(uint32_t offset)
{
    return table->strings + offset;
}

void platform_register_driver(const void *api)
{
    driver_api = api;
}

const void *platform_driver(void)
{
    return driver_api;
}

struct component *platform_component(uint32_t leaf)
{
    return engine_base.components[instance_ids[leaf]];
}

uint32_t platform_id_of(uint32_t leaf)
{
    return instance_ids[leaf];
}

uint32_t platform_domain_of(uint32_t leaf)
{
    return instance_domains[leaf];
}

uint32_t platform_rank_of(uint32_t leaf)
{
    return ranks.of_shard[instance_domains[leaf] / engine.clock_count];
}

/* In whose slice of the arena the instance, its parts and what they allocate are. */
static uint32_t slice_of(uint32_t leaf)
{
    return platform_unit_of(leaf)->store_count ? ARENA_COMMON : platform_rank_of(leaf);
}

bool platform_is_here(uint32_t leaf)
{
    return platform_rank_of(leaf) == ranks.number || slice_of(leaf) == ARENA_COMMON;
}

void *platform_part_at(uint32_t number)
{
    return arena_at(char, part_offsets[number]);
}

uint64_t platform_map_base(uint32_t number)
{
    return table->spaces[table->maps[number].space].base;
}

uint64_t platform_map_size(uint32_t number)
{
    return table->spaces[table->maps[number].space].size;
}

struct platform_interleaving platform_interleaving(int32_t space)
{
    return interleavings[space];
}

int64_t platform_parameter(const struct platform_instance *instance, const char *name,
                           int64_t fallback)
{
    for (uint32_t i = 0; i < instance->param_count; i++)
        if (!strcmp(platform_string(table->param_names[instance->params + i]), name))
            return table->params[instance->params + i];
    return fallback;
}

int32_t platform_space(uint64_t address)
{
    for (uint32_t i = 0; i < table->map_count; i++) {
        const struct platform_space *s = &table->spaces[table->maps[i].space];
        if (address - s->base < s->size)
            return (int32_t)table->maps[i].space;
    }
    return -1;
}

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

static void open_spaces(void)
{
    uint64_t first = UINT64_MAX;
    uint64_t end = 0;
    interleavings = arena_at(struct platform_interleaving,
                             arena_allocate(table->space_count * sizeof *interleavings));
    for (uint32_t i = 0; i < table->space_count; i++) {
        const struct platform_space *s = &table->spaces[i];
        interleavings[i] = (struct platform_interleaving){
            s->base, s->size, s->interleave, s->target_count, 0, false, 0};
        interleavings[i].is_power_of_two = is_power(s->interleave) && is_power(s->target_count);
        interleavings[i].shift = (uint32_t)__builtin_ctzll(s->interleave);
        if (s->is_hashed)
            interleavings[i].fold_bits = (uint8_t)__builtin_ctz(s->target_count);
    }
    /* Platforms without `map` (traces, testers) use their spaces as they are. */
    uint32_t count = table->map_count ? table->map_count : table->space_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct platform_space *s =
            &table->spaces[table->map_count ? table->maps[i].space : i];
        first = min(s->base, first);
        end = max(s->base + s->size, end);
    }
    memory_reserve(end ? first : 0, end ? end - first : 0);
}

/* An instance that is larger keeps tables for the worst case, of which little is touched. */
#define VAST_BYTES ((size_t)64 << 10)

/* Bitmap words of a domain are whole cache lines. */
#define DOMAIN_IDS (64u * ENGINE_WORDS)

static uint32_t whole_lines(uint32_t ids)
{
    return round_up(ids, DOMAIN_IDS);
}

/* The instances of `p` that belong to `domain` get ids from `first` on; how many they are. */
static uint32_t number_members(const struct platform_group *p, uint32_t domain, uint32_t first)
{
    uint32_t members = 0;
    for (uint32_t leaf = p->first; leaf < p->first + p->count; leaf++) {
        if (shard_cut_shard_of(table, leaf) != domain / engine.clock_count)
            continue;
        instance_ids[leaf] = first + members++;
        instance_domains[leaf] = (uint8_t)domain;
    }
    return members;
}

/* The instances of each group of the table, domain by domain. */
static struct engine_group *open_groups(uint32_t *group_count, uint32_t *id_count)
{
    uint32_t most = table->group_count * engine.shard_count + 1;
    struct engine_group *groups = arena_derive(most * sizeof *groups);
    uint32_t count = 0;
    uint32_t ids = 0;
    for (uint32_t domain = 0; domain < engine.domain_count; domain++) {
        ids = whole_lines(ids);
        for (uint32_t g = 0; g < table->group_count; g++) {
            const struct platform_group *p = &table->groups[g];
            if (p->domain != domain % engine.clock_count)
                continue;
            uint32_t members = number_members(p, domain, ids);
            if (!members)
                continue;
            groups[count] = (struct engine_group){
                .unit = table->units[p->unit], .first_id = ids, .count = members, .domain = domain};
            count++;
            ids += round_up(members, 64);
        }
    }
    *group_count = count;
    *id_count = whole_lines(ids);
    return groups;
}

static void open_domains(const struct engine_group *groups, uint32_t group_count)
{
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        memset(&engine.domains[i], 0, sizeof engine.domains[i]);
        clock_set(&engine.domains[i], table->domains[i % engine.clock_count].hz);
    }
    for (uint32_t g = 0; g < group_count; g++) {
        struct engine_domain *d = &engine.domains[groups[g].domain];
        if (!d->word_count)
            d->first_word = groups[g].first_id / 64;
        d->word_count += divide_up(groups[g].count, 64);
    }
    for (uint32_t i = 0; i < engine.domain_count; i++)
        engine.domains[i].word_count = whole_lines(engine.domains[i].word_count * 64) / 64;
}

static void open_instance(const struct engine_group *g, uint32_t leaf, uint32_t *pending_words)
{
    const struct platform_instance *p = &table->instances[leaf];
    uint32_t id = instance_ids[leaf];
    struct component *c =
        (void *)(g->instances + (size_t)(id - g->first_id) * g->unit->instance_bytes);
    engine_base.components[id] = c;
    uint32_t pending = *pending_words, words = divide_up(p->incoming_count, 64);
    *pending_words += words;
    if (!platform_is_here(leaf))
        return;
    c->id = id;
    c->leaf = leaf;
    c->params = p->params;
    c->domain = g->domain;
    c->pending_at = pending;
    c->pending_words = words;
    c->incoming = p->incoming;
    c->route_space = p->route_space;
    c->route_else = p->route_else;
}

/* The instances of the table that belong to `g`, which is part of one of the table's groups. */
static void open_members(struct engine_group *g, uint32_t *pending_words)
{
    arena_select(g->unit->store_count ? ARENA_COMMON
                                      : ranks.of_shard[g->domain / engine.clock_count]);
    size_t bytes = (size_t)g->count * g->unit->instance_bytes;
    bool is_vast = g->unit->instance_bytes > VAST_BYTES;
    g->instances =
        arena_at(char, is_vast ? arena_allocate_rear(bytes) : arena_allocate_front(bytes));
    arena_select(ARENA_COMMON);
    for (uint32_t leaf = 0; leaf < table->instance_count; leaf++)
        if (instance_ids[leaf] - g->first_id < g->count)
            open_instance(g, leaf, pending_words);
}

/* Bitmaps are whole lines of the host's caches, as the words of a shard are. */
static void allocate_near(uint32_t words)
{
    engine_base.near_words = words;
    uint32_t place =
        arena_allocate_front((size_t)ENGINE_NEAR * engine_base.near_words * sizeof(uint64_t));
    if (place + words > UINT32_MAX >> 6)
        bug("marks of arrivals at %u, further than marks can name", place);
    engine_base.near = arena_at(uint64_t, place);
    engine_base.near_mark = place << 6;
}

static void open_instances(struct engine_group *groups, uint32_t group_count, uint32_t id_count)
{
    uint32_t words = id_count / 64;
    uint32_t pending_words = 0;
    engine_base.active = arena_at(uint64_t, arena_allocate_front((words + 1) * sizeof(uint64_t)));
    engine_base.next = arena_at(uint64_t, arena_allocate_front((words + 1) * sizeof(uint64_t)));
    engine.word_count = words;
    allocate_near(words);
    engine_base.components = arena_derive((id_count + 1) * sizeof(struct component *));
    for (uint32_t g = 0; g < group_count; g++) {
        if (g && groups[g].domain / engine.clock_count != groups[g - 1].domain / engine.clock_count)
            pending_words = (pending_words + 7) & ~7u; /* a cache line of its own */
        open_members(&groups[g], &pending_words);
    }
    uint32_t pending = arena_allocate_front((pending_words + 1) * sizeof(uint64_t));
    for (uint32_t leaf = 0; leaf < table->instance_count; leaf++)
        if (platform_is_here(leaf))
            platform_component(leaf)->pending_at += pending;
}

const struct unit_type *platform_unit_of(uint32_t leaf)
{
    for (uint32_t g = 0; g < table->group_count; g++)
        if (leaf - table->groups[g].first < table->groups[g].count)
            return table->units[table->groups[g].unit];
    bug("instance %u is in no group", leaf);
}

static uint32_t part_kind(const struct unit_type *unit, uint32_t number)
{
    for (uint32_t k = 0; k < unit->part_count; k++)
        if (strcmp(unit->parts[k]->name, platform_string(table->parts[number].type)) == 0)
            return k;
    return UINT32_MAX;
}

static const struct unit_part_type *part_type(uint32_t number, uint32_t *kind)
{
    const struct unit_type *unit = platform_unit_of(table->parts[number].owner_instance);
    *kind = part_kind(unit, number);
    return unit->parts[*kind];
}

void platform_hide_kinds(void)
{
    for (uint32_t i = 0; i < table->part_count; i++)
        if (platform_is_here(table->parts[i].owner_instance))
            ((struct part *)platform_part_at(i))->kind = 0;
}

void platform_show_kinds(void)
{
    for (uint32_t i = 0; i < table->part_count; i++)
        if (platform_is_here(table->parts[i].owner_instance))
            part_type(i, &((struct part *)platform_part_at(i))->kind);
}

uint32_t platform_kind_of_part(uint32_t number)
{
    uint32_t kind;
    part_type(number, &kind);
    return kind;
}

/* Owners are before their parts in the table, so their offsets are known. */
static void open_parts(void)
{
    part_offsets = arena_at(uint32_t, arena_allocate((table->part_count + 1) * sizeof(uint32_t)));
    uint32_t *part_refs =
        arena_at(uint32_t, arena_allocate((table->part_ref_count + 1) * sizeof(uint32_t)));
    for (uint32_t i = 0; i < table->part_count; i++) {
        const struct platform_part *p = &table->parts[i];
        uint32_t kind;
        arena_select(slice_of(p->owner_instance));
        part_offsets[i] = arena_allocate(part_type(i, &kind)->instance_bytes);
        if (!platform_is_here(p->owner_instance))
            continue;
        struct part *part = arena_at(struct part, part_offsets[i]);
        const char *owner = (const char *)platform_component(p->owner_instance);
        part->number = i;
        part->params = p->params;
        part->kind = kind;
        part->owner = p->owner_part == UINT32_MAX
                          ? (uint32_t)((owner - engine_base.arena) / ARENA_UNIT)
                          : part_offsets[p->owner_part];
    }
    arena_select(ARENA_COMMON);
    for (uint32_t i = 0; i < table->part_ref_count; i++)
        part_refs[i] = part_offsets[table->part_refs[i]];
    engine_base.part_refs = part_refs;
}

static struct engine_group *group_of(const struct component *c)
{
    struct engine_group *g = engine_groups;
    while (c->id - g->first_id >= g->count)
        g++;
    return g;
}

uint32_t platform_shared(const struct component *c, size_t bytes)
{
    struct engine_group *g = group_of(c);
    if (!g->shared_at)
        g->shared_at = arena_allocate(bytes);
    return g->shared_at;
}

static void open_stores(void)
{
    store_offsets = arena_at(uint32_t, arena_allocate((table->store_count + 1) * sizeof(uint32_t)));
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct unit_type *unit = platform_unit_of(i);
        for (uint32_t k = 0; k < unit->store_count; k++)
            store_offsets[table->instances[i].stores + k] = arena_allocate(unit->store_bytes[k]);
    }
}

static void bind(uint32_t *words, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = table->bindings[first + i];
        switch (table->binding_kinds[first + i]) {
        case BIND_RING:
            words[i] = value == RING_NONE ? value : ring_place_of(value);
            break;
        case BIND_PART:
            words[i] = value == UINT32_MAX ? value : part_offsets[value];
            break;
        case BIND_STORE:
            words[i] = value == UINT32_MAX ? value : store_offsets[value];
            break;
        default:
            words[i] = value;
        }
    }
}

static void bind_all(void)
{
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct platform_instance *p = &table->instances[i];
        char *instance = (char *)platform_component(i);
        if (!platform_is_here(i))
            continue;
        bind((uint32_t *)(void *)(instance + platform_unit_of(i)->io_words_offset), p->bindings,
             p->binding_count);
    }
    for (uint32_t i = 0; i < table->part_count; i++) {
        char *part = platform_part_at(i);
        if (!platform_is_here(table->parts[i].owner_instance))
            continue;
        bind((uint32_t *)(void *)(part + sizeof(struct part)), table->parts[i].bindings,
             table->parts[i].binding_count);
    }
}

static uint32_t part_depth(uint32_t number)
{
    uint32_t depth = 0;
    while (table->parts[number].owner_part != UINT32_MAX) {
        number = table->parts[number].owner_part;
        depth++;
    }
    return depth;
}

/* Parts inside parts first, siblings in order of declaration, then the components. */
static void initialise_all(void)
{
    uint32_t deepest = 0;
    uint32_t kind;
    for (uint32_t i = 0; i < table->part_count; i++)
        deepest = max(part_depth(i), deepest);
    for (uint32_t depth = deepest + 1; depth-- > 0;) {
        for (uint32_t i = 0; i < table->part_count; i++) {
            uint32_t leaf = table->parts[i].owner_instance;
            if (part_depth(i) != depth || !platform_is_here(leaf))
                continue;
            arena_select(slice_of(leaf));
            part_type(i, &kind)->init(platform_part_at(i));
        }
    }
    for (uint32_t i = 0; i < table->instance_count; i++) {
        if (!platform_is_here(i))
            continue;
        arena_select(slice_of(i));
        platform_unit_of(i)->init(platform_component(i));
    }
    arena_select(ARENA_COMMON);
}

/* True if the instance writes this store. */
static bool writes_store(uint32_t leaf, uint32_t store)
{
    return store - table->instances[leaf].stores < platform_unit_of(leaf)->store_count;
}

static uint32_t writer_of(uint32_t store)
{
    uint32_t leaf = 0;
    while (leaf + 1 < table->instance_count && !writes_store(leaf, store))
        leaf++;
    return leaf;
}

/* Stores that are read at another rank are copied there, which their writers must help with. */
static bool check_stores(void)
{
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct platform_instance *p = &table->instances[i];
        for (uint32_t w = p->bindings; w < p->bindings + p->binding_count; w++) {
            uint32_t store = table->bindings[w];
            if (table->binding_kinds[w] != BIND_STORE || store == UINT32_MAX)
                continue;
            uint32_t writer = writer_of(store);
            if (platform_rank_of(i) == platform_rank_of(writer)
                || store_is_offered(arena_at(char, store_offsets[store])))
                continue;
            rank_say(
                "several ranks cannot be used with this platform: %s reads what %s writes, from "
                "another rank",
                platform_string(p->path), platform_string(table->instances[writer].path));
            return false;
        }
    }
    return true;
}

/* Checks sizes that only units know and the tables imply. */
static bool check_units(void)
{
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct platform_instance *p = &table->instances[i];
        const struct unit_type *unit = platform_unit_of(i);
        if (strcmp(unit->name, platform_string(p->type)) != 0
            || unit->io_words_offset + p->binding_count * sizeof(uint32_t) > unit->instance_bytes
            || (unit->store_count
                && (p->stores > table->store_count
                    || unit->store_count > table->store_count - p->stores))) {
            fprintf(stderr, "heddle: platform tables: %s (%s) does not fit the compiled unit %s\n",
                    platform_string(p->path), platform_string(p->type), unit->name);
            return false;
        }
    }
    for (uint32_t i = 0; i < table->part_count; i++) {
        const struct unit_type *unit = platform_unit_of(table->parts[i].owner_instance);
        uint32_t kind = part_kind(unit, i);
        if (kind == UINT32_MAX
            || sizeof(struct part) + table->parts[i].binding_count * sizeof(uint32_t)
                   > unit->parts[kind]->instance_bytes) {
            fprintf(stderr, "heddle: platform tables: part %s (%s) is not compiled into unit %s\n",
                    platform_string(table->parts[i].path), platform_string(table->parts[i].type),
                    unit->name);
            return false;
        }
    }
    return true;
}

bool platform_build_threads(const struct platform_table *described, uint32_t threads)
{
    table = described;
    engine_base.platform = described;
    driver_api = NULL;
    if (!platform_check(table) || !check_units())
        return false;
    arena_open();
    engine.clock_count = table->domain_count;
    engine.shard_count = shard_cut_shard_count(table, threads);
    if (!engine.shard_count)
        return false;
    if (!rank_is_alone())
        arena_divide(ranks.count, ranks.number);
    store_log_forget();
    engine.domain_count = engine.clock_count * engine.shard_count;
    table = shard_cut_table(described, engine.shard_count);
    engine_base.platform = table;
    engine_base.params = table->params;
    engine_base.port_rings = table->port_rings;
    engine_base.incoming = table->incoming;
    engine.tracing = 0;
    ring_reserve();
    instance_ids =
        arena_at(uint32_t, arena_allocate((table->instance_count + 1) * sizeof(uint32_t)));
    instance_domains = arena_derive(table->instance_count + 1);
    uint32_t group_count;
    uint32_t id_count;
    struct engine_group *groups = open_groups(&group_count, &id_count);
    engine_groups = groups;
    open_domains(groups, group_count);
    open_instances(groups, group_count, id_count);
    ring_open(table);
    open_spaces();
    open_parts();
    open_stores();
    bind_all();
    engine_open(groups, group_count, id_count);
    extensions_build(table);
    initialise_all();
    ring_agree();
    exchange_open(table);
    return rank_is_alone() || (check_stores() && rank_rings_open(table));
}

bool platform_build(const struct platform_table *described)
{
    return platform_build_threads(described, 1);
}
