/* Actors whose routes are one from some place on. A GPU has hundreds of compute units that reach
 * its memory by one crossbar; from there on a piece of memory needs one route for all of them. */
#include "coherence.h"

void presence_add(struct presence *to, const struct presence *more)
{
    if (to->count == 0 || more->first < to->first)
        to->first = more->first;
    to->count += more->count;
    for (unsigned s = 0; s < FENCE_SCOPES; s++) {
        if (more->unfenced[s] > to->unfenced[s])
            to->unfenced[s] = more->unfenced[s];
        if (more->unreleased[s] > to->unreleased[s])
            to->unreleased[s] = more->unreleased[s];
    }
}

static bool same_fences(struct fences a, struct fences b)
{
    bool same = true;
    for (unsigned s = 0; s < FENCE_SCOPES; s++)
        same = same && a.acquire[s] == b.acquire[s] && a.release[s] == b.release[s]
               && a.acquire_spreads[s] == b.acquire_spreads[s]
               && a.release_spreads[s] == b.release_spreads[s];
    return same;
}

static bool same_group(const struct actor_group *a, const struct actor_group *b)
{
    return a->class == b->class && a->branch == b->branch && a->end == b->end
           && a->around == b->around && a->steps == b->steps && same_fences(a->fences, b->fences);
}

/* The group like `one`; `first_at`: 1 + the first group of each branch and end, per node. */
static uint32_t group_number(struct coherence *c, const struct actor_group *group,
                             uint32_t *first_at)
{
    const struct node *at = group->branch ? group->branch : group->end;
    for (uint32_t i = first_at[at->model.id]; i != 0; i = c->groups.items[i - 1].next)
        if (same_group(&c->groups.items[i - 1], group))
            return i - 1;
    vector_push(c->e->region, &c->groups, *group);
    c->groups.items[c->groups.count - 1].next = first_at[at->model.id];
    first_at[at->model.id] = c->groups.count;
    return c->groups.count - 1;
}

static void note_passage(struct coherence *c, struct cache *cache, uint32_t group,
                         const struct presence *presence, uint64_t order)
{
    for (uint32_t i = 0; i < cache->passages.count; i++)
        if (cache->passages.items[i].group == group) { /* actors come in their order */
            presence_add(&cache->passages.items[i].presence, presence);
            return;
        }
    struct passage passage = {group, *presence, order};
    vector_push(c->e->region, &cache->passages, passage);
    vector_push(c->e->region, &c->groups.items[group].caches, cache);
}

/* Notes the caches of an actor's route before the branch. */
static void note_passages(struct coherence *c, uint32_t actor, uint32_t group,
                          const struct route *route)
{
    struct fences fences = route_fences_begin();
    for (uint32_t i = 0; i < route->count; i++) {
        struct presence one = presence_of(&fences, 1, actor, actor);
        if (route->steps[i].cache)
            note_passage(c, route->steps[i].cache, group, &one, (uint64_t)actor * ROUTE_MAX + i);
        route_fences_pass(&route->steps[i], &fences);
    }
}

void groups_find(struct coherence *c)
{
    uint32_t *first_at = region_take(c->e->region, (c->e->nodes.count + 1) * sizeof *first_at);
    for (uint32_t i = 0; i < c->actors.count; i++) {
        const struct actor *actor = &c->actors.items[i];
        struct route route;
        struct node *branch = route_begin(c, actor, &route);
        if (!branch && !route.end)
            continue;
        bool own = c->classes.items[actor->class].own;
        struct actor_group one = {.class = actor->class,
                                  .branch = branch,
                                  .end = route.end,
                                  .around = own ? actor->node->parent : NULL,
                                  .steps = route.count,
                                  .fences = route_fences_begin(),
                                  .first = i};
        for (uint32_t k = 0; k < route.count; k++)
            route_fences_pass(&route.steps[k], &one.fences);
        uint32_t group = group_number(c, &one, first_at);
        c->groups.items[group].count++;
        c->groups.items[group].last = i;
        note_passages(c, i, group, &route);
    }
}

static bool is_noted(const struct coherence *c, const struct lost_fence *lost)
{
    for (uint32_t i = 0; i < c->lost.count; i++)
        if (c->lost.items[i].sender->object.type == lost->sender->object.type
            && c->lost.items[i].branch->object.type == lost->branch->object.type)
            return true;
    return false;
}

void lost_fences_note(struct coherence *c, const struct actor_group *group, uint32_t at,
                      const struct fences *fences, const struct model_space *space,
                      uint64_t address)
{
    const struct actor_class *class = &c->classes.items[group->class];
    const struct actor *actor = &c->actors.items[group->first];
    struct route route;
    for (enum fence_scope s = 0; s < FENCE_SCOPES; s++) {
        bool acquire = class->acquire && fences->acquire[s] && !fences->acquire_spreads[s];
        bool release = class->release && fences->release[s] && !fences->release_spreads[s];
        if (!acquire && !release)
            continue;
        route_find(c, actor, space, address, &route);
        const struct route_step *cache = route_cache_before(&route, &route.steps[at]);
        struct lost_fence lost = {.sender = cache ? cache->node : actor->node,
                                  .branch = route.steps[at].node,
                                  .release = !acquire,
                                  .passes = cache != NULL,
                                  .scope = s};
        if (!is_noted(c, &lost))
            vector_push(c->e->region, &c->lost, lost);
    }
}
