/* The warp schedulers against models of their own: lists in the order of the text, searched from
 * the front, where the parts use words of bits. */
#include <criterion/criterion.h>
#include <string.h>

#include "components/nvidia/streaming_multiprocessor/parts/greedy_then_oldest.c"
#include "components/nvidia/streaming_multiprocessor/parts/loose_round_robin.c"
#include "components/nvidia/streaming_multiprocessor/parts/two_level.c"
#include "tests/components/harness.h"

enum { CORES = 4, WARPS = 64, ACTIVE = 3, ROUNDS = 20000 };

static uint64_t seed;

static uint64_t below(uint64_t limit)
{
    return harness_random(&seed) % limit;
}

/* Warps of one sub-core in a list. */
struct list {
    unsigned warp[WARPS], count;
};

static void list_add(struct list *l, unsigned warp)
{
    l->warp[l->count++] = warp;
}

static bool list_has(const struct list *l, unsigned warp)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->warp[i] == warp)
            return true;
    return false;
}

static void list_remove(struct list *l, unsigned warp)
{
    struct list kept = {.count = 0};
    for (unsigned i = 0; i < l->count; i++)
        if (l->warp[i] != warp)
            list_add(&kept, l->warp[i]);
    *l = kept;
}

/* What the models know of a sub-core. */
struct model {
    struct list present; /* oldest first */
    struct list active;
    unsigned last, last_pending; /* WARPS: none yet */
};

static bool is_in(uint64_t set, unsigned warp)
{
    return set >> warp & 1;
}

/* The first of `set` when one counts up from behind `last`, around the end. */
static unsigned count_up(uint64_t set, unsigned last)
{
    for (unsigned step = 1; step <= WARPS; step++) {
        unsigned warp = (last + step) % WARPS;
        if (is_in(set, warp))
            return warp;
    }
    return WARPS;
}

static unsigned expect_round_robin(struct model *m, uint64_t ready, uint64_t memory)
{
    (void)memory;
    return m->last = count_up(ready, m->last);
}

static unsigned expect_greedy(struct model *m, uint64_t ready, uint64_t memory)
{
    (void)memory;
    if (m->last < WARPS && is_in(ready, m->last) && list_has(&m->present, m->last))
        return m->last;
    for (unsigned i = 0; i < m->present.count; i++)
        if (is_in(ready, m->present.warp[i]))
            return m->last = m->present.warp[i];
    return WARPS;
}

static unsigned expect_two_level(struct model *m, uint64_t ready, uint64_t memory)
{
    uint64_t candidates = 0;
    for (unsigned i = 0; i < m->active.count; i++)
        candidates |= ready & (uint64_t)1 << m->active.warp[i];
    if (candidates)
        return m->last = count_up(candidates, m->last);
    for (unsigned warp = 0; warp < WARPS; warp++)
        if (is_in(memory, warp))
            list_remove(&m->active, warp);
    m->last_pending = count_up(ready, m->last_pending);
    if (m->active.count < ACTIVE)
        list_add(&m->active, m->last_pending);
    return m->last_pending;
}

static void compare(const char *name, const struct warp_scheduler_ops *ops, struct part *part,
                    unsigned (*expect)(struct model *, uint64_t, uint64_t))
{
    static struct model models[CORES];
    uint64_t present = 0;
    memset(models, 0, sizeof models);
    for (unsigned c = 0; c < CORES; c++)
        models[c].last = models[c].last_pending = WARPS - 1;
    if (expect == expect_greedy)
        for (unsigned c = 0; c < CORES; c++)
            models[c].last = WARPS;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned warp = (unsigned)below(WARPS), core = warp % CORES;
        struct model *m = &models[core];
        if (below(20) == 0) {
            uint64_t bit = (uint64_t)1 << warp;
            if (present & bit) {
                ops->leave(part, core, warp);
                list_remove(&m->present, warp);
                list_remove(&m->active, warp);
                if (expect == expect_greedy && m->last == warp)
                    m->last = WARPS;
            } else {
                ops->arrive(part, core, warp);
                list_add(&m->present, warp);
            }
            present ^= bit;
            continue;
        }
        uint64_t mine = present & (0x1111111111111111u << core);
        uint64_t ready = mine & harness_random(&seed) & harness_random(&seed);
        uint64_t memory = mine & harness_random(&seed) & ~ready;
        if (!ready)
            continue;
        unsigned expected = expect(m, ready, memory);
        cr_assert_eq(ops->pick(part, core, ready, memory), expected, "%s, round %u", name, round);
    }
}

Test(warp_scheduler, each_chooses_as_its_model_does)
{
    static struct loose_round_robin round_robin;
    static struct greedy_then_oldest greedy;
    static struct two_level two;
    static int64_t params[1] = {ACTIVE};
    engine_base.params = params;
    seed = 5;
    compare("round robin", &loose_round_robin_ops, (struct part *)&round_robin, expect_round_robin);
    compare("greedy", &greedy_then_oldest_ops, (struct part *)&greedy, expect_greedy);
    compare("two levels", &two_level_ops, (struct part *)&two, expect_two_level);
    cr_expect_gt(two.io.stats.swaps, 0);
}
