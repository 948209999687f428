/* Keeps what each wavefront knows of the clocks of others. Memory grows with work-groups (8 bytes
 * each), commands, and released atomics. */
#include "race_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

struct command {
    uint32_t queue, place; /* the place-th of its queue, from 1 */
    uint32_t *after;
    uint32_t queues;
};

/* Releases at an address: the clocks that each wavefront knew which released there. */
struct released {
    uint64_t address;
    struct race_table table;
    bool used;
};

static struct command *commands; /* by number - 1 */
static uint32_t command_count, command_room;
static uint32_t *queue_places, queue_count;
static uint32_t *group_commands, group_count, group_room;
static struct released *releases;
static uint32_t release_count, release_room;

static void *grown(void *old, uint64_t count, uint64_t size)
{
    return grow_checked(realloc(old, count * size), "the check of races");
}

/* ---- tables ---- */

static struct race_known *table_find(const struct race_table *t, race_id id)
{
    uint32_t slot = t->room ? (uint32_t)(hash_multiply(id) >> 32) & (t->room - 1) : 0;
    while (t->room && t->entry[slot].id && t->entry[slot].id != id)
        slot = (slot + 1) & (t->room - 1);
    return t->room ? &t->entry[slot] : NULL;
}

static void table_grow(struct race_table *t)
{
    struct race_table larger = {.room = t->room ? 2 * t->room : 8};
    larger.entry = grown(NULL, larger.room, sizeof *larger.entry);
    memset(larger.entry, 0, larger.room * sizeof *larger.entry);
    for (uint32_t i = 0; i < t->room; i++)
        if (t->entry[i].id)
            *table_find(&larger, t->entry[i].id) = t->entry[i];
    larger.count = t->count;
    free(t->entry);
    *t = larger;
}

static void table_learn(struct race_table *t, race_id id, uint32_t near, uint32_t wide)
{
    if (!near && !wide)
        return;
    if (4 * (t->count + 1) > 3 * t->room)
        table_grow(t);
    struct race_known *k = table_find(t, id);
    t->count += k->id == 0;
    k->id = id;
    k->near = max(near, k->near);
    k->wide = max(wide, k->wide);
}

static void table_free(struct race_table *t)
{
    free(t->entry);
    *t = (struct race_table){0};
}

/* ---- commands ---- */

uint32_t race_command(uint32_t queue, const uint32_t *after, uint32_t queues)
{
    if (command_count == command_room) {
        command_room = command_room ? 2 * command_room : 256;
        commands = grown(commands, command_room, sizeof *commands);
    }
    if (queue >= queue_count) {
        queue_places = grown(queue_places, queue + 1, sizeof *queue_places);
        memset(queue_places + queue_count, 0, (queue + 1 - queue_count) * sizeof *queue_places);
        queue_count = queue + 1;
    }
    struct command *c = &commands[command_count++];
    *c = (struct command){.queue = queue, .place = ++queue_places[queue], .queues = queues};
    c->after = grown(NULL, queues + 1, sizeof *c->after);
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
    if (group_count + 1 >= group_room) {
        group_room = group_room ? 2 * group_room : 1024;
        group_commands = grown(group_commands, group_room, sizeof *group_commands);
    }
    group_commands[++group_count] = command;
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
    table_free(&w->others);
    table_free(&w->kept);
}

bool race_before(const struct race_wave *w, race_id id, uint32_t clock)
{
    if (id == w->id)
        return true;
    if (id >> RACE_GROUP_BITS == w->id >> RACE_GROUP_BITS)
        return w->known[id % RACE_GROUP] >= clock;
    uint32_t command = group_commands[id >> RACE_GROUP_BITS];
    if (command != w->command && race_command_before(command, w->command))
        return true;
    const struct race_known *k = w->others.count ? table_find(&w->others, id) : NULL;
    return k && k->id && k->wide >= clock;
}

void race_fence(struct race_wave *w)
{
    w->fence = w->clock++;
}

/* ---- atomics ---- */

static struct released *release_at(uint64_t address)
{
    uint32_t slot = (uint32_t)(hash_multiply(address) >> 32) & (release_room - 1);
    while (releases[slot].used && releases[slot].address != address)
        slot = (slot + 1) & (release_room - 1);
    return &releases[slot];
}

static void releases_grow(void)
{
    struct released *old = releases;
    uint32_t room = release_room;
    release_room = room ? 2 * room : 1024;
    releases = grown(NULL, release_room, sizeof *releases);
    memset(releases, 0, release_room * sizeof *releases);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].used)
            *release_at(old[i].address) = old[i];
    free(old);
}

/* Releases that the wavefront may still acquire. */
static void keep_clock(struct race_wave *w, const struct race_table *t)
{
    for (uint32_t i = 0; i < t->room; i++)
        if (t->entry[i].id && t->entry[i].id != w->id)
            table_learn(&w->kept, t->entry[i].id, t->entry[i].near, t->entry[i].wide);
}

bool race_has_heard(const struct race_wave *w, uint64_t address)
{
    uint32_t i = 0;
    while (i < w->heard_count && w->heard[i] != address)
        i++;
    return i < w->heard_count;
}

void race_release(struct race_wave *w, uint64_t address, bool adds)
{
    if (4 * (release_count + 1) > 3 * release_room)
        releases_grow();
    struct released *r = release_at(address);
    release_count += !r->used;
    r->used = true;
    r->address = address;
    if (!adds && race_has_heard(w, address))
        keep_clock(w, &r->table);
    if (!adds)
        table_free(&r->table);
    table_learn(&r->table, w->id, w->clock, w->fence);
    for (uint32_t i = 0; i < RACE_GROUP; i++) {
        race_id mate = (w->id & ~(race_id)(RACE_GROUP - 1)) | i;
        if (w->known[i] && mate != w->id)
            table_learn(&r->table, mate, w->known[i], w->known[i]);
    }
    for (uint32_t i = 0; i < w->others.room; i++) {
        const struct race_known *k = &w->others.entry[i];
        if (k->id)
            table_learn(&r->table, k->id, k->wide, k->wide);
    }
    w->clock++;
}

static void learn(struct race_wave *w, const struct race_known *k, bool near)
{
    bool mate = k->id >> RACE_GROUP_BITS == w->id >> RACE_GROUP_BITS;
    uint32_t *known = &w->known[k->id % RACE_GROUP];
    if (mate && k->near > *known)
        *known = k->near;
    else if (!mate && !near)
        table_learn(&w->others, k->id, k->wide, k->wide);
}

static void learn_from(struct race_wave *w, uint64_t address, bool near)
{
    const struct released *r = release_room ? release_at(address) : NULL;
    for (uint32_t i = 0; r && r->used && i < r->table.room; i++)
        if (r->table.entry[i].id && r->table.entry[i].id != w->id)
            learn(w, &r->table.entry[i], near);
}

bool race_has_seen(const struct race_wave *w, uint64_t address, race_id id, uint32_t clock)
{
    for (uint32_t i = 0; i < RACE_SEEN && i < w->seen_count; i++) {
        const struct released *r =
            release_room && w->seen[i] == address ? release_at(address) : NULL;
        const struct race_known *k = r && r->used ? table_find(&r->table, id) : NULL;
        if (k && k->id && k->near >= clock)
            return true;
    }
    return false;
}

void race_hear(struct race_wave *w, uint64_t address)
{
    if (!w->seen_count || w->seen[(w->seen_count - 1) % RACE_SEEN] != address)
        w->seen[w->seen_count++ % RACE_SEEN] = address;
    for (uint32_t i = 0; i < w->heard_count; i++)
        if (w->heard[i] == address)
            return;
    if (w->heard_count == RACE_HEARD) { /* the oldest is taken for acquired: better than accusing */
        learn_from(w, w->heard[0], false);
        memmove(w->heard, w->heard + 1, (RACE_HEARD - 1) * sizeof w->heard[0]);
        w->heard_count--;
    }
    w->heard[w->heard_count++] = address;
}

bool race_heard_before(const struct race_wave *w, race_id id, uint32_t clock)
{
    for (uint32_t i = 0; i < w->heard_count; i++) {
        const struct released *r = release_room ? release_at(w->heard[i]) : NULL;
        const struct race_known *k = r && r->used ? table_find(&r->table, id) : NULL;
        if (k && k->id && k->wide >= clock)
            return true;
    }
    const struct race_known *k = w->kept.count ? table_find(&w->kept, id) : NULL;
    return k && k->id && k->wide >= clock;
}

void race_acquire(struct race_wave *w, bool near)
{
    for (uint32_t i = 0; i < w->heard_count; i++)
        learn_from(w, w->heard[i], near);
    for (uint32_t i = 0; i < w->kept.room; i++)
        if (w->kept.entry[i].id)
            learn(w, &w->kept.entry[i], near);
    if (near)
        return;
    w->heard_count = 0;
    table_free(&w->kept);
}

/* ---- barriers ---- */

void race_join(struct race_wave *const *wave, uint32_t count)
{
    struct race_wave all = {0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < RACE_GROUP; j++)
            all.known[j] = max(all.known[j], wave[i]->known[j]);
        for (uint32_t j = 0; j < wave[i]->others.room; j++) {
            const struct race_known *k = &wave[i]->others.entry[j];
            if (k->id)
                table_learn(&all.others, k->id, k->wide, k->wide);
        }
        for (uint32_t j = 0; j < wave[i]->heard_count; j++)
            race_hear(&all, wave[i]->heard[j]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *own = &all.known[wave[i]->id % RACE_GROUP];
        *own = max(*own, wave[i]->clock);
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(wave[i]->known, all.known, sizeof all.known);
        memcpy(wave[i]->heard, all.heard, sizeof all.heard[0] * all.heard_count);
        wave[i]->heard_count = all.heard_count;
        for (uint32_t j = 0; j < all.others.room; j++) {
            if (all.others.entry[j].id)
                table_learn(&wave[i]->others, all.others.entry[j].id, all.others.entry[j].wide,
                            all.others.entry[j].wide);
        }
        wave[i]->clock++;
    }
    table_free(&all.others);
}

void race_forget(void)
{
    for (uint32_t i = 0; i < command_count; i++)
        free(commands[i].after);
    for (uint32_t i = 0; i < release_room; i++)
        table_free(&releases[i].table);
    free(releases);
    releases = NULL;
    free(queue_places);
    queue_places = NULL;
    command_count = queue_count = group_count = release_count = release_room = 0;
}
