/* Cutting a platform into shards: which partition belongs to which, how long they may go on by
 * themselves, and tables in which every ring between two shards is two rings.
 *
 * Partition 0 (what no `partition` statement names: interconnects, the host's side) is a shard of
 * its own. The others are shared out to as many shards as there are threads, one after the other,
 * so that neighbours, which are given work first, are in different shards.
 *
 * The tables keep their numbers: the sender's half of a split ring has the ring's number, so all
 * statistics, traces and reports count there; the receiver's half has one after the last, and the
 * receiver's bindings are changed to that. Halves are control blocks; the slots are the same.
 * Called by platform.c. */
#include "shard_cut.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"

#include "lookahead.h"
#include "rank_placement.h"
#include "ring.h"

static struct platform_table split;
static uint32_t shard_count;
static uint32_t ring_count; /* rings in the tables */
static uint32_t ring_total;
static uint32_t *far_of;  /* by ring of the tables; NULL: nothing is split */
static uint32_t *near_of; /* by number - ring_count */

static uint8_t *shard_of; /* by partition, with several ranks; else NULL */

static uint32_t shard_of_partition(uint32_t partition, uint32_t count)
{
    if (shard_of)
        return shard_of[partition];
    return count == 1 || partition == 0 ? 0 : 1 + (partition - 1) % (count - 1);
}

uint32_t shard_cut_shard_of(const struct platform_table *table, uint32_t leaf)
{
    return shard_of_partition(table->instances[leaf].partition, shard_count);
}

uint32_t shard_cut_ring_total(void)
{
    return ring_total;
}

uint32_t shard_cut_far(uint32_t number)
{
    return far_of && number < ring_count ? far_of[number] : number;
}

uint32_t shard_cut_near(uint32_t number)
{
    return number < ring_count ? number : near_of[number - ring_count];
}

/* Assigns the partitions of a rank to its shards, in turn as in a single process. */
static void assign_partitions(const uint8_t *rank_of, uint32_t partitions, uint32_t number,
                              uint32_t threads, uint32_t *shards_made)
{
    uint32_t assigned = 0, first = *shards_made, count = 0;
    bool has_main_shard =
        number == 0; /* the main partition's next step is known by itself: run.c */
    for (uint32_t i = 1; i < partitions; i++)
        count += rank_of[i] == number;
    count = min(count, threads);
    for (uint32_t i = 1; i < partitions; i++)
        if (rank_of[i] == number)
            shard_of[i] = (uint8_t)(first + has_main_shard + assigned++ % count);
    for (uint32_t i = 0; i < count + has_main_shard; i++)
        ranks.of_shard[(*shards_made)++] = (uint8_t)number;
}

static uint32_t count_for_ranks(const struct platform_table *table, uint32_t partitions,
                                uint32_t threads)
{
    uint32_t made = 0, most = ENGINE_DOMAINS_MAX / table->domain_count;
    uint8_t *rank_of = arena_derive(partitions);
    threads = threads ? threads : 1;
    if (!lookahead_ps(table)) {
        rank_say("several ranks cannot be used with this platform: its partitions cannot go on by "
                 "themselves for more than a cycle (`heddle check` prints the window)");
        return 0;
    }
    if (!placement_of_partitions(table, ranks.count, rank_of))
        return 0;
    if (ranks.count * threads + 1 > most) {
        rank_say("%u ranks of %u threads are too many for this platform: with %u clocks, ranks "
                 "times threads is at most %u",
                 ranks.count, threads, table->domain_count, most - 1);
        return 0;
    }
    shard_of = arena_derive(partitions);
    for (uint32_t i = 0; i < ranks.count; i++)
        assign_partitions(rank_of, partitions, i, threads, &made);
    return made;
}

uint32_t shard_cut_shard_count(const struct platform_table *table, uint32_t threads)
{
    uint32_t partitions = 0;
    uint32_t most = ENGINE_DOMAINS_MAX / table->domain_count;
    for (uint32_t i = 0; i < table->instance_count; i++)
        if (table->instances[i].partition > partitions)
            partitions = table->instances[i].partition;
    shard_of = NULL;
    if (!rank_is_alone())
        return count_for_ranks(table, partitions + 1, threads);
    if (threads < 2 || partitions == 0 || !lookahead_ps(table))
        return 1;
    return (uint32_t)min(min((uint64_t)threads, partitions) + 1, most);
}

static void *copy(const void *from, size_t count, size_t more, size_t size)
{
    char *to = arena_derive((count + more + 1) * size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

static void shard_cut_rings(void)
{
    uint32_t *far = copy(NULL, 0, ring_count, sizeof *far);
    for (uint32_t i = 0; i < ring_count; i++) {
        bool is_split = shard_cut_shard_of(&split, split.rings[i].sender)
                        != shard_cut_shard_of(&split, split.rings[i].receiver);
        far[i] = is_split ? ring_total++ : i;
    }
    struct platform_ring *rings =
        copy(split.rings, ring_count, ring_total - ring_count, sizeof *rings);
    near_of = copy(NULL, 0, ring_total - ring_count, sizeof *near_of);
    for (uint32_t i = 0; i < ring_count; i++) {
        if (far[i] == i)
            continue;
        rings[far[i]] = rings[i];
        near_of[far[i] - ring_count] = i;
    }
    split.rings = rings;
    far_of = far;
}

/* The number by which instance `leaf` knows ring `number`. */
static uint32_t number_for(uint32_t leaf, uint32_t number)
{
    return number != RING_NONE && split.rings[number].receiver == leaf ? far_of[number] : number;
}

static void rebind(uint32_t leaf, uint32_t *bindings, uint32_t *port_rings, uint32_t *incoming)
{
    const struct platform_instance *p = &split.instances[leaf];
    for (uint32_t w = p->bindings; w < p->bindings + p->binding_count; w++) {
        if (split.binding_kinds[w] == BIND_RING)
            bindings[w] = number_for(leaf, bindings[w]);
        if (split.binding_kinds[w] != BIND_FIRST_RING)
            continue;
        for (uint32_t i = 0; i < 2 * bindings[w - 1]; i++)
            port_rings[2 * bindings[w] + i] = number_for(leaf, port_rings[2 * bindings[w] + i]);
    }
    for (uint32_t i = p->incoming; i < p->incoming + p->incoming_count; i++)
        incoming[i] = number_for(leaf, incoming[i]);
}

const struct platform_table *shard_cut_table(const struct platform_table *table,
                                             uint32_t shards_made)
{
    shard_count = shards_made;
    ring_count = table->ring_count;
    ring_total = table->ring_count;
    far_of = NULL;
    near_of = NULL;
    if (shards_made == 1)
        return table;
    split = *table;
    shard_cut_rings();
    uint32_t *bindings = copy(table->bindings, table->binding_words, 0, sizeof *bindings);
    uint32_t *port_rings = copy(table->port_rings, table->port_ring_words, 0, sizeof *port_rings);
    uint32_t *incoming = copy(table->incoming, table->incoming_count, 0, sizeof *incoming);
    for (uint32_t i = 0; i < table->instance_count; i++)
        rebind(i, bindings, port_rings, incoming);
    split.bindings = bindings;
    split.port_rings = port_rings;
    split.incoming = incoming;
    return &split;
}
