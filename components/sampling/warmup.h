/* Touching: changing caches and TLBs as an access would, without simulated time.
 *
 * A component that warms a platform up (components/host/driver, for kernels that are not simulated
 * in detail) hands each line of an access to a compute unit's port. From there it goes the way that
 * a message would go, from component to component along the connections, by calls instead of rings:
 * a cache looks its line up, makes it the most recent one, takes it in place of another, and passes
 * on what it would ask or write below. No message is sent, no statistic counted, no byte moved.
 *
 * Bytes. While kernels run without timing, simulated memory is what counts and caches are only
 * tags. A component that holds bytes says how to come from one state to the other: write_out()
 * copies what is dirty to memory and keeps it dirty; read_in() takes the bytes of all lines from
 * memory. Both take no time and need a platform in which nothing is under way (warm_is_quiet()).
 *
 * Called between edges only (at the end of a window, from host calls), by one thread. Components
 * register in their init functions; one without touch() is an end, where accesses are counted. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_WARMUP_H
#define HEDDLE_COMPONENTS_SAMPLING_WARMUP_H

#include "runtime/engine/engine.h"

#include "stratified_sampler.h"

enum { WARM_LINE = 64 }; /* bytes that one access touches at most, and its alignment */

/* WARM_COHERENT: a read that must see what others wrote. WARM_PAGE: a look-up of a translation.
 * WARM_FILL: the host copies through the first cache that all share. WARM_PROBE: memory tells a
 * cache that others have changed a line. */
enum warm_kind {
    WARM_READ,
    WARM_COHERENT,
    WARM_WRITE,
    WARM_ATOMIC,
    WARM_PAGE,
    WARM_FILL,
    WARM_PROBE,
    WARM_KINDS
};

struct warm_access {
    uint64_t address;  /* line: virtual before the TLBs, physical after them */
    uint64_t physical; /* line, by its physical address */
    uint64_t mask;     /* bytes that are read or written, bit i: address + i */
    uint32_t pid;
    uint8_t kind;                     /* enum warm_kind */
    uint8_t page_bits, fragment_bits; /* log2 of page and fragment */
    bool writable;
};

/* Code in [first, end), whose instructions are counted by distance from `entry` (sampler_bucket()).
 */
struct warm_code {
    uint64_t entry, first, end;
    struct sampler_work *work;
    const void *seen; /* whose counts were added last: several units may share them */
};

struct warm_ops {
    void (*touch)(struct component *c, const struct warm_access *access);
    void (*drop)(struct component *c); /* forgets everything, dirty or not */
    void (*write_out)(struct component *c);
    void (*read_in)(struct component *c);
    /* A command processor: a kernel begins, so what it would have invalidated is forgotten;
     * `system`: by an acquire of system scope. */
    void (*begin)(struct component *c, bool system);
    /* A command processor: what a flush before a copy drops is forgotten. */
    void (*flush)(struct component *c);
    /* `bytes` of a cache become shared memory, as for a kernel that is about to begin. */
    void (*carve)(struct component *c, uint32_t bytes);
    /* Adds what a component that executes wavefronts in time issued since the last call. */
    void (*executed)(struct component *c, struct warm_code *code);
};

struct platform_table;
/* Empties all tables, before components are initialised; by sampling_extension.c. */
void warm_open(const struct platform_table *table);

/* From init functions. `ops` lives as long as the platform. */
void warm_register(const struct component *c, const struct warm_ops *ops);
/* A component that executes wavefronts: the rings of requests for vector data, scalar data and
 * instructions (RING_NONE: none), the lines of code that it fetches ahead, and whether a kernel
 * finds the code there of kernels before it. */
enum warm_port { WARM_VECTOR, WARM_SCALAR, WARM_CODE, WARM_PORTS };
struct warm_unit {
    uint32_t ring[WARM_PORTS];
    uint32_t lines_ahead;
    bool code_kept;
};
void warm_register_unit(const struct component *c, const struct warm_unit *unit);

/* The access goes to the receiver of ring `ring`. */
void warm_pass(uint32_t ring, const struct warm_access *access);

/* Units in the order of instances; *leaf says which instance number `number` is. */
uint32_t warm_unit_count(void);
uint32_t warm_unit_leaf(uint32_t number);
uint32_t warm_unit_lines_ahead(uint32_t number);
/* False of a unit that is none. */
bool warm_unit_keeps_code(uint32_t number);
void warm_touch(uint32_t unit, enum warm_port port, const struct warm_access *access);
/* The unit that receives on ring `ring`; UINT32_MAX: none does. */
uint32_t warm_unit_behind(uint32_t ring);

/* A word for each line of WARM_LINE bytes of simulated memory, to count lines in. */
uint32_t *warm_line_marks(void);

/* Accesses that reached an end (memory, page walks) since the last call of warm_clear_counts(). An
 * end that counts in another unit (sectors) has a touch() that calls warm_count(). */
const uint64_t *warm_counts(void); /* [WARM_KINDS] */
void warm_count(enum warm_kind kind, uint64_t number);
void warm_clear_counts(void);

/* All that is connected with the instance `start`, not counting connections of the instance
 * `except`, has nothing to do with kernels that are chosen: a simulated host, which is never quiet
 * while it waits for them. False: the instance `other` is among them. */
bool warm_set_apart(uint32_t start, uint32_t except, uint32_t other);
/* Nothing is under way but what the instance `leaf` (the driver) has, and what is set apart. */
bool warm_is_quiet(uint32_t leaf);
/* For all components that have it and are not set apart. */
void warm_begin_all(bool system);
void warm_flush_all(void);
/* The receiver of ring `ring` forgets everything, if it can. */
void warm_drop(uint32_t ring);
/* The receiver of ring `ring` carves `bytes` out of what it holds, if it can. */
void warm_carve(uint32_t ring, uint32_t bytes);
void warm_drop_all(void);
void warm_write_out(void);
/* Adds to `work` what was issued since the last call, and forgets it. */
void warm_executed(uint64_t entry, uint64_t first, uint64_t end, struct sampler_work *work);
void warm_read_in(void);

#endif
