/* The tables of one platform: plain integers and offsets, which the generator writes into a file
 * (runtime/state/tables.h). Lists are in order of declaration except that instances are grouped
 * by unit. `string` values are offsets into `strings`. */
#ifndef HEDDLE_RUNTIME_ENGINE_PLATFORM_TABLE_H
#define HEDDLE_RUNTIME_ENGINE_PLATFORM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "unit.h"

/* The version of struct heddle_platform, of the text of options.h, and of these tables. */
#define PLATFORM_ABI 14

struct platform_domain {
    uint32_t name; /* string */
    uint32_t reserved;
    uint64_t hz;
};

/* `count` instances of one unit in one clock domain, instances[first ..]; component ids are given
 * at start-up, in this order, each group at a multiple of 64. Groups of one domain are together.
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
    uint32_t stores;      /* the number of the first store that this instance writes */
};

/* clang-format off */
/* Bindings of an instance are copied after `struct component` in this order:
 *
 *     of each               scalar                        array
 *     port declaration      {request ring, reply ring}    {count, first pair in port_rings}
 *     part place            {part number}                 {count, first entry in part_refs}
 *     store declaration     {store number}
 *
 * A part has the bindings of its part places only. RING_NONE or UINT32_MAX marks what is not
 * there. The runtime replaces part and store numbers by arena offsets, also those in part_refs
 * (engine_base.part_refs). In `parts`, owners are before their parts. `binding_kinds` runs
 * parallel to `bindings` and says what each is. */
/* clang-format on */
enum platform_binding {
    BIND_RING,
    BIND_COUNT,
    BIND_FIRST_RING,
    BIND_PART,
    BIND_FIRST_PART,
    BIND_STORE
};

struct platform_ring {
    /* String: the port of the sender of requests ("device.cache[0].bottom"), the port of the
     * receiver for replies. */
    uint32_t name;
    uint32_t sender; /* index in instances */
    uint32_t receiver;
    uint32_t peer; /* the other direction; RING_NONE without replies */
    uint32_t depth;
    uint32_t width;
    uint32_t latency; /* cycles of the receiver of the request; 0 with a link */
    /* 1 + index in links, or 0. A request ring has the forward half, a reply ring the other. */
    uint32_t link;
    uint32_t payload_bytes; /* multiple of 16 */
    uint32_t protocol;      /* index in protocols */
    uint32_t is_reply;
    uint32_t pending; /* position in the receiver's list of incoming rings */
    /* On a shared wire, requests take the backward half and replies the forward half. */
    uint32_t is_reversed;
};

/* The rings that share a link. */
enum platform_sharing {
    LINK_OWN,  /* one connection: requests one way, replies the other */
    LINK_WIRE, /* several; each direction is one medium, whose rings take turns: shared_wire.h */
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
    /* string: the fields in the header, in their order there, for traces: name, kind (a: address,
     * u, i: number, b: bool, e: choice), bytes, and the names of choices:
     * "address:a8,pid:u4,write:b1,mode:e1=back|through" */
    uint32_t fields;
    /* Offset in struct message of a uint32_t: how many of the `variable_bytes` are sent; 0: all of
     * them are. */
    uint32_t length_at;
    uint32_t variable_bytes;
};

struct platform_protocol {
    uint32_t name;          /* string, with arguments: "mem(64B)" */
    uint32_t first_message; /* requests first, then replies; kind = position in its direction */
    uint32_t request_count;
    uint32_t reply_count;
};

/* Target of an address: ((address - base) / interleave) % target_count when inside; hashed:
 * hash_fold() instead of the remainder. targets[i] is the index of the interconnect output in
 * order, so only the count matters here. */
struct platform_space {
    uint32_t name; /* string */
    uint32_t target_count;
    uint64_t base;
    uint64_t size;
    uint64_t interleave;
    bool is_hashed; /* only where interleave and target_count are powers of two */
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
    const char *settings; /* for statistics, see codegen/emit/settings.h; in `strings` or NULL */
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
    /* Strings, parallel to params: "B", "cy", "Hz", "ps", "B/s", "B/cy", "". */
    const uint32_t *param_units;
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
    uint32_t string_bytes; /* all terminators included; 0: unknown (not checked) */
};

/* So many components that a program touches some of each everywhere, and holds little of any:
 * MI300X has 1,500, four R9 Nanos have 930. Memory is kept dense there, at the cost of time. */
#define PLATFORM_LARGE 1000

static inline bool platform_is_large(const struct platform_table *table)
{
    return table->instance_count > PLATFORM_LARGE;
}

/* The component instance `leaf` (index in platform_table.instances), for its wake-ups from host
 * calls. */
struct component *platform_component(uint32_t leaf);
/* The id, the domain and the rank of a component, which may be one of another rank. */
uint32_t platform_id_of(uint32_t leaf);
uint32_t platform_domain_of(uint32_t leaf);
uint32_t platform_rank_of(uint32_t leaf);
/* True if the instance is initialised at this rank. The rank's own instances are, and instances
 * that write a store. */
bool platform_is_here(uint32_t leaf);

#endif
