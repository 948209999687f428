/* Work-groups that run on compute units and go on without timing for a while (--mode sampled).
 *
 * While the platform is paused, compute units issue nothing and command processors place nothing;
 * what is under way comes back. Then every work-group that is resident is lent as it stands: its
 * registers and LDS stay where they are. The functional executor goes on with it, and puts the next
 * work-group of the launch in the place of one that ends. Afterwards the units take back what
 * stands in their places, as if it had got there in time.
 *
 * Units and command processors register in their init functions. All else is called between edges,
 * by one thread. */
#ifndef HEDDLE_EXECUTE_LENT_GROUPS_H
#define HEDDLE_EXECUTE_LENT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/engine.h"

enum { LENT_ROOM = 1 << 15 }; /* work-groups that can be lent at the same time */

enum lent_state { LENT_RUNS, LENT_AT_BARRIER, LENT_ENDED };

struct lent_wave {
    struct isa_wave *scalars;
    uint32_t vgpr;     /* arena */
    uint8_t state;     /* enum lent_state */
    uint64_t executed; /* instructions that the unit did not count; of the work-group that is there
                          now */
};

/* A place on a compute unit, and the work-group in it. */
struct lent_group {
    struct work_placement placement; /* as the dispatcher placed the first one */
    uint32_t leaf;                   /* instance of the unit */
    uint32_t lds;                    /* arena */
    uint32_t id[3];
    uint32_t begun;      /* work-groups that began here while it was lent */
    uint64_t counted;    /* instructions of the first one that the unit has counted */
    uint8_t waves, slot; /* number of the place among those of the unit */
    struct lent_wave wave[WORK_MAX_WAVEFRONTS];
};

/* What is left of the launch to be placed. */
struct lent_launch {
    uint32_t groups[3]; /* in each direction */
    uint64_t first;     /* the next one, in the order x, y, z */
    uint64_t left;
};

/* What became of it while it was lent. */
struct lent_account {
    uint64_t begun, ended; /* work-groups that began, and that ended with another in their place */
    uint64_t instructions; /* of the latter */
};

struct lent_unit_ops {
    void (*pause)(struct component *c, uint64_t until); /* cycle; ENGINE_NEVER: until told */
    uint32_t (*running)(const struct component *c);     /* wavefronts */
    /* Its resident work-groups, up to `most`; UINT32_MAX: they cannot be lent. */
    uint32_t (*lend)(struct component *c, struct lent_group *to, uint32_t most);
    /* As lent, in the same order; in cycle `now` it goes on. */
    void (*take)(struct component *c, const struct lent_group *from, uint32_t count, uint64_t now);
};

struct lent_processor_ops {
    void (*pause)(struct component *c, uint64_t until);
    /* false: it runs no launch, or one that is not lent. */
    bool (*lend)(struct component *c, struct lent_launch *to);
    void (*take)(struct component *c, const struct lent_account *account, uint64_t now);
};

/* From init functions. */
void lent_register_unit(struct component *c, const struct lent_unit_ops *ops);
void lent_register_processor(struct component *c, const struct lent_processor_ops *ops);

/* Wavefronts of all units. */
uint64_t lent_running(void);
/* Units issue nothing from here on, and nothing is placed. */
void lent_pause(void);
/* All resident work-groups, and the launch that they are of; *groups are this module's. false: they
 * cannot be lent. */
bool lent_take_over(struct lent_group **groups, uint32_t *count, struct lent_launch *launch);
/* Gives back what was taken over, and goes on at `time_ps`. */
void lent_give_back(const struct lent_group *groups, uint32_t count,
                    const struct lent_account *account, uint64_t time_ps);
/* Goes on at `time_ps` as if nothing had happened. */
void lent_resume(uint64_t time_ps);

#endif
