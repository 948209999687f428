/* Does a launch that is executed without time only repeat itself? Then it never ends.
 *
 * While a launch is watched, its executor tells of every store and atomic, once it is done. A lap
 * is a stretch in which each store left the bytes that an earlier store had left there: memory
 * stays as it is. A wavefront or warp which comes back to an earlier state of its own in one lap
 * does so for ever, since memory does not change, unless others of the launch end the lap. When all
 * have come back in the same lap, none ever will. Whatever else could change memory, or what is
 * read beside it (the time, the host), ends the lap, too; so does a store that is not remembered.
 * Called by functional executors; there is one watch in a process. */
#ifndef HEDDLE_LIVELOCK_H
#define HEDDLE_LIVELOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A watch begins after so many rounds without progress, again at each doubling, and lasts so many
 * rounds at most. */
enum { LIVELOCK_PATIENCE = 8, LIVELOCK_ROUNDS = 32, LIVELOCK_CHANGES = 1 << 12 };

/* How likely an access is what a wavefront waits for. */
enum livelock_access {
    LIVELOCK_NONE,
    LIVELOCK_OWN,    /* private memory, arguments */
    LIVELOCK_SHARED, /* LDS: the address counts from its beginning */
    LIVELOCK_PLAIN,
    LIVELOCK_COHERENT
};

/* What a wavefront or warp is seen to do; 0 at first. */
struct livelock {
    uint64_t state; /* that it had */
    uint32_t lap, looks;
    bool again;     /* it has come back to it in this lap */
    uint8_t access; /* enum livelock_access of what it reads in the lap */
    uint64_t pc, address;
};

struct livelock_watch {
    bool on;
    uint64_t until; /* number of the round */
};

/* After a round without progress, `still` of them by now: the watch begins or ends here. */
void livelock_round(struct livelock_watch *w, uint64_t still);

/* Where several launches wait in turns, `turn` of them by now: does the watch go on in this one? It
 * lasts `turns`. */
bool livelock_turn(uint32_t turn, uint32_t turns);

uint32_t livelock_lap(void);

/* Memory, or what else is read, has changed or may have. */
void livelock_change(void);

/* A store or atomic has left `size` bytes at a place, which `key` names. */
void livelock_store(uint64_t key, const void *bytes, size_t size);

void livelock_read(struct livelock *r, enum livelock_access access, uint64_t pc, uint64_t address);

/* The present state of a wavefront; true: it has come back to one in this lap. */
bool livelock_state(struct livelock *r, uint64_t state);

#endif
