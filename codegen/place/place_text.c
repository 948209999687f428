/* Placements by hand. An item is a path and a rank: "gpu[0..3].sa[*] = 1" names all partitions with
 * a component at that path or below it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

/* "[2]" at *at against "[0..3]" or "[*]" at *wish; both are moved behind the bracket. */
static bool index_fits(const char **wish, const char **at)
{
    char *end;
    unsigned long low, high, number = strtoul(*at + 1, &end, 10);
    *at = end + 1;
    if ((*wish)[1] == '*') {
        *wish += 3;
        return (*wish)[-1] == ']';
    }
    if (!isdigit((unsigned char)(*wish)[1]))
        return false;
    low = high = strtoul(*wish + 1, &end, 10);
    if (strncmp(end, "..", 2) == 0 && isdigit((unsigned char)end[2]))
        high = strtoul(end + 2, &end, 10);
    *wish = end + 1;
    return *end == ']' && number >= low && number <= high;
}

/* True if the component is at `wish`, or below it. An array without an index means all its
 * elements. */
static bool path_fits(const char *wish, const char *path)
{
    if (strcmp(wish, "*") == 0)
        return true;
    while (*wish) {
        if (*path == '[' && *wish == '[') {
            if (!index_fits(&wish, &path))
                return false;
        } else if (*path == '[') {
            path = strchr(path, ']') + 1;
        } else if (*path++ != *wish++) {
            return false;
        }
    }
    if (*path == '[')
        path = strchr(path, ']') + 1;
    return *path == '\0' || *path == '.';
}

/* A copy of `text` up to `end`, without blanks. */
static char *copy_without_blanks(struct region *region, const char *text, const char *end)
{
    char *name = region_take(region, (size_t)(end - text) + 1), *to = name;
    for (; text < end; text++)
        if (!isspace((unsigned char)*text))
            *to++ = *text;
    *to = '\0';
    return name;
}

/* Gives partitions of one item their rank; NULL, or what is wrong. */
static const char *read_item(const struct place_graph *graph, struct region *region, uint32_t ranks,
                             char *item, uint8_t *rank_of)
{
    char *equals = strrchr(item, '='), *end;
    if (!equals || !isdigit((unsigned char)equals[1]))
        return region_printf(region, "'%s': it is a path and a rank, as in gpu[0..3]=1", item);
    unsigned long rank = strtoul(equals + 1, &end, 10);
    if (*end || rank >= ranks)
        return region_printf(region, "'%s': there are ranks 0 to %u", item, ranks - 1);
    *equals = '\0';
    bool any = false, is_all = strcmp(item, "*") == 0;
    for (uint32_t i = 0; i < graph->model->leaf_count; i++) {
        const struct model_instance *leaf = graph->model->leaves[i];
        if (!path_fits(item, leaf->path))
            continue;
        if (leaf->partition == 0 && rank && !is_all)
            return region_printf(region,
                                 "'%s=%lu': '%s' is in no partition; that is what rank 0 has", item,
                                 rank, leaf->path);
        if (leaf->partition)
            rank_of[leaf->partition] = (uint8_t)rank;
        any = true;
    }
    return any ? NULL : region_printf(region, "'%s': the platform has no such component", item);
}

const char *place_read(const struct place_graph *graph, struct region *region, uint32_t ranks,
                       const char *text, uint8_t *rank_of)
{
    memset(rank_of, UINT8_MAX, graph->count);
    rank_of[0] = 0;
    while (*text) {
        size_t length = strcspn(text, ",\n#");
        char *item = copy_without_blanks(region, text, text + length);
        const char *wrong = *item ? read_item(graph, region, ranks, item, rank_of) : NULL;
        if (wrong)
            return wrong;
        text += length;
        text += *text == '#' ? strcspn(text, "\n") : *text != '\0';
    }
    uint32_t besides[PLACE_RANKS_MAX] = {0};
    for (uint32_t i = 1; i < graph->count; i++) {
        if (rank_of[i] == UINT8_MAX)
            return region_printf(region, "partition '%s' has no rank; '*=0' in front gives it one",
                                 graph->model->partitions[i].name);
        besides[rank_of[i]]++;
    }
    for (uint32_t r = 0; r < ranks; r++)
        if (!besides[r])
            return region_printf(region, "rank %u has no partition", r);
    return NULL;
}

void place_write(const struct place_graph *graph, const uint8_t *rank_of, FILE *out)
{
    for (uint32_t i = 1; i < graph->count; i++)
        for (uint32_t k = 0; k < graph->model->leaf_count; k++)
            if (graph->model->leaves[k]->partition == i) {
                fprintf(out, "%s = %u\n", graph->model->leaves[k]->path, rank_of[i]);
                break;
            }
}
