/* Cutting: the window that the connections allow, and which shard has what. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/shard.h"
#include "runtime/link/lookahead.h"
#include "runtime/link/ring_state.h"
#include "runtime/link/shard_cut.h"
#include "runtime/state/platform.h"
#include "tests/runtime/probe.h"

/* Three probes in a row, in the partitions given, on clocks of 1 and of 0.5 GHz. */
static const struct platform_table *row(const uint32_t *partitions, const uint32_t *latencies,
                                        bool slow)
{
    static const char *const names[] = {"a", "b", "c"};
    uint32_t leaves[3];
    build_start("row");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t other = slow ? build_domain("slow", 500000000) : core;
    uint32_t protocol = probe_protocol(16, true);
    for (uint32_t i = 0; i < 3; i++) {
        leaves[i] = probe_instance(i == 2 ? other : core, names[i], i ? PROBE_SINK : PROBE_SOURCE,
                                   1, 1, true);
        build_partition(leaves[i], partitions[i]);
    }
    for (uint32_t i = 0; i < 2; i++)
        build_connect((struct build_end){leaves[i], PROBE_OUT, 0},
                      (struct build_end){leaves[i + 1], PROBE_IN, 0},
                      probe_wire(protocol, 4, 1, latencies[i]));
    return build_finish();
}

struct window_case {
    uint32_t partitions[3];
    uint32_t latencies[2];
    bool slow;
    uint64_t window_ps;
    uint32_t shards; /* for four threads */
};

ParameterizedTestParameters(shard_cut, the_window_is_the_least_latency_between_partitions)
{
    static struct window_case cases[] = {
        {{0, 0, 0}, {7, 9}, false, 0, 1},    /* no partitions */
        {{0, 1, 1}, {7, 9}, false, 7000, 2}, /* one connection is cut */
        {{0, 1, 2}, {7, 9}, false, 7000, 3}, /* both are */
        {{0, 0, 1}, {7, 9}, false, 9000, 2}, /* only the longer one */
        {{1, 2, 3}, {7, 2}, false, 2000, 4}, /* two cycles are worth it */
        {{1, 2, 3}, {7, 1}, false, 0, 1},    /* one is not */
        {{0, 1, 2}, {7, 3}, true, 6000, 3},  /* cycles of the server: 2 ns each */
    };
    return cr_make_param_array(struct window_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct window_case *k, shard_cut,
                  the_window_is_the_least_latency_between_partitions)
{
    const struct platform_table *table = row(k->partitions, k->latencies, k->slow);
    cr_assert_eq(lookahead_ps(table), k->window_ps);
    cr_assert_eq(shard_cut_shard_count(table, 4), k->shards);
    cr_assert_eq(shard_cut_shard_count(table, 1), 1);
}

Test(shard_cut, a_ring_between_shards_has_two_ends_and_one_set_of_slots)
{
    const struct platform_table *table = row((uint32_t[]){0, 1, 1}, (uint32_t[]){5, 5}, false);
    cr_assert(platform_build_threads(table, 2));
    cr_assert_eq(engine.shard_count, 2);
    cr_assert_eq(shard_cut_ring_total(), table->ring_count + 2); /* requests and replies of one */
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *p = &table->rings[i];
        bool cut = shard_cut_shard_of(table, p->sender) != shard_cut_shard_of(table, p->receiver);
        cr_assert_eq(shard_cut_far(i) != i, cut);
        cr_assert_eq(shard_cut_near(shard_cut_far(i)), i);
        cr_assert_eq(shard_cut_near(i), i);
        cr_assert_eq(ring_at(shard_cut_far(i))->first, ring_at(i)->first);
        cr_assert_eq(ring_at(shard_cut_far(i))->end, ring_at(i)->end);
        cr_assert_eq(ring_at(i)->simple, !cut);
        cr_assert_eq(ring_route(ring_at(shard_cut_far(i)))->receiver,
                     platform_component(p->receiver)->id);
    }
}

Test(shard_cut, shards_have_domains_and_words_of_their_own)
{
    const struct platform_table *table = row((uint32_t[]){0, 1, 2}, (uint32_t[]){5, 5}, true);
    cr_assert(platform_build_threads(table, 2));
    for (uint32_t leaf = 0; leaf < 3; leaf++) {
        const struct component *c = platform_component(leaf);
        cr_assert_eq(component_shard(c), shard_cut_shard_of(table, leaf));
        const struct engine_domain *d = &engine.domains[c->domain];
        cr_assert(c->id / 64 - d->first_word < d->word_count);
        cr_assert_eq(d->hz, leaf == 2 ? 500000000 : 1000000000);
    }
}
