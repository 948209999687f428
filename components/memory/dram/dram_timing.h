/* The timing part of a dram: it decides when requests are through. The part keeps addresses and
 * schedules commands; the dram keeps bytes, tags and ports. Times are those of the engine, in
 * picoseconds; they never go back.
 *
 * A request has a number below the capacity, from take() until its time. It is answered a fixed
 * overhead later. The dram reads and writes the bytes when take() has accepted a request, whatever
 * the order of answers, so a part may reorder, forward and join as it likes.
 *
 * All that changes the part happens in take() and advance(), and advance(until) does the same
 * whether it is called often or seldom: so it does not matter when a dram is ticked besides, and a
 * dram without a waiting request can leave commands for later. */
#ifndef HEDDLE_COMPONENTS_MEMORY_DRAM_DRAM_TIMING_H
#define HEDDLE_COMPONENTS_MEMORY_DRAM_DRAM_TIMING_H

#include <stdbool.h>
#include <stdint.h>

struct part;

#define DRAM_TIMING_NONE  UINT32_MAX /* no request */
#define DRAM_TIMING_LATER UINT64_MAX /* advance() will tell; never */
#define DRAM_TIMING_FULL  (UINT64_MAX - 1)

/* An atomic is both. */
enum { DRAM_TIMING_READ = 1, DRAM_TIMING_WRITE = 2 };

struct dram_timing_ops {
    /* At start-up: memory has lines of `line` bytes. Returns the capacity, and in *overhead_ps what
     * passes between the time of a request and its answer. 0: a burst of the part is no such line.
     */
    uint32_t (*setup)(struct part *self, uint32_t line, uint64_t *overhead_ps);
    /* Takes request `number`. Returns its time, which for a write is now, or DRAM_TIMING_LATER; or
     * DRAM_TIMING_FULL when there is no room for it: then nothing has changed, and only advance()
     * makes room. */
    uint64_t (*take)(struct part *self, uint32_t number, uint64_t address, unsigned access,
                     uint64_t now_ps);
    /* Issues the commands whose time is not after `until_ps`, up to one that settles the time of
     * a request: returns its number and that time. DRAM_TIMING_NONE: there are no more. */
    uint32_t (*advance)(struct part *self, uint64_t until_ps, uint64_t *done_ps);
    /* The number of times that room has come where take() had none. While it stays the same, a
     * refused request finds no room. */
    uint64_t (*rooms)(const struct part *self);
    /* The time at which there may be something to issue, or DRAM_TIMING_LATER: not without another
     * request. */
    uint64_t (*next_ps)(const struct part *self);
};

#endif
