/* Finds launches that are executed without time and only repeat themselves, so never end.
 *
 * While a launch is watched, its executor reports every store and atomic once it is done. A lap is
 * a stretch in which each store left the bytes that an earlier store had left there: memory stays
 * as it is. A wavefront or warp which comes back to an earlier state of its own in one lap does so
 * for ever, since memory does not change, unless others of the launch end the lap. When all have
 * come back in the same lap, none ever will. Whatever else could change memory, or what is read
 * beside it (the time, the host), ends the lap, too; so does a store that is not remembered. There
 * is one watch in a process. */
#ifndef HEDDLE_COMPONENTS_LIVELOCK_LIVELOCK_H
#define HEDDLE_COMPONENTS_LIVELOCK_LIVELOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A watch begins after so many rounds without progress, again at each doubling, and lasts so many
 * rounds at most. */
enum { LIVELOCK_PATIENCE = 8, LIVELOCK_ROUNDS = 32, LIVELOCK_CHANGES = 1 << 12 };

/* The likelihood that an access is what a wavefront waits for. */
enum livelock_access {
    LIVELOCK_NONE,
    LIVELOCK_OWN,    /* private memory, arguments */
    LIVELOCK_SHARED, /* LDS: the address counts from its beginning */
    LIVELOCK_PLAIN,
    LIVELOCK_COHERENT
};

/* Observations of a wavefront or warp; 0 at first. */
struct livelock {
    uint64_t state; /* an earlier state */
    uint32_t lap, looks;
    bool repeats;   /* it has come back to that state in this lap */
    uint8_t access; /* enum livelock_access of its likeliest read in this lap */
    uint64_t pc, address;
};

struct livelock_watch {
    bool on;
    uint64_t until; /* number of the round */
};

/* After each round without progress, `rounds` of them so far: the watch begins or ends here. */
void livelock_round(struct livelock_watch *w, uint64_t rounds);

/* For launches that wait in turns. True: the watch, which lasts `turns`, includes turn number
 * `turn`. */
bool livelock_turn(uint32_t turn, uint32_t turns);

uint32_t livelock_lap(void);

/* Memory, or what else is read, has changed or may have. */
void livelock_change(void);

/* A store or atomic has left `size` bytes at a place, which `key` names. */
void livelock_store(uint64_t key, const void *bytes, size_t size);

void livelock_read(struct livelock *r, enum livelock_access access, uint64_t pc, uint64_t address);

/* Compares the present state of a wavefront with those of this lap. True if it has come back to
 * one. */
bool livelock_state(struct livelock *r, uint64_t state);

#endif
