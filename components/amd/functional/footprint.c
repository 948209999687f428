/* See footprint.h. Called by touch.c. Marks that were displaced lie in a hash table by line and
 * launch; they are few, since few launches wait for each other. */
#include "footprint.h"

#include <stddef.h>
#include <string.h>

#include "functional.h"

#include "components/sampling/warmup.h"
#include "runtime/engine/arena.h"
#include "runtime/state/memory.h"

/* `mark`: the launch's number from ACCESS_BITS on, below them its accesses; 0: none. */
enum { ACCESS_BITS = 2, FIRST_ROOM = 1 << 12 };

struct displaced {
    uint64_t line;
    uint32_t mark;
};

static uint32_t *marks; /* by number of the line in simulated memory */
static uint32_t begun;
static uint32_t yielded[FUNCTIONAL_LAUNCHES], yielded_count;
static struct displaced *table; /* with room for `room` entries, a power of two */
static size_t room, count;

static bool has_yielded(uint32_t launch)
{
    uint32_t i = 0;
    while (i < yielded_count && yielded[i] != launch)
        i++;
    return i < yielded_count;
}

/* The entry of a line and a launch, or where it would stand. */
static struct displaced *place_of(uint64_t line, uint32_t launch)
{
    uint64_t hash = (line ^ (uint64_t)launch << 40) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 20) & (room - 1);
    while (table[at].mark && (table[at].line != line || table[at].mark >> ACCESS_BITS != launch))
        at = (at + 1) & (room - 1);
    return &table[at];
}

static void grow(void)
{
    struct displaced *old = table;
    size_t old_room = room;
    room = room ? 2 * room : FIRST_ROOM;
    table = arena_reserve(room * sizeof *table);
    for (size_t i = 0; i < old_room; i++)
        if (old[i].mark)
            *place_of(old[i].line, old[i].mark >> ACCESS_BITS) = old[i];
    if (old)
        arena_release(old, old_room * sizeof *old);
}

static void keep(uint64_t line, uint32_t mark)
{
    if (2 * (count + 1) > room)
        grow();
    struct displaced *entry = place_of(line, mark >> ACCESS_BITS);
    count += !entry->mark;
    *entry = (struct displaced){line, mark};
}

/* What the launch's mark is or was, where another launch's stands. 0: it has had none. */
static uint32_t exchange(uint64_t line, uint32_t launch, uint32_t other)
{
    if (has_yielded(other >> ACCESS_BITS))
        keep(line, other);
    return has_yielded(launch) && room ? place_of(line, launch)->mark : 0;
}

uint32_t footprint_begin(void)
{
    marks = warm_line_marks();
    return ++begun;
}

void footprint_yield(uint32_t launch)
{
    if (!has_yielded(launch))
        yielded[yielded_count++] = launch;
}

void footprint_end(uint32_t launch)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < yielded_count; i++)
        if (yielded[i] != launch)
            yielded[kept++] = yielded[i];
    yielded_count = kept;
    if (kept || !count)
        return;
    memset(table, 0, room * sizeof *table);
    count = 0;
}

struct footprint_news footprint_note(uint32_t launch, uint64_t physical, unsigned access)
{
    uint64_t line = (physical - memory.first) / WARM_LINE;
    uint32_t *mark = &marks[line], own = *mark;
    bool reused = launch > 1 && own >> ACCESS_BITS == launch - 1;
    if (own >> ACCESS_BITS != launch)
        own = yielded_count ? exchange(line, launch, own) : 0;
    *mark = launch << ACCESS_BITS | (own & ((1 << ACCESS_BITS) - 1)) | access;
    return (struct footprint_news){.line = !own, .reused = !own && reused, .access = access & ~own};
}
