/* The statements of components in `coherence { }`, and the routes of accesses to memory, for the
 * proof in check_coherence.c.
 *
 * Words. An *actor* is a port of a leaf that sends accesses (`accesses`). A *cache* is a leaf that
 * keeps copies of what passes (`keeps`), written lines among them (`delays`). A *moment* is a name
 * for what actors do one after the other (`kernel`, `copy`): an actor is to see in its moment the
 * writes of another actor's earlier moment. A *control* reaches a cache before or after a moment.
 * Actors with `fence.acquire` or `fence.release` order their accesses in band, by fences that go
 * the way of the accesses. Two actors of one *agent* may order them by fences of agent scope or of
 * system scope, others by those of system scope only. Moments are bits of a mask. The *branch* of a
 * route is the first interconnect whose output depends on the address; before it all routes of an
 * actor are one. */
#ifndef HEDDLE_DSL_CHECK_COHERENCE_H
#define HEDDLE_DSL_CHECK_COHERENCE_H

#include "dsl/elaborate/elaborate.h"

#define PORT_NONE    UINT32_MAX
#define ROUTE_MAX    64 /* steps; longer routes lead nowhere */
#define MOMENTS_MAX  32
#define REQUESTS_MAX 32

enum fence_scope { FENCE_AGENT, FENCE_SYSTEM, FENCE_SCOPES };

enum fact_verb {
    FACT_ACCESSES,
    FACT_KEEPS,
    FACT_DELAYS,
    FACT_PASSES,
    FACT_ANSWERS,
    FACT_ON,
    FACT_BEFORE,
    FACT_AFTER,
    FACT_AGENTS,
    FACT_VERBS
};

/* PASS: a fence goes on below; SPREAD: to all outputs of the next interconnect. */
enum effects { EFFECT_WRITE_BACK = 1, EFFECT_DROP = 2, EFFECT_PASS = 4, EFFECT_SPREAD = 8 };

/* The accesses that a control reaches: those behind a port, those to memory of the composite
 * around, or all. */
enum control_reach { REACH_PORT, REACH_OWN, REACH_ALL };

struct control {
    struct node *by;
    const struct ast_item *fact;
    uint32_t moment;
    bool after;
    enum control_reach reach;
    unsigned effects;
};

/* Actors of one class whose route leads through a cache. */
struct presence {
    uint32_t count;
    uint32_t first; /* one of them */
    /* By scope: 1 + one whose acquire, release fences do not get here; 0: none. */
    uint32_t unfenced[FENCE_SCOPES], unreleased[FENCE_SCOPES];
};

/* The actors of a group that pass a cache before their branch. */
struct passage {
    uint32_t group;
    struct presence presence;
    uint64_t order; /* as in cache.order */
};

struct cache {
    struct node *node;
    uint32_t in_port;
    const struct ast_item *delays; /* NULL: it keeps no written lines */
    /* By scope: what a fence from above does here, enum effects; requests that end here, by bit. */
    unsigned acquire[FENCE_SCOPES], release[FENCE_SCOPES];
    uint32_t answers[FENCE_SCOPES];
    VECTOR(struct control) controls;
    VECTOR(struct passage) passages;
    uint32_t seen_in;        /* scratch: the target for which `inside` counts */
    uint64_t order;          /* order of the first that got here: actor * ROUTE_MAX + step */
    struct presence *inside; /* per class */
    VECTOR(uint32_t) classes_inside; /* classes that are inside, in order */
};

/* Actors that differ in their place only. */
struct actor_class {
    const struct type_info *type;
    uint32_t port;
    struct node *controller; /* before and after whose moments they act; NULL: none */
    bool reads, writes, acquire, release;
    bool own;        /* only memory of the composite around */
    uint32_t others; /* requests that one place must do for all, by bit */
    uint32_t moments;
    uint32_t agent; /* 0: that of all to which none is given */
    uint32_t shape; /* the same for classes that differ in type, port, controller and agent only */
    uint32_t agent_shape; /* number in `agent_shapes` */
};

/* Classes of one shape and one agent. */
struct agent_shape {
    uint32_t class; /* one of them */
    uint32_t next;  /* 1 + another agent_shape of the agent; 0: none */
};

/* The fate of accesses that come by a path; the same for all classes of the same moments. */
struct arrival {
    bool is_known, forwards;
    struct node *node;             /* NULL: an open end */
    const struct route_path *next; /* in leaves: where accesses continue; NULL: they end here */
};

struct actor {
    struct node *node;
    uint32_t port, element;
    uint32_t class;
};

/* The way of an access of a class. */
struct access {
    uint32_t class;
    const struct model_space *space; /* NULL: anywhere */
    uint64_t address;
};

struct route_step {
    struct node *node;
    struct cache *cache; /* NULL: it passes things on */
    bool splits; /* an interconnect with several outputs, for which a fence has no address */
};

/* The reach of an actor's fences along its route, by scope. */
struct fences {
    bool acquire[FENCE_SCOPES], release[FENCE_SCOPES];
    /* The last cache sent them to all that are below. */
    bool acquire_spreads[FENCE_SCOPES], release_spreads[FENCE_SCOPES];
};

struct route {
    struct route_step steps[ROUTE_MAX];
    uint32_t count;
    struct node *end; /* NULL: it leads nowhere */
};

/* Actors of a class that have one branch and come to it alike: from there on their routes are one.
 */
struct actor_group {
    uint32_t class;
    struct node *branch; /* NULL: their routes are one from the beginning, and end at `end` */
    struct node *end;
    const struct node *around;     /* the composite around each of them */
    uint32_t steps;                /* before the branch */
    struct fences fences;          /* at the branch */
    uint32_t count, first, last;   /* actors */
    uint32_t next;                 /* 1 + another of this branch or end; 0: none */
    VECTOR(struct cache *) caches; /* before the branch */
};

/* Fences that come to an interconnect with several outputs, which looks for an address in them. */
struct lost_fence {
    const struct node *sender, *branch;
    bool release, passes; /* passes: the sender is a cache */
    enum fence_scope scope;
};

struct coherence {
    struct elaboration *e;
    struct arrival **arrivals; /* per class, NULL until needed: per path; shared, see arrive() */
    uint32_t ***path_at;       /* per node, port, element: 1 + path that begins there; 0: none */
    struct cache **cache;      /* per node */
    struct node **controller;
    uint32_t *agent;                   /* per node */
    uint32_t agents;                   /* the highest number of one */
    uint32_t *first_agent;             /* per node with agents_by: one less than its first number */
    const struct ast_item **agents_by; /* per node: what it says of agents, or NULL */
    VECTOR(struct agent_shape) agent_shapes;
    uint32_t *agent_shape_of; /* per agent: 1 + its first agent_shape; 0: none */
    VECTOR(struct cache *) caches;
    VECTOR(struct actor_class) classes;
    VECTOR(struct actor) actors;
    VECTOR(struct actor_group) groups; /* in the order of their first actors */
    const char *moments[MOMENTS_MAX];
    uint32_t moment_count;
    const char *requests[REQUESTS_MAX];
    uint32_t request_count;
    VECTOR(const char *) kept;               /* protocols whose accesses some cache takes */
    VECTOR(const struct type_info *) silent; /* types that were warned of */
    VECTOR(struct lost_fence) lost;          /* one for each two types */
};

/* coherence_facts.c */
/* Statements of a node; NULL: it makes none. */
const struct ast_items *facts_of(const struct node *node);
enum fact_verb fact_verb(const struct ast_item *fact);
/* True if the fact holds for this node. */
bool fact_holds(struct coherence *c, struct node *node, const struct ast_item *fact);
/* The port that the first name of a path means. */
uint32_t fact_port(const struct type_info *type, const struct ast_expr *path);
/* "read" of "top.read.coherent"; the second member, or NULL. */
const char *fact_member(const struct ast_expr *path, unsigned number);
/* True if a statement holds at the moment, or for the scope, of this name. */
bool fact_is_at(const struct ast_item *fact, const char *name);
const char *fence_scope_name(enum fence_scope scope);
/* The effects that a statement `on` names. */
unsigned fact_says(const struct ast_item *fact);
/* Effects of a request that arrives at `port`; `field` may be NULL, `moment` is a scope for a
 * fence.
 */
unsigned fact_effects(struct coherence *c, struct node *node, uint32_t port, const char *request,
                      const char *field, const char *moment);
uint32_t moment_bit(struct coherence *c, const char *name);
const char *moment_name(const struct coherence *c, uint32_t bits);
uint32_t request_bit(struct coherence *c, const char *text);

/* coherence_routes.c */
void routes_init(struct coherence *c, struct elaboration *e);
/* The path from an `out` port, or NULL. */
const struct route_path *route_next_path(const struct coherence *c, const struct node *node,
                                         uint32_t port, uint32_t element);
/* True if a fence gets past a step. `spread`: the last cache sent it to all that are below. */
bool route_fence_passes(const struct route_step *step, enum fence_scope scope, bool release,
                        bool *spread);
/* The last cache of a route before `step`, or NULL. */
const struct route_step *route_cache_before(const struct route *route,
                                            const struct route_step *step);
struct fences route_fences_begin(void);
/* Passes all fences, which have come to the step as `fences` says. */
void route_fences_pass(const struct route_step *step, struct fences *fences);
/* An actor at a step to which its fences have come as `fences` says. */
struct presence presence_of(const struct fences *fences, uint32_t count, uint32_t first,
                            uint32_t last);
/* Finds the route of an access from `actor` to `address` of `space` (NULL: anywhere). */
void route_find(struct coherence *c, const struct actor *actor, const struct model_space *space,
                uint64_t address, struct route *route);
/* A route in two parts. route_begin() ends at the branch, which it returns; NULL: there is none, or
 * the route leads nowhere (`end` NULL). route_go_on() adds the steps from the branch on. */
struct node *route_begin(struct coherence *c, const struct actor *actor, struct route *route);
void route_go_on(struct coherence *c, const struct access *access, struct node *branch,
                 struct route *route);
/* Calls `found` for every leaf that requests of a port array, or of one of its elements, reach,
 * whatever their address. */
void route_reach_from(struct coherence *c, struct node *node, uint32_t port, uint32_t element,
                      void (*visit)(struct coherence *c, struct wire_end to, void *data),
                      void *data);
void route_reach(struct coherence *c, struct node *node, uint32_t port,
                 void (*visit)(struct coherence *c, struct wire_end to, void *data), void *data);

bool node_is_inside(const struct node *node, const struct node *owner);

/* coherence_units.c: caches, actors and controllers. */
void units_find(struct coherence *c);

/* coherence_groups.c: actors whose routes are one from their branch on. */
void groups_find(struct coherence *c);
/* Notes fences of a group that come to step `at` of its route as `fences` says, and are lost there.
 */
void lost_fences_add(struct coherence *c, const struct actor_group *group, uint32_t at,
                     const struct fences *fences, const struct model_space *space,
                     uint64_t address);
/* Adds actors to those that are inside. */
void presence_add(struct presence *to, const struct presence *more);

/* coherence_report.c */
struct coherence_violation {
    const struct cache *cache;
    const struct actor *inside, *outside; /* behind the cache, and not */
    unsigned missing;                     /* enum effects; 0: `request` is answered here */
    const char *request;
    bool in_band;
    enum fence_scope scope; /* in band */
    uint32_t before, after; /* moments: of the write, and of the read */
    const struct model_space *space;
    const struct node *owner; /* in which the space is declared; NULL: there is no map */
    uint64_t address;
};
/* E0509 of what was noted; where there are violations, they speak of lost fences themselves. */
void lost_fences_report(struct coherence *c);
void violation_report(struct coherence *c, const struct coherence_violation *violation);
/* W0706 of a leaf that says nothing of its accesses, once for its type. */
void silence_report(struct coherence *c, const struct node *node);

#endif
