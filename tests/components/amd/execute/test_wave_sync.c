/* The global wave sync against the words of the manuals: wavefronts that were put into a queue with
 * their flag, and leave it when the resource's flag is another, or its counter is above 0. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "components/amd/execute/wave_sync.h"

enum { WAVES = 40, STEPS = 20000 };

/* ---- the manuals' machine ---- */

struct manual {
    long counter;
    bool flag, barrier;
    struct {
        int wave;
        bool flag;
    } queue[WAVES];
    int queued;
    bool waits[WAVES];
};

static void leave(struct manual *r, int place)
{
    r->waits[r->queue[place].wave] = false;
    for (int i = place; i < r->queued - 1; i++)
        r->queue[i] = r->queue[i + 1];
    r->queued--;
}

/* The release machine: as often as somebody can leave. */
static void release(struct manual *r)
{
    for (int i = 0; i < r->queued;) {
        if (r->barrier && r->queue[i].flag != r->flag) {
            leave(r, i);
        } else if (!r->barrier && r->counter > 0) {
            r->counter--;
            leave(r, i);
        } else {
            i++;
        }
    }
}

static void enter(struct manual *r, int wave)
{
    r->queue[r->queued].wave = wave;
    r->queue[r->queued++].flag = r->flag;
    r->waits[wave] = true;
}

static void manual_do(struct manual *r, const struct isa_sync *asked, int wave)
{
    switch (asked->operation) {
    case ISA_SYNC_INIT:
        r->counter = asked->value;
        break;
    case ISA_SYNC_BARRIER:
        enter(r, wave);
        if (r->counter <= 0) {
            r->flag = !r->flag;
            r->counter = asked->value;
        } else {
            r->counter--;
        }
        break;
    case ISA_SYNC_SIGNAL:
        r->counter++;
        break;
    case ISA_SYNC_SIGNAL_MANY:
        r->counter += asked->value;
        break;
    case ISA_SYNC_WAIT:
        enter(r, wave);
        break;
    default:
        if (r->queued)
            r->counter = r->queued;
        break;
    }
    release(r);
}

/* ---- both side by side ---- */

/* A resource is used as a barrier or as a semaphore, as programs do. */
static void compare(bool barrier, unsigned seed)
{
    struct wave_sync sync = {0};
    struct manual manual = {.barrier = barrier};
    struct wave_sync_wait wait[WAVES];
    bool waits[WAVES] = {0};
    srand(seed);
    for (int step = 0; step < STEPS; step++) {
        int wave = rand() % WAVES;
        struct isa_sync asked = {.resource = 9, .value = (uint32_t)(rand() % 7)};
        if (waits[wave])
            continue;
        asked.operation = barrier          ? ISA_SYNC_BARRIER
                          : rand() % 3 < 1 ? ISA_SYNC_WAIT
                                           : (uint8_t)(ISA_SYNC_SIGNAL + rand() % 4);
        waits[wave] = wave_sync_do(&sync, &asked, &wait[wave]);
        manual_do(&manual, &asked, wave);
        for (int i = 0; i < WAVES; i++) {
            waits[i] = waits[i] && !wave_sync_is_over(&sync, &wait[i]);
            cr_assert_eq(waits[i], manual.waits[i], "step %d, wavefront %d", step, i);
        }
        cr_assert_eq(sync.resource[9].counter, manual.counter, "step %d", step);
    }
}

Test(wave_sync, barriers_are_those_of_the_manuals)
{
    for (unsigned seed = 1; seed <= 5; seed++)
        compare(true, seed);
}

Test(wave_sync, semaphores_are_those_of_the_manuals)
{
    for (unsigned seed = 1; seed <= 5; seed++)
        compare(false, seed);
}

Test(wave_sync, a_launch_finds_as_many_as_its_work_groups)
{
    struct wave_sync sync = {0};
    struct wave_sync_wait wait[3];
    const struct isa_sync come = {.operation = ISA_SYNC_BARRIER, .value = 2};
    wave_sync_begin_launch(&sync, 3);
    for (int round = 0; round < 4; round++) {
        cr_expect(wave_sync_do(&sync, &come, &wait[0]));
        cr_expect(wave_sync_do(&sync, &come, &wait[1]));
        cr_expect_not(wave_sync_is_over(&sync, &wait[0]));
        cr_expect_not(wave_sync_do(&sync, &come, &wait[2]));
        cr_expect(wave_sync_is_over(&sync, &wait[0]) && wave_sync_is_over(&sync, &wait[1]));
    }
}

Test(wave_sync, resources_do_not_know_each_other)
{
    struct wave_sync sync = {0};
    struct wave_sync_wait wait;
    struct isa_sync asked = {.operation = ISA_SYNC_WAIT, .resource = 63};
    cr_expect(wave_sync_do(&sync, &asked, &wait));
    asked = (struct isa_sync){.operation = ISA_SYNC_SIGNAL, .resource = 62};
    wave_sync_do(&sync, &asked, &(struct wave_sync_wait){0});
    cr_expect_not(wave_sync_is_over(&sync, &wait));
    asked.resource = 63;
    wave_sync_do(&sync, &asked, &(struct wave_sync_wait){0});
    cr_expect(wave_sync_is_over(&sync, &wait));
}
