/* Passes the accesses of a wavefront's lanes to the check of races, neighbouring lanes together.
 * Two lanes that store at one address are reported here. */
#include "race_lanes.h"

#include <string.h>

/* Two lanes that store at one address; false: there are none. */
static bool lanes_meet(const struct race_lanes *l, unsigned lane[2])
{
    uint64_t behind = 0;
    bool rises = true;
    for (uint64_t rest = l->mask; rest && rises; rest &= rest - 1) {
        uint64_t at = l->address[__builtin_ctzll(rest)];
        rises = at >= behind;
        behind = at + l->bytes;
    }
    for (uint64_t a = rises ? 0 : l->mask; a; a &= a - 1) {
        for (uint64_t b = a & (a - 1); b; b &= b - 1) {
            lane[0] = (unsigned)__builtin_ctzll(a);
            lane[1] = (unsigned)__builtin_ctzll(b);
            if (l->address[lane[0]] == l->address[lane[1]])
                return true;
        }
    }
    return false;
}

static void report_lanes(const struct race_lanes *l, unsigned one, unsigned other)
{
    const struct check_place first = race_place(l->wave->id, race_site(l->instruction, one));
    const struct check_place second = race_place(l->wave->id, race_site(l->instruction, other));
    bool global = l->memory == &race_device_memory;
    struct finding f;
    if (!check_found(FINDING_LANES_RACE, &first, &second, &f))
        return;
    check_address(first.identity, global ? FINDING_GLOBAL : FINDING_LDS, l->address[other], &f);
    finding_report(&f);
}

static void check_data(const struct race_lanes *l)
{
    unsigned lane[2];
    if (!lanes_meet(l, lane))
        return;
    for (uint64_t rest = l->mask; rest; rest &= rest - 1) {
        unsigned other = (unsigned)__builtin_ctzll(rest);
        if (l->address[other] != l->address[lane[0]]
            || memcmp(l->data + RACE_DATA_STRIDE * other, l->data + RACE_DATA_STRIDE * lane[0],
                      l->bytes)
                   == 0)
            continue;
        report_lanes(l, lane[0], other);
        return;
    }
}

void race_touch_lanes(const struct race_lanes *l)
{
    struct race_event e = {.memory = l->memory,
                           .wave = l->wave,
                           .bytes = l->bytes,
                           .use = l->use,
                           .order = &(struct race_order){.id = {0}},
                           .report = race_report};
    uint64_t last = UINT64_MAX;
    if (l->data)
        check_data(l);
    for (uint64_t rest = l->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (l->address[lane] == last) /* a broadcast */
            continue;
        last = l->address[lane];
        e.address = l->base + last;
        e.site = race_site(l->instruction, lane);
        e.data = l->data ? l->data + RACE_DATA_STRIDE * lane : NULL;
        race_touch(&e);
    }
}

unsigned race_places(const uint64_t *address, uint64_t mask, unsigned most, uint64_t *place)
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t at = address[__builtin_ctzll(mask)];
        unsigned i = 0;
        while (i < count && place[i] != at)
            i++;
        if (i < count)
            continue;
        if (count == most)
            return 0;
        place[count++] = at;
    }
    return count;
}
