/* The elaborated platform: everything a generator may know, and the only thing it reads.
 *
 * The front end fills one `struct model` for each compilation, in the compilation's region; it is
 * constant from then on and lives until compile_close(). All lists are arrays with a count beside
 * them. Every order is the order of declaration (arrays of instances row-major), so a generator
 * that walks the lists is deterministic by itself.
 *
 * Shapes. A *type* is a declaration (component, part, protocol, link). An *instance* is one
 * element of the elaborated tree; the root instance is the platform. Leaves have C behaviour,
 * composites have children. A *port* belongs to an instance; `element` numbers the ports of a port
 * array. A *connection* joins two leaf ports, after aliases have been followed and interconnects
 * inserted: `from` is the requester (an `out` port), `to` the server (an `in` port).
 *
 * Units: sizes in bytes, latencies in cycles of the clock of the receiver or in picoseconds where a
 * link is crossed, frequencies in Hz, bandwidths in bytes a second. Values are exact integers.
 */
#ifndef HEDDLE_DSL_MODEL_H
#define HEDDLE_DSL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of a declaration: file as the user named it (relative paths stay relative), 1-based
 * line and column. */
struct model_place {
    const char *file;
    uint32_t line;
    uint32_t column;
};

enum model_dimension {
    MODEL_DIM_NONE, /* plain integer (int) */
    MODEL_DIM_BOOL,
    MODEL_DIM_ENUM, /* value = index into the enumeration's names */
    MODEL_DIM_BYTES,
    MODEL_DIM_CYCLES,
    MODEL_DIM_HZ,
    MODEL_DIM_SECONDS, /* in picoseconds */
    MODEL_DIM_BYTES_PER_S,
    MODEL_DIM_BYTES_PER_CY,
    MODEL_DIM_STRING,
};

struct model_enum {
    const char *name; /* NULL: written in place */
    const char *doc;
    struct model_place place;
    const char **names;
    uint32_t count;
};

struct model_value {
    enum model_dimension dimension;
    int64_t integer;
    const char *string;              /* MODEL_DIM_STRING only */
    const struct model_enum *choice; /* MODEL_DIM_ENUM only */
};

/* A parameter or `let` of a type, as declared. */
struct model_param_decl {
    const char *name;
    const char *doc; /* "" when undocumented */
    struct model_place place;
    enum model_dimension dimension;
    const struct model_enum *choice;
    bool is_let; /* derived: cannot be set */
    bool may_be_negative;
    bool has_default; /* default_text is what is in the source, "" without */
    const char *default_text;
    const char *range_text; /* e.g. "1KiB .. 64MiB pow2"; "" without */
};

enum model_value_source {
    MODEL_FROM_DEFAULT,
    MODEL_FROM_BODY,
    MODEL_FROM_OVERRIDE,
    MODEL_FROM_LET
};

/* The value of a parameter in one instance or part. */
struct model_param {
    const struct model_param_decl *decl;
    struct model_value value;
    enum model_value_source source;
    struct model_place place; /* where it was set */
    const char *doc;          /* the comment that says where the value comes from, "" without */
    bool is_computed;         /* from other parameters, not a literal */
};

enum model_field_kind {
    MODEL_FIELD_U8,
    MODEL_FIELD_U16,
    MODEL_FIELD_U32,
    MODEL_FIELD_U64,
    MODEL_FIELD_I32,
    MODEL_FIELD_I64,
    MODEL_FIELD_BOOL, /* one byte */
    MODEL_FIELD_ADDR, /* u64 */
    MODEL_FIELD_ENUM, /* one byte */
    MODEL_FIELD_BITS, /* `size` bits: a mask in payload */
    MODEL_FIELD_BYTES /* `size` bytes of payload */
};

struct model_field {
    const char *name;
    const char *doc;
    enum model_field_kind kind;
    const struct model_enum *choice;
    /* BITS, BYTES: for these arguments of the protocol; otherwise the size in bytes */
    uint32_t size;
    /* BITS, BYTES: index of the protocol parameter that is the size, -1 for a constant */
    int32_t size_argument;
    /* BYTES: 1 + index of the message's field that says how many of them are sent, 0: all */
    uint32_t length_field;
};

struct model_message {
    const char *name;
    const char *doc;
    struct model_place place;
    const struct model_field *fields;
    uint32_t field_count;
    bool is_reply;
    uint64_t answers; /* replies: bit i = answers request i (index among the requests) */
    bool has_reply;   /* requests: some reply answers it; otherwise it is one-way */
};

/* A protocol with its arguments evaluated: mem(64B) and mem(128B) are two, of one declaration
 * `name`. */
struct model_protocol {
    const char *name;
    const char *doc;
    struct model_place place;
    const char **param_names;
    const int64_t *arguments;
    uint32_t argument_count;
    const struct model_message *requests;
    uint32_t request_count;
    const struct model_message *replies;
    uint32_t reply_count;
};

struct model_link_type {
    const char *name;
    const char *doc;
    struct model_place place;
    uint64_t bandwidth_bytes_per_s; /* 0: unlimited */
    uint64_t latency_ps;
    struct model_param settings[2]; /* bandwidth, latency: where they come from */
};

enum model_stat_kind { MODEL_STAT_COUNTER, MODEL_STAT_HISTOGRAM };

struct model_stat {
    const char *name;
    const char *doc;
    enum model_stat_kind kind;
};

/* A measure of a component is a share of a whole: `measure NAME = PART of WHOLE;`. */
enum model_measure_kind {
    MODEL_MEASURE_UTILISATION, /* share of its time or places in use */
    MODEL_MEASURE_HIT_RATE,
    MODEL_MEASURE_BANDWIDTH, /* bytes moved, of those that could have been */
    MODEL_MEASURE_STALL,     /* time in which work waited for it */
    MODEL_MEASURE_ISSUE,     /* vector instructions issued, of those that could have been */
    MODEL_MEASURE_COUNT
};
extern const char *const model_measure_names[MODEL_MEASURE_COUNT];

struct model_measure_decl {
    enum model_measure_kind kind;
    const char *doc;
    const char *part_text, *whole_text; /* as they are in the source */
};

/* A summand of a side of a measure: `factor` times a statistic or the cycles of its clock. */
struct model_measure_term {
    double factor;
    int32_t stat; /* index in the type's statistics, -1: cycles */
};

struct model_measure_side {
    const struct model_measure_term *terms;
    uint32_t count;
};

/* A measure of one instance or part, with its parameters put in. Both sides are sums without a
 * constant, so those of several instances may be added before they are divided. */
struct model_measure {
    const struct model_measure_decl *decl;
    struct model_measure_side part, whole;
};

/* A condition that a type states of itself. */
struct model_check_decl {
    const char *text;    /* the condition as it is in the source */
    const char *message; /* the mistake when the check does not hold; "" without */
};

struct model_interface {
    const char *name;
    const char *doc;
    struct model_place place;
    /* folder of the declaring file: `NAME.h` beside it declares `struct NAME_ops` */
    const char *folder;
};

struct model_port_decl {
    const char *name;
    const char *doc;
    struct model_place place;
    bool is_in;
    bool is_optional;
    bool is_array;                         /* [] or [n] */
    bool is_any;                           /* protocol `any`: bound per instance */
    const struct model_protocol *protocol; /* the first instance's; NULL for `any` */
    const char *protocol_text;             /* as written: "mem(line)" */
};

/* A named hole in a component or part (slot), or a sub-part it always has (`part NAME : TYPE`). */
struct model_part_decl {
    const char *name;
    const char *doc;
    struct model_place place;
    bool is_slot;
    const struct model_interface *interface; /* slots */
    bool is_array;
    bool is_optional; /* slots: may be left empty (`= none`) */
    /* sub-parts, and slots for one part type; NULL when `interface` is set */
    const struct model_type *part_type;
};

struct model_store_decl {
    const char *name;
    const char *type; /* C: `struct TYPE`, which behaviours include */
    const char *doc;
    bool is_writer; /* store; otherwise reads */
};

/* A component or part declaration. */
struct model_type {
    const char *name;
    const char *doc;
    struct model_place place;
    bool is_part;
    bool is_platform;
    bool is_composite;
    bool is_library;                         /* declared below the library root, not by the user */
    const struct model_interface *interface; /* parts: the interface it implements, or NULL */
    const char *folder;     /* folder of the declaring file, as opened ("" for the current one) */
    const char **behaviour; /* paths of the C files, folder included, in the order in which they are
                               compiled as one unit */
    uint32_t behaviour_count;              /* 0 for composites */
    const struct model_param_decl *params; /* params and lets, in order */
    uint32_t param_count;
    const struct model_port_decl *ports;
    uint32_t port_count;
    const struct model_stat *stats;
    uint32_t stat_count;
    const struct model_measure_decl *measures;
    uint32_t measure_count;
    const struct model_check_decl *checks;
    uint32_t check_count;
    const struct model_part_decl *parts; /* slots and sub-parts */
    uint32_t part_count;
    const struct model_store_decl *stores;
    uint32_t store_count;
    const char **clock_names; /* clock inputs (`clock NAME;`) and domains of its own (`clock NAME =
                                 F;`), in order */
    uint32_t clock_count;
};

struct model_instance;
struct model_connection;

/* One instance of a part, in the place `decl` of its owner (component or part). Shared parts appear
 * once, under the place that declares them; other places refer to them. */
struct model_part {
    const struct model_type *type;
    const struct model_part_decl *decl;
    const char *path; /* "gpu.cp.dispatcher[3]": statistics are here */
    uint32_t id;      /* index in model.parts */
    uint32_t element; /* index in a part array */
    const struct model_param *params;
    uint32_t param_count;
    const struct model_measure *measures; /* per type->measures */
    struct model_part_place *places;      /* per type->parts */
};

/* The parts of one `parts` declaration of an owner: `count` parts (1 unless an array; 0: an
 * optional slot left empty). */
struct model_part_place {
    const struct model_part **parts;
    uint32_t count;
    bool is_shared; /* refers to parts of another owner */
};

struct model_port {
    const struct model_port_decl *decl;
    const struct model_instance *owner;
    uint32_t element;                      /* index in a port array */
    const struct model_protocol *protocol; /* bound; NULL only for an unconnected optional `any` */
    uint32_t depth; /* depth of an `in` port's request ring, in messages (default 4) */
    uint32_t width; /* messages a cycle (default 1) */
    const struct model_port *alias; /* composites: the inner port it stands for; NULL on leaves */
    const struct model_connection *connection; /* leaves: NULL when an optional port is open */
};

/* The ports of one declaration in one instance. */
struct model_port_group {
    const struct model_port_decl *decl;
    const struct model_port *ports;
    uint32_t count; /* 1 for a scalar port */
};

/* Routing of an interconnect instance: which output a request takes. */
struct model_route {
    const struct model_space *space; /* NULL: not an address route */
    int32_t else_output;             /* output for what the space does not hold; -1: none */
    /* routed by the map: output by id of the space, -1: none; otherwise NULL */
    const int32_t *outputs;
};

struct model_instance {
    const struct model_type *type;
    const struct model_instance *parent; /* NULL: the platform */
    const char *name;                    /* "cu" */
    const char *path;                    /* "gpu[0].sa[3].cu[1]"; "" for the platform */
    const char *doc;
    struct model_place place;
    bool is_in_array;
    uint32_t element; /* index in its array */
    uint32_t array_count;
    bool is_interconnect;             /* made by `via` */
    uint32_t id;                      /* index in model.instances */
    uint32_t leaf_id;                 /* index in model.leaves; UINT32_MAX for composites */
    uint32_t domain;                  /* index in model.domains */
    uint32_t partition;               /* index in model.partitions */
    const struct model_param *params; /* one per type->params, lets included */
    uint32_t param_count;
    const struct model_measure *measures;       /* per type->measures */
    const struct model_port_group *port_groups; /* one per type->ports */
    uint32_t port_group_count;
    const struct model_part_place *places; /* one per type->parts */
    /* composites: in order of declaration, arrays expanded in place */
    const struct model_instance **children;
    uint32_t child_count;
    /* per type->stores: the writing instance (itself for `store`) */
    const struct model_instance **readers_of;
    struct model_route route;
    const uint32_t *clocks; /* per type->clock_names: index in model.domains */
};

struct model_domain {
    const char *name; /* "core" */
    uint64_t hz;
    struct model_place place;
    const char *path;           /* path of the body that declares it; NULL: a component by itself */
    struct model_param setting; /* where `hz` comes from, if there is such a body */
};

/* Partition 0 holds everything not named by a `partition` statement. */
struct model_partition {
    const char *name;
    struct model_place place;
};

/* A full-duplex link that several connections share: `NAME : LINK;`. */
struct model_wire {
    const char *path; /* "wire[2]" */
    const char *doc;
    struct model_place place;
    const struct model_link_type *link;
    const struct model_instance *end; /* at one end of all its connections: forward leads to it */
    const struct model_instance *written_in;
};

/* One physical wire pair: requests from -> to, replies to -> from. Depths in messages. */
struct model_connection {
    uint32_t id; /* index in model.connections */
    const struct model_port *from;
    const struct model_port *to;
    const struct model_protocol *protocol;
    uint32_t latency_cy;  /* cycles of the receiver's clock; at least 1. Unused when link != NULL */
    uint32_t depth;       /* request ring */
    uint32_t reply_depth; /* reply ring */
    uint32_t width;
    const struct model_link_type *link; /* NULL: plain wire */
    uint32_t wire;    /* 1 + index in model.wires, whose `link` this is then; 0: none */
    bool is_reversed; /* with `wire`: requests lead away from its end */
    bool crosses;     /* joins two partitions */
    const struct model_instance *written_in; /* the composite whose body has the statement */
    struct model_place place;
};

/* An address map: addresses base .. base + target_count * each_bytes - 1, interleaved over the
 * targets. */
struct model_space {
    uint32_t id;
    const char *path; /* "gpu[0].local" */
    struct model_place place;
    const struct model_instance **targets; /* in order */
    uint32_t target_count;
    uint64_t each_bytes;
    uint64_t interleave_bytes;
    bool is_hashed; /* the target by all bits above the interleave, not by the lowest of them alone
                     */
    bool mapped;
    uint64_t base; /* physical; 0 and mapped == false when no `map` names it */
};

struct model {
    const char *name; /* the platform's name */
    const char *doc;
    struct model_place place;
    const struct model_instance *root;
    const struct model_instance **instances; /* whole tree, depth first, parents before children */
    uint32_t instance_count;
    const struct model_instance **leaves;
    uint32_t leaf_count;
    const struct model_part **parts;
    uint32_t part_count;
    const struct model_connection **connections;
    uint32_t connection_count;
    const struct model_wire *wires;
    uint32_t wire_count;
    const struct model_type **types; /* every component and part type in scope, used or not */
    uint32_t type_count;
    const struct model_protocol *
        *protocols; /* protocols with arguments that occur in the platform */
    uint32_t protocol_count;
    const struct model_link_type **links;
    uint32_t link_count;
    const struct model_interface **interfaces;
    uint32_t interface_count;
    const struct model_enum **enums; /* named ones */
    uint32_t enum_count;
    const struct model_domain *domains;
    uint32_t domain_count;
    const struct model_partition *partitions;
    uint32_t partition_count;
    const struct model_space **spaces;
    uint32_t space_count;
    /* smallest latency of a connection between partitions; 0 when there is none */
    uint64_t window_ps;
};

#endif
