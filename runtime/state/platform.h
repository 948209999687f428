/* A platform: its tables, built in the arena; look-ups for components; the options and the
 * functions of a platform's shared object. The tables' shapes are in engine/platform_table.h. */
#ifndef HEDDLE_RUNTIME_STATE_PLATFORM_H
#define HEDDLE_RUNTIME_STATE_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "runtime/engine/platform_table.h"

/* Definitions in the generated C of a platform, for the runtime, which opens it in
 * heddle_platform.start(). */
struct platform_image {
    const char *model_hash; /* specialised builds: of the one model that fits; else NULL */
    const struct unit_type *const *units; /* compiled in, in the order of the tables */
    uint32_t unit_count;
};
extern const struct platform_image platform_image __attribute__((visibility("hidden")));

/* Builds the instances, rings, parts and stores of `table` in the arena and initialises them; all
 * components are awake at the first edge, cycle 1. False: the table contradicts itself, said on
 * stderr. Once a process, except in tests. */
bool platform_build(const struct platform_table *table);
/* Builds the platform cut for so many threads, if it has partitions. */
bool platform_build_threads(const struct platform_table *table, uint32_t threads);

/* Called by the init of the driver component: what heddle_platform.driver() returns. */
void platform_register_driver(const void *api);

/* Start of a device memory (platform.maps[number]) and its size in bytes. */
uint64_t platform_map_base(uint32_t number);
uint64_t platform_map_size(uint32_t number);

/* `bytes` of zeroed memory that all instances of the unit share that run in the same thread as `c`;
 * arena offset. From init functions only, always for the same size. For what can be made again at
 * any time (decoded instructions): nothing that is found there may change a result. */
uint32_t platform_shared(const struct component *c, size_t bytes);

/* The spread of a space over its targets, for components that route often: to be kept from init on.
 * `space` must be a space, not -1. */
struct platform_interleaving {
    uint64_t base;
    uint64_t size;
    uint64_t interleave;
    uint32_t targets;
    uint32_t shift; /* log2 of the interleave, when both are powers of two */
    bool is_power_of_two;
    uint8_t fold_bits; /* hashed: bits of a target number; else 0 */
};
struct platform_interleaving platform_interleaving(int32_t space);

static inline int32_t platform_target(const struct platform_interleaving *w, uint64_t address)
{
    uint64_t offset = address - w->base;
    if (offset >= w->size)
        return -1;
    if (w->is_power_of_two) {
        uint64_t x = offset >> w->shift;
        return (int32_t)(w->fold_bits ? hash_fold(x, w->fold_bits) : x & (w->targets - 1));
    }
    return (int32_t)(offset / w->interleave % w->targets);
}

/* The parameter of an instance that has this name; `fallback` where its type has none of it. */
int64_t platform_parameter(const struct platform_instance *instance, const char *name,
                           int64_t fallback);

/* The mapped space that holds `address`: an index in platform_table.spaces, or -1. */
int32_t platform_space(uint64_t address);

/* The way in which programs are executed. PLATFORM_FUNCTIONAL: instructions at once, without
 * timing; it is the driver that does so, the rest of the platform stays as it is at start-up.
 * PLATFORM_SAMPLED: some of it in detail, the rest at once; an extension estimates what all of it
 * would take in detail. */
enum platform_mode { PLATFORM_TIMING, PLATFORM_FUNCTIONAL, PLATFORM_SAMPLED };

/* The mode of this run, its --max-cycles and its --max-instructions (0: none). What is executed
 * without time takes the cycles for instructions where no number of those is given. */
enum platform_mode platform_mode(void);
uint64_t platform_max_cycles(void);
uint64_t platform_max_instructions(void);

/* Threads that this run may use (--threads), also where components have no use for them. */
uint32_t platform_threads(void);

#define PLATFORM_LINES_MAX 4

/* Lines whose way through the platform is of interest, and from when on: runtime/observe/watch.h.
 */
struct platform_lines {
    uint64_t address[PLATFORM_LINES_MAX];
    uint32_t count;
    uint64_t since_ps;
};

struct heddle_platform {
    uint32_t abi;
    /* Builds everything. `options`: the text of runtime/engine/options.h, or NULL. False: message
     * on stderr. */
    bool (*start)(const char *options);
    /* For platforms that drive themselves: runs to the end; returns the exit status. */
    int (*run)(void);
    /* Writes statistics and trace, prints nothing on success. What has not ended is marked partial
     * in them. Returns an exit status; if it is not EXIT_CLEAN, a message is on stderr. */
    int (*finish)(void);
    /* Ends a run that goes on, and lets none begin: run() returns soon. From any thread, also from
     * a signal handler; finish() may follow. */
    void (*interrupt)(void);
    /* The driver component's table for front ends; NULL without a driver. */
    const void *(*driver)(void);
    /* After run(): the lines that explain a failure. False: it named none. */
    bool (*suspects)(struct platform_lines *lines);
    /* True if a component of this type is in the platform. Also before start(). */
    bool (*has)(const char *type);
};

/* The one exported symbol. NULL for an `abi` that is not PLATFORM_ABI. */
__attribute__((visibility("default"))) const struct heddle_platform *
heddle_platform_open(uint32_t abi);

#endif
