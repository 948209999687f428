/* The arena: one reservation of address space that holds the whole state of a platform, so that a
 * checkpoint is a copy of its pages. arena.c says how it is laid out.
 *
 * Life cycle: arena_open() at the start of a platform; arena_allocate() (engine.h) while it is
 * built; arena_close() when nothing of it is used any more. Nothing is freed alone. Memory of
 * arena_reserve() belongs to the caller and outlives platforms; that of arena_derive() is not state
 * and lasts until the next arena_open(). None of them fails: the program ends.
 *
 * At start-up from any init function; later by one thread at a time, between windows. */
#ifndef HEDDLE_RUNTIME_ENGINE_ARENA_H
#define HEDDLE_RUNTIME_ENGINE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns `bytes` of zeroed address space without backing until touched, between guards that no
 * thread may touch. Ends the program when the machine refuses. */
void *arena_reserve(size_t bytes);
void arena_release(void *base, size_t bytes);
/* True if some of `bytes` from `start` on belong to the arena, to memory of arena_derive(), or to
 * the guards of both. */
bool arena_touches(const void *start, size_t bytes);
/* Takes effect with the next arena_open(). For runs in which components hardly do more than start,
 * so that clearing huge pages would take longer than it saves. */
void arena_use_small_pages(bool small);
/* Reserves the arena, or empties it (tests build several platforms). */
void arena_open(void);
/* Where the processor has keys for pages (x86 since Skylake-SP and Zen 3), the calling thread may
 * not use the arena between the two, so that host code with a wrong pointer faults in place of
 * changing the state: a register of the thread, 20 nanoseconds. A thread that has not called
 * arena_show(), nor was started by one that may use the arena, may not either; nor may a handler of
 * signals. Elsewhere, and where the program has taken all keys, both do nothing. */
void arena_hide(void);
void arena_show(void);
/* Returns the addresses to the system; nothing of the platform may be used any more. */
void arena_close(void);

#define ARENA_ALIGNMENT 64

/* With several ranks, after arena_open(): cuts the arena into a slice for each of `owners`, and
 * one for all of them. What is handed out from now on is of the slice selected last, at first that
 * of all. Pages of other slices than `own_rank` and the common one stay untouched at this rank. */
#define ARENA_COMMON UINT32_MAX
void arena_divide(uint32_t owners, uint32_t own_rank);
void arena_select(uint32_t owner);
/* The allocated bytes of a slice: two runs of the arena. */
struct arena_run {
    uint64_t start;
    uint64_t bytes;
};
void arena_slice(uint32_t owner, struct arena_run runs[2]);

/* Zeroed memory for tables of pointers, which are made anew at start-up and are not state. Lasts
 * until the next arena_open(). */
void *arena_derive(size_t bytes);
/* Announces that all of a piece of a reservation is going to be written. It gets huge pages, as
 * many as it fills to half, as far as nothing was written there yet: the system takes a fifth to a
 * half of the time for a page of 2 MiB that it takes for 512 small ones. */
void arena_expect(void *start, size_t bytes);
/* Zeroes whole pages of a reservation, from the start of one on. */
void arena_clear(void *base, size_t bytes);
#define ARENA_PAGE ((size_t)4096)
/* Allocate in the front or in the rear whatever the size, for callers that know how much of the
 * memory they touch. Others call arena_allocate() (engine.h), which decides by the size. */
uint32_t arena_allocate_front(size_t bytes);
uint32_t arena_allocate_rear(size_t bytes);

/* The ends of what was allocated in both parts of the arena, in bytes from its beginning. */
struct arena_ends {
    uint64_t front, rear;
};
struct arena_ends arena_ends(void);
/* Returns `offset`, in bytes, or the start of the rear if `offset` lies in the front's free end. */
size_t arena_skip(size_t offset);
/* Allocates everything up to these ends. False: the arena has no such ends, and nothing is done. */
bool arena_extend(struct arena_ends ends);

#endif
