/* See place.h. Partitions stand in the order of the description, so neighbours are near each other:
 * the list is cut into as many runs as there are ranks, of about the same number of instances. What
 * is cut is a list of top-level instances ("device[1]" with all partitions inside), or, when there
 * are fewer of these than ranks, of partitions. */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/rank.h"

/* What stays together; items stand in the order in which they are dealt out. */
struct list {
    uint32_t *item_of; /* by partition */
    uint64_t *work;    /* instances, by item */
    uint32_t count;
};

static uint32_t partition_count(const struct platform_table *table)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < table->instance_count; i++)
        most = table->instances[i].partition > most ? table->instances[i].partition : most;
    return most + 1;
}

static bool same_top(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

/* The top-level instances as items, and for each partition which; item 0 is partition 0 alone. */
static struct list list_tops(uint32_t partitions, const char **paths)
{
    struct list l = {arena_derive(partitions * sizeof *l.item_of),
                     arena_derive(partitions * sizeof *l.work), 1};
    for (uint32_t i = 1; i < partitions; i++) {
        uint32_t first = 1;
        while (first < i && !same_top(paths[first], paths[i]))
            first++;
        l.item_of[i] = first < i ? l.item_of[first] : l.count++;
    }
    return l;
}

/* Each partition as an item, those of a top-level instance side by side. */
static struct list list_partitions(uint32_t partitions, const struct list *tops)
{
    struct list l = {arena_derive(partitions * sizeof *l.item_of),
                     arena_derive(partitions * sizeof *l.work), 1};
    for (uint32_t top = 1; top < tops->count; top++)
        for (uint32_t i = 1; i < partitions; i++)
            if (tops->item_of[i] == top)
                l.item_of[i] = l.count++;
    return l;
}

/* Item 0 is the main partition: rank 0 has it besides its share of the others. */
static void cut(const struct list *l, uint32_t wanted, uint8_t *rank_of_item)
{
    uint64_t work = 0, done = 0;
    uint32_t number = 0, items = 0;
    rank_of_item[0] = 0;
    for (uint32_t i = 1; i < l->count; i++)
        work += l->work[i];
    for (uint32_t i = 1; i < l->count; i++) {
        uint32_t left = l->count - i, ranks_left = wanted - 1 - number;
        /* The middle of the item decides; no rank stays empty. */
        bool over = (2 * done + l->work[i]) * wanted > 2 * work * (number + 1);
        if (items && ranks_left && (over || left <= ranks_left)) {
            number++;
            items = 0;
        }
        rank_of_item[i] = (uint8_t)number;
        done += l->work[i];
        items++;
    }
}

bool place_partitions(const struct platform_table *table, uint32_t wanted, uint8_t *rank_of)
{
    uint32_t partitions = partition_count(table);
    const char **paths = arena_derive(partitions * sizeof *paths);
    uint8_t *rank_of_item = arena_derive(partitions);
    for (uint32_t i = 0; i < table->instance_count; i++)
        paths[table->instances[i].partition] = table->strings + table->instances[i].path;
    struct list tops = list_tops(partitions, paths);
    struct list chosen = tops.count > wanted ? tops : list_partitions(partitions, &tops);
    if (chosen.count <= wanted) {
        if (ranks.number == 0)
            fprintf(stderr,
                    "heddle: %u ranks: this platform has %u partition%s besides the host's side, "
                    "and each rank needs one (`heddle check` counts them)\n",
                    wanted, chosen.count - 1, chosen.count == 2 ? "" : "s");
        return false;
    }
    for (uint32_t i = 0; i < table->instance_count; i++)
        chosen.work[chosen.item_of[table->instances[i].partition]]++;
    cut(&chosen, wanted, rank_of_item);
    for (uint32_t i = 0; i < partitions; i++)
        rank_of[i] = rank_of_item[chosen.item_of[i]];
    return true;
}
