/* The order and the shadow of the check of races against sets: random programs of two to four
 * wavefronts in one or two work-groups, executed in a random order. The expectation keeps, for each
 * wavefront, the set of all accesses that happened before its present, and looks at all pairs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "components/checks/races/race_order.h"
#include "components/checks/races/race_shadow.h"

enum { WAVES = 4, STEPS = 18, EVENTS = 64, BYTES = 8, ATOMICS = 2, PROGRAMS = 1000, FULL = 10000 };

enum kind { ACCESS, FENCE, RELEASE, ADD, HEAR, ACQUIRE_NEAR, ACQUIRE, BARRIER, KINDS };

struct step {
    enum kind kind;
    enum race_use use;
    unsigned address, bytes, atomic;
};

/* What one wavefront released at an atomic, as sets of accesses. */
struct given {
    unsigned wave;
    uint64_t near, wide;
};

struct trial {
    unsigned waves, group[WAVES], command[WAVES], place[WAVES], steps[WAVES];
    struct step step[WAVES][STEPS];
    bool waits[WAVES];
    /* the expectation */
    struct {
        unsigned wave, address, bytes;
        enum race_use use;
    } event[EVENTS];
    unsigned events;
    uint64_t known[WAVES], own[WAVES], fenced[WAVES], group_set[2];
    struct given given[ATOMICS][EVENTS];
    unsigned given_count[ATOMICS];
    unsigned heard[WAVES];
    struct given kept[WAVES][2 * EVENTS]; /* heard where it has stored since, itself */
    unsigned kept_count[WAVES];
    uint32_t expected, found; /* a bit for each dword */
    struct race_wave wave[WAVES];
    struct race_memory memory;
};

static struct trial *trial;

static void found(const struct race_event *event, const struct race_access *earlier)
{
    (void)earlier;
    trial->found |= 1u << event->address / 4;
}

static unsigned draw(uint64_t *state, unsigned below)
{
    return (unsigned)(splitmix64(state) >> 33) % below;
}

static void make(struct trial *t, uint64_t *random)
{
    static const enum race_use uses[] = {RACE_READ, RACE_WRITE, RACE_ATOMIC_READ,
                                         RACE_ATOMIC_WRITE};
    t->waves = 2 + draw(random, 3);
    unsigned barriers = draw(random, 3), groups = 1 + draw(random, 2);
    for (unsigned w = 0; w < t->waves; w++) {
        t->group[w] = w % groups;
        t->steps[w] = 3 + draw(random, STEPS - 6);
        for (unsigned i = 0; i < t->steps[w]; i++) {
            unsigned size = 1u << draw(random, 3);
            t->step[w][i] = (struct step){.kind = draw(random, 3) ? draw(random, BARRIER) : ACCESS,
                                          .use = uses[draw(random, 4)],
                                          .bytes = size,
                                          .address = draw(random, BYTES / size) * size,
                                          .atomic = draw(random, 1 + i % ATOMICS)};
        }
        for (unsigned b = 0; b < barriers; b++) /* as many in each wavefront */
            t->step[w][(b + 1) * t->steps[w] / (barriers + 1)].kind = BARRIER;
    }
}

static bool conflicts(enum race_use a, enum race_use b)
{
    bool reads =
        (a == RACE_READ || a == RACE_ATOMIC_READ) && (b == RACE_READ || b == RACE_ATOMIC_READ);
    bool atomics = a >= RACE_ATOMIC_READ && b >= RACE_ATOMIC_READ;
    return !reads && !atomics;
}

static void expect_access(struct trial *t, unsigned w, const struct step *s)
{
    for (unsigned e = 0; e < t->events; e++) {
        if (t->event[e].wave == w || t->known[w] >> e & 1 || !conflicts(t->event[e].use, s->use))
            continue;
        for (unsigned i = 0; i < s->bytes; i++)
            if (s->address + i - t->event[e].address < t->event[e].bytes)
                t->expected |= 1u << (s->address + i) / 4;
    }
    t->event[t->events].wave = w;
    t->event[t->events].address = s->address;
    t->event[t->events].bytes = s->bytes;
    t->event[t->events].use = s->use;
    t->own[w] |= (uint64_t)1 << t->events;
    t->group_set[t->group[w]] |= (uint64_t)1 << t->events++;
}

static void expect_given(struct trial *t, unsigned w, bool near, const struct given *g,
                         unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t set = t->group[g[i].wave] == t->group[w] ? g[i].near : g[i].wide;
        t->known[w] |= near ? set & t->group_set[t->group[w]] : set;
    }
}

static void expect_acquire(struct trial *t, unsigned w, bool near)
{
    for (unsigned a = 0; a < ATOMICS; a++)
        if (t->heard[w] >> a & 1)
            expect_given(t, w, near, t->given[a], t->given_count[a]);
    expect_given(t, w, near, t->kept[w], t->kept_count[w]);
    t->heard[w] = near ? t->heard[w] : 0;
    t->kept_count[w] = near ? t->kept_count[w] : 0;
}

static void expect_release(struct trial *t, unsigned w, const struct step *s)
{
    for (unsigned i = 0; s->kind == RELEASE && t->heard[w] >> s->atomic & 1
                         && i < t->given_count[s->atomic] && t->kept_count[w] < 2 * EVENTS;
         i++)
        t->kept[w][t->kept_count[w]++] = t->given[s->atomic][i];
    if (s->kind == RELEASE)
        t->given_count[s->atomic] = 0;
    t->given[s->atomic][t->given_count[s->atomic]++] =
        (struct given){w, t->known[w] | t->own[w], t->known[w] | t->fenced[w]};
}

/* The barrier is over when all wavefronts of the group are there. */
static void meet(struct trial *t, unsigned group)
{
    struct race_wave *come[WAVES];
    unsigned count = 0, heard = 0;
    uint64_t all = 0;
    for (unsigned w = 0; w < t->waves; w++) {
        if (t->group[w] == group && !t->waits[w])
            return;
        all |= t->group[w] == group ? t->known[w] | t->own[w] : 0;
        heard |= t->group[w] == group ? t->heard[w] : 0;
    }
    for (unsigned w = 0; w < t->waves; w++) {
        if (t->group[w] != group)
            continue;
        t->known[w] |= all & ~t->own[w];
        t->heard[w] = heard;
        t->waits[w] = false;
        come[count++] = &t->wave[w];
    }
    race_join(come, count);
}

static void execute(struct trial *t, unsigned w)
{
    const struct step *s = &t->step[w][t->place[w]++];
    struct race_wave *r = &t->wave[w];
    struct race_order order = {0};
    switch (s->kind) {
    case ACCESS:
        expect_access(t, w, s);
        race_touch(&(struct race_event){.memory = &t->memory,
                                        .wave = r,
                                        .address = s->address,
                                        .bytes = s->bytes,
                                        .use = s->use,
                                        .order = &order,
                                        .report = found});
        break;
    case FENCE:
        t->fenced[w] = t->own[w];
        race_fence(r);
        break;
    case RELEASE:
    case ADD:
        expect_release(t, w, s);
        race_release(r, s->atomic, s->kind == ADD);
        break;
    case HEAR:
        t->heard[w] |= 1u << s->atomic;
        race_note_read(r, s->atomic);
        break;
    case ACQUIRE_NEAR:
    case ACQUIRE:
        expect_acquire(t, w, s->kind == ACQUIRE_NEAR);
        race_acquire(r, s->kind == ACQUIRE_NEAR);
        break;
    default:
        t->waits[w] = true;
        meet(t, t->group[w]);
    }
}

static void run(struct trial *t, uint64_t *random)
{
    uint32_t none = 0, command = race_command(0, &none, 1);
    uint32_t group[2] = {race_group_begin(command), race_group_begin(command)};
    for (unsigned w = 0; w < t->waves; w++)
        race_wave_begin(&t->wave[w], group[t->group[w]], w);
    for (unsigned left = 1; left;) {
        unsigned ready[WAVES];
        left = 0;
        for (unsigned w = 0; w < t->waves; w++)
            if (t->place[w] < t->steps[w] && !t->waits[w])
                ready[left++] = w;
        if (left)
            execute(t, ready[draw(random, left)]);
    }
    for (unsigned w = 0; w < t->waves; w++)
        race_wave_end(&t->wave[w]);
    race_release_memory(&t->memory);
    race_order_release();
}

Test(races, those_of_random_programs_are_those_of_all_pairs)
{
    uint64_t random = 1;
    unsigned with = 0, programs = getenv("HEDDLE_FULL") ? FULL : PROGRAMS;
    for (unsigned i = 0; i < programs; i++) {
        struct trial t = {0};
        trial = &t;
        make(&t, &random);
        run(&t, &random);
        cr_assert_eq(t.found, t.expected, "program %u: dwords 0x%x, expected 0x%x", i, t.found,
                     t.expected);
        with += t.expected != 0;
    }
    cr_assert_gt(with, programs / 4);
    cr_assert_lt(with, programs * 19 / 20);
}

/* Without atomics the order of execution decides nothing. */
Test(races, with_barriers_alone_every_order_finds_the_same)
{
    uint64_t random = 2;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct trial made = {0};
        uint32_t first = 0;
        make(&made, &random);
        for (unsigned w = 0; w < made.waves; w++)
            for (unsigned s = 0; s < made.steps[w]; s++)
                if (made.step[w][s].kind != BARRIER)
                    made.step[w][s].kind = ACCESS;
        for (unsigned order = 0; order < 8; order++) {
            struct trial t = made;
            trial = &t;
            run(&t, &random);
            first = order ? first : t.found;
            cr_assert_eq(t.found, first, "program %u, order %u: dwords 0x%x, not 0x%x", i, order,
                         t.found, first);
        }
    }
}

/* Commands of two queues, of which one waits for the other. */
Test(races, commands_are_ordered_by_queue_and_by_what_they_wait_for)
{
    uint32_t none[2] = {0, 0}, after_first[2] = {1, 0}, after_both[2] = {1, 1};
    uint32_t first = race_command(0, none, 2), beside = race_command(1, none, 2);
    uint32_t second = race_command(0, after_first, 2), last = race_command(1, after_both, 2);
    cr_assert(race_command_before(first, second));
    cr_assert_not(race_command_before(first, beside));
    cr_assert_not(race_command_before(beside, second));
    cr_assert(race_command_before(first, last));
    cr_assert(race_command_before(beside, last));
    cr_assert_not(race_command_before(last, first));
    race_order_release();
}

static unsigned told;

static void tell(const struct race_event *event, const struct race_access *earlier)
{
    (void)event, (void)earlier;
    told++;
}

/* Copies and fills, which the shadow keeps by the page, and accesses of a few bytes, of wavefronts
 * some of which are ordered: flat memory, which has no pages, is told of the same. */
Test(races, whole_pages_are_told_of_as_their_bytes_are)
{
    enum { PAGE = 1 << RACE_PAGE_BITS, PAGES = 3, COMMANDS = 5, ACCESSES = 24 };
    static const uint32_t sizes[] = {1, 4, PAGE - 4, PAGE, PAGE + 8, 2 * PAGE};
    uint64_t random = 3;
    unsigned races = 0, count = 0;
    for (unsigned i = 0; i < 200; i++) {
        struct race_memory paged = {0}, flat = {0};
        struct race_wave wave[COMMANDS];
        race_clear_flat(&flat, PAGES * PAGE);
        for (unsigned c = 0; c < COMMANDS; c++) {
            uint32_t before[2] = {c / 2, draw(&random, 2) ? c / 2 : 0};
            race_wave_begin(&wave[c], race_group_begin(race_command(c % 2, before, 2)), 0);
        }
        for (unsigned a = 0; a < ACCESSES; a++, count++) {
            uint32_t bytes = sizes[draw(&random, 6)], at = draw(&random, PAGES) * PAGE;
            at += draw(&random, 2) ? draw(&random, PAGE / 4) * 4 : 0;
            struct race_order order = {0}, other = {0};
            enum race_use use = draw(&random, 2) ? RACE_WRITE : RACE_READ;
            struct race_event e = {.memory = &paged,
                                   .wave = &wave[a * COMMANDS / ACCESSES],
                                   .address = at,
                                   .bytes = at + bytes > PAGES * PAGE ? PAGES * PAGE - at : bytes,
                                   .use = use,
                                   .order = &order,
                                   .report = tell};
            struct race_event f = e;
            f.memory = &flat;
            f.order = &other;
            told = 0;
            race_touch(&e);
            bool in_pages = told != 0;
            told = 0;
            race_touch(&f);
            cr_assert_eq(in_pages, told != 0, "program %u, access %u of %u bytes", i, a, e.bytes);
            races += in_pages;
        }
        race_release_memory(&paged);
        race_release_memory(&flat);
        race_order_release();
    }
    cr_assert_gt(races, count / 10);
    cr_assert_lt(races, count * 9 / 10);
}
