/* Routes by the map that can deadlock (E0506): circles of channels. A channel is a connection
 * between two interconnects that route by the map (elaborate_route.c); a request that holds a place
 * in one waits for a place in the next on its way. The ways are known, so the waiting is: when it
 * goes around in a circle, requests that fill the circle wait for ever. Replies go the same ways
 * backwards, so their circles are the same.
 *
 * One kind of circle is safe: a ring of interconnects with `bubble = true`, which let a message
 * enter the ring only where two places are free, so that one always stays free in it. They take for
 * entering what comes from anything but another one of their kind, so everything else that enters
 * or leaves the ring has to be of another kind. */
#include "check.h"

struct edges {
    VECTOR(uint32_t) v;
};

struct channels {
    struct elaboration *e;
    struct edges *after, *before; /* per path: what is waited for, what waits */
    uint32_t *parent;             /* per path: on the way of a search */
    uint32_t *queue;
    uint32_t *seen; /* per path: root + 1 of the search that saw it */
    bool *done;
};

static bool is_bubble(struct elaboration *e, struct node *node)
{
    return node_is_set(e, node, "bubble");
}

static void add_edge(struct channels *c, uint32_t from, uint32_t to)
{
    struct edges *after = &c->after[from];
    for (uint32_t i = 0; i < after->v.count; i++)
        if (after->v.items[i] == to)
            return;
    vector_push(c->e->region, &after->v, to);
    vector_push(c->e->region, &c->before[to].v, from);
}

/* Along the way of requests for one space that come by `path`. Each step is nearer to it. */
static void follow(struct channels *c, uint32_t start, uint32_t space)
{
    uint32_t path = start;
    for (;;) {
        const struct route_path *p = &c->e->paths.items[path];
        uint32_t next =
            p->is_complete && p->to.node->routes_to ? p->to.node->routes_to[space] : ROUTE_NONE;
        if (next == ROUTE_NONE)
            return;
        add_edge(c, path, next);
        if (next == start)
            return;
        path = next;
    }
}

/* The shortest circle through `root`, as path numbers in order; 0: there is none. */
static uint32_t find_circle(struct channels *c, uint32_t root, uint32_t *circle)
{
    uint32_t head = 0, tail = 0;
    c->queue[tail++] = root;
    while (head < tail) {
        uint32_t path = c->queue[head++];
        const struct edges *after = &c->after[path];
        for (uint32_t i = 0; i < after->v.count; i++) {
            uint32_t to = after->v.items[i];
            if (to == root) {
                uint32_t count = 0;
                for (uint32_t p = path; p != root; p = c->parent[p])
                    count++;
                for (uint32_t p = path, at = count; p != root; p = c->parent[p])
                    circle[at--] = p;
                circle[0] = root;
                return count + 1;
            }
            if (c->seen[to] == root + 1)
                continue;
            c->seen[to] = root + 1;
            c->parent[to] = path;
            c->queue[tail++] = to;
        }
    }
    return 0;
}

static bool keeps_bubble(struct channels *c, const uint32_t *circle, uint32_t count)
{
    const struct route_path *paths = c->e->paths.items;
    for (uint32_t i = 0; i < count; i++) {
        const struct edges *after = &c->after[circle[i]], *before = &c->before[circle[i]];
        uint32_t next = circle[(i + 1) % count], last = circle[(i + count - 1) % count];
        if (!is_bubble(c->e, paths[circle[i]].from.node))
            return false;
        for (uint32_t k = 0; k < after->v.count; k++)
            if (after->v.items[k] != next && is_bubble(c->e, paths[after->v.items[k]].to.node))
                return false;
        for (uint32_t k = 0; k < before->v.count; k++)
            if (before->v.items[k] != last && is_bubble(c->e, paths[before->v.items[k]].from.node))
                return false;
    }
    return true;
}

static struct span place_of(const struct route_path *path)
{
    const struct wire *wire = path->carrier ? path->carrier : path->first;
    return wire->statement->item->span;
}

static void report(struct channels *c, const uint32_t *circle, uint32_t count)
{
    struct elaboration *e = c->e;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0506, place_of(&e->paths.items[circle[0]]),
                       "requests can wait for each other in a circle of %u interconnects", count);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        const struct route_path *path = &e->paths.items[circle[i]];
        diagnostic_note(e->diagnostics, d, place_of(path),
                        "'%s' holds a place here and waits for one after '%s'",
                        path->from.node->object.path, path->to.node->object.path);
    }
    diagnostic_help(e->diagnostics, d,
                    "give them 'bubble = true' if they form one ring, or order the outputs so that "
                    "ways go through one dimension after the other");
}

static void run_deadlock(struct elaboration *e)
{
    uint32_t count = e->paths.count;
    struct channels c = {.e = e};
    c.after = region_take(e->region, (count + 1) * sizeof *c.after);
    c.before = region_take(e->region, (count + 1) * sizeof *c.before);
    c.parent = region_take(e->region, (count + 1) * sizeof *c.parent);
    c.queue = region_take(e->region, (count + 1) * sizeof *c.queue);
    c.seen = region_take(e->region, (count + 1) * sizeof *c.seen);
    c.done = region_take(e->region, (count + 1) * sizeof *c.done);
    uint32_t *circle = region_take(e->region, (count + 1) * sizeof *circle);
    for (uint32_t i = 0; i < count; i++)
        if (!e->paths.items[i].from.node->routes_to)
            for (uint32_t space = 0; space < e->spaces.count; space++)
                follow(&c, i, space);
    for (uint32_t i = 0; i < count; i++) {
        if (c.done[i] || c.before[i].v.count == 0)
            continue;
        uint32_t length = find_circle(&c, i, circle);
        for (uint32_t k = 0; k < length; k++)
            c.done[circle[k]] = true;
        if (length > 0 && !keeps_bubble(&c, circle, length))
            report(&c, circle, length);
    }
}

const struct check check_deadlock = {.name = "cyclic-channels",
                                     .code = E0506,
                                     .run = run_deadlock,
                                     .prerequisites = {&check_protocols}};
