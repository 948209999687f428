/* The instructions that other ranks execute, on their way to the recorder of rank 0.
 *
 * The recorder counts on hearing of one unit in order, and of no wavefront before its kernel has
 * begun or after it has ended. Both hold: a rank keeps a list for each unit, the lists travel
 * whenever ranks meet, and what begins and ends kernels crosses between ranks, too. A list has what
 * the recorder of rank 0 is to hear: a head, and behind it the wavefront, or the instruction and
 * the addresses of its active lanes. */
#include "components/statistics/execution_observer.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/byte_list.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"

#define LANES   64u
#define FILLING ((size_t)64 << 20) /* bytes of a rank, between two meetings */

enum what { BEGINS, STEPS, ENDS };

struct head {
    uint32_t wave;
    uint32_t what; /* enum what */
};

struct step {
    struct observed_instruction own; /* its pointer means nothing here */
    uint32_t addresses;              /* they follow, those of active lanes */
};

static struct byte_list *lists; /* by unit; each is written by one thread at a time */
static uint32_t list_count;

static void add_head(uint32_t unit, uint32_t wave, enum what what)
{
    const struct head head = {wave, what};
    byte_list_add(&lists[unit], &head, sizeof head);
}

static void begin(uint32_t unit, uint32_t wave, const struct observed_wavefront *what)
{
    add_head(unit, wave, BEGINS);
    byte_list_add(&lists[unit], what, sizeof *what);
}

static void step(uint32_t unit, uint32_t wave, const struct observed_instruction *told)
{
    uint64_t address[LANES] = {0};
    struct step own = {.own = *told};
    for (uint64_t rest = told->address ? told->mask : 0; rest; rest &= rest - 1)
        address[own.addresses++] = told->address[__builtin_ctzll(rest)];
    add_head(unit, wave, STEPS);
    byte_list_add(&lists[unit], &own, sizeof own);
    byte_list_add(&lists[unit], address, own.addresses * sizeof *address);
}

static void end(uint32_t unit, uint32_t wave)
{
    add_head(unit, wave, ENDS);
}

static const struct execution_observer sender = {.begin = begin, .step = step, .end = end};

static bool is_filling(void)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < list_count; i++)
        bytes += lists[i].used;
    return bytes > FILLING;
}

/* A unit and the bytes of its list, for each that has any. */
static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    for (uint32_t i = 0; i < list_count; i++) {
        const uint64_t part[] = {i, lists[i].used};
        if (!lists[i].used)
            continue;
        rank_put(to, part, sizeof part);
        rank_put(to, lists[i].bytes, lists[i].used);
        lists[i].used = 0;
    }
}

static void merge_step(struct rank_reader *from, uint32_t unit, uint32_t wave)
{
    struct step sent;
    uint64_t address[LANES] = {0};
    memcpy(&sent, rank_read(from, sizeof sent), sizeof sent);
    for (uint64_t rest = sent.addresses ? sent.own.mask : 0; rest; rest &= rest - 1)
        memcpy(&address[__builtin_ctzll(rest)], rank_read(from, sizeof *address), sizeof *address);
    sent.own.address = sent.own.address ? address : NULL;
    execution_observer->step(unit, wave, &sent.own);
}

static void merge_list(struct rank_reader *from, uint32_t unit)
{
    struct head head;
    struct observed_wavefront what;
    while (from->left) {
        memcpy(&head, rank_read(from, sizeof head), sizeof head);
        if (head.what == STEPS) {
            merge_step(from, unit, head.wave);
        } else if (head.what == BEGINS) {
            memcpy(&what, rank_read(from, sizeof what), sizeof what);
            execution_observer->begin(unit, head.wave, &what);
        } else {
            execution_observer->end(unit, head.wave);
        }
    }
}

static void merge(struct rank_reader *from)
{
    uint64_t part[2];
    while (from->left) {
        memcpy(part, rank_read(from, sizeof part), sizeof part);
        struct rank_reader list = {from->rank, part[1], rank_read(from, part[1])};
        merge_list(&list, (uint32_t)part[0]);
    }
}

bool execution_observer_open(uint32_t units, bool (*open)(uint32_t units))
{
    static const struct rank_channel channel = {
        .times = RANK_CHANNEL_BARRIER, .encode = encode, .merge = merge, .is_filling = is_filling};
    rank_channel_register(&channel);
    if (!ranks.number)
        return open(units);
    lists = calloc(units, sizeof *lists);
    if (!lists)
        die("out of memory for a recording of %u units", units);
    list_count = units;
    execution_observer = &sender;
    return true;
}
