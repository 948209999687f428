/* The tables of one platform: plain integers and offsets, emitted as C by the generator
 * (specialised builds) or read from a `.tables` file (generic builds), the same contents either
 * way. Lists are in order of declaration except that instances are grouped by unit. `string` values
 * are offsets into `strings`. */
#ifndef HEDDLE_RUNTIME_PLATFORM_H
#define HEDDLE_RUNTIME_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/unit.h"

#define PLATFORM_ABI 6

struct platform_domain {
    uint32_t name; /* string */
    uint32_t reserved;
    uint64_t hz;
};

/* `count` instances of one unit in one clock domain, instances[first ..]; component ids are given
 * at start-up, in this order, each group at a multiple of 64. Groups of one domain stand together.
 */
struct platform_group {
    uint32_t unit;  /* index in units */
    uint32_t first; /* index in instances */
    uint32_t count;
    uint32_t domain;
};

struct platform_instance {
    uint32_t path; /* string */
    uint32_t type; /* string: name of the component type */
    uint32_t partition;
    uint32_t params; /* first word in params */
    uint32_t param_count;
    uint32_t bindings; /* first word in bindings */
    uint32_t binding_count;
    int32_t route_space; /* index in spaces or -1 */
    int32_t route_else;
    uint32_t incoming; /* first entry in incoming */
    uint32_t incoming_count;
    uint32_t routes;      /* interconnects that route by the map: first word in routes */
    uint32_t route_count; /* as many as there are spaces, or 0 */
    uint32_t stores; /* first store that this instance writes: index in the platform's numbering of
                        stores */
};

/* bindings of an instance, copied behind `struct component` in this order:
 *   each port declaration:  scalar: {request ring, reply ring}; array: {count, first pair in
 * port_rings} each part place:        scalar: {part number};              array: {count, first
 * entry in part_refs} each store declaration: {store number} The runtime replaces part and store
 * numbers by arena offsets; part_refs likewise, as engine_base.part_refs. Owners stand before their
 * parts in `parts`. Bindings of a part: its part places only. RING_NONE / UINT32_MAX stand for "not
 * there". To be distinguishable, `binding_kinds` runs parallel to `bindings`. */
enum platform_binding {
    BIND_RING,
    BIND_COUNT,
    BIND_FIRST_RING,
    BIND_PART,
    BIND_FIRST_PART,
    BIND_STORE
};

struct platform_ring {
    uint32_t name;   /* string: "gpu.l2[0].bottom" of a request ring's sender, the port of the
                        receiver for replies */
    uint32_t sender; /* index in instances */
    uint32_t receiver;
    uint32_t peer; /* the other direction; RING_NONE without replies */
    uint32_t depth;
    uint32_t width;
    uint32_t latency; /* cycles of the receiver of the request; 0 with a link */
    uint32_t
        link; /* 1 + index in links, or 0. Request ring: forward half; reply ring: backward half */
    uint32_t payload_bytes; /* multiple of 16 */
    uint32_t protocol;      /* index in protocols */
    uint32_t is_reply;
    uint32_t pending;  /* position in the receiver's list of incoming rings */
    uint32_t reversed; /* of a shared wire: requests take the backward half, replies the forward */
};

/* Who shares a link. */
enum platform_sharing {
    LINK_OWN,  /* one connection: requests one way, replies the other */
    LINK_BUS,  /* several; both directions and all their rings take turns on one medium, in order of
                  time, then of ring numbers */
    LINK_WIRE, /* several; each direction is one medium, whose rings take turns: wire.h */
    LINK_SHARINGS
};

struct platform_link {
    uint32_t name;                  /* string */
    uint32_t shared;                /* enum platform_sharing */
    uint64_t bandwidth_bytes_per_s; /* 0: unlimited */
    uint64_t latency_ps;
};

struct platform_part {
    uint32_t path; /* string */
    uint32_t type; /* string */
    uint32_t owner_instance;
    uint32_t owner_part; /* UINT32_MAX: owned by the instance itself */
    uint32_t params;
    uint32_t param_count;
    uint32_t bindings;
    uint32_t binding_count;
};

struct platform_message {
    uint32_t name;          /* string */
    uint32_t wire_bytes;    /* on links */
    uint32_t awaited;       /* requests: 1 when answered */
    uint32_t payload_bytes; /* used by this message */
};

struct platform_protocol {
    uint32_t name;          /* string, with arguments: "mem(64B)" */
    uint32_t first_message; /* requests first, then replies; kind = position in its direction */
    uint32_t request_count;
    uint32_t reply_count;
};

/* Target of an address: ((address - base) / interleave) % target_count when inside. targets[i] is
 * the index of the interconnect output in order, so only the count matters here. */
struct platform_space {
    uint32_t name; /* string */
    uint32_t target_count;
    uint64_t base;
    uint64_t size;
    uint64_t interleave;
};

/* A device memory that the driver may allocate from, from `map`, in order. */
struct platform_map {
    uint32_t space;    /* index in spaces */
    uint32_t instance; /* reserved */
};

struct platform_table {
    uint32_t abi;
    uint32_t name;          /* string */
    const char *model_hash; /* hex digest of the elaborated model: stamps statistics */
    const char *strings;
    const struct unit_type *const *units;
    const struct platform_domain *domains;
    const struct platform_group *groups;
    const struct platform_instance *instances;
    const struct platform_ring *rings;
    const struct platform_link *links;
    const struct platform_part *parts;
    const struct platform_protocol *protocols;
    const struct platform_message *messages;
    const struct platform_space *spaces;
    const struct platform_map *maps;
    const uint32_t *param_names; /* strings, parallel to params */
    const uint32_t
        *param_units; /* strings: "B", "cy", "Hz", "ps", "B/s", "B/cy", "", parallel to params */
    const int64_t *params;
    const uint32_t *bindings;
    const uint8_t *binding_kinds;
    const uint32_t *port_rings;
    const uint32_t *part_refs;
    const uint32_t *incoming;   /* ring numbers */
    const uint32_t *partitions; /* strings: names */
    const uint32_t *routes;     /* output by number of the space; UINT32_MAX: none leads there */
    uint32_t unit_count, domain_count, group_count, instance_count, ring_count, link_count,
        part_count;
    uint32_t protocol_count, message_count, space_count, map_count, param_words, binding_words;
    uint32_t route_words;
    uint32_t port_ring_words, part_ref_count, incoming_count, partition_count, store_count;
    uint32_t string_bytes; /* of strings, all terminators included; 0: unknown (not checked) */
};

/* What the generated C of a platform defines for the runtime, which opens it in
 * heddle_platform.start(). */
struct platform_image {
    const struct platform_table
        *table; /* specialised builds; NULL in generic ones, which read a .tables file */
    const struct unit_type *const
        *units; /* generic builds: the units of all component types compiled in */
    uint32_t unit_count;
};
extern const struct platform_image platform_image __attribute__((visibility("hidden")));

/* Builds the instances, rings, parts and stores of `table` in the arena and initialises them; all
 * components are awake at the first edge, cycle 1. false: the table contradicts itself, said on
 * stderr. Once a process, except in tests. */
bool platform_build(const struct platform_table *table);
/* The same, cut for so many threads, if the platform has partitions. */
bool platform_build_threads(const struct platform_table *table, uint32_t threads);

/* Called by the init of the driver component: what heddle_platform.driver() returns. */
void platform_register_driver(const void *api);

/* Start of a device memory (platform.maps[number]) and its size in bytes. */
uint64_t platform_map_base(uint32_t number);
uint64_t platform_map_size(uint32_t number);

/* The component instance `leaf` (index in platform_table.instances), for its wake-ups from host
 * calls. */
struct component *platform_component(uint32_t leaf);

/* `bytes` of zeroed memory that all instances of the unit share that run in the same thread as `c`;
 * arena offset. From init functions only, always for the same size. For what can be made again at
 * any time (decoded instructions): nothing that is found there may change a result. */
uint32_t platform_shared(const struct component *c, size_t bytes);

/* Output for `address` by space `number`: 0 .. target_count - 1, or -1 outside. */
int32_t platform_route(int32_t space, uint64_t address);

/* How a space is spread over its targets, for components that route often: to be kept from init
 * on. `space` must be a space, not -1. */
struct platform_way {
    uint64_t base;
    uint64_t size;
    uint64_t interleave;
    uint32_t targets;
    uint32_t shift; /* of the interleave, when both are powers of two */
    bool powers;
};
struct platform_way platform_way(int32_t space);

static inline int32_t platform_way_target(const struct platform_way *w, uint64_t address)
{
    uint64_t offset = address - w->base;
    if (offset >= w->size)
        return -1;
    if (w->powers)
        return (int32_t)(offset >> w->shift & (w->targets - 1));
    return (int32_t)(offset / w->interleave % w->targets);
}

/* The mapped space that holds `address`: an index in platform_table.spaces, or -1. */
int32_t platform_space(uint64_t address);

/* How programs are executed. PLATFORM_FUNCTIONAL: instructions at once, without timing; it is the
 * driver that does so, the rest of the platform stays as it is at start-up. */
enum platform_mode { PLATFORM_TIMING, PLATFORM_FUNCTIONAL };

/* The mode of this run, and its --max-cycles (0: none), which functional mode takes for a number of
 * wavefront instructions. */
enum platform_mode platform_mode(void);
uint64_t platform_max_cycles(void);

/* The trace of API calls that is to be played, or NULL; and the file of module `number`, NULL
 * behind the last. */
const char *platform_api_trace(void);
const char *platform_module(uint32_t number);
/* The list of SASS traces of this run (--play sass), NULL: none; and whether binary copies beside
 * the traces are to be left alone. Whoever asks for the list is taken for the component that plays
 * it: a platform in which nobody asks is refused. From init functions. */
const char *platform_sass_trace(void);
bool platform_sass_no_cache(void);

/* The folder that takes what the program executes (--record instructions), NULL: none. Whoever asks
 * is the driver; a platform in which nobody asks is refused. */
const char *platform_record_trace(void);

/* What is written of the components' statistics at the end of a span of time: sums over arrays,
 * every instance, or nothing (runtime/observe/stats_span.h). */
enum platform_span_stats {
    PLATFORM_SPAN_STATS_SUM,
    PLATFORM_SPAN_STATS_ALL,
    PLATFORM_SPAN_STATS_NONE
};

#define PLATFORM_LINES 4

/* Lines whose way through the platform is of interest, and from when on: runtime/observe/watch.h.
 */
struct platform_lines {
    uint64_t address[PLATFORM_LINES];
    uint32_t count;
    uint64_t since_ps;
};

/* What the shared object of a platform exports, and nothing else. */
struct heddle_options {
    uint32_t abi;
    const char *stats_path; /* NULL: none */
    bool stats_no_host;
    const char *trace_path;
    const char *tables_path;  /* generic builds */
    const char *program_hash; /* for the stamp; NULL */
    uint64_t max_cycles;      /* of the fastest clock; 0: none */
    uint64_t stall_limit;     /* 0: default of 10 million */
    int tick_order;           /* enum engine_order */
    uint64_t seed;
    bool tick_all; /* test aid: tick every component at every edge; must change nothing */
    bool progress; /* draw the progress line on stderr */
    int threads;
    int mode;            /* enum platform_mode */
    const char *unified; /* NULL, or GPUs that the program sees as one device: "0,1,2,3" */
    int span_stats;      /* enum platform_span_stats */
    const char *kernels; /* NULL: all launches in detail; else, with */
    const char *warmup;  /* this, see components/sampling/sampling_options.h, and */
    const char *interval;
    int profile;           /* enum platform_profile; functional mode only */
    const char *residency; /* NULL, or a file: written by a profile, else read
                              (components/sampling/residency.h) */
    /* Platforms that drive themselves (runtime/state/checkpoint.h); not passed on to programs. */
    const char *checkpoint_path; /* NULL: none; written at */
    uint64_t checkpoint_ps;      /* this time, or */
    uint64_t checkpoint_cycle;   /* this cycle of the fastest clock, if not 0 */
    const char *restore_path;    /* NULL: from the beginning */
    struct platform_lines watch;
    /* A trace of API calls for a component of the platform to play, and what has its kernels. */
    const char *api_trace; /* NULL: none */
    const char *const *modules;
    uint32_t module_count;
    const char *sass_trace_path; /* NULL: none; for platforms with a trace_player */
    bool sass_no_cache;
    const char *record_trace; /* NULL: none; an empty folder */
};

struct heddle_platform {
    uint32_t abi;
    /* Builds everything. false: message on stderr. */
    bool (*start)(const struct heddle_options *options);
    /* For platforms that drive themselves: runs to the end; returns the exit status. */
    int (*run)(void);
    /* Writes statistics and trace, prints nothing on success. false: message on stderr. */
    bool (*finish)(void);
    /* The front end of the driver component (struct driver_api of
     * components/host/driver/driver_api.h), NULL without one. */
    const void *(*driver)(void);
    /* After run(): the lines that explain a failure; false: it named none. */
    bool (*suspects)(struct platform_lines *lines);
    /* Is a component of this type in the platform? Also before start(). */
    bool (*has)(const char *type);
};

/* The one exported symbol. NULL for an `abi` that is not PLATFORM_ABI. */
__attribute__((visibility("default"))) const struct heddle_platform *
heddle_platform_open(uint32_t abi);

#endif
