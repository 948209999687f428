/* The least latency between two partitions; see lookahead.h. A message or a credit needs at least
 * that long, so other partitions notice an effect of this window in a later one. */
#include "lookahead.h"

#include "base/number.h"
#include "base/wide.h"
#include "runtime/engine/bug.h"

static uint64_t hz_of(const struct platform_table *table, uint32_t leaf)
{
    for (uint32_t g = 0; g < table->group_count; g++)
        if (leaf - table->groups[g].first < table->groups[g].count)
            return table->domains[table->groups[g].domain].hz;
    bug("instance %u is in no group", leaf);
}

/* The least time that a message or a credit takes, in ps. Wires count cycles of the server. */
static uint64_t least_latency(const struct platform_table *table, const struct platform_ring *r)
{
    if (r->link)
        return table->links[r->link - 1].latency_ps;
    uint64_t hz = hz_of(table, r->is_reply ? r->sender : r->receiver);
    return divide_wide(r->latency, PS_PER_S, hz);
}

/* True if the ring crosses the same link as a ring of another partition. Grants of the link are
 * ordered between windows, so its messages may arrive no earlier than in the next window, wherever
 * their receiver is. */
static bool meets_others(const struct platform_table *table, const struct platform_ring *r)
{
    if (!r->link || !table->links[r->link - 1].shared)
        return false;
    for (uint32_t i = 0; i < table->ring_count; i++)
        if (table->rings[i].link == r->link
            && table->instances[table->rings[i].sender].partition
                   != table->instances[r->sender].partition)
            return true;
    return false;
}

uint64_t lookahead_ps(const struct platform_table *table)
{
    uint64_t window = UINT64_MAX;
    uint64_t fastest = 1;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *r = &table->rings[i];
        if (table->instances[r->sender].partition == table->instances[r->receiver].partition
            && !meets_others(table, r))
            continue;
        window = min(least_latency(table, r), window);
    }
    for (uint32_t i = 0; i < table->domain_count; i++)
        fastest = max(table->domains[i].hz, fastest);
    return window == UINT64_MAX || window < 2 * (PS_PER_S / fastest) ? 0 : window;
}

/* The least latency of the rings that `is_chosen` takes, in whole windows. */
static uint64_t least_of(const struct platform_table *table,
                         bool (*is_chosen)(const struct platform_table *table,
                                           const struct platform_ring *r))
{
    uint64_t window = lookahead_ps(table), least = UINT64_MAX;
    if (!window)
        return 0;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *r = &table->rings[i];
        if (!is_chosen(table, r))
            continue;
        least = min(least_latency(table, r), least);
    }
    return least == UINT64_MAX ? window : least / window * window;
}

/* True if exactly one of its ends is in the main partition. */
static bool leaves_main(const struct platform_table *table, const struct platform_ring *r)
{
    return !table->instances[r->sender].partition != !table->instances[r->receiver].partition;
}

static bool crosses_link(const struct platform_table *table, const struct platform_ring *r)
{
    bool is_cut = table->instances[r->sender].partition != table->instances[r->receiver].partition;
    return leaves_main(table, r) || (is_cut && r->link);
}

static bool crosses_ranks(const struct platform_table *table, const struct platform_ring *r)
{
    return leaves_main(table, r) || platform_rank_of(r->sender) != platform_rank_of(r->receiver);
}

uint64_t lookahead_links_ps(const struct platform_table *table)
{
    return least_of(table, crosses_link);
}

uint64_t lookahead_ranks_ps(const struct platform_table *table)
{
    return least_of(table, crosses_ranks);
}
