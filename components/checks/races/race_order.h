/* The happens-before order of the accesses of wavefronts. It follows from the program's own
 * synchronisation, whatever the order of execution was here.
 *
 * A wavefront (a warp) is a thread of order. It has a clock, which advances at each fence. An
 * access happens at a clock of its wavefront. The access happens before the present of a second
 * wavefront when the second one knows a clock of the first that is as large (vector clocks;
 * Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009). A
 * wavefront learns
 *   - within its work-group by barriers,
 *   - by an atomic that reads what another wavefront released: the reader learns what the releasing
 *     wavefront knew at its fence or, within one work-group, at its atomic,
 *   - before it begins, by the order of commands: see race_command().
 *
 * A wavefront knows its work-group as a row of clocks, and other work-groups as a short table.
 *
 * Pure: no simulated component, no output. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_RACE_ORDER_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_RACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"

#define RACE_MEMORY "the check of races" /* what memory is for, for messages */

enum { RACE_GROUP_BITS = 5, RACE_GROUP = 1 << RACE_GROUP_BITS };
/* Set in the number of a command of which nothing is known: it is ordered with all others. */
#define RACE_UNKNOWN ((uint32_t)1 << 31)

/* A wavefront for ever: work-group's number << RACE_GROUP_BITS | its number there. 0: none. */
typedef uint32_t race_id;

struct race_known {
    uint64_t id;         /* a race_id */
    uint32_t near, wide; /* its clock as its own work-group knows it, and as others do */
};

enum { RACE_READS_MAX = 64, RACE_SEEN = 8 };

/* A wavefront that lives; the caller has the memory. */
struct race_wave {
    race_id id;
    uint32_t command;
    uint32_t clock, fence; /* now; at the last fence towards all */
    uint32_t mate_clocks[RACE_GROUP];
    struct hash_table others;              /* race_known of other work-groups */
    uint32_t arrived;                      /* a bit for each barrier that it waits at */
    uint64_t read_atomics[RACE_READS_MAX]; /* atomics read since the last acquire */
    uint32_t read_atomic_count;
    uint64_t seen[RACE_SEEN]; /* atomics read last, acquired or not */
    uint32_t seen_count;
    struct hash_table pending_releases; /* releases that it has read, before it stores there */
};

/* Commands: launches, copies. The n-th call gives n, from 1. `after`: the number of earlier
 * commands by queue: the first after[q] commands of queue q come before this one. Kept for ever. */
uint32_t race_command(uint32_t queue, const uint32_t *after, uint32_t queues);
bool race_command_before(uint32_t first, uint32_t second);
/* The command that the wavefront belongs to. */
uint32_t race_command_of(race_id id);

/* A work-group of a command begins; returns its number, from 1. */
uint32_t race_group_begin(uint32_t command);
void race_wave_begin(struct race_wave *w, uint32_t group, uint32_t number);
void race_wave_end(struct race_wave *w);

/* True if what `id` did at `clock` has happened before what `w` does now. */
bool race_before(const struct race_wave *w, race_id id, uint32_t clock);

/* All that the wavefront has done happens before what others learn of from here on. */
void race_fence(struct race_wave *w);
/* The wavefront writes the atomic at `address`. `adds`: it reads the atomic, too, so earlier
 * releases there stay. */
void race_release(struct race_wave *w, uint64_t address, bool adds);
/* The wavefront reads the atomic; what was released there counts from the next race_acquire() on.
 */
void race_note_read(struct race_wave *w, uint64_t address);
/* True if the wavefront has read, and not acquired, an atomic that was released after `id` was at
 * `clock`. Such a read orders stores, which wait for it. */
bool race_has_read_after(const struct race_wave *w, race_id id, uint32_t clock);
bool race_has_read(const struct race_wave *w, uint64_t address);
/* True if the wavefront has read at that atomic a value that `id` had left there at `clock`. The
 * write of a value that was read comes before the reader's own accesses there, with or without a
 * fence. */
bool race_has_seen(const struct race_wave *w, uint64_t address, race_id id, uint32_t clock);
/* `near`: only from wavefronts of its own work-group. */
void race_acquire(struct race_wave *w, bool near);

/* The waves, by their numbers in `arrived`, have all come to a barrier: they know of each other's
 * past, and each may acquire what another one has read. */
void race_join(struct race_wave *const *wave, uint32_t count);

/* For tests: forgets everything. */
void race_order_release(void);

#endif
