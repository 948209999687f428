/* See instruction_recorder_ranks.h. A list has what the recorder was told: a head, and behind it
 * the wavefront, or the instruction and the addresses of its active lanes. */
#include "components/statistics/instruction_recorder_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/rank.h"

#define LANES   64u
#define FILLING ((size_t)64 << 20) /* bytes of a rank, between two meetings */

enum what { BEGINS, STEPS, ENDS };

struct head {
    uint32_t wave;
    uint32_t what; /* enum what */
};

struct step {
    struct recorded_instruction own; /* its pointer means nothing here */
    uint32_t addresses;              /* they follow, those of active lanes */
};

struct list {
    char *bytes;
    size_t used, room;
};

static struct list *lists; /* by unit; each is written by one thread at a time */
static uint32_t list_count;

static void *room_in(uint32_t unit, size_t bytes)
{
    struct list *l = &lists[unit];
    if (l->used + bytes > l->room) {
        l->room = 2 * (l->used + bytes);
        l->bytes = realloc(l->bytes, l->room);
        if (!l->bytes)
            die("out of host memory for %zu bytes of a recording", l->room);
    }
    l->used += bytes;
    return l->bytes + l->used - bytes;
}

static void add_head(uint32_t unit, uint32_t wave, enum what what)
{
    const struct head head = {wave, what};
    memcpy(room_in(unit, sizeof head), &head, sizeof head);
}

static void begin(uint32_t unit, uint32_t wave, const struct recorded_wavefront *what)
{
    add_head(unit, wave, BEGINS);
    memcpy(room_in(unit, sizeof *what), what, sizeof *what);
}

static void step(uint32_t unit, uint32_t wave, const struct recorded_instruction *told)
{
    uint64_t address[LANES] = {0};
    struct step own = {.own = *told};
    for (uint64_t rest = told->address ? told->mask : 0; rest; rest &= rest - 1)
        address[own.addresses++] = told->address[__builtin_ctzll(rest)];
    add_head(unit, wave, STEPS);
    memcpy(room_in(unit, sizeof own), &own, sizeof own);
    memcpy(room_in(unit, own.addresses * sizeof *address), address,
           own.addresses * sizeof *address);
}

static void end(uint32_t unit, uint32_t wave)
{
    add_head(unit, wave, ENDS);
}

static const struct instruction_recorder teller = {.begin = begin, .step = step, .end = end};

void recorder_ranks_open(uint32_t units)
{
    lists = calloc(units, sizeof *lists);
    if (!lists)
        die("out of host memory for a recording of %u units", units);
    list_count = units;
    instruction_recorder = &teller;
}

bool recorder_ranks_is_filling(void)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < list_count; i++)
        bytes += lists[i].used;
    return bytes > FILLING;
}

void recorder_ranks_tell(void)
{
    if (!instruction_recorder || !ranks.number)
        return;
    for (uint32_t i = 0; i < list_count; i++) {
        const uint64_t told[] = {i, lists[i].used};
        if (!lists[i].used)
            continue;
        rank_put(0, told, sizeof told);
        rank_put(0, lists[i].bytes, lists[i].used);
        lists[i].used = 0;
    }
    rank_put(0, (const uint64_t[]){0, 0}, 2 * sizeof(uint64_t));
}

static size_t hear_step(const char *bytes, uint32_t unit, uint32_t wave)
{
    struct step told;
    uint64_t address[LANES] = {0};
    memcpy(&told, bytes, sizeof told);
    const char *at = bytes + sizeof told;
    for (uint64_t rest = told.addresses ? told.own.mask : 0; rest; rest &= rest - 1) {
        memcpy(&address[__builtin_ctzll(rest)], at, sizeof *address);
        at += sizeof *address;
    }
    told.own.address = told.own.address ? address : NULL;
    instruction_recorder->step(unit, wave, &told.own);
    return (size_t)(at - bytes);
}

static void hear_list(const char *bytes, size_t size, uint32_t unit)
{
    struct head head;
    struct recorded_wavefront what;
    for (size_t at = 0; at < size;) {
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        if (head.what == STEPS) {
            at += hear_step(bytes + at, unit, head.wave);
        } else if (head.what == BEGINS) {
            memcpy(&what, bytes + at, sizeof what);
            at += sizeof what;
            instruction_recorder->begin(unit, head.wave, &what);
        } else {
            instruction_recorder->end(unit, head.wave);
        }
    }
}

void recorder_ranks_hear(uint32_t from)
{
    uint64_t told[2];
    if (!instruction_recorder || ranks.number)
        return;
    for (;;) {
        memcpy(told, rank_take(from, sizeof told), sizeof told);
        if (!told[1])
            return;
        hear_list(rank_take(from, told[1]), told[1], (uint32_t)told[0]);
    }
}
