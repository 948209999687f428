/* Orders commands by vector clocks: a queue is a lane, and what precedes a command is a row of
 * counts by lane (race_command()). */
#include "command_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/checks/finding.h"
#include "runtime/engine/bug.h"

#include "race_order.h"

/* The commands before something: so many of each lane. */
struct before {
    uint32_t *count;
    size_t capacity;
};

struct ticket {
    uint32_t command, lane, place;
    struct before before;
};

struct queue {
    uint32_t lane;           /* + 1; 0: none yet */
    struct before submitted; /* the commands given to the queue, with the commands that these wait
                              * for */
};

/* Commands by the number of their dispatch on a GPU. */
struct started {
    uint32_t *command;
    size_t count, capacity;
};

static struct ticket *tickets; /* by ticket */
static size_t ticket_capacity;
static struct before host; /* what the program knows to be over */
static struct queue *queues;
static size_t queue_capacity;
static uint32_t lane_count;
static struct started *started; /* by GPU */
static size_t started_capacity;

static void learn_place(struct before *to, uint32_t lane, uint32_t place)
{
    grow_slots(to->count, lane, to->capacity, "checks");
    to->count[lane] = max(to->count[lane], place);
}

static void learn(struct before *to, const struct before *from)
{
    for (uint32_t lane = 0; lane < from->capacity; lane++)
        if (from->count[lane])
            learn_place(to, lane, from->count[lane]);
}

static void learn_ticket(struct before *to, uint64_t ticket)
{
    if (ticket >= ticket_capacity || !tickets[ticket].command)
        return;
    learn(to, &tickets[ticket].before);
    learn_place(to, tickets[ticket].lane, tickets[ticket].place);
}

static struct queue *queue_at(uint32_t queue)
{
    grow_slots(queues, queue, queue_capacity, "checks");
    return &queues[queue];
}

void check_command_given(uint32_t queue, uint64_t ticket, uint64_t awaited)
{
    if (!finding_is_wanted(FINDING_CHECK_RACES))
        return;
    grow_slots(tickets, ticket, ticket_capacity, "checks");
    struct queue *q = queue_at(queue);
    learn(&q->submitted, &host);
    if (awaited)
        learn_ticket(&q->submitted, awaited);
    if (!q->lane)
        q->lane = ++lane_count;
    uint32_t lane = q->lane - 1;
    struct ticket *t = &tickets[ticket];
    t->lane = lane;
    learn(&t->before, &q->submitted);
    t->place = (lane < q->submitted.capacity ? q->submitted.count[lane] : 0) + 1;
    t->command = race_command(lane, t->before.count, (uint32_t)t->before.capacity);
    learn_place(&q->submitted, lane, t->place);
}

void check_command_seen(uint64_t ticket)
{
    if (finding_is_wanted(FINDING_CHECK_RACES))
        learn_ticket(&host, ticket);
}

void check_queue_seen(uint32_t queue)
{
    if (!finding_is_wanted(FINDING_CHECK_RACES) || queue >= queue_capacity)
        return;
    learn(&host, &queues[queue].submitted);
}

void check_command_starts(uint32_t gpu, uint64_t ticket)
{
    if (!finding_is_wanted(FINDING_CHECK_RACES))
        return;
    grow_slots(started, gpu, started_capacity, "checks");
    struct started *s = &started[gpu];
    grow_list(s->command, s->count + 1, s->capacity, "checks");
    s->command[s->count++] = ticket < ticket_capacity ? tickets[ticket].command : 0;
}

uint32_t check_command_number(uint64_t ticket)
{
    return tickets[ticket].command;
}

uint32_t check_command_of(uint32_t gpu, uint32_t dispatch)
{
    const struct started *s = gpu < started_capacity ? &started[gpu] : NULL;
    uint32_t known = s && dispatch < s->count ? s->command[dispatch] : 0;
    return known ? known : RACE_UNKNOWN | (gpu & 127) << 24 | (dispatch & 0xffffff);
}
