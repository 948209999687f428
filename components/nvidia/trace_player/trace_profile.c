/* --profile: what a kernel executed and accessed, counted while its trace is read and touched. Host
 * memory, of the kernel that is being read; kernels come one after another.
 *
 * Trips: how often the warp that does so most often waits for memory below the L2. Rounds of
 * trace_touch.c are taken for a time: a sector that comes in a round comes for all who ask for it
 * in that round. Cold trips are those that empty caches would cost: for sectors that the kernel has
 * not accessed yet. A block's trips come behind those of the block whose place it takes. */
#include "trace_player_state.h"
#include "components/sampling/address_list.h"
#include "runtime/engine/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct profile profile;

/* A new kernel. */
static inline void profile_begin(void)
{
    sass_set_release(&profile.before);
    sass_set_release(&profile.first);
    sass_set_release(&profile.fetched);
    struct sass_set lines = profile.lines;
    memset(&profile, 0, sizeof profile);
    profile.before = lines;
}

static inline void profile_close(void)
{
    profile_begin();
    profile_begin();
}

static inline void profile_step(const struct sass_inst *inst)
{
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return;
    profile.units[inst->opcode.unit]++;
    profile.blocks[(hash_multiply(inst->pc / 16) >> 32) % PROFILE_BLOCKS]++;
}

static inline void profile_lines(const struct sm_lines *lines, enum warm_kind kind)
{
    uint64_t access = kind == WARM_WRITE    ? ADDRESS_WRITTEN
                      : kind == WARM_ATOMIC ? ADDRESS_READ | ADDRESS_WRITTEN
                                            : ADDRESS_READ;
    if (platform_profile() != PLATFORM_PROFILE_MEMORY)
        return;
    profile.accesses += lines->count;
    for (uint32_t i = 0; i < lines->count; i++) {
        uint64_t line = lines->request[i].line;
        uint64_t *known = sass_set_add(&profile.lines, line / SM_LINE), first = access & ~*known;
        *known |= access;
        if (first && address_list_is_wanted())
            address_list_add(line / SM_LINE * SM_LINE, (unsigned)first);
    }
}

static inline uint64_t profile_reads(void)
{
    return warm_counts()[WARM_READ] + warm_counts()[WARM_COHERENT];
}

/* Puts `mark` to the sectors whose mark is 0, or to all of them; returns whether one had, or has
 * now, the mark of this round. */
static inline bool profile_mark(struct sass_set *set, const struct sm_request *r, uint64_t mark,
                                bool all)
{
    uint64_t round = profile.round % (PROFILE_STORED - 1) + 1;
    uint64_t *marks = sass_set_add(set, r->line / SM_LINE);
    bool found = false;
    for (unsigned s = 0; s < 4; s++) {
        if (!(r->sectors >> s & 1))
            continue;
        if (all || !(*marks >> 16 * s & PROFILE_STORED))
            *marks = (*marks & ~((uint64_t)PROFILE_STORED << 16 * s)) | mark << 16 * s;
        found |= (*marks >> 16 * s & PROFILE_STORED) == round;
    }
    return found;
}

static inline void profile_longest(struct profile_trips *longest, const struct profile_trips *trips)
{
    longest->cold = trips->cold > longest->cold ? trips->cold : longest->cold;
    longest->warm = trips->warm > longest->warm ? trips->warm : longest->warm;
}

/* A line that was touched, for which memory gave sectors (`came`) or not: adds to the trips of this
 * round, each at most 1. */
static inline void profile_trip(const struct sm_request *r, bool store, bool came,
                                struct profile_trips *trips)
{
    uint64_t round = profile.round % (PROFILE_STORED - 1) + 1;
    if (store) {
        profile_mark(&profile.first, r, PROFILE_STORED, false);
        return;
    }
    trips->cold |= profile_mark(&profile.first, r, round, false);
    trips->warm |= profile_mark(&profile.fetched, r, came ? round : 0, came);
}

static inline void profile_join(char *text, size_t size, const uint64_t *values, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, i ? " " : "", values[i]);
}

/* What stands of it in the kernel's record; returns how many. Memory is counted in sectors. */
static inline unsigned profile_details(struct kernel_detail details[PROFILE_DETAILS])
{
    static char units[SASS_CLASS_COUNT * 21 + 1], blocks[PROFILE_BLOCKS * 21 + 1];
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return 0;
    profile_join(units, sizeof units, profile.units, SASS_CLASS_COUNT);
    profile_join(blocks, sizeof blocks, profile.blocks, PROFILE_BLOCKS);
    const struct kernel_detail all[PROFILE_DETAILS] = {
        {"profile", "units", units, 0},
        {"profile", "blocks", blocks, 0},
        {"profile", "accesses", NULL, profile.accesses},
        {"profile", "lines", NULL, profile.lines.count},
        {"profile", "reused", NULL, sass_set_common(&profile.lines, &profile.before)},
        {"profile", "memory_reads", NULL, profile_reads()},
        {"profile", "memory_writes", NULL, warm_counts()[WARM_WRITE]},
        {"profile", "page_walks", NULL, 0},
        {"profile", "trips_cold", NULL, profile.longest.cold},
        {"profile", "trips", NULL, profile.longest.warm}};
    memcpy(details, all, sizeof all);
    return platform_profile() == PLATFORM_PROFILE_MEMORY ? PROFILE_DETAILS : 2;
}
