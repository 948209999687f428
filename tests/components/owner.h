/* A component that owns a store and does nothing else. Before this is included, OWNER_STORE is the
 * store's type and OWNER_SOURCE the name of the test's file, which defines owner_fill(). */
#ifndef HEDDLE_TESTS_COMPONENTS_OWNER_H
#define HEDDLE_TESTS_COMPONENTS_OWNER_H

#include "runtime/engine/unit.h"

#include "harness.h"

struct owner {
    struct {
        struct component base;
        uint32_t store; /* arena: OWNER_STORE */
    } io;
};

/* At start-up. */
static void owner_fill(OWNER_STORE *store);

static inline void owner_init(struct owner *c)
{
    owner_fill(arena_at(OWNER_STORE, c->io.store));
}

static inline bool owner_tick(struct owner *c)
{
    (void)c;
    return false;
}

static inline unsigned owner_outstanding(const struct owner *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}

UNIT_DEFINE_WALK(owner)

static const uint32_t store_bytes[] = {sizeof(OWNER_STORE)};
static const struct unit_type owner_unit = {
    .name = "owner",
    .source = OWNER_SOURCE,
    .instance_bytes = sizeof(struct owner),
    .io_words_offset = sizeof(struct component),
    .store_bytes = store_bytes,
    .store_count = 1,
    .init = owner_init_one,
    .tick = owner_tick_one,
    .walk = owner_walk,
    .outstanding = owner_outstanding_one,
};
static const struct build_type owner_type = {.unit = &owner_unit, .store_count = 1};

#endif
