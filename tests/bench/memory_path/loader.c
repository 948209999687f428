/* Synthetic load for the memory path.
 *
 * A line that was never stored holds zeros. A store writes a line of the loader's own region with a
 * word made of its address and how often it was stored; a load must return that. A line has at most
 * one request under way, so what comes back depends on nothing else. The next address is chosen
 * once and kept until it is sent, so a tick that finds no room changes nothing. */
#include "loader.gen.h"

#include <string.h>

#include "base/likely.h"
#include "components/memory/page_table/page_table.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

#define TAGS        64
#define LINE        64u
#define LOCAL_BYTES 8192u
#define RUN         16u /* lines that one work-group of 256 floats reads */

struct flight {
    uint64_t address;
    uint64_t word; /* that a load must find, wherever it looks */
    uint64_t sent;
};

struct loader {
    struct loader_io io;
    uint64_t random;
    uint64_t issued;
    uint64_t free; /* bit: tag unused */
    uint64_t next_address;
    uint32_t versions; /* arena: uint32_t, stores made to each line of the own region */
    uint32_t busy;     /* arena: 1 while a line of the own region has a request under way */
    struct flight flights[TAGS];
};

static uint64_t own_lines(const struct loader *c)
{
    return loader_params(c)->footprint / LINE / loader_params(c)->loaders;
}

/* Which of the loaders this is; they stand side by side in the platform. */
static uint64_t own_number(const struct loader *c)
{
    return c->io.base.leaf % loader_params(c)->loaders;
}

/* Of the own region, for pattern `stores`. */
static uint64_t own_line(const struct loader *c, uint64_t address)
{
    return address / LINE - own_lines(c) * own_number(c);
}

static uint64_t stored_word(uint64_t address, uint32_t version)
{
    return version ? (address + ((uint64_t)version << 40)) * 0x9e3779b97f4a7c15u : 0;
}

static uint64_t random_next(struct loader *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

static void choose(struct loader *c)
{
    uint64_t lines = loader_params(c)->footprint / LINE, loaders = loader_params(c)->loaders,
             number = own_number(c), own = own_lines(c), line = 0;
    switch (loader_params(c)->pattern) {
    case LOADER_PATTERN_STREAM:
        line = ((c->issued / RUN * loaders + number) * RUN + c->issued % RUN) % lines;
        break;
    case LOADER_PATTERN_STRIDED:
        line = (c->issued * loaders + number) % lines;
        break;
    case LOADER_PATTERN_RANDOM:
        line = random_next(c) % lines;
        break;
    case LOADER_PATTERN_SHARED:
        line = c->issued % lines;
        break;
    case LOADER_PATTERN_LOCAL:
        line = own * number + c->issued % (LOCAL_BYTES / LINE);
        break;
    case LOADER_PATTERN_STORES:
        line = own * number + c->issued % own;
        break;
    }
    c->next_address = line * LINE;
}

static void loader_init(struct loader *c)
{
    unsigned tags = loader_params(c)->outstanding;
    c->random = 0x9e3779b97f4a7c15u ^ own_number(c) << 20;
    c->free = UINT64_MAX >> (TAGS - tags);
    c->versions = arena_allocate(own_lines(c) * sizeof(uint32_t));
    c->busy = arena_allocate(own_lines(c));
    choose(c);
}

/* Looks at one word of the line, another one each time. */
static void check(struct loader *c, const struct flight *f, const uint8_t *line)
{
    uint64_t found, at = (f->address / LINE + c->issued) % (LINE / sizeof found) * sizeof found;
    memcpy(&found, line + at, sizeof found);
    if (unlikely(found != f->word))
        engine_fail(&c->io.base, "the word at 0x%llx is 0x%llx, not 0x%llx",
                    (unsigned long long)(f->address + at), (unsigned long long)found,
                    (unsigned long long)f->word);
}

/* True: another one can be seen. */
static bool take_reply(struct loader *c)
{
    const struct mem_reply *m = loader_mem_peek_reply(c);
    if (!m)
        return false;
    const struct flight *f = &c->flights[m->tag];
    if (message_kind(m) == MEM_DATA)
        check(c, f, mem_data_data(loader_mem_reply_payload(c), LINE));
    if (loader_params(c)->pattern == LOADER_PATTERN_STORES)
        arena_at(uint8_t, c->busy)[own_line(c, f->address)] = 0;
    stat_histogram_add(&c->io.stats.latency, component_tick_now(&c->io.base) - f->sent);
    c->free |= (uint64_t)1 << m->tag;
    return ring_drop(ring_placed(c->io.mem_reply), c->io.base.limit);
}

static void send_store(struct loader *c, uint16_t tag, const struct flight *f)
{
    void *payload = loader_mem_send_write(c, tag, f->address, 0, SCOPE_WAVEFRONT);
    uint8_t *data = mem_write_data(payload, LINE);
    memset(mem_write_mask(payload, LINE), 0xff, LINE / 8);
    for (unsigned at = 0; at < LINE; at += sizeof f->word)
        memcpy(data + at, &f->word, sizeof f->word);
    c->io.stats.stores++;
}

static bool issue(struct loader *c)
{
    bool stores = loader_params(c)->pattern == LOADER_PATTERN_STORES,
         store = stores && c->issued % 3 == 0;
    if (c->issued == loader_params(c)->requests || !c->free)
        return false;
    uint64_t own = stores ? own_line(c, c->next_address) : 0;
    if ((stores && arena_at(uint8_t, c->busy)[own])
        || ring_is_still_full(ring_placed(c->io.mem_request)) || !loader_mem_can_send(c))
        return false;
    uint16_t tag = (uint16_t)__builtin_ctzll(c->free);
    struct flight *f = &c->flights[tag];
    f->address = c->next_address;
    f->word = 0;
    f->sent = component_tick_now(&c->io.base);
    if (stores) {
        f->word = stored_word(f->address, arena_at(uint32_t, c->versions)[own] += store);
        arena_at(uint8_t, c->busy)[own] = 1;
    }
    if (store) {
        send_store(c, tag, f);
    } else {
        loader_mem_send_read(c, tag, f->address, LINE, 0, false);
        c->io.stats.loads++;
    }
    c->free &= ~((uint64_t)1 << tag);
    c->issued++;
    engine_count_instructions(&c->io.base, 1);
    choose(c);
    return true;
}

static bool loader_tick(struct loader *c)
{
    bool more = take_reply(c);
    if (!issue(c) || !c->free)
        return more;
    return loader_mem_can_send(c) || more; /* when not, what it waits for is known now */
}

static unsigned loader_outstanding(const struct loader *c, struct hang_report *report)
{
    unsigned waiting = loader_params(c)->outstanding - (unsigned)__builtin_popcountll(c->free);
    if (waiting && report)
        hang_note(report, "%u requests under way", waiting);
    return waiting;
}
