/* Static elaboration: from the program's declarations and one chosen platform to the tree of
 * instances, their values and their wires. Internal to the front end; the result is a `struct
 * model`.
 *
 * Order of work. (1) The tree: instances are made top down, `if` and `for` decided on the way
 * (elaborate_tree.c), values of parameters computed when first asked for (elaborate_value.c). (2)
 * Connections: both sides of every statement are followed to ports (elaborate_path.c), counts of
 * unsized port arrays found on demand, wires made (elaborate_connect.c). (3) Named checks
 * (dsl/check). (4) The model's arrays (elaborate_model.c).
 *
 * What has gone wrong once is silent afterwards: a bad value has ok == false and everything
 * computed from it is bad, too; a composite with a bad statement is `damaged`, and what is missing
 * in it is not complained about. */
#ifndef HEDDLE_DSL_ELABORATE_ELABORATE_H
#define HEDDLE_DSL_ELABORATE_ELABORATE_H

#include "imports.h"

struct value {
    bool ok;
    enum model_dimension dimension;
    int64_t integer;
    const char *string;
    const struct model_enum *choice;
};

struct type_spec {
    enum model_dimension dimension;
    const struct model_enum *choice;
};

/* A loop variable or an argument of a protocol. */
struct binding {
    const char *name;
    struct value value;
    const struct binding *outer;
};

struct object;

/* The scope in which an expression is evaluated. `object` may be NULL: literals and bindings
 * only. */
struct scope {
    struct object *object;
    const struct binding *bindings;
};

enum cell_state { CELL_UNSET, CELL_BUSY, CELL_DONE };

struct cell {
    enum cell_state state;
    struct value value;
    enum model_value_source source;
    struct span place;
    const char *doc;  /* the comment about where the value comes from, or NULL */
    bool is_computed; /* from other parameters */
};

struct node;
struct part_object;

/* A setting as it reaches an object: where it is written, its value is evaluated. */
struct setting {
    const struct ast_item *item;
    struct scope scope;
    const struct object *anchor; /* the instance or part in whose braces it is written */
};

/* A slot of a composite that handed a part down; the part answers to its name, too. */
struct handed {
    struct object *owner;
    const char *name;
    const struct handed *before; /* the slot of a composite around, from which this one has it */
};

/* The common part of parts and component instances: parameters, and the braces that set them. */
struct object {
    struct type_info *type;
    struct object *owner; /* the object around it; NULL for the root */
    struct node *node;    /* the component instance that it is, or is part of */
    const char *name;
    const char *path;
    bool is_in_array;
    uint32_t element;
    struct span span;                 /* span of its name where it is declared */
    const struct ast_items *settings; /* NULL: none */
    struct scope setting_scope;
    bool *reached; /* per setting: its path has led somewhere; NULL: none has a path */
    const struct handed *handed;    /* parts; NULL: made where it is */
    struct cell *cells;             /* per type->params */
    struct part_slot *slots;        /* per type->parts */
    struct model_measure *measures; /* per type->measures, by measures_make() */
};

/* The part type that fills a slot, and the braces that set it. */
struct filler {
    struct type_info *type; /* NULL: nothing, or a mistake */
    const struct ast_items *settings;
    struct scope scope;
    struct span span;
    const struct handed *handed;
    bool is_empty; /* left so on purpose */
};

struct part_slot {
    struct part_object **parts; /* slots of composites: the first that was handed down */
    uint32_t count;
    bool is_shared, done;
    bool is_being_filled;
    struct filler filler; /* slots of composites only */
};

struct part_object {
    struct model_part model;
    struct object object;
    const struct model_part_decl *decl;
};

/* Some elements of one port declaration of one instance, as a path names them. */
struct port_range {
    struct node *node;
    uint32_t port;
    uint32_t first, count;
    bool all; /* [*]: count is not set until the array's count is known */
    struct span span;
};

struct port_ranges {
    VECTOR(struct port_range) v;
};

struct statement {
    const struct ast_item *item;
    struct scope scope;
    bool is_resolved, is_wrong;
    struct port_ranges left, right, otherwise;
    struct node *interconnect; /* `via NAME` of a component */
    struct link_use *link;     /* `via LINK`, `over LINK` */
    struct link_use *over;
    struct wire_group *wires; /* `via WIRE` */
    bool may_have_later_via;  /* a link or wire, which may be declared after it */
    bool is_first_of_interconnect;
};

/* A link as used: a declared one, or a named copy with values of its own. */
struct link_use {
    const char *name;
    struct model_link_type *model; /* NULL when it could not be made */
};

struct wire;
struct wire_group;

/* One element of `NAME[n] : LINK;`. */
struct shared_wire {
    struct wire_group *group;
    const char *path;
    VECTOR(struct wire *) uses;
    struct node *end; /* the instance to which it leads; set by check_wires */
    uint32_t model;   /* 1 + index in model.wires; 0: none */
};

struct wire_group {
    const struct ast_item *item;
    struct node *node; /* the composite that declares them */
    struct model_link_type *link;
    bool is_array;
    bool is_shared; /* False: each connection has wires of its own */
    struct shared_wire *wires;
    uint32_t count;
};

struct wire_end {
    struct node *node;
    uint32_t port, element;
};

struct wire {
    struct node *written_in;
    const struct statement *statement;
    struct wire_end left, right;
    struct link_use *link;
    const struct ast_expr *latency;
    struct shared_wire *shared_wire; /* NULL: none */
};

/* One port: the wire outside of its instance, and for a composite the one inside. */
struct port_end {
    struct wire *outer, *inner;
};

/* From an `out` port of a leaf to an `in` port of a leaf. */
struct route_path {
    struct wire_end from, to;
    struct wire *first, *last;
    struct wire *carrier;        /* the wire with the latency or the link; NULL: one cycle */
    struct wire *second_carrier; /* a mistake */
    struct wire *outermost;      /* the wire whose statement is highest in the tree */
    struct wire_end boundary;    /* the first port on the way with a latency, or no node */
    bool is_complete;            /* False: it ends at an open boundary, `to` is that */
    uint32_t latency_cy;
};

enum count_state { COUNT_UNSET, COUNT_BUSY, COUNT_KNOWN, COUNT_BAD };

struct port_group {
    enum count_state state;
    uint32_t count;
    struct port_end *ends; /* made when connecting */
    bool has_protocol;
    const struct model_protocol *protocol; /* NULL: `any`, or bad */
    struct model_port *models;
};

struct child_group {
    struct ast_name name;
    struct node **nodes; /* NULL with count 0: its type is unknown */
    uint32_t count;
    bool is_array, is_wrong;
    struct wire_group *wires; /* shared wires, no nodes */
};

struct space_entry {
    const struct ast_item *item;
    struct scope scope;
    struct model_space *model; /* NULL when it is bad */
};

struct later {
    const struct ast_item *item;
    struct scope scope;
};

struct node {
    struct model_instance model;
    struct object object;
    struct node *parent;
    const struct ast_item *item; /* AST_INSTANCE, AST_CONNECT, or NULL for the root */
    struct span span;
    uint32_t depth;
    VECTOR(struct child_group) groups;
    VECTOR(struct statement *) statements;
    VECTOR(struct space_entry) spaces;
    VECTOR(struct later) later; /* check, map, partition */
    VECTOR(struct link_use *) links;
    VECTOR(struct node *) children;
    struct port_group *ports;
    uint32_t domain; /* DOMAIN_NONE: none */
    uint32_t *clocks;
    bool is_expanded, is_damaged, connected;
    bool is_incomplete;    /* an `if` or `for` that could not be decided was left out */
    bool has_inserted;     /* connections of the braces are among its statements */
    struct node **writers; /* per type->stores */
    /* interconnects */
    VECTOR(struct statement *) routes; /* the statements that go through it */
    int32_t in_port, out_port;
    bool has_interconnect_ports;
    const struct model_protocol *any; /* what `any` is bound to; NULL: nothing yet */
    const struct model_space *space;  /* `by space` */
    uint32_t *routes_to;              /* routed by the map: path to take, per space; NULL: not */
    uint32_t partition;
    bool has_partition;
};

#define DOMAIN_NONE UINT32_MAX

/* One --set. */
struct override {
    const char *text;
    struct source_file *source;
    struct override_segment *segments; /* path, the parameter's name last */
    uint32_t segment_count;
    struct ast_expr *value; /* NULL: malformed */
    uint32_t matches;
    struct span span;
};

struct elaboration {
    struct program *program;
    struct region *region;
    struct diagnostics *diagnostics;
    struct node *root;
    struct model *model;
    bool is_standalone; /* a component by itself: what its owner would give is not missed */
    bool must_stop;     /* a limit was reached */
    uint32_t instance_limit;
    uint64_t work;               /* statements expanded and ports made, bounded */
    VECTOR(struct node *) nodes; /* depth first */
    VECTOR(struct part_object *) parts;
    VECTOR(struct wire *) wires;
    VECTOR(struct wire_group *) wire_groups;
    VECTOR(struct route_path) paths;
    VECTOR(struct model_domain) domains;
    VECTOR(struct override *) overrides;
    VECTOR(struct model_protocol *) protocols;
    VECTOR(struct model_space *) spaces;
    VECTOR(struct model_partition) partitions;
    VECTOR(struct model_connection *) connections;
};

/* Bounds on what one description may expand to. The largest platforms that come with heddle take a
 * twentieth of the memory. */
#define ELABORATE_WORK_MAX  ((uint64_t)5000000)
#define ELABORATE_BYTES_MAX ((size_t)4 << 30)
#define ELABORATE_DEPTH_MAX 100

/* Counts work; false, with a diagnostic the first time, when there is too much. */
bool elaborate_count_work(struct elaboration *e, uint64_t amount, struct span span);

/* elaborate_least.c: how many items a type expands to at least. */
uint64_t elaborate_least(struct program *program, struct type_info *type);
/* True if no type expands to too much for certain. False: the type that does was named. */
bool elaborate_fits(struct program *program);

/* eval.c */
/* True if the value follows from names: parameters, loop variables, counts. */
bool eval_uses_names(const struct ast_expr *x, const struct scope *scope);
struct value eval(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                  const struct type_spec *expected);
/* Converts to the expected type or says why not; `node` (may be NULL) gives the clock that turns
 * seconds to cycles. */
struct value eval_as(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                     struct type_spec expected, const struct node *node);
/* A plain number of at least `least` and at most `most`. */
bool eval_count(struct elaboration *e, const struct ast_expr *x, const struct scope *scope,
                int64_t least, int64_t most, int64_t *result);
const char *value_text(struct elaboration *e, const struct value *value);
/* The `i`-th function of expressions, from 0; NULL after the last. */
const char *eval_function_name(size_t i);

/* elaborate_value.c */
struct value object_value(struct elaboration *e, struct object *object, uint32_t param);
void object_init(struct elaboration *e, struct object *object);
/* Computes everything and complains about settings that name nothing. */
void object_finish(struct elaboration *e, struct object *object);
struct model_param *object_params(struct elaboration *e, struct object *object);
/* A setting that is no type's parameter: a clock's frequency, what a link has. `origins` are
 * comments that may say where the value comes from, NULL or "" without. */
struct plain_setting {
    const char *name, *doc, *range, *origins[2];
    struct span declared, place;
    enum model_dimension dimension;
    int64_t value;
    bool is_overridden;
};
struct model_param plain_setting(struct elaboration *e, const struct plain_setting *from);

/* elaborate_measure.c */
/* Puts the object's parameters into the measures of its type. */
void measures_make(struct elaboration *e, struct object *object);

/* elaborate_setting.c */
void settings_init(struct elaboration *e, struct object *object);
/* True if a path that is written in the braces of `anchor` leads to `object`, which is compared
 * from its end on. */
bool setting_leads_to(struct elaboration *e, const struct object *anchor,
                      const struct ast_expr *path, const struct object *object);
/* Finds the setting of `name` of an object. False: there is none. */
bool setting_find(struct elaboration *e, const struct object *object, const char *name,
                  struct setting *setting);
/* The setting of `name` in the object's own braces, or NULL. */
const struct ast_item *object_setting(const struct object *object, const char *name);
/* Complains about settings of the object's own that name nothing or are given twice. */
void settings_check(struct elaboration *e, struct object *object);
/* Complains about paths that led nowhere, when all values have been computed. */
void settings_check_reached(struct elaboration *e);

/* elaborate_tree.c */
struct node *tree_build(struct elaboration *e, struct type_info *type);
void tree_expand(struct elaboration *e, struct node *node);
/* The plan by which an instance is made. */
struct node_plan {
    struct type_info *type;
    const struct ast_item *item;
    struct ast_name name;
    struct ast_name on;
    const struct ast_items *settings;
    struct scope scope; /* scope of the settings */
    bool is_in_array;
    uint32_t element, count;
};
/* A child of `parent` (NULL: the platform). NULL: there are too many. */
struct node *tree_make_node(struct elaboration *e, struct node *parent,
                            const struct node_plan *plan);
/* Adds a group of children; complains when the name is taken (by another branch of an `if`, or a
 * `via`). */
bool tree_add_group(struct elaboration *e, struct node *node, struct child_group group);
/* The component that a name in type position means, or NULL after a diagnostic; `or_link`: a link
 * could be there as well. */
struct type_info *tree_component(struct elaboration *e, struct ast_name name, bool or_link);
/* Says so if `type` contains itself below `parent`. */
bool tree_is_recursive(struct elaboration *e, const struct node *parent,
                       const struct type_info *type, struct span span);
struct child_group *tree_group(struct node *node, const char *name);

/* elaborate_via.c */
/* While a body is walked: the interconnect or link that a connection makes, or an interconnect that
 * was made before it. */
void via_make(struct elaboration *e, struct node *node, const struct ast_item *item,
              const struct scope *scope, struct statement *statement);
/* Called when the body has been walked: wires may be declared after their use, like instances. */
void via_find(struct elaboration *e, struct node *node, struct statement *s);
/* A declared link, or NULL after a diagnostic. */
struct link_use *via_link(struct elaboration *e, struct node *node, struct ast_name name);

/* elaborate_clock.c */
/* Sets the domain and the clocks of a new node; `on` may be absent. */
void clocks_bind(struct elaboration *e, struct node *node, struct ast_name on);

/* elaborate_part.c */
void parts_build(struct elaboration *e, struct object *object);

/* elaborate_path.c */
/* Instances that a path names, e.g. "sa[*].cu[0]". False after a diagnostic. */
struct node_list {
    VECTOR(struct node *) v;
};
bool path_nodes(struct elaboration *e, struct node *from, const struct ast_expr *path,
                const struct scope *scope, struct node_list *out);
bool path_spaces(struct elaboration *e, struct node *from, const struct ast_expr *path,
                 const struct scope *scope, struct node_list *nodes, struct ast_name *name);
/* Elements first .. first + count - 1 that a subscript of `name` chooses; `size` < 0: not known
 * yet. False after a diagnostic. */
bool path_choose(struct elaboration *e, const struct ast_expr *subscript, const struct scope *scope,
                 int64_t size, const char *name, int64_t *first, int64_t *count);
/* Resolves both sides once; sets is_wrong. */
void statement_resolve(struct elaboration *e, struct node *node, struct statement *statement);
/* elaborate_count.c */
/* Elements of a port declaration; -1 when it cannot be told (yet). */
int64_t port_count(struct elaboration *e, struct node *node, uint32_t port);
/* All elements of a list; -1 when some count is unknown. */
int64_t ranges_total(struct elaboration *e, const struct port_ranges *ranges);
/* elaborate_path.c */
/* `count(x)` in an expression. */
struct value path_count(struct elaboration *e, const struct ast_expr *x, const struct scope *scope);
/* "l2.size": a parameter of a child, or of what is connected to a port. */
struct value path_value(struct elaboration *e, const struct ast_expr *x, const struct scope *scope);

/* elaborate_insert.c */
/* Adds what the braces around `node` insert at the ports of its children. Called when its body has
 * been walked and before its children are. */
void inserts_make(struct elaboration *e, struct node *node);
/* Says why nothing was inserted at `object`, to which the path of `item` leads. */
void insert_report(struct elaboration *e, const struct object *object, const struct ast_item *item);

/* elaborate_connected.c */
/* "work.vgprs": the parameter of all that is connected to a port of `node`, if they agree. */
struct value connected_value(struct elaboration *e, const struct ast_expr *x, struct node *node,
                             uint32_t port);

/* elaborate_connect.c */
void connect_all(struct elaboration *e);
const char *wire_end_text(struct elaboration *e, const struct wire_end *at);
/* The wires at a port; NULL when it has none at all. */
struct port_end *wire_end_at(struct elaboration *e, const struct wire_end *at);

/* elaborate_wire.c */
/* Makes the wires of `NAME[n] : LINK { ... }`. False: it declares none. */
bool wires_declare(struct elaboration *e, struct node *node, const struct ast_item *item,
                   const struct scope *scope, struct child_group *group);
/* The wires that a connection of `pairs` pairs names: one for each pair, or (*step 0) one for all.
 * NULL after a diagnostic. */
struct shared_wire *wires_choose(struct elaboration *e, const struct statement *s, uint32_t pairs,
                                 uint32_t *step);
/* The child of the composite with the statement to which an end belongs, or that composite. */
struct node *wire_side(const struct wire *wire, const struct wire_end *end);
void wires_make(struct elaboration *e, struct model *model);

/* elaborate_connection_path.c */
void paths_trace(struct elaboration *e);
/* The protocol of a port with `any` replaced by what it is bound to; NULL: unknown. */
const struct model_protocol *protocol_bound(struct elaboration *e, const struct wire_end *at);

/* elaborate_port.c */
/* Messages that a port holds by its declaration; not `stated`: a default. */
uint32_t port_depth(struct elaboration *e, const struct wire_end *at, bool *stated);
/* Messages a cycle. */
uint32_t path_width(struct elaboration *e, const struct route_path *path);
/* The depth of the port at the end of a path: as stated, or as full speed needs, since room comes
 * back after two latencies. */
uint32_t path_depth(struct elaboration *e, const struct route_path *path, uint64_t latency_cy);

/* elaborate_protocol.c */
const struct model_protocol *protocol_of_port(struct elaboration *e, struct node *node,
                                              uint32_t port);
const char *protocol_text(struct elaboration *e, const struct model_protocol *protocol);
bool link_make(struct elaboration *e, struct model_link_type *model, const struct ast_items *body,
               const struct scope *scope, struct span span, bool partial);
void links_make(struct elaboration *e);
void protocols_check(struct elaboration *e);

/* elaborate_space.c */
void spaces_make(struct elaboration *e);
void maps_apply(struct elaboration *e);
void partitions_apply(struct elaboration *e);

/* elaborate_route.c */
#define ROUTE_NONE UINT32_MAX
/* True if the node passes requests on, as interconnects do, which have `any` ports in both
 * directions. */
bool node_forwards(const struct node *node);
/* True if the node has that parameter, and it is true. */
bool node_is_set(struct elaboration *e, struct node *node, const char *param);
/* Sets routes_to of all interconnects without `by space`, when spaces have their places. */
void routes_make(struct elaboration *e);

/* elaborate_model.c */
struct model *model_make(struct elaboration *e);
/* Types, protocols, links and so on; what a model without instances has. */
void model_declarations(struct elaboration *e, struct model *model);

/* override.c */
void overrides_parse(struct elaboration *e);
/* The override of `name` in `object`, or NULL. */
struct override *override_find(struct elaboration *e, const struct object *object,
                               const char *name);
struct override *override_find_link(struct elaboration *e, const char *link, const char *name);
void overrides_finish(struct elaboration *e);

#endif
