/* Platform tables built by hand, for tests and benchmarks of the runtime: what the generator emits,
 * from calls.
 *
 * Use: build_start(); domains, units, protocols, links, spaces; instances (those of one unit and
 * domain in one go, domains in order); build_connect(); build_finish() gives the table. Everything
 * is static: one platform at a time. Names are copied. Mistakes end the program. */
#ifndef HEDDLE_TESTS_RUNTIME_BUILDER_H
#define HEDDLE_TESTS_RUNTIME_BUILDER_H

#include "runtime/state/platform.h"

enum build_direction { BUILD_IN, BUILD_OUT };

struct build_port {
    const char *name;
    enum build_direction direction;
    bool array;
};

/* A component type: its unit, its ports and part places in order of declaration. */
struct build_type {
    const struct unit_type *unit;
    const struct build_port *ports;
    uint32_t port_count;
    const char *const *parts; /* type names of its scalar parts; NULL: an empty slot */
    uint32_t part_count;
    const uint32_t *part_params; /* where each part's parameters begin among the instance's; NULL:
                                    at the first */
    /* Written or read: those of the only writer in their order, or, of a reader, the first. */
    uint32_t store_count;
};

struct build_end {
    uint32_t leaf;
    uint32_t port;
    uint32_t element;
};

struct build_wire {
    uint32_t protocol;
    uint32_t depth;
    uint32_t width;
    uint32_t latency; /* cycles of the server, or 0 with */
    uint32_t link;    /* 1 + number, or 0 */
    uint32_t request_payload;
    uint32_t reply_payload;
    uint32_t reply_depth; /* 0: as deep as the request ring */
    bool reversed;        /* on a shared wire: requests go backward */
};

void build_start(const char *name);
uint32_t build_domain(const char *name, uint64_t hz);
uint32_t build_protocol(const char *name, uint32_t requests, uint32_t replies,
                        const struct platform_message *messages, const char *const *names);
uint32_t build_link(const char *name, uint64_t bandwidth, uint64_t latency_ps,
                    enum platform_sharing sharing);
uint32_t build_space(const char *name, uint64_t base, uint64_t size, uint64_t interleave,
                     uint32_t targets);
/* The driver may allocate from the space. */
void build_map(uint32_t space);
/* `params` of `count` values, copied; their names may be NULL. Returns the leaf. */
uint32_t build_instance(const struct build_type *type, uint32_t domain, const char *path,
                        const int64_t *params, const char *const *names, uint32_t count);
void build_route(uint32_t leaf, int32_t space, int32_t otherwise);
/* As a `partition` statement does, from 1 on; 0: none names it. */
void build_partition(uint32_t leaf, uint32_t partition);
/* From an out port to an in port. Returns the request ring; the reply ring is the next one. */
uint32_t build_connect(struct build_end from, struct build_end to, struct build_wire wire);
const struct platform_table *build_finish(void);

/* Options of the run, as options_open() takes them. */
__attribute__((format(printf, 1, 2))) void build_options(const char *format, ...);

#endif
