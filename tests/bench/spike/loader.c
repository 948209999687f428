/* A compute unit's loads and stores without the compute unit: one request a cycle, up to 64 under
 * way, every loaded word checked. A word that was never stored holds a function of its address;
 * stores go to lines that only this loader uses, and hold a function of address and how often the
 * line was stored. */
#include "loader.gen.h"

#include <string.h>

#include "pattern.h"

#define TAGS 64

struct flight {
    uint64_t address;
    uint64_t sent;
    uint32_t version; /* that a load must see, or a store makes */
    bool store;
};

struct loader {
    struct loader_io io;
    uint64_t random;
    uint64_t issued;
    uint64_t free; /* bit: tag unused */
    struct flight flights[TAGS];
    uint32_t versions; /* arena: stores made to each line of the own region */
    uint32_t pending;  /* arena: 1 while a line of the own region has a request under way */
    uint32_t own_lines;
    uint64_t next_address;
};

static uint64_t random_next(struct loader *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

/* Chooses the next address; kept until it is sent, so that a tick without room changes nothing. */
static void choose(struct loader *c)
{
    const struct loader_params *p = loader_params(c);
    uint64_t lines = (uint64_t)(p->footprint / p->line);
    uint64_t own = lines / (uint64_t)p->loaders;
    uint64_t first = own * (uint64_t)p->number;
    uint64_t line = 0;
    switch (p->pattern) {
    case PATTERN_STRIDED: /* neighbouring loaders read neighbouring lines, as work-groups do */
        line = (c->issued * (uint64_t)p->loaders + (uint64_t)p->number) % lines;
        break;
    case PATTERN_STORES: /* the own region, line after line */
        line = first + c->issued % own;
        break;
    case PATTERN_RANDOM: /* anywhere */
        line = random_next(c) % lines;
        break;
    case PATTERN_SHARED: /* all read the same, at about the same time */
        line = c->issued % lines;
        break;
    case PATTERN_LOCAL: /* 8 KiB of the own region again and again */
        line = first + c->issued % ((uint64_t)8192 / (uint64_t)p->line);
        break;
    }
    c->next_address = line * (uint64_t)p->line;
}

static void loader_init(struct loader *c)
{
    const struct loader_params *p = loader_params(c);
    c->random = 0x9e3779b97f4a7c15u ^ (uint64_t)p->number << 20;
    c->free = ~(uint64_t)0;
    c->own_lines = (uint32_t)(p->footprint / p->line / p->loaders);
    c->versions = arena_allocate(c->own_lines * sizeof(uint32_t));
    c->pending = arena_allocate(c->own_lines);
    choose(c);
}

static uint32_t own_line(const struct loader *c, uint64_t address)
{
    const struct loader_params *p = loader_params(c);
    return (uint32_t)(address / (uint64_t)p->line - (uint64_t)c->own_lines * (uint64_t)p->number);
}

static void check(struct loader *c, const struct flight *f)
{
    uint64_t words[16];
    uint64_t line = (uint64_t)loader_params(c)->line;
    memcpy(words, mem_data_data(loader_mem_reply_payload(c), line), line);
    for (uint64_t i = 0; i < line / 8; i++)
        loader_stats(c)->wrong += words[i] != pattern_word(f->address + 8 * i, f->version);
}

static bool take_reply(struct loader *c)
{
    const struct mem_reply *r = loader_mem_peek_reply(c);
    if (!r)
        return false;
    struct flight *f = &c->flights[r->tag];
    if (r->kind == MEM_DATA)
        check(c, f);
    if (loader_params(c)->pattern == PATTERN_STORES)
        arena_at(uint8_t, c->pending)[own_line(c, f->address)] = 0;
    stat_histogram_add(&loader_stats(c)->latency, loader_now(c) - f->sent);
    c->free |= (uint64_t)1 << r->tag;
    loader_mem_pop_reply(c);
    return true;
}

static void send(struct loader *c, uint16_t tag, struct flight *f)
{
    const struct loader_params *p = loader_params(c);
    uint64_t line = (uint64_t)p->line;
    if (!f->store) {
        loader_mem_send_read(c, tag, f->address, (uint32_t)line, 1);
        loader_stats(c)->loads++;
        return;
    }
    uint64_t words[16];
    for (uint64_t i = 0; i < line / 8; i++)
        words[i] = pattern_word(f->address + 8 * i, f->version);
    void *payload = loader_mem_send_write(c, tag, f->address, 1);
    memset(mem_write_mask(payload, line), 0xff, line / 8);
    memcpy(mem_write_data(payload, line), words, line);
    loader_stats(c)->stores++;
}

static bool issue(struct loader *c)
{
    const struct loader_params *p = loader_params(c);
    if (c->issued == (uint64_t)p->requests || !c->free)
        return false;
    uint16_t tag = (uint16_t)__builtin_ctzll(c->free);
    struct flight *f = &c->flights[tag];
    bool stores = p->pattern == PATTERN_STORES;
    uint32_t own = stores ? own_line(c, c->next_address) : 0;
    if ((stores && arena_at(uint8_t, c->pending)[own]) || !loader_mem_can_send(c))
        return false;
    *f = (struct flight){.address = c->next_address, .sent = loader_now(c)};
    if (stores) {
        f->store = c->issued % 3 == 0;
        f->version = arena_at(uint32_t, c->versions)[own] += f->store;
        arena_at(uint8_t, c->pending)[own] = 1;
    }
    send(c, tag, f);
    c->free &= ~((uint64_t)1 << tag);
    c->issued++;
    engine_count_instructions(1);
    choose(c);
    return true;
}

static bool loader_tick(struct loader *c)
{
    bool more = take_reply(c) && loader_mem_peek_reply(c);
    return issue(c) || more;
}

static unsigned loader_outstanding(const struct loader *c, struct hang_report *report)
{
    unsigned waiting = (unsigned)__builtin_popcountll(~c->free);
    if (waiting && report)
        hang_note(report, "%u requests under way", waiting);
    return waiting;
}
