/* See measure_group.h. */
#include "codegen/report/measure_group.h"

#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/views/params_value.h"

static void find_group(struct measure_groups *groups, struct arena *arena, struct intern *index,
                       uint32_t number, struct measure_named what)
{
    what.path = params_collapse(arena, what.path);
    const struct intern_entry *known = intern_find(index, what.path);
    groups->group_of[number] = known ? known->value : groups->list.count;
    if (known)
        return;
    intern_add(index, what.path, groups->list.count);
    vector_push(arena, &groups->list, ((struct measure_group){.what = what}));
}

void measure_groups_open(struct measure_groups *groups, struct arena *arena,
                         const struct model *model)
{
    struct intern index;
    uint32_t places = model->instance_count + model->part_count;
    *groups = (struct measure_groups){.model = model};
    intern_init(&index, arena);
    groups->group_of =
        arena_alloc(arena, (places + model->connection_count + 1) * sizeof *groups->group_of);
    for (uint32_t i = 0; i < places; i++)
        find_group(groups, arena, &index, i, measure_name(model, i));
    for (uint32_t i = 0; i < model->connection_count; i++)
        find_group(groups, arena, &index, places + i,
                   measure_connection_name(arena, model->connections[i]));
}

static void add(struct measure_groups *groups, uint32_t index, unsigned kind,
                const struct view_share *share)
{
    struct measure_group *g = &groups->list.items[groups->group_of[index]];
    if (share->whole <= 0)
        return;
    g->part[kind] += share->part;
    g->whole[kind] += share->whole;
    if (share->part / share->whole > g->most[kind])
        g->most[kind] = share->part / share->whole;
}

void measure_groups_set(struct measure_groups *groups, const struct measured *m)
{
    const struct model *model = groups->model;
    uint32_t places = model->instance_count + model->part_count;
    for (uint32_t i = 0; i < groups->list.count; i++)
        groups->list.items[i] = (struct measure_group){.what = groups->list.items[i].what};
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        for (uint32_t i = 0; i < places; i++)
            add(groups, i, k, measure_share(m, model, k, i));
        for (uint32_t i = 0; i < model->connection_count; i++)
            add(groups, places + i, k, &m->connections[k][i]);
    }
}
