/* Warns of interconnects that can fill up (W0704).
 *
 * A request that waits for room in the next interconnect holds its place in this one, so a cycle of
 * interconnects can fill up and stand still for ever. Only interconnects (components with `any`
 * ports in both directions) forward requests; every other component takes them in and answers,
 * which ends the chain. Whether the traffic really goes around depends on the routes, so this is a
 * warning; where interconnects route by the map, check_deadlock.c knows. */
#include <string.h>

#include "check.h"

enum colour { WHITE, GREY, BLACK };

struct search {
    struct elaboration *e;
    enum colour *colour; /* per node */
    uint32_t *first;     /* per node: first path from it, in `edges` */
    uint32_t *next;      /* per path: next one with the same origin */
    const struct node **stack;
    uint32_t *stack_path; /* the path taken from each node on the stack */
    uint32_t depth;
};

#define PATH_NONE UINT32_MAX

/* Routes by the map are known, so check_deadlock.c says what goes around on them. */
static bool is_routed(const struct search *s, uint32_t from)
{
    for (uint32_t i = from; i < s->depth; i++) {
        const uint32_t *routes = s->stack[i]->routes_to;
        bool leads = false;
        for (uint32_t k = 0; routes && k < s->e->spaces.count; k++)
            leads |= routes[k] != ROUTE_NONE;
        if (!leads)
            return false;
    }
    return true;
}

static void report_cycle(struct search *s, const struct node *back_to)
{
    uint32_t from = 0;
    while (s->stack[from] != back_to)
        from++;
    if (is_routed(s, from))
        return;
    const struct route_path *last = &s->e->paths.items[s->stack_path[s->depth - 1]];
    struct diagnostic *d =
        diagnostic_add(s->e->diagnostics, W0704, last->first->statement->item->span,
                       "requests can go around in a circle through '%s'", back_to->object.path);
    for (uint32_t i = from; i < s->depth; i++)
        diagnostic_note(s->e->diagnostics, d, s->stack[i]->span, "'%s' leads to '%s'",
                        s->stack[i]->object.path,
                        i + 1 < s->depth ? s->stack[i + 1]->object.path : back_to->object.path);
    diagnostic_help(s->e->diagnostics, d,
                    "if they can wait for each other, this deadlocks; put a component between "
                    "that takes requests in, or split the traffic");
}

/* Depth first with an explicit stack: chains may be long. */
static void search_from(struct search *s, const struct node *root)
{
    s->depth = 0;
    s->stack[s->depth] = root;
    s->stack_path[s->depth++] = s->first[root->model.id];
    s->colour[root->model.id] = GREY;
    while (s->depth > 0) {
        const struct node *node = s->stack[s->depth - 1];
        uint32_t path = s->stack_path[s->depth - 1];
        if (path == PATH_NONE) {
            s->colour[node->model.id] = BLACK;
            s->depth--;
            if (s->depth > 0)
                s->stack_path[s->depth - 1] = s->next[s->stack_path[s->depth - 1]];
            continue;
        }
        const struct node *to = s->e->paths.items[path].to.node;
        if (s->colour[to->model.id] == GREY)
            report_cycle(s, to);
        if (s->colour[to->model.id] == WHITE && node_forwards(to)) {
            s->colour[to->model.id] = GREY;
            s->stack[s->depth] = to;
            s->stack_path[s->depth++] = s->first[to->model.id];
        } else {
            s->stack_path[s->depth - 1] = s->next[path];
        }
    }
}

static void run_interconnect_cycles(struct elaboration *e)
{
    uint32_t nodes = e->nodes.count, paths = e->paths.count;
    struct search s = {.e = e};
    s.colour = region_take(e->region, nodes * sizeof *s.colour);
    s.first = region_take(e->region, nodes * sizeof *s.first);
    s.next = region_take(e->region, (paths + 1) * sizeof *s.next);
    s.stack = region_take(e->region, (nodes + 1) * sizeof *s.stack);
    s.stack_path = region_take(e->region, (nodes + 1) * sizeof *s.stack_path);
    for (uint32_t i = 0; i < nodes; i++)
        s.first[i] = PATH_NONE;
    for (uint32_t i = paths; i-- > 0;) {
        const struct route_path *path = &e->paths.items[i];
        if (!path->is_complete)
            continue;
        s.next[i] = s.first[path->from.node->model.id];
        s.first[path->from.node->model.id] = i;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (s.colour[i] == WHITE && node_forwards(e->nodes.items[i]))
            search_from(&s, e->nodes.items[i]);
}

const struct check check_interconnect_cycles = {.name = "cyclic-route",
                                                .code = W0704,
                                                .run = run_interconnect_cycles,
                                                .prerequisites = {&check_protocols}};
