/* Shadow memory of the check of races: what accessed each byte last.
 *
 * A cell belongs to a dword, and has four cells of its own once a part of it was accessed alone. It
 * keeps the last write, and what has read or updated the bytes since without being ordered: so many
 * that a later access which races with any of them finds at least one (race_order.h), up to
 * RACE_KEPT; of more, the first are kept. A race is reported, then the later access is taken for
 * ordered: so each byte with a race is reported, and it does not depend on the order of execution
 * whether there is one.
 *
 * Pure, as race_order.h is. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_RACE_SHADOW_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_RACE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "race_order.h"

enum { RACE_KEPT = 8, RACE_PAGE_BITS = 12 };

/* Bits: it writes, it is an atomic; a plain store that may be an atomic one; that may release.
 * Atomics do not race with each other, and what may be one is given the benefit of the doubt: a
 * store against atomic reads and a store of what is there already, and one right behind a fence
 * against all that may be atomics. A compare-and-swap does not race with plain reads: compilers
 * begin its loops with one. */
enum race_use {
    RACE_READ = 0,
    RACE_WRITE = 1,
    RACE_ATOMIC_READ = 2,
    RACE_ATOMIC_WRITE = 3,
    RACE_STORE = 5,
    RACE_RELEASE = 9,
    RACE_COMPARE = 19
};

struct race_access {
    race_id id; /* 0: none */
    uint32_t clock;
    uint32_t site; /* what the caller knows the place by */
};

struct race_cell {
    union {
        struct race_access other; /* the only access since the last plain write */
        uint64_t reads;           /* with `overflow`: a sum of a full list of reads, else 0 */
    };
    struct race_access write;
    uint32_t value;    /* that was written, or its first byte */
    uint32_t overflow; /* accesses in place of `other`, or four cells; 0: none */
    uint8_t other_use;
    uint8_t write_use;
    uint8_t is_split;
};

struct race_page {
    uint64_t number;
    struct race_cell *cells;
    struct race_cell whole; /* for all, while copies and fills alone have accessed the page */
};

/* Device memory; or, with `flat`, a work-group's LDS. */
struct race_memory {
    struct race_cell *flat;
    uint64_t flat_bytes;
    struct hash_table pages;
    uint64_t last_page; /* number + 1, and its cells */
    struct race_cell *last_cells;
};

/* Answers that an instruction has found: its lanes ask the same questions again and again. */
enum { RACE_ORDERS = 16 };
struct race_order {
    race_id id[RACE_ORDERS];
    uint32_t before[RACE_ORDERS]; /* up to this clock it is before the wavefront's present */
    uint32_t after[RACE_ORDERS];  /* from this clock on it is not before that; 0: not known */
    uint64_t reads; /* sum of a full list of reads that the wavefront does not change */
    race_id write;  /* the write that is before these reads and before the wavefront */
    uint32_t write_clock;
};

/* One access of a wavefront, for race_touch(). */
struct race_event {
    struct race_memory *memory;
    const struct race_wave *wave;
    uint64_t address; /* first byte of the access, then the dword or byte that races */
    uint32_t bytes;
    enum race_use use;
    uint32_t site;
    const uint8_t *data;      /* that is stored; NULL: not known */
    struct race_order *order; /* zeros at first, the same for all lanes of an instruction */
    void (*report)(const struct race_event *event, const struct race_access *earlier);
};

/* The address of the event is left after the access. */
void race_touch(struct race_event *event);
/* Nothing was accessed in the first `bytes`, which become flat memory. */
void race_clear_flat(struct race_memory *memory, uint64_t bytes);
void race_release_memory(struct race_memory *memory);

#endif
