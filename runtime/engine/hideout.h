/* A place for memory that nobody shall touch for a while: see arena_hide() (arena.h), the only
 * caller.
 *
 * The system moves whole tables of pages from one range of addresses to another. That costs little
 * where both ranges and their pieces are whole gibibytes: there and back 9 microseconds, else 30.
 * The hideout is a range at random, far from where the system puts anything by itself, with guards
 * on both sides; the place that is left faults. Nothing depends on where it is, since what is
 * hidden is not used there.
 *
 * Memory protection alone would do, but the system then looks at each page: 350 microseconds for 10
 * MiB, 5 ms for 100. Protection keys would cost less, but few processors have them. */
#ifndef HEDDLE_RUNTIME_HIDEOUT_H
#define HEDDLE_RUNTIME_HIDEOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Pieces that follow each other, each of which is one mapping for the system: where they end, in
 * bytes from the beginning. */
struct hideout_pieces {
    unsigned count;
    size_t end[4];
};

/* What begins at `base`. false: the system has no such place, or cannot move there, and everything
 * is as it was. */
bool hideout_enter(char *base, const struct hideout_pieces *p);
/* Back again, from the same arguments. Never fails (ends the program). */
void hideout_leave(char *base, const struct hideout_pieces *p);

#endif
