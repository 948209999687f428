/* Keeps the words that stores have left in a table that forgets, and compares states of wavefronts
 * within a lap. */
#include "livelock.h"

#include <string.h>

#include "base/hash.h"
#include "base/number.h"

enum { WORDS_LOG2 = 16, WORDS = 1 << WORDS_LOG2, PROBES = 8 };

static struct {
    uint64_t key[WORDS]; /* see store_word(); 0: none */
    uint32_t value[WORDS];
    uint32_t lap; /* never counts anew, so a lap of an earlier watch is another one */
    uint32_t changes;
} watched;

static void begin_lap(void)
{
    memset(watched.key, 0, sizeof watched.key);
    watched.changes = 0;
    watched.lap++;
}

void livelock_round(struct livelock_watch *w, uint64_t still)
{
    if (w->on && (still >= w->until || watched.changes > LIVELOCK_CHANGES))
        w->on = false;
    if (w->on || still < LIVELOCK_PATIENCE || still & (still - 1))
        return;
    *w = (struct livelock_watch){.on = true, .until = still + LIVELOCK_ROUNDS};
    begin_lap();
}

bool livelock_turn(uint32_t turn, uint32_t turns)
{
    enum { FIRST = 64 };
    uint32_t begun = FIRST;
    while (begun <= turn / 2)
        begun *= 2;
    if (turn == begun)
        begin_lap();
    return turn >= begun && turn - begun < turns && watched.changes <= LIVELOCK_CHANGES;
}

uint32_t livelock_lap(void)
{
    return watched.lap;
}

void livelock_change(void)
{
    watched.changes++;
    watched.lap++;
}

static void store_word(uint64_t key, uint32_t value)
{
    uint32_t first = (uint32_t)(hash_multiply(key) >> (64 - WORDS_LOG2)), at = first, probe = 0;
    for (; probe < PROBES && watched.key[at] && watched.key[at] != key; probe++)
        at = (first + probe + 1) % WORDS;
    if (probe < PROBES && watched.key[at] && watched.value[at] == value)
        return;
    at = probe < PROBES ? at : first;
    watched.key[at] = key;
    watched.value[at] = value;
    livelock_change();
}

void livelock_store(uint64_t key, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += 4) {
        uint32_t value = 0;
        size_t part = min(size - done, 4);
        memcpy(&value, (const char *)bytes + done, part);
        store_word((key + done) * 4 + part, value);
    }
}

void livelock_read(struct livelock *r, enum livelock_access access, uint64_t pc, uint64_t address)
{
    if (access < r->access)
        return;
    r->access = (uint8_t)access;
    r->pc = pc;
    r->address = address;
}

/* The state that is looked for is one of 1, 2, 4, 8, ... rounds ago, so that it is one of the loop
 * at last (R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20, 1980). */
bool livelock_state(struct livelock *r, uint64_t state)
{
    if (r->lap != watched.lap)
        *r = (struct livelock){.lap = watched.lap};
    r->repeats |= r->looks && r->state == state;
    if (!r->repeats && !(r->looks & (r->looks - 1)))
        r->state = state;
    r->looks++;
    return r->repeats;
}
