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

struct item {
    uint32_t first, count; /* partitions */
    uint64_t work;
};

struct list {
    struct item *items;
    uint32_t count;
};

static uint32_t partition_count(const struct platform_table *table)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < table->instance_count; i++)
        most = table->instances[i].partition > most ? table->instances[i].partition : most;
    return most + 1;
}

/* An instance of each partition, and how many there are. */
static struct list list_partitions(const struct platform_table *table, const char **paths)
{
    uint32_t count = partition_count(table);
    struct list l = {arena_derive(count * sizeof *l.items), count};
    for (uint32_t i = 0; i < count; i++)
        l.items[i] = (struct item){i, 1, 0};
    for (uint32_t i = 0; i < table->instance_count; i++) {
        uint32_t partition = table->instances[i].partition;
        l.items[partition].work++;
        paths[partition] = table->strings + table->instances[i].path;
    }
    return l;
}

static bool same_top(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

/* Partitions of one top-level instance as one item; partition 0 stays by itself. */
static struct list list_tops(const struct list *all, const char **paths)
{
    struct list l = {arena_derive(all->count * sizeof *l.items), 0};
    for (uint32_t i = 0; i < all->count; i++) {
        struct item *last = l.count ? &l.items[l.count - 1] : NULL;
        if (i < 2 || !paths[i] || !paths[i - 1] || !same_top(paths[i], paths[i - 1])) {
            l.items[l.count++] = all->items[i];
            continue;
        }
        last->count++;
        last->work += all->items[i].work;
    }
    return l;
}

/* Item 0 is the main partition: rank 0 has it besides its share of the others. */
static void cut(const struct list *l, uint32_t ranks_wanted, uint8_t *rank_of)
{
    uint64_t work = 0, done = 0;
    uint32_t number = 0, items = 0;
    rank_of[0] = 0;
    for (uint32_t i = 1; i < l->count; i++)
        work += l->items[i].work;
    for (uint32_t i = 1; i < l->count; i++) {
        uint32_t left = l->count - i, ranks_left = ranks_wanted - 1 - number;
        /* The middle of the item decides; no rank stays empty. */
        bool over = (2 * done + l->items[i].work) * ranks_wanted > 2 * work * (number + 1);
        if (items && ranks_left && (over || left <= ranks_left)) {
            number++;
            items = 0;
        }
        for (uint32_t k = 0; k < l->items[i].count; k++)
            rank_of[l->items[i].first + k] = (uint8_t)number;
        done += l->items[i].work;
        items++;
    }
}

bool place_partitions(const struct platform_table *table, uint32_t wanted, uint8_t *rank_of)
{
    const char **paths = arena_derive(partition_count(table) * sizeof *paths);
    struct list partitions = list_partitions(table, paths);
    struct list tops = list_tops(&partitions, paths);
    const struct list *chosen = tops.count > wanted ? &tops : &partitions;
    if (chosen->count <= wanted) {
        if (ranks.number == 0)
            fprintf(stderr,
                    "heddle: %u ranks: this platform has %u partition%s besides the host's side, "
                    "and each rank needs one (`heddle check` counts them)\n",
                    wanted, chosen->count - 1, chosen->count == 2 ? "" : "s");
        return false;
    }
    cut(chosen, wanted, rank_of);
    return true;
}
