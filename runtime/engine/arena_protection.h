/* A place for memory that no thread shall touch for a while: see arena_hide() (arena.h), the only
 * caller.
 *
 * The system moves whole tables of pages from one range of addresses to another. That costs little
 * where both lie alike in their gibibytes: there and back 10 to 20 microseconds.
 * The refuge is a range at random, far from where the system puts anything by itself, with guards
 * on both sides; the place that is left faults. Nothing depends on where it is, since what is
 * hidden is not used there.
 *
 * Memory protection alone would do, but the system then looks at each page: 350 microseconds for 10
 * MiB, 5 ms for 100.
 *
 * Many processors have keys for pages (x86 since Skylake-SP and Zen 3). There the memory
 * stays where it is, and a register of the thread says whether it may touch it: 20 nanoseconds. */
#ifndef HEDDLE_RUNTIME_ARENA_PROTECTION_H
#define HEDDLE_RUNTIME_ARENA_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* What is moved, each piece of one mapping for the system; in bytes from the beginning. */
struct arena_piece {
    size_t begin, end;
};
struct arena_pieces {
    unsigned count;
    struct arena_piece piece[4];
};

/* Nothing of the `bytes` from `base` on may be touched from now on. What lies between the pieces
 * was not touched before. false: the system has no such place, or cannot move there, and everything
 * is as it was. */
bool arena_protection_enter(char *base, size_t bytes, const struct arena_pieces *p);
/* Back again, from the same arguments. Never fails (ends the program). */
void arena_protection_leave(char *base, size_t bytes, const struct arena_pieces *p);

/* Instead of both: gives the pages a key. The calling thread, and threads that it starts, may use
 * them; others, and handlers of signals, may not before they ask. false: there is no key, and
 * everything is as it was. */
bool arena_protection_give_key(char *base, size_t bytes);
/* May this thread touch pages with the key? */
void arena_protection_permit(bool allowed);

#endif
