/* Keeps what each wavefront knows of the clocks of others. Memory grows with work-groups (8 bytes
 * each), commands, and released atomics. */
#include "race_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"

struct command {
    uint32_t queue, place; /* the place-th of its queue, from 1 */
    uint32_t *after;
    uint32_t queues;
};

/* Releases at an address: the clocks that each wavefront knew which released there. */
struct released {
    uint64_t address;
    struct hash_table table;
};

static struct command *commands; /* by number - 1 */
static uint32_t command_count;
static size_t command_capacity;
static uint32_t *queue_places; /* how many commands each queue has */
static size_t queue_capacity;
static uint32_t *group_commands, group_count;
static size_t group_capacity;
static struct hash_table releases;

static const struct hash_kind known_kind = HASH_KIND(struct race_known, id, RACE_MEMORY);
static const struct hash_kind release_kind = HASH_KIND(struct released, address, RACE_MEMORY);

/* ---- tables ---- */

static const struct race_known *table_find(const struct hash_table *t, race_id id)
{
    return hash_table_find(t, &known_kind, &(uint64_t){id});
}

static const struct race_known *table_next(const struct hash_table *t, size_t *at)
{
    return hash_table_next(t, &known_kind, at);
}

static void table_learn(struct hash_table *t, uint64_t id, uint32_t near, uint32_t wide)
{
    if (!near && !wide)
        return;
    struct race_known *entry = hash_table_add(t, &known_kind, &id);
    entry->near = max(near, entry->near);
    entry->wide = max(wide, entry->wide);
}

/* Adds to `to` what `from` knows of others. */
static void learn_wide(struct hash_table *to, const struct hash_table *from)
{
    const struct race_known *entry;
    for (size_t at = 0; (entry = table_next(from, &at));)
        table_learn(to, entry->id, entry->wide, entry->wide);
}

/* ---- commands ---- */

uint32_t race_command(uint32_t queue, const uint32_t *after, uint32_t queues)
{
    grow_list(commands, (size_t)command_count + 1, command_capacity, RACE_MEMORY);
    grow_slots(queue_places, queue, queue_capacity, RACE_MEMORY);
    struct command *c = &commands[command_count++];
    *c = (struct command){.queue = queue, .place = ++queue_places[queue], .queues = queues};
    c->after = grow_memory(NULL, (queues + 1) * sizeof *c->after, RACE_MEMORY);
    memcpy(c->after, after, queues * sizeof *after);
    return command_count;
}

bool race_command_before(uint32_t first, uint32_t second)
{
    if ((first | second) & RACE_UNKNOWN)
        return first != second;
    const struct command *a = &commands[first - 1], *b = &commands[second - 1];
    return a->queue < b->queues && b->after[a->queue] >= a->place;
}

/* ---- wavefronts ---- */

uint32_t race_group_begin(uint32_t command)
{
    group_count++;
    grow_list(group_commands, (size_t)group_count + 1, group_capacity, RACE_MEMORY);
    group_commands[group_count] = command;
    return group_count;
}

uint32_t race_command_of(race_id id)
{
    return group_commands[id >> RACE_GROUP_BITS];
}

void race_wave_begin(struct race_wave *w, uint32_t group, uint32_t number)
{
    *w = (struct race_wave){
        .id = group << RACE_GROUP_BITS | number, .command = group_commands[group], .clock = 1};
}

void race_wave_end(struct race_wave *w)
{
    hash_table_release(&w->others);
    hash_table_release(&w->pending_releases);
}

bool race_before(const struct race_wave *w, race_id id, uint32_t clock)
{
    if (id == w->id)
        return true;
    if (id >> RACE_GROUP_BITS == w->id >> RACE_GROUP_BITS)
        return w->mate_clocks[id % RACE_GROUP] >= clock;
    uint32_t command = group_commands[id >> RACE_GROUP_BITS];
    if (command != w->command && race_command_before(command, w->command))
        return true;
    const struct race_known *entry = table_find(&w->others, id);
    return entry && entry->wide >= clock;
}

void race_fence(struct race_wave *w)
{
    w->fence = w->clock++;
}

/* ---- atomics ---- */

static const struct released *release_at(uint64_t address)
{
    return hash_table_find(&releases, &release_kind, &address);
}

/* Adds the releases that the wavefront may still acquire. */
static void keep_clock(struct race_wave *w, const struct hash_table *t)
{
    const struct race_known *entry;
    for (size_t at = 0; (entry = table_next(t, &at));)
        if (entry->id != w->id)
            table_learn(&w->pending_releases, entry->id, entry->near, entry->wide);
}

bool race_has_read(const struct race_wave *w, uint64_t address)
{
    uint32_t i = 0;
    while (i < w->read_atomic_count && w->read_atomics[i] != address)
        i++;
    return i < w->read_atomic_count;
}

void race_release(struct race_wave *w, uint64_t address, bool adds)
{
    struct released *r = hash_table_add(&releases, &release_kind, &address);
    if (!adds && race_has_read(w, address))
        keep_clock(w, &r->table);
    if (!adds)
        hash_table_release(&r->table);
    table_learn(&r->table, w->id, w->clock, w->fence);
    for (uint32_t i = 0; i < RACE_GROUP; i++) {
        race_id mate = (w->id & ~(race_id)(RACE_GROUP - 1)) | i;
        if (w->mate_clocks[i] && mate != w->id)
            table_learn(&r->table, mate, w->mate_clocks[i], w->mate_clocks[i]);
    }
    learn_wide(&r->table, &w->others);
    w->clock++;
}

static void learn(struct race_wave *w, const struct race_known *entry, bool near)
{
    bool mate = entry->id >> RACE_GROUP_BITS == w->id >> RACE_GROUP_BITS;
    uint32_t *known = &w->mate_clocks[entry->id % RACE_GROUP];
    if (mate && entry->near > *known)
        *known = entry->near;
    else if (!mate && !near)
        table_learn(&w->others, entry->id, entry->wide, entry->wide);
}

static void learn_from(struct race_wave *w, uint64_t address, bool near)
{
    const struct released *r = release_at(address);
    const struct race_known *entry;
    for (size_t at = 0; r && (entry = table_next(&r->table, &at));)
        if (entry->id != w->id)
            learn(w, entry, near);
}

bool race_has_seen(const struct race_wave *w, uint64_t address, race_id id, uint32_t clock)
{
    for (uint32_t i = 0; i < RACE_SEEN && i < w->seen_count; i++) {
        const struct released *r = w->seen[i] == address ? release_at(address) : NULL;
        const struct race_known *entry = r ? table_find(&r->table, id) : NULL;
        if (entry && entry->near >= clock)
            return true;
    }
    return false;
}

void race_note_read(struct race_wave *w, uint64_t address)
{
    if (!w->seen_count || w->seen[(w->seen_count - 1) % RACE_SEEN] != address)
        w->seen[w->seen_count++ % RACE_SEEN] = address;
    for (uint32_t i = 0; i < w->read_atomic_count; i++)
        if (w->read_atomics[i] == address)
            return;
    if (w->read_atomic_count
        == RACE_READS_MAX) { /* the oldest is taken for acquired: better than accusing */
        learn_from(w, w->read_atomics[0], false);
        memmove(w->read_atomics, w->read_atomics + 1,
                (RACE_READS_MAX - 1) * sizeof w->read_atomics[0]);
        w->read_atomic_count--;
    }
    w->read_atomics[w->read_atomic_count++] = address;
}

bool race_has_read_after(const struct race_wave *w, race_id id, uint32_t clock)
{
    for (uint32_t i = 0; i < w->read_atomic_count; i++) {
        const struct released *r = release_at(w->read_atomics[i]);
        const struct race_known *entry = r ? table_find(&r->table, id) : NULL;
        if (entry && entry->wide >= clock)
            return true;
    }
    const struct race_known *entry = table_find(&w->pending_releases, id);
    return entry && entry->wide >= clock;
}

void race_acquire(struct race_wave *w, bool near)
{
    for (uint32_t i = 0; i < w->read_atomic_count; i++)
        learn_from(w, w->read_atomics[i], near);
    const struct race_known *entry;
    for (size_t at = 0; (entry = table_next(&w->pending_releases, &at));)
        learn(w, entry, near);
    if (near)
        return;
    w->read_atomic_count = 0;
    hash_table_release(&w->pending_releases);
}

/* ---- barriers ---- */

void race_join(struct race_wave *const *wave, uint32_t count)
{
    struct race_wave all = {0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < RACE_GROUP; j++)
            all.mate_clocks[j] = max(all.mate_clocks[j], wave[i]->mate_clocks[j]);
        learn_wide(&all.others, &wave[i]->others);
        for (uint32_t j = 0; j < wave[i]->read_atomic_count; j++)
            race_note_read(&all, wave[i]->read_atomics[j]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *own = &all.mate_clocks[wave[i]->id % RACE_GROUP];
        *own = max(*own, wave[i]->clock);
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(wave[i]->mate_clocks, all.mate_clocks, sizeof all.mate_clocks);
        memcpy(wave[i]->read_atomics, all.read_atomics,
               sizeof all.read_atomics[0] * all.read_atomic_count);
        wave[i]->read_atomic_count = all.read_atomic_count;
        learn_wide(&wave[i]->others, &all.others);
        wave[i]->clock++;
    }
    hash_table_release(&all.others);
}

void race_order_release(void)
{
    for (uint32_t i = 0; i < command_count; i++)
        free(commands[i].after);
    struct released *r;
    for (size_t at = 0; (r = hash_table_next(&releases, &release_kind, &at));)
        hash_table_release(&r->table);
    hash_table_release(&releases);
    free(queue_places);
    queue_places = NULL;
    command_count = group_count = 0;
    queue_capacity = 0;
}
