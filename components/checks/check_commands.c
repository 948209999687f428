/* See check_commands.h. What is before a command is a row of counts by queue (race_command()). */
#include "check_commands.h"

#include <stdlib.h>
#include <string.h>

#include "finding.h"
#include "grown.h"
#include "race_order.h"
#include "runtime/engine/bug.h"

/* What is before something: so many commands of each queue. */
struct before {
    uint32_t *count;
    uint64_t room;
};

struct ticket {
    uint32_t command, queue, place;
    struct before before;
};

static struct ticket *tickets; /* by ticket */
static uint64_t ticket_room;
static struct before host;    /* what the program knows to be over */
static struct before *queues; /* what was given to each, with what that waits for */
static uint64_t queue_room;
static uint32_t **starts, *start_counts; /* commands by GPU */
static uint64_t *start_rooms, gpu_room;

static void learn_place(struct before *to, uint32_t queue, uint32_t place)
{
    to->count = grown(to->count, &to->room, queue, sizeof *to->count);
    to->count[queue] = to->count[queue] > place ? to->count[queue] : place;
}

static void learn(struct before *to, const struct before *from)
{
    for (uint32_t q = 0; q < from->room; q++) {
        if (from->count[q])
            learn_place(to, q, from->count[q]);
    }
}

static void learn_ticket(struct before *to, uint64_t ticket)
{
    if (ticket >= ticket_room || !tickets[ticket].command)
        return;
    learn(to, &tickets[ticket].before);
    learn_place(to, tickets[ticket].queue, tickets[ticket].place);
}

void check_command(uint32_t queue, uint64_t ticket, uint64_t awaited)
{
    if (!finding_wanted(FINDING_CHECK_RACES))
        return;
    queues = grown(queues, &queue_room, queue, sizeof *queues);
    tickets = grown(tickets, &ticket_room, ticket, sizeof *tickets);
    struct before *q = &queues[queue];
    learn(q, &host);
    if (awaited)
        learn_ticket(q, awaited);
    struct ticket *t = &tickets[ticket];
    t->queue = queue;
    learn(&t->before, q);
    t->place = (queue < q->room ? q->count[queue] : 0) + 1;
    t->command = race_command(queue, t->before.count, (uint32_t)t->before.room);
    learn_place(q, queue, t->place);
}

void check_command_seen(uint64_t ticket)
{
    if (finding_wanted(FINDING_CHECK_RACES))
        learn_ticket(&host, ticket);
}

void check_queue_seen(uint32_t queue)
{
    if (finding_wanted(FINDING_CHECK_RACES) && queue < queue_room)
        learn(&host, &queues[queue]);
}

void check_command_starts(uint32_t gpu, uint64_t ticket)
{
    if (!finding_wanted(FINDING_CHECK_RACES))
        return;
    if (gpu >= gpu_room) {
        uint64_t counts = gpu_room, rooms = gpu_room;
        start_counts = grown(start_counts, &counts, gpu, sizeof *start_counts);
        start_rooms = grown(start_rooms, &rooms, gpu, sizeof *start_rooms);
        starts = grown(starts, &gpu_room, gpu, sizeof(uint32_t *));
    }
    starts[gpu] = grown(starts[gpu], &start_rooms[gpu], start_counts[gpu], sizeof *starts[gpu]);
    starts[gpu][start_counts[gpu]++] = ticket < ticket_room ? tickets[ticket].command : 0;
}

uint32_t check_command_of(uint32_t gpu, uint32_t dispatch)
{
    uint32_t known = gpu < gpu_room && dispatch < start_counts[gpu] ? starts[gpu][dispatch] : 0;
    return known ? known : RACE_UNKNOWN | (gpu & 127) << 24 | (dispatch & 0xffffff);
}
