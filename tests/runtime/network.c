/* Random platforms; see network.h. */
#include "network.h"

#include <stdio.h>
#include <string.h>

#define NODES       90
#define CONNECTIONS 200
#define WIRE_PS     33000
#define WIRES       4

static uint64_t state;
static uint32_t parts; /* 0: not cut */
static uint32_t least_cycles;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

static bool may_connect(uint32_t from, uint32_t to)
{
    return from % 30 != 29 && to % 30 != 29 && from != to;
}

static void connect(uint32_t protocol, uint32_t from, uint32_t to, uint32_t *in_count,
                    uint32_t *out_count, uint32_t number)
{
    bool cut = parts && from % (parts + 1) != to % (parts + 1);
    struct build_wire wire =
        probe_wire(protocol, 1 + below(12), 1 + below(2), 1 + below(below(4) ? 6 : 300));
    wire.latency += cut ? least_cycles : 0;
    if (number % 10 == 0 || number % 10 == 2) {
        wire.latency = 0;
        wire.link = 1 + below(WIRES);
        wire.reversed = below(2);
    } else if (number % 10 == 1) {
        char name[32];
        snprintf(name, sizeof name, "link[%u]", number);
        wire.latency = 0;
        wire.link = 1
                    + build_link(name, 1000000000u + below(1000000000),
                                 below(200000) + (cut ? WIRE_PS : 0), LINK_OWN);
    }
    build_connect((struct build_end){from, PROBE_OUT, out_count[from]++},
                  (struct build_end){to, PROBE_IN, in_count[to]++}, wire);
}

static const struct platform_table *describe(uint64_t seed)
{
    static const uint64_t clocks[] = {1000000000, 1132000000, 700000001};
    uint32_t in_count[NODES] = {0};
    uint32_t out_count[NODES] = {0};
    char path[32];
    state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    build_start("network");
    uint32_t protocol = probe_protocol(48, true);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "clock[%u]", i);
        build_domain(path, clocks[i]);
    }
    for (uint32_t i = 0; i < WIRES; i++) {
        snprintf(path, sizeof path, "wire[%u]", i);
        build_link(path, 3000000000u + i, WIRE_PS + 4000 * i, LINK_WIRE);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(path, sizeof path, "node[%u]", i);
        bool clock = i % 30 == 29;
        probe_instance(i / (NODES / 3), path, clock ? PROBE_CLOCK : PROBE_MIXER, clock ? 10 : 300,
                       997, true);
        build_partition(i, parts ? i % (parts + 1) : 0);
    }
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        uint32_t from = below(NODES);
        uint32_t to = below(NODES);
        if (may_connect(from, to))
            connect(protocol, from, to, in_count, out_count, i);
    }
    return build_finish();
}

const struct platform_table *network_describe(uint64_t seed)
{
    parts = 0;
    return describe(seed);
}

const struct platform_table *network_describe_cut(uint64_t seed, uint32_t partitions,
                                                  uint32_t least)
{
    parts = partitions;
    least_cycles = least;
    return describe(seed);
}
