/* Proves that every actor sees the writes of all others, or reports a violation (E0507).
 *
 * An example: a CPU and a GPU share a memory, and the GPU has a cache.
 *
 *     cpu ------------> memory
 *     gpu --> cache --> memory
 *
 * If the CPU writes a line of which the cache has a copy, the GPU reads the old value, unless the
 * cache drops its copy first. If the GPU writes a line and the cache delays it, the CPU reads the
 * old value, unless the cache writes it back first.
 *
 * For every piece of memory on the map and every actor the route of its accesses is followed
 * (coherence_routes.c). A cache that all actors pass shows the same lines to all of them. One that
 * only some pass, the *inside*, needs two things: when one outside has written, those inside must
 * lose their copies before they read it (drop); when one inside has written and the line stays in
 * the cache, it must go below before one outside reads it (write back).
 *
 * When must that be? Two actors that order their accesses by fences: at the fences, which go the
 * route of the accesses and must get as far as the cache: those of system scope for any two, those
 * of agent scope, too, for two of one agent. Two actors with moments: between any moment of the
 * writer and any of the reader, by a control that reaches the cache before or after one of them.
 * Requests that one place must do for all (atomics, coherent reads, writes that a whole scope is to
 * see) may not end in a cache at all while others outside write, if both are ordered by fences:
 * those act at the same time.
 *
 * Routes of all actors to one piece of memory form a tree, so everything is counted along the
 * routes, and no pair is looked at twice: actors that differ in their place only are a class, and
 * what a cache lacks depends on the class inside and the shape of the class outside. Actors that
 * have one branch are followed together (coherence_groups.c). Caches before it are looked at only
 * once for all pieces of memory of a composite that the same groups get at. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "check.h"
#include "coherence.h"

struct target {
    const struct model_space *space; /* NULL: the platform has no map */
    const struct node *owner;
    uint64_t address;
};

/* One of each for a declared instance: what is missing between moments is one connection. */
struct reported {
    const struct ast_item *item; /* the cache's declaration */
    bool in_band;
};

/* Groups that get at memory of a composite, and no cache before their branches lacks anything. */
struct proven {
    const struct node *owner;
    const uint64_t *here;
};

struct proof {
    struct coherence c;
    struct target target;
    uint32_t atomic, scoped; /* bits of these requests: read-modify-write, a write with a scope */
    uint32_t round;
    uint32_t *present; /* per shape: actors that get at the target */
    uint32_t *present_agent_shape,
        *inside_agent_shape; /* per agent_shape: those; scratch, 0: those inside a cache */
    uint32_t *outside;       /* scratch: classes, one of a shape */
    VECTOR(uint32_t) shapes; /* shapes of all classes */
    const struct node *end;  /* where the routes lead that are looked at */
    VECTOR(const struct node *) ended; /* ends that have been looked at */
    VECTOR(struct cache *) visited;
    VECTOR(struct reported *) reported;
    uint64_t *here;                  /* a bit for each group whose routes lead to `end` */
    uint32_t here_words, violations; /* violations: found in this round, whether reported or not */
    VECTOR(struct proven) proven;
};

static bool in_band(const struct actor_class *class)
{
    return class->acquire || class->release;
}

static bool changes(const struct proof *p, const struct actor_class *class)
{
    return class->writes || (class->others & p->atomic);
}

/* True if the target is memory of the composite around. */
static bool is_around(const struct proof *p, const struct node *node)
{
    return p->target.owner && node_is_inside(node, p->target.owner);
}

/* True if a control acts between moment `written` of one inside (`class`) or outside and `read`. */
static bool acts(const struct proof *p, const struct control *control,
                 const struct actor_class *class, bool class_reads, uint32_t written, uint32_t read)
{
    if (control->reach == REACH_PORT)
        return control->by == class->controller && control->after != class_reads
               && control->moment == (class_reads ? read : written);
    if (control->reach == REACH_OWN && !is_around(p, control->by))
        return false;
    return !control->after && (control->moment & (written | read));
}

static bool acted(const struct proof *p, const struct cache *cache, unsigned effect,
                  const struct actor_class *class, uint32_t written, uint32_t read)
{
    for (uint32_t i = 0; i < cache->controls.count; i++)
        if ((cache->controls.items[i].effects & effect)
            && acts(p, &cache->controls.items[i], class, effect == EFFECT_DROP, written, read))
            return true;
    return false;
}

/* ---- what is missing ---- */

/* An actor like `other` whose route to the target does not lead through the cache. */
static const struct actor *one_outside(struct proof *p, const struct coherence_violation *violation,
                                       const struct actor_class *other)
{
    bool same_agent = violation->in_band && violation->scope == FENCE_AGENT;
    struct route route;
    for (uint32_t i = 0; i < p->c.actors.count; i++) {
        const struct actor *actor = &p->c.actors.items[i];
        const struct actor_class *class = &p->c.classes.items[actor->class];
        if (class->shape != other->shape || (class->own && !is_around(p, actor->node))
            || (same_agent && class->agent != other->agent))
            continue;
        route_find(&p->c, actor, p->target.space, p->target.address, &route);
        bool passes = route.end != p->end;
        for (uint32_t k = 0; k < route.count; k++)
            passes |= route.steps[k].cache == violation->cache;
        if (!passes)
            return actor;
    }
    return NULL;
}

static void report(struct proof *p, struct coherence_violation violation, uint32_t inside,
                   const struct actor_class *other)
{
    p->violations++;
    for (uint32_t i = 0; i < p->reported.count; i++)
        if (p->reported.items[i]->item == violation.cache->node->item
            && p->reported.items[i]->in_band == violation.in_band)
            return;
    violation.inside = &p->c.actors.items[inside];
    violation.outside = one_outside(p, &violation, other);
    violation.space = p->target.space;
    violation.owner = p->target.owner;
    violation.address = p->target.address;
    if (!violation.outside)
        return;
    struct reported *one = region_take(p->c.e->region, sizeof *one);
    *one = (struct reported){violation.cache->node->item, violation.in_band};
    vector_push(p->c.e->region, &p->reported, one);
    p->c.e->diagnostics->key = one; /* several of one instance are different mistakes */
    violation_report(&p->c, &violation);
}

/* Looks at what is missing between each moment of `class` and each of `other`. */
static void check_between(struct proof *p, struct coherence_violation violation, uint32_t inside,
                          const struct actor_class *class, const struct actor_class *other)
{
    bool reads = violation.missing == EFFECT_DROP;
    uint32_t written = reads ? other->moments : class->moments;
    uint32_t read = reads ? class->moments : other->moments;
    for (uint32_t w = written; w; w &= w - 1)
        for (uint32_t r = read; r; r &= r - 1) {
            violation.before = w & -w;
            violation.after = r & -r;
            if (!acted(p, violation.cache, violation.missing, class, violation.before,
                       violation.after)) {
                report(p, violation, inside, other);
                return;
            }
        }
}

/* Fences of scope `s` of one of class `number` inside, and of one like `other` outside. */
static void check_fences(struct proof *p, struct cache *cache, uint32_t number,
                         const struct actor_class *other, enum fence_scope s)
{
    const struct actor_class *class = &p->c.classes.items[number];
    const struct presence *inside = &cache->inside[number];
    struct coherence_violation violation = {.cache = cache, .in_band = true, .scope = s};
    uint32_t answered = cache->answers[s] & class->others;
    if (!in_band(class) || !in_band(other))
        return;
    answered &= (changes(p, other) ? ~p->scoped : 0) | (other->reads ? p->scoped : 0);
    if (answered) {
        violation.request = p->c.requests[__builtin_ctz(answered)];
        report(p, violation, inside->first, other);
    }
    violation.missing = EFFECT_WRITE_BACK;
    if (cache->delays && changes(p, class) && other->reads
        && (!class->release || !(cache->release[s] & EFFECT_WRITE_BACK) || inside->unreleased[s]))
        report(p, violation, inside->unreleased[s] ? inside->unreleased[s] - 1 : inside->first,
               other);
    violation.missing = EFFECT_DROP;
    if (class->reads && changes(p, other) && class->acquire
        && (!(cache->acquire[s] & EFFECT_DROP) || inside->unfenced[s]))
        report(p, violation, inside->unfenced[s] ? inside->unfenced[s] - 1 : inside->first, other);
}

/* Checks what controls order, for the same two classes. */
static void check_moments(struct proof *p, struct cache *cache, uint32_t number,
                          const struct actor_class *other)
{
    const struct actor_class *class = &p->c.classes.items[number];
    struct coherence_violation violation = {.cache = cache, .missing = EFFECT_WRITE_BACK};
    if (cache->delays && changes(p, class) && other->reads)
        check_between(p, violation, cache->inside[number].first, class, other);
    violation.missing = EFFECT_DROP;
    if (class->reads && changes(p, other))
        check_between(p, violation, cache->inside[number].first, class, other);
}

/* Actors inside, each with others of its agent outside: fences of agent scope order those. */
static void check_agents(struct proof *p, struct cache *cache)
{
    const struct actor_class *classes = p->c.classes.items;
    for (uint32_t i = 0; i < cache->classes_inside.count; i++)
        p->inside_agent_shape[classes[cache->classes_inside.items[i]].agent_shape] +=
            cache->inside[cache->classes_inside.items[i]].count;
    for (uint32_t a = 0; a < cache->classes_inside.count; a++) {
        uint32_t class = cache->classes_inside.items[a];
        for (uint32_t k = p->c.agent_shape_of[classes[class].agent]; k;
             k = p->c.agent_shapes.items[k - 1].next) {
            if (p->present_agent_shape[k - 1] != p->inside_agent_shape[k - 1])
                check_fences(p, cache, class, &classes[p->c.agent_shapes.items[k - 1].class],
                             FENCE_AGENT);
        }
    }
    for (uint32_t i = 0; i < cache->classes_inside.count; i++)
        p->inside_agent_shape[classes[cache->classes_inside.items[i]].agent_shape] = 0;
}

static void check_cache(struct proof *p, struct cache *cache)
{
    uint32_t *outside = p->outside, count = 0;
    for (uint32_t i = 0; i < p->shapes.count; i++) { /* classes of a shape are alike outside */
        uint32_t shape = p->shapes.items[i], inside = 0;
        for (uint32_t k = 0; k < cache->classes_inside.count; k++) {
            uint32_t class = cache->classes_inside.items[k];
            if (p->c.classes.items[class].shape == shape)
                inside += cache->inside[class].count;
        }
        if (p->present[shape] != inside)
            outside[count++] = shape;
    }
    for (uint32_t a = 0; a < cache->classes_inside.count; a++)
        for (uint32_t i = 0; i < count; i++) {
            const struct actor_class *other = &p->c.classes.items[outside[i]];
            check_fences(p, cache, cache->classes_inside.items[a], other, FENCE_SYSTEM);
            check_moments(p, cache, cache->classes_inside.items[a], other);
        }
    check_agents(p, cache);
}

/* ---- routes ---- */

/* Into the list of classes that are inside, in their order. */
static void add_class(struct proof *p, struct cache *cache, uint32_t class)
{
    vector_push(p->c.e->region, &cache->classes_inside, class);
    uint32_t *list = cache->classes_inside.items, at = cache->classes_inside.count - 1;
    for (; at > 0 && list[at - 1] > class; at--)
        list[at] = list[at - 1];
    list[at] = class;
}

/* An actor reaches the cache in this round. */
static void touch(struct proof *p, struct cache *cache, uint64_t order)
{
    if (cache->seen_in == p->round) {
        cache->order = min(order, cache->order);
        return;
    }
    for (uint32_t i = 0; i < cache->classes_inside.count; i++)
        cache->inside[cache->classes_inside.items[i]] = (struct presence){0};
    cache->seen_in = p->round;
    cache->order = order;
    cache->classes_inside.count = 0;
    vector_push(p->c.e->region, &p->visited, cache);
}

static void enter(struct proof *p, struct cache *cache, uint32_t class,
                  const struct presence *presence)
{
    if (cache->inside[class].count == 0)
        add_class(p, cache, class);
    presence_add(&cache->inside[class], presence);
}

static bool is_here(const struct proof *p, uint32_t group)
{
    return p->here[group / 64] >> group % 64 & 1;
}

/* Counts a group from its branch on. */
static void count_along(struct proof *p, const struct actor_group *group, const struct route *route)
{
    const struct actor_class *class = &p->c.classes.items[group->class];
    struct fences fences = group->fences;
    p->present[class->shape] += group->count;
    p->present_agent_shape[class->agent_shape] += group->count;
    for (uint32_t i = group->steps; i < route->count; i++) {
        const struct route_step *step = &route->steps[i];
        struct presence presence = presence_of(&fences, group->count, group->first, group->last);
        if (step->cache) {
            touch(p, step->cache, (uint64_t)group->first * ROUTE_MAX + i);
            enter(p, step->cache, group->class, &presence);
        }
        if (step->splits && !step->cache)
            lost_fences_add(&p->c, group, i, &fences, p->target.space, p->target.address);
        route_fences_pass(step, &fences);
    }
}

/* Counts a group if its routes end at p->end; sets p->end if nothing has yet. True: they end
 * elsewhere, at a leaf that is still to be looked at. */
static bool follow(struct proof *p, uint32_t number)
{
    const struct actor_group *group = &p->c.groups.items[number];
    struct access access = {group->class, p->target.space, p->target.address};
    struct route route;
    route.count = group->steps;
    route.end = group->end;
    if (p->c.classes.items[group->class].own && !is_around(p, group->around))
        return false;
    if (group->branch)
        route_go_on(&p->c, &access, group->branch, &route);
    for (uint32_t i = 0; i < p->ended.count; i++)
        if (p->ended.items[i] == route.end)
            return false;
    if (!route.end)
        return false;
    p->end = !p->end ? route.end : p->end;
    if (p->end != route.end)
        return true;
    p->here[number / 64] |= (uint64_t)1 << number % 64;
    count_along(p, group, &route);
    return false;
}

/* ---- caches before the branches ---- */

static bool is_proven(const struct proof *p)
{
    for (uint32_t i = 0; i < p->proven.count; i++)
        if (p->proven.items[i].owner == p->target.owner
            && memcmp(p->proven.items[i].here, p->here, p->here_words * sizeof *p->here) == 0)
            return true;
    return false;
}

static void add_proven(struct proof *p)
{
    uint64_t *here = region_take(p->c.e->region, p->here_words * sizeof *here);
    memcpy(here, p->here, p->here_words * sizeof *here);
    struct proven proven = {p->target.owner, here};
    vector_push(p->c.e->region, &p->proven, proven);
}

/* enter_early() finds out when the caches are reached. */
static void touch_early(struct proof *p, const struct actor_group *group)
{
    for (uint32_t i = 0; i < group->caches.count; i++)
        touch(p, group->caches.items[i], UINT64_MAX);
}

static void enter_early(struct proof *p, struct cache *cache)
{
    for (uint32_t i = 0; i < cache->passages.count; i++) {
        const struct passage *passage = &cache->passages.items[i];
        if (!is_here(p, passage->group))
            continue;
        touch(p, cache, passage->order);
        enter(p, cache, p->c.groups.items[passage->group].class, &passage->presence);
    }
}

/* ---- pieces of memory ---- */

static int by_order(const void *a, const void *b)
{
    const struct cache *const *x = a, *const *y = b;
    return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

/* Looks at the caches that actors reach on the route to p->end. */
static void check_end(struct proof *p)
{
    bool proven = is_proven(p);
    for (uint32_t i = 0; i < p->c.groups.count && !proven; i++)
        if (is_here(p, i))
            touch_early(p, &p->c.groups.items[i]);
    for (uint32_t i = 0; i < p->visited.count; i++)
        enter_early(p, p->visited.items[i]);
    if (p->visited.count > 1) /* in the order in which actors get there, one after the other */
        qsort(p->visited.items, p->visited.count, sizeof(struct cache *), by_order);
    p->violations = 0;
    for (uint32_t i = 0; i < p->visited.count; i++)
        check_cache(p, p->visited.items[i]);
    if (!proven && p->violations == 0)
        add_proven(p);
}

/* An address may mean different things to different actors, as registers do: those whose routes end
 * at one leaf share what is there. */
static void check_target(struct proof *p)
{
    bool more = true;
    p->ended.count = 0;
    while (more) {
        p->round++;
        p->end = NULL;
        p->visited.count = 0;
        memset(p->present, 0, (p->c.classes.count + 1) * sizeof *p->present);
        memset(p->present_agent_shape, 0,
               (p->c.agent_shapes.count + 1) * sizeof *p->present_agent_shape);
        memset(p->here, 0, p->here_words * sizeof *p->here);
        more = false;
        for (uint32_t i = 0; i < p->c.groups.count; i++)
            more |= follow(p, i);
        check_end(p);
        vector_push(p->c.e->region, &p->ended, p->end);
    }
}

static void check_space(struct proof *p, const struct node *owner, const struct model_space *space)
{
    for (uint32_t t = 0; t < space->target_count; t++) {
        p->target = (struct target){space, owner, space->base + t * space->interleave_bytes};
        check_target(p);
    }
}

/* Holes in a platform with other mistakes would be their consequences. */
static bool is_whole(const struct elaboration *e)
{
    for (uint32_t i = 0; i < e->diagnostics->list.count; i++) {
        enum diagnostic_code code = e->diagnostics->list.items[i]->code;
        if (code != E0507 && diagnostic_severity(code) == COMPILE_ERROR)
            return false;
    }
    return true;
}

static void run_coherence(struct elaboration *e)
{
    struct proof p = {.round = 0};
    bool any_map = false;
    if (!is_whole(e))
        return;
    routes_init(&p.c, e);
    units_find(&p.c);
    groups_find(&p.c);
    p.atomic = request_bit(&p.c, "atomic");
    p.scoped = request_bit(&p.c, "write.scope");
    if (p.c.caches.count == 0)
        return;
    p.present = region_take(e->region, (p.c.classes.count + 1) * sizeof *p.present);
    p.present_agent_shape =
        region_take(e->region, (p.c.agent_shapes.count + 1) * sizeof *p.present_agent_shape);
    p.inside_agent_shape =
        region_take(e->region, (p.c.agent_shapes.count + 1) * sizeof *p.inside_agent_shape);
    p.outside = region_take(e->region, (p.c.classes.count + 1) * sizeof *p.outside);
    p.here_words = p.c.groups.count / 64 + 1;
    p.here = region_take(e->region, p.here_words * sizeof *p.here);
    for (uint32_t i = 0; i < p.c.classes.count; i++)
        if (p.c.classes.items[i].shape == i)
            vector_push(e->region, &p.shapes, i);
    for (uint32_t i = 0; i < e->nodes.count; i++)
        for (uint32_t k = 0; k < e->nodes.items[i]->spaces.count; k++) {
            const struct model_space *space = e->nodes.items[i]->spaces.items[k].model;
            if (!space || !space->mapped)
                continue;
            any_map = true;
            check_space(&p, e->nodes.items[i], space);
        }
    if (!any_map)
        check_target(&p);
    lost_fences_report(&p.c);
    for (uint32_t i = 0; i < e->nodes.count; i++)
        silence_report(&p.c, e->nodes.items[i]);
}

const struct check check_coherence = {
    .name = "coherence",
    .code = E0507,
    .run = run_coherence,
    .prerequisites = {&check_protocols, &check_unconnected, &check_coherence_facts}};
