/* Orders commands by vector clocks: a queue is a lane, and what precedes a command is a row of
 * counts by lane (race_command()). */
#include "command_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/checks/finding.h"
#include "components/checks/slot_array.h"
#include "runtime/engine/bug.h"
#include "race_order.h"

/* What is before something: so many commands of each lane. */
struct before {
    uint32_t *count;
    uint64_t room;
};

struct ticket {
    uint32_t command, lane, place;
    struct before before;
};

struct queue {
    uint32_t lane;       /* + 1; 0: none yet */
    struct before given; /* the commands given to the queue, with the commands that these wait
                          * for */
};

static struct ticket *tickets; /* by ticket */
static uint64_t ticket_room;
static struct before host; /* what the program knows to be over */
static struct queue *queues;
static uint64_t queue_room;
static uint32_t lane_count;
static uint32_t **starts, *start_counts; /* commands by GPU */
static uint64_t *start_rooms, gpu_room;

static void learn_place(struct before *to, uint32_t lane, uint32_t place)
{
    to->count = slot_array_grow(to->count, &to->room, lane, sizeof *to->count);
    to->count[lane] = max(to->count[lane], place);
}

static void learn(struct before *to, const struct before *from)
{
    for (uint32_t lane = 0; lane < from->room; lane++)
        if (from->count[lane])
            learn_place(to, lane, from->count[lane]);
}

static void learn_ticket(struct before *to, uint64_t ticket)
{
    if (ticket >= ticket_room || !tickets[ticket].command)
        return;
    learn(to, &tickets[ticket].before);
    learn_place(to, tickets[ticket].lane, tickets[ticket].place);
}

static struct queue *queue_at(uint32_t queue)
{
    queues = slot_array_grow(queues, &queue_room, queue, sizeof *queues);
    return &queues[queue];
}

void check_command_given(uint32_t queue, uint64_t ticket, uint64_t awaited)
{
    if (!finding_wanted(FINDING_CHECK_RACES))
        return;
    tickets = slot_array_grow(tickets, &ticket_room, ticket, sizeof *tickets);
    struct queue *q = queue_at(queue);
    learn(&q->given, &host);
    if (awaited)
        learn_ticket(&q->given, awaited);
    if (!q->lane)
        q->lane = ++lane_count;
    uint32_t lane = q->lane - 1;
    struct ticket *t = &tickets[ticket];
    t->lane = lane;
    learn(&t->before, &q->given);
    t->place = (lane < q->given.room ? q->given.count[lane] : 0) + 1;
    t->command = race_command(lane, t->before.count, (uint32_t)t->before.room);
    learn_place(&q->given, lane, t->place);
}

void check_command_seen(uint64_t ticket)
{
    if (finding_wanted(FINDING_CHECK_RACES))
        learn_ticket(&host, ticket);
}

void check_queue_seen(uint32_t queue)
{
    if (!finding_wanted(FINDING_CHECK_RACES) || queue >= queue_room)
        return;
    learn(&host, &queues[queue].given);
}

void check_command_starts(uint32_t gpu, uint64_t ticket)
{
    if (!finding_wanted(FINDING_CHECK_RACES))
        return;
    if (gpu >= gpu_room) {
        uint64_t counts = gpu_room, rooms = gpu_room;
        start_counts = slot_array_grow(start_counts, &counts, gpu, sizeof *start_counts);
        start_rooms = slot_array_grow(start_rooms, &rooms, gpu, sizeof *start_rooms);
        starts = slot_array_grow(starts, &gpu_room, gpu, sizeof(uint32_t *));
    }
    starts[gpu] =
        slot_array_grow(starts[gpu], &start_rooms[gpu], start_counts[gpu], sizeof *starts[gpu]);
    starts[gpu][start_counts[gpu]++] = ticket < ticket_room ? tickets[ticket].command : 0;
}

uint32_t check_command_number(uint64_t ticket)
{
    return tickets[ticket].command;
}

uint32_t check_command_of(uint32_t gpu, uint32_t dispatch)
{
    uint32_t known = gpu < gpu_room && dispatch < start_counts[gpu] ? starts[gpu][dispatch] : 0;
    return known ? known : RACE_UNKNOWN | (gpu & 127) << 24 | (dispatch & 0xffffff);
}
