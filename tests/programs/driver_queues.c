/* The driver's own interface, without HIP: what command queues and the threads that drain them
 * promise. Run by `heddle run` like any program; prints `PASS driver_queues`, or `FAIL` and why.
 * The argument `small` says that the platform holds few commands (driver.commands). */
#include <pthread.h>
#include <time.h>

#define PROGRAM "driver_queues"
#include "driver_program.h"

enum { PIECE = 4096, PIECES = 64, THREADS = 4 };

static uint64_t memory;
static unsigned char source[PIECES * PIECE], target[PIECES * PIECE];

static void open_platform(void)
{
    start_platform();
    MUST(api->set_window((uint64_t)1 << 40, (uint64_t)1 << 36));
    MUST(api->allocate(0, PIECES * PIECE, 0, &memory));
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7 + i / 256);
}

/* Enqueued commands do nothing, and no time passes, until somebody waits. */
static void enqueueing_takes_no_time(void)
{
    uint32_t queue;
    uint64_t tickets[3], before = api->now(), done_ps;
    MUST(api->queue_create(0, 0, &queue));
    MUST(api->write(queue, memory, source, PIECE, &tickets[0]));
    MUST(api->read(queue, target, memory, PIECE, &tickets[1]));
    MUST(api->mark(queue, true, &tickets[2]));
    struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL); /* whoever drains in the background has the time to do so */
    for (int i = 0; i < 3; i++)
        CHECK(api->time_of(tickets[i], &done_ps) == DRIVER_NOT_READY);
    CHECK(api->now() == before && target[1] == 0);
    MUST(api->wait(tickets[2]));
    CHECK(api->now() > before && !memcmp(source, target, PIECE));
    before = api->now();
    MUST(api->wait(tickets[2])); /* nothing to drain: no time passes */
    MUST(api->wait_queue(queue));
    CHECK(api->now() == before);
    MUST(api->queue_destroy(queue));
}

/* A queue is in order: each command is done after the one before; another queue does not hold it
 * up. */
static void queues_are_in_order(void)
{
    uint32_t queues[2];
    uint64_t tickets[2][8], done_ps, last_ps = 0, first_of_second;
    for (int q = 0; q < 2; q++)
        MUST(api->queue_create(0, 0, &queues[q]));
    for (int i = 0; i < 8; i++)
        MUST(api->write(queues[0], memory, source, PIECE, &tickets[0][i]));
    MUST(api->write(queues[1], memory + 8 * PIECE, source, 4, &tickets[1][0]));
    MUST(api->wait(tickets[0][7]));
    for (int i = 0; i < 8; i++) {
        MUST(api->time_of(tickets[0][i], &done_ps));
        CHECK(done_ps > last_ps);
        last_ps = done_ps;
    }
    MUST(api->time_of(tickets[1][0], &first_of_second));
    CHECK(first_of_second < last_ps);
    for (int q = 0; q < 2; q++)
        MUST(api->queue_destroy(queues[q]));
    CHECK(api->mark(queues[0], true, NULL) == DRIVER_INVALID_VALUE);
    CHECK(api->write(queues[1], memory, source, 4, NULL) == DRIVER_INVALID_VALUE);
    CHECK(api->queue_destroy(queues[1]) == DRIVER_INVALID_VALUE
          && api->queue_destroy(9999) == DRIVER_INVALID_VALUE);
    CHECK(api->queue_destroy(0) == DRIVER_INVALID_VALUE); /* the device's own */
}

/* Work behind wait_for() begins when the other queue's command is done. */
static void queues_wait_for_each_other(void)
{
    uint32_t queues[2];
    uint64_t first, second, first_ps, second_ps;
    for (int q = 0; q < 2; q++)
        MUST(api->queue_create(0, 0, &queues[q]));
    MUST(api->write(queues[1], memory, source + PIECE, PIECES / 2 * PIECE, &first));
    MUST(api->wait_for(queues[0], first));
    MUST(api->read(queues[0], target, memory, PIECE, &second));
    MUST(api->wait(second));
    MUST(api->time_of(first, &first_ps));
    MUST(api->time_of(second, &second_ps));
    CHECK(first_ps < second_ps && !memcmp(target, source + PIECE, PIECE));
    CHECK(api->wait_for(queues[0], second + 1000) == DRIVER_INVALID_VALUE);
    for (int q = 0; q < 2; q++)
        MUST(api->queue_destroy(queues[q]));
}

struct drain {
    pthread_t thread;
    uint32_t queue, number;
    uint64_t ticket;
};
static pthread_barrier_t all_ready;

static void *drain(void *argument)
{
    struct drain *d = argument;
    for (int round = 0; round < 4; round++) {
        uint64_t offset = d->number * PIECES / THREADS * PIECE;
        MUST(
            api->write(d->queue, memory + offset, source + offset, PIECES / THREADS * PIECE, NULL));
        MUST(api->read(d->queue, target + offset, memory + offset, PIECES / THREADS * PIECE,
                       &d->ticket));
        pthread_barrier_wait(&all_ready);
        MUST(d->number % 2 ? api->wait(d->ticket) : api->wait_queue(d->queue));
        CHECK(!memcmp(source + offset, target + offset, PIECES / THREADS * PIECE));
        memset(target + offset, 0, PIECES / THREADS * PIECE);
        pthread_barrier_wait(&all_ready);
    }
    return NULL;
}

/* Threads that drain at the same time get what they wait for; the engine itself ends the program
 * when it is entered twice. */
static void many_threads_drain(void)
{
    struct drain drains[THREADS];
    pthread_barrier_init(&all_ready, NULL, THREADS);
    memset(target, 0, sizeof target);
    for (uint32_t i = 0; i < THREADS; i++) {
        drains[i].number = i;
        MUST(api->queue_create(0, 0, &drains[i].queue));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&drains[i].thread, NULL, drain, &drains[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(drains[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        MUST(api->queue_destroy(drains[i].queue));
}

/* The same commands, drained in one go, or step by step, are done at the same times. */
static uint64_t span_of_copies(bool by_step)
{
    uint64_t tickets[4], begin_ps, end_ps;
    MUST(api->wait_queue(0));
    MUST(api->mark(0, true, &tickets[0]));
    for (int i = 1; i < 4; i++)
        MUST(api->write(0, memory, source, PIECES * PIECE / 4, &tickets[i]));
    for (int i = 0; i < 4 && by_step; i++)
        MUST(api->wait(tickets[i]));
    MUST(api->wait(tickets[3]));
    MUST(api->time_of(tickets[0], &begin_ps));
    MUST(api->time_of(tickets[3], &end_ps));
    return end_ps - begin_ps;
}

static void waits_change_nothing(void)
{
    uint64_t plain = span_of_copies(false);
    CHECK(span_of_copies(false) == plain && span_of_copies(true) == plain);
}

/* More commands than there is room for: the call waits, and all are done. */
static void overflow(bool small)
{
    uint64_t before = api->now(), first = 0, last = 0, ticket, done_ps;
    for (int i = 0; i < 40; i++) {
        MUST(api->write(0, memory + (uint64_t)i * 4, source + (size_t)i * 4, 4, &ticket));
        first = first ? first : ticket;
        last = ticket;
    }
    CHECK((api->now() > before) == small);
    CHECK((api->time_of(first, &done_ps) == DRIVER_OK) == small);
    CHECK(api->time_of(last, &done_ps) == DRIVER_NOT_READY);
    MUST(api->wait(last));
    MUST(api->read(0, target, memory, 160, &last));
    MUST(api->wait(last));
    CHECK(!memcmp(target, source, 160));
}

int main(int argc, char **argv)
{
    bool small = argc > 1 && !strcmp(argv[1], "small");
    open_platform();
    if (!small) {
        enqueueing_takes_no_time();
        queues_are_in_order();
        queues_wait_for_each_other();
        many_threads_drain();
        waits_change_nothing();
    }
    overflow(small);
    MUST(api->release(memory));
    finish_platform();
    printf("PASS driver_queues\n");
    return 0;
}
