/* The memory path under load: 64 loaders, each with a translation and a 16 KiB L1, a crossbar, 16
 * banks of L2, ideal DRAM.
 *
 * Prints, for each access pattern, how long a line takes the host from request to answer and how
 * many messages a second are delivered. Every loaded word is checked; a wrong one, an unfinished
 * request or a different cycle count under another tick order is a failure. Usage: spike [lines a
 * loader] [pattern 0-4] [once]; with `once` only the timed run is made, for profilers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pattern.h"
#include "runtime/bug.h"
#include "runtime/memory.h"
#include "runtime/setup.h"
#include "tests/runtime/builder.h"

#define LOADERS     64
#define BANKS       16
#define LINE        64
#define INTERLEAVE  128
#define SPACE_BYTES ((uint64_t)64 << 20)

extern const struct unit_type loader_unit_1, cache_unit_1, cache_unit_2, xbar_unit_1, dram_unit_1;

static const struct build_port loader_ports[] = {{"mem", BUILD_OUT, false}};
static const struct build_port cache_ports[] = {{"top", BUILD_IN, false},
                                                {"bottom", BUILD_OUT, false}};
static const struct build_port xbar_ports[] = {{"from", BUILD_IN, true}, {"to", BUILD_OUT, true}};
static const struct build_port dram_ports[] = {{"top", BUILD_IN, false}};
static const char *const cache_parts[] = {"lru"};

static const struct build_type loader_type = {
    .unit = &loader_unit_1, .ports = loader_ports, .port_count = 1};
static const struct build_type l1_type = {.unit = &cache_unit_1,
                                          .ports = cache_ports,
                                          .port_count = 2,
                                          .parts = cache_parts,
                                          .part_count = 1};
static const struct build_type l2_type = {.unit = &cache_unit_2,
                                          .ports = cache_ports,
                                          .port_count = 2,
                                          .parts = cache_parts,
                                          .part_count = 1};
static const struct build_type xbar_type = {
    .unit = &xbar_unit_1, .ports = xbar_ports, .port_count = 2};
static const struct build_type dram_type = {
    .unit = &dram_unit_1, .ports = dram_ports, .port_count = 1};

struct outcome {
    uint64_t cycles;
    uint64_t messages;
    uint64_t wrong;
    uint64_t l1_hits, l1_misses, l2_hits, l2_misses;
    double cpu_seconds;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Replies need no more room than their way takes: a ring that is deeper only walks through more of
 * the host's cache. */
static struct build_wire wire(uint32_t protocol, uint32_t depth, uint32_t latency)
{
    return (struct build_wire){.protocol = protocol,
                               .depth = depth,
                               .width = 1,
                               .latency = latency,
                               .request_payload = 80,
                               .reply_payload = 64,
                               .reply_depth = 2 * latency + 2};
}

static const struct platform_table *describe(int64_t pattern, int64_t lines, uint64_t footprint)
{
    static const struct platform_message kinds[] = {
        {0, 16, 1, 0}, {0, 88, 1, 80}, {0, 80, 0, 64}, {0, 16, 0, 0}};
    static const char *const names[] = {"read", "write", "data", "done"};
    static const char *const loader_names[] = {"pattern",  "number",    "loaders",
                                               "requests", "footprint", "line"};
    static const int64_t l1[] = {16384, 4, 64, 2, 0, 32, 64, 1, 64, 64};
    static const int64_t l2[] = {131072, 16, 64, 4, 1, 64, 128, 16, 0, 128};
    static const int64_t dram[] = {100, 64};
    char path[64];
    uint32_t loader0 = 0, l1_0 = LOADERS, xbar = 2 * LOADERS, l2_0 = xbar + 1, dram0 = l2_0 + BANKS;
    build_start("spike");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t mem = build_protocol("mem(64B)", 2, 2, kinds, names);
    uint32_t space = build_space("local", 0, SPACE_BYTES, INTERLEAVE, BANKS);
    for (int64_t i = 0; i < LOADERS; i++) {
        snprintf(path, sizeof path, "cu[%" PRId64 "]", i);
        build_instance(&loader_type, core, path,
                       (int64_t[]){pattern, i, LOADERS, lines, (int64_t)footprint, LINE},
                       loader_names, 6);
    }
    for (int i = 0; i < LOADERS; i++) {
        snprintf(path, sizeof path, "l1[%d]", i);
        build_instance(&l1_type, core, path, l1, NULL, 10);
    }
    build_route(build_instance(&xbar_type, core, "xbar", NULL, NULL, 0), (int32_t)space, -1);
    for (int i = 0; i < BANKS; i++) {
        snprintf(path, sizeof path, "l2[%d]", i);
        build_instance(&l2_type, core, path, l2, NULL, 10);
    }
    for (int i = 0; i < BANKS; i++) {
        snprintf(path, sizeof path, "dram[%d]", i);
        build_instance(&dram_type, core, path, dram, NULL, 2);
    }
    for (uint32_t i = 0; i < LOADERS; i++) {
        build_connect((struct build_end){loader0 + i, 0, 0}, (struct build_end){l1_0 + i, 0, 0},
                      wire(mem, 8, 1));
        build_connect((struct build_end){l1_0 + i, 1, 0}, (struct build_end){xbar, 0, i},
                      wire(mem, 8, 1));
    }
    for (uint32_t i = 0; i < BANKS; i++) {
        build_connect((struct build_end){xbar, 1, i}, (struct build_end){l2_0 + i, 0, 0},
                      wire(mem, 32, 9));
        build_connect((struct build_end){l2_0 + i, 1, 0}, (struct build_end){dram0 + i, 0, 0},
                      wire(mem, 128, 1));
    }
    return build_finish();
}

static uint64_t stat_sum(uint32_t first, uint32_t count, const char *name)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const struct unit_type *u = platform_unit_of(i);
        for (uint32_t s = 0; s < u->stat_count; s++) {
            if (strcmp(u->stats[s].name, name) == 0)
                sum += *(const uint64_t *)(const void *)((const char *)platform_component(i)
                                                         + u->stats_offset + u->stats[s].offset);
        }
    }
    return sum;
}

static struct outcome run(int64_t pattern, int64_t lines, uint64_t footprint, int order)
{
    struct outcome o = {0};
    if (!platform_build(describe(pattern, lines, footprint)))
        exit(1);
    for (uint64_t at = 0; at < SPACE_BYTES; at += 8)
        *(uint64_t *)memory_at(at) = pattern_word(at, 0);
    engine_set_limits(&(struct engine_limits){.tick_order = order, .seed = 7});
    double start = cpu_seconds();
    if (engine_run() != ENGINE_IDLE)
        die("spike: the run did not come to its end");
    o.cpu_seconds = cpu_seconds() - start;
    o.cycles = engine.domains[0].cycle;
    o.messages = engine_messages();
    o.wrong = stat_sum(0, LOADERS, "wrong");
    if (stat_sum(0, LOADERS, "loads") + stat_sum(0, LOADERS, "stores") != (uint64_t)lines * LOADERS)
        die("spike: not all requests were made");
    o.l1_hits = stat_sum(LOADERS, LOADERS, "hits");
    o.l1_misses = stat_sum(LOADERS, LOADERS, "misses");
    o.l2_hits = stat_sum(2 * LOADERS + 1, BANKS, "hits");
    o.l2_misses = stat_sum(2 * LOADERS + 1, BANKS, "misses");
    return o;
}

static bool report(int64_t pattern, int64_t lines, bool once)
{
    static const struct {
        const char *name;
        uint64_t footprint;
    } cases[PATTERN_COUNT] = {
        [PATTERN_STRIDED] = {"strided, from DRAM", SPACE_BYTES},
        [PATTERN_RANDOM] = {"random, from DRAM", SPACE_BYTES},
        [PATTERN_SHARED] = {"shared, from L2", 1 << 20},
        [PATTERN_LOCAL] = {"local, from L1", SPACE_BYTES},
        [PATTERN_STORES] = {"loads and stores", 2 << 20},
    };
    struct outcome o = run(pattern, lines, cases[pattern].footprint, ENGINE_ASCENDING);
    struct outcome other = o, same = o;
    if (!once) {
        other = run(pattern, lines / 8 + 1, cases[pattern].footprint, ENGINE_RANDOM);
        same = run(pattern, lines / 8 + 1, cases[pattern].footprint, ENGINE_ASCENDING);
    }
    double total = (double)lines * LOADERS;
    printf("%-20s %6.1f ns/line  %5.1f M messages/s  %4.1f messages/line  %6.2f cycles/line  L1 "
           "%3.0f%% L2 %3.0f%%\n",
           cases[pattern].name, o.cpu_seconds / total * 1e9,
           (double)o.messages / o.cpu_seconds / 1e6, (double)o.messages / total,
           (double)o.cycles / (double)lines,
           100.0 * (double)o.l1_hits / ((double)o.l1_hits + (double)o.l1_misses + 1e-9),
           100.0 * (double)o.l2_hits / ((double)o.l2_hits + (double)o.l2_misses + 1e-9));
    if (o.wrong || other.wrong)
        printf("  FAILED: %" PRIu64 " words were wrong\n", o.wrong + other.wrong);
    if (other.cycles != same.cycles || other.messages != same.messages)
        printf("  FAILED: another order of ticks gave other cycles\n");
    return !o.wrong && !other.wrong && other.cycles == same.cycles
           && other.messages == same.messages;
}

int main(int argc, char **argv)
{
    int64_t lines = argc > 1 ? atoll(argv[1]) : 20000;
    bool good = true;
    for (int64_t pattern = 0; pattern < PATTERN_COUNT; pattern++) {
        if (argc < 3 || atoll(argv[2]) == pattern)
            good &= report(pattern, lines, argc > 3 && strcmp(argv[3], "once") == 0);
    }
    return good ? 0 : 1;
}
