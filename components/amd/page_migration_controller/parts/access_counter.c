/* A page comes after so many touches. Counters are a table with one place for a page, chosen by its
 * number; a page that finds the place taken begins anew there. A touch of a resident page clears
 * its count, so that the count starts from zero when the page has gone again. */
#include "access_counter.gen.h"

#include "components/amd/page_migration_controller/migration_policy.h"

struct access_count {
    uint64_t page;
    uint32_t pid;
    uint32_t count; /* 0: nothing is counted here */
};

struct access_counter {
    struct access_counter_io io;
    uint32_t counts_at; /* struct access_count[counters] */
};

static void access_counter_init(struct access_counter *p)
{
    p->counts_at = arena_allocate(access_counter_params(p)->counters * sizeof(struct access_count));
}

static bool access_counter_wants(struct part *self, const struct migration_touch *touch)
{
    struct access_counter *p = (struct access_counter *)(void *)self;
    uint64_t place = touch->page >> 12 & (uint64_t)(access_counter_params(p)->counters - 1);
    struct access_count *c = arena_at(struct access_count, p->counts_at) + place;
    bool same = c->count && c->page == touch->page && c->pid == touch->pid;
    if (touch->is_local) {
        c->count = same ? 0 : c->count;
        return false;
    }
    p->io.stats.replaced += c->count && !same;
    *c = (struct access_count){touch->page, touch->pid, same ? c->count + 1 : 1};
    if (c->count < access_counter_params(p)->threshold)
        return false;
    c->count = 0;
    return true;
}

static const struct migration_policy_ops access_counter_ops = {.wants = access_counter_wants};
