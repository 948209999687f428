/* The wavefronts that wait at a GPU's global wave sync, and those to be answered; see
 * wave_sync_unit.h. */
#include "wave_sync_unit.h"

#include <inttypes.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/hang.h"

struct wave_sync_entry {
    struct wave_sync_wait wait;
    uint32_t wavefront;
};

static struct wave_sync_entry *entry_at(const struct wave_sync_unit *u, uint32_t number)
{
    return arena_at(struct wave_sync_entry, u->entries_at) + number;
}

void wave_sync_unit_init(struct wave_sync_unit *u, uint32_t capacity)
{
    *u = (struct wave_sync_unit){.capacity = capacity};
    u->entries_at = arena_allocate((size_t)capacity * sizeof(struct wave_sync_entry));
    u->answers_at = arena_allocate((size_t)capacity * sizeof(uint32_t));
}

static void answer_wavefront(struct wave_sync_unit *u, uint32_t wavefront)
{
    uint32_t place = (u->answer_head + u->answer_count++) % u->capacity;
    arena_at(uint32_t, u->answers_at)[place] = wavefront;
}

static void answer_released(struct wave_sync_unit *u)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->waiting_count; i++) {
        const struct wave_sync_entry *e = entry_at(u, i);
        if (wave_sync_is_over(&u->sync, &e->wait))
            answer_wavefront(u, e->wavefront);
        else
            *entry_at(u, kept++) = *e;
    }
    u->waiting_count = kept;
}

void wave_sync_unit_accept(struct wave_sync_unit *u, const struct isa_sync *request,
                           uint32_t wavefront)
{
    const struct wave_sync_resource *r = &u->sync.resource[request->resource];
    uint64_t released = r->releases + r->served;
    struct wave_sync_wait wait;
    if (u->waiting_count + u->answer_count >= u->capacity)
        bug("global wave sync: more wavefronts than the GPU has");
    bool waits = wave_sync_do(&u->sync, request, &wait);
    if (r->releases + r->served != released)
        answer_released(u);
    if (waits)
        *entry_at(u, u->waiting_count++) = (struct wave_sync_entry){wait, wavefront};
    else
        answer_wavefront(u, wavefront);
}

bool wave_sync_unit_next(const struct wave_sync_unit *u, uint32_t *wavefront)
{
    if (u->answer_count)
        *wavefront = arena_at(uint32_t, u->answers_at)[u->answer_head];
    return u->answer_count != 0;
}

void wave_sync_unit_pop(struct wave_sync_unit *u)
{
    u->answer_head = (u->answer_head + 1) % u->capacity;
    u->answer_count--;
}

void wave_sync_unit_report(const struct wave_sync_unit *u, struct hang_report *report)
{
    uint32_t at[ISA_SYNC_RESOURCES][2] = {{0}};
    for (uint32_t i = 0; i < u->waiting_count; i++) {
        const struct wave_sync_wait *w = &entry_at(u, i)->wait;
        at[w->resource][w->is_barrier]++;
    }
    for (uint32_t i = 0; i < ISA_SYNC_RESOURCES; i++) {
        if (at[i][1])
            hang_note(report,
                      "%" PRIu32 " wavefronts wait at barrier %" PRIu32
                      " of the global wave sync (ds_gws_barrier) for %" PRIu64 " more",
                      at[i][1], i, (uint64_t)u->sync.resource[i].counter + 1);
        if (at[i][0])
            hang_note(report,
                      "%" PRIu32 " wavefronts wait at semaphore %" PRIu32
                      " of the global wave sync (ds_gws_sema_p)",
                      at[i][0], i);
    }
}
