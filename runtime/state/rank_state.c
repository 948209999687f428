/* The state of several ranks. Each rank sends what is allocated in its slice of the arena, which
 * has the same addresses at all ranks. The arena begins zeroed, and most of it is never touched:
 * a chunk of zeros is sent as one byte. Rank 0 has then as much memory as one process. */
#include "rank_state.h"

#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/link/ring.h"
#include "runtime/link/shard_cut.h"

#define CHUNK 4096u /* bytes that are sent or left out together */

static bool is_zero(const char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static void send_bytes(const char *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += CHUNK) {
        uint32_t count = (uint32_t)min(size - at, CHUNK);
        uint8_t zero = is_zero(bytes + at, count);
        rank_put(0, &zero, sizeof zero);
        if (!zero)
            rank_put(0, bytes + at, count);
    }
}

/* Zeros stay: slices of others and new slots are zero here, and no ring is. */
static void receive_bytes(char *bytes, uint64_t size, uint32_t from)
{
    for (uint64_t at = 0; at < size; at += CHUNK) {
        uint32_t count = (uint32_t)min(size - at, CHUNK);
        if (!*(const uint8_t *)rank_read_next(from, 1))
            memcpy(bytes + at, rank_read_next(from, count), count);
    }
}

static void move(void *bytes, uint64_t size, uint32_t owner)
{
    if (rank_is_first() && owner != 0)
        receive_bytes(bytes, size, owner);
    else if (ranks.number == owner && owner != 0)
        send_bytes(bytes, size);
}

/* Moves a slice with the location of its runs: other ranks know only what was handed out before
 * components were initialised.
 */
static void move_slice(uint32_t owner)
{
    struct arena_run runs[2];
    if (owner == 0 || (!rank_is_first() && ranks.number != owner))
        return;
    arena_slice(owner, runs);
    if (rank_is_first())
        memcpy(runs, rank_read_next(owner, sizeof runs), sizeof runs);
    else
        rank_put(0, runs, sizeof runs);
    for (uint32_t i = 0; i < 2; i++)
        move(engine_base.arena + runs[i].start, runs[i].bytes, owner);
}

static void shift(struct ring *r, uint32_t first)
{
    r->end += first - r->first;
    r->head += first - r->first;
    r->tail += first - r->first;
    r->first = first;
}

/* Moves the slots of a ring. Each of the two ranks has slots of its own; those of the receiver
 * count. Rank 0 may be neither, and makes room. */
static void move_slots(struct ring *near, struct ring *far, uint32_t receiver)
{
    uint64_t bytes = (uint64_t)(far->end - far->first) * ARENA_UNIT;
    if (ranks.number == receiver && receiver != 0)
        send_bytes((const char *)ring_slot(far->first), bytes);
    if (!rank_is_first())
        return;
    uint32_t first = arena_allocate(bytes);
    if (receiver == 0)
        memcpy(ring_slot(first), ring_slot(far->first), bytes);
    else
        receive_bytes((char *)ring_slot(first), bytes, receiver);
    shift(near, first);
    shift(far, first);
}

static void move_rings(void)
{
    for (uint32_t i = 0; i < engine_base.platform->ring_count; i++) {
        struct ring *near = ring_at(i), *far = ring_at(shard_cut_far(i));
        const struct platform_ring *ends = &engine_base.platform->rings[i];
        uint32_t sender = platform_rank_of(ends->sender);
        uint32_t receiver = platform_rank_of(ends->receiver);
        move(near, sizeof *near, sender);
        if (far != near)
            move(far, sizeof *far, receiver);
        if (sender != receiver) /* the slots of others are in the slices */
            move_slots(near, far, receiver);
    }
}

static void move_all(void)
{
    for (uint32_t i = 0; i < ranks.count; i++)
        move_slice(i);
    move_rings();
}

void rank_state_send(void)
{
    if (!rank_is_first())
        move_all();
    rank_exchange();
}

void rank_state_receive(void)
{
    if (rank_is_first())
        move_all();
}

void rank_state_gather(void)
{
    if (rank_is_alone())
        return;
    rank_state_send();
    rank_state_receive();
}
