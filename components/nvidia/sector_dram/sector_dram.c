/* Memory below slices of the last cache. It keeps no bytes, only when sectors are through.
 *
 * A request is one entry; each of its sectors is a request of the timing part, of one burst, with a
 * number of its own. Sectors of the oldest request of a port are handed over until a cycle's width
 * is used up or the part is full; the request leaves its port with the last of them, and is
 * answered when all are through. A port has its share of the numbers, so no port waits for answers
 * that another does not take.
 *
 * The part sees places, not addresses. In a place, the bits of the address that chose the slice are
 * left out, and the number of the slice within this memory takes their place, so that the slices'
 * lines lie side by side. */
#include "sector_dram.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "components/memory/dram/dram_timing.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

#define ENTRY_NONE UINT32_MAX

struct entry {
    uint64_t due; /* time of the last sector that is settled, then cycle of the answer */
    uint32_t port;
    uint16_t tag;
    uint8_t kind; /* enum sector_mem_request_kind */
    uint8_t sectors;
    uint8_t unsettled; /* sectors whose time is not known */
    uint8_t number_count;
    uint8_t reserved[2];
    uint32_t numbers[4];
};

/* One slice's. */
struct port {
    uint32_t head;        /* entry of the oldest request, of which sectors were handed over */
    uint8_t sectors_left; /* sectors of the oldest request that were not */
    bool is_refused;      /* the part did not take the next of them, and nothing was issued since */
    uint8_t reserved[2];
    uint32_t numbers;    /* in use */
    uint32_t unanswered; /* requests */
    uint32_t answers_at; /* arena offset: uint32_t [mask + 1], entries by time */
    uint32_t first, count;
};

struct sector_dram {
    struct sector_dram_io io;
    uint32_t ports_at; /* arena offsets */
    uint32_t entries_at;
    uint32_t owners_at; /* uint32_t: entry of each number */
    struct index_pool free_entries, free_numbers;
    uint32_t mask;
    uint32_t turn; /* port that is asked first */
};

static struct port *port_at(const struct sector_dram *c, uint32_t i)
{
    return arena_at(struct port, c->ports_at) + i;
}

static struct entry *entry_at(const struct sector_dram *c, uint32_t i)
{
    return arena_at(struct entry, c->entries_at) + i;
}

/* Touches end here and are counted in sectors. They leave nothing: an open row is closed by the
 * next refresh. */
static void sector_dram_touch(struct component *self, const struct warm_access *a)
{
    (void)self;
    warm_count((enum warm_kind)a->kind, ((uint32_t)a->mask != 0) + (uint64_t)(a->mask >> 32 != 0));
}

static const struct warm_ops sector_dram_warm_ops = {.touch = sector_dram_touch};

static void sector_dram_init(struct sector_dram *c)
{
    uint32_t ports = sector_dram_top_count(c), capacity = 1, entries = 1;
    uint64_t overhead_ps = 0;
    warm_register(&c->io.base, &sector_dram_warm_ops);
    uint32_t delay = sector_dram_params(c)->latency - 1;
    if (sector_dram_timing_ops(c)) {
        capacity =
            sector_dram_timing_ops(c)->setup(sector_dram_timing(c), SECTOR_BYTES, &overhead_ps);
        delay = (uint32_t)engine_cycle_at(c->io.base.domain, overhead_ps);
        if (!capacity)
            engine_die(&c->io.base,
                       "sectors of %u bytes, but bursts of another size: set `burst` of the "
                       "timing part",
                       SECTOR_BYTES);
    }
    while (entries < capacity)
        entries *= 2;
    c->mask = entries - 1;
    c->ports_at = arena_allocate(ports * sizeof(struct port));
    c->entries_at = arena_allocate(entries * sizeof(struct entry));
    c->owners_at = arena_allocate(entries * sizeof(uint32_t));
    index_pool_init(&c->free_entries, entries);
    index_pool_init(&c->free_numbers, capacity);
    for (uint32_t i = 0; i < ports; i++) {
        port_at(c, i)->head = ENTRY_NONE;
        port_at(c, i)->answers_at = arena_allocate(entries * sizeof(uint32_t));
        ring_add_pipeline(engine_base.port_rings[2 * (c->io.top_first + i) + 1], delay);
    }
}

static void count_sector(struct sector_dram *c, const struct sector_mem_request *m)
{
    bool is_store = message_kind(m) == SECTOR_MEM_STORE;
    *(is_store ? &c->io.stats.writes : &c->io.stats.reads) += 1;
    *(is_store ? &c->io.stats.bytes_written : &c->io.stats.bytes_read) += SECTOR_BYTES;
}

static void count_request(struct sector_dram *c, const struct sector_mem_request *m)
{
    c->io.stats.requests++;
    if (message_kind(m) == SECTOR_MEM_STORE)
        c->io.stats.partial_writes +=
            (uint64_t)__builtin_popcount(m->store.partial & m->store.sectors & SECTOR_ALL);
}

/* The oldest request of a port. NULL: none, or (after engine_fail()) one that has no place here. */
static const struct sector_mem_request *port_head(struct sector_dram *c, uint32_t i)
{
    const struct sector_mem_request *m = sector_dram_top_peek(c, i);
    if (!m)
        return NULL;
    if (unlikely(message_kind(m) != SECTOR_MEM_LOAD && message_kind(m) != SECTOR_MEM_STORE)) {
        engine_fail(&c->io.base, "%s reaches memory: a cache above must have `atomics = here`",
                    message_kind(m) == SECTOR_MEM_ATOMIC ? "an atomic" : "a copy of the host");
        return NULL;
    }
    if (unlikely(!(m->load.sectors & SECTOR_ALL))) {
        engine_fail(&c->io.base, "a request of no sectors of the line at 0x%llx",
                    (unsigned long long)m->load.address);
        return NULL;
    }
    return m;
}

/* ---- ideal ---- */

static void reply(struct sector_dram *c, uint32_t port, uint8_t kind, uint16_t tag, uint8_t sectors)
{
    if (kind == SECTOR_MEM_LOAD)
        sector_dram_top_reply_data(c, port, tag, sectors);
    else
        sector_dram_top_reply_done(c, port, tag);
}

/* Sectors of the oldest request of a port, at most `room`. */
static uint32_t accept_ideal(struct sector_dram *c, uint32_t i, uint32_t room)
{
    const struct sector_mem_request *m = port_head(c, i);
    struct port *p = port_at(c, i);
    uint32_t taken = 0;
    if (!m || !sector_dram_top_can_reply(c, i))
        return 0;
    unsigned left = p->sectors_left ? p->sectors_left : m->load.sectors & SECTOR_ALL;
    for (; left && taken < room; left &= left - 1, taken++)
        count_sector(c, m);
    p->sectors_left = (uint8_t)left;
    if (left)
        return taken;
    count_request(c, m);
    reply(c, i, (uint8_t)message_kind(m), m->tag, m->load.sectors);
    sector_dram_top_pop(c, i);
    return taken;
}

/* ---- timed ---- */

static uint64_t dram_place(const struct sector_dram *c, uint64_t address, uint32_t port,
                           unsigned sector)
{
    const struct sector_dram_params *params = sector_dram_params(c);
    uint64_t chunk = params->interleave,
             local = sector_local(address, params->interleave, params->slices);
    return (local / chunk * sector_dram_top_count(c) + port) * chunk + local % chunk
           + sector * SECTOR_BYTES;
}

/* First edge of the own clock at or after a time. A division only where that is not the next one.
 */
static uint64_t edge_at(const struct sector_dram *c, uint64_t time_ps)
{
    const struct engine_domain *d = &engine.domains[c->io.base.domain];
    if (time_ps > d->time_ps && time_ps <= d->time_ps + d->period_ps)
        return d->cycle + 1;
    return engine_cycle_at(c->io.base.domain, time_ps);
}

/* All sectors of an entry are settled: queues its answer after all answers that are due no
 * later. */
static void answer_later(struct sector_dram *c, uint32_t number)
{
    struct entry *e = entry_at(c, number);
    e->due = edge_at(c, e->due);
    struct port *p = port_at(c, e->port);
    uint32_t *ring = arena_at(uint32_t, p->answers_at), at = p->first + p->count++;
    for (; at != p->first && entry_at(c, ring[(at - 1) & c->mask])->due > e->due; at--)
        ring[at & c->mask] = ring[(at - 1) & c->mask];
    ring[at & c->mask] = number;
}

/* A sector of an entry is through at `time_ps`. */
static void finish_sector(struct sector_dram *c, uint32_t number, uint64_t time_ps)
{
    struct entry *e = entry_at(c, number);
    e->due = max(time_ps, e->due);
    e->unsettled--;
    if (!e->unsettled && port_at(c, e->port)->head != number)
        answer_later(c, number);
}

/* True if something was issued, so there may be room. */
static bool advance(struct sector_dram *c, uint64_t until_ps)
{
    const struct dram_timing_ops *ops = sector_dram_timing_ops(c);
    struct part *part = sector_dram_timing(c);
    uint64_t done;
    uint32_t number;
    if (ops->next_ps(part) > until_ps)
        return false;
    while ((number = ops->advance(part, until_ps, &done)) != DRAM_TIMING_NONE)
        finish_sector(c, arena_at(uint32_t, c->owners_at)[number], done);
    for (uint32_t i = 0; i < sector_dram_top_count(c); i++)
        port_at(c, i)->is_refused = false;
    return true;
}

static void begin_entry(struct sector_dram *c, uint32_t i, const struct sector_mem_request *m)
{
    struct port *p = port_at(c, i);
    p->head = index_pool_acquire(&c->free_entries);
    p->sectors_left = m->load.sectors & SECTOR_ALL;
    *entry_at(c, p->head) = (struct entry){
        .port = i, .tag = m->tag, .kind = (uint8_t)message_kind(m), .sectors = m->load.sectors};
}

/* Hands the next sector of the oldest request of a port over. */
static bool hand_over(struct sector_dram *c, uint32_t i, const struct sector_mem_request *m)
{
    struct port *p = port_at(c, i);
    struct entry *e = entry_at(c, p->head);
    if (p->numbers >= c->free_numbers.capacity / sector_dram_top_count(c))
        return false;
    const struct dram_timing_ops *ops = sector_dram_timing_ops(c);
    uint64_t address = dram_place(c, m->load.address, i, (unsigned)__builtin_ctz(p->sectors_left));
    unsigned access = e->kind == SECTOR_MEM_LOAD ? DRAM_TIMING_READ : DRAM_TIMING_WRITE;
    uint32_t number = index_pool_acquire(&c->free_numbers), owner = p->head;
    uint64_t time =
        ops->take(sector_dram_timing(c), number, address, access, component_now_ps(&c->io.base));
    if (time == DRAM_TIMING_FULL) {
        index_pool_release(&c->free_numbers, number);
        p->is_refused = true;
        return false;
    }
    arena_at(uint32_t, c->owners_at)[number] = owner;
    count_sector(c, m);
    e->numbers[e->number_count++] = number;
    e->unsettled++;
    p->numbers++;
    p->sectors_left &= (uint8_t)(p->sectors_left - 1);
    if (time != DRAM_TIMING_LATER)
        finish_sector(c, owner, time);
    return true;
}

/* Sectors of the oldest request of a port, at most `room`. */
static uint32_t accept_timed(struct sector_dram *c, uint32_t i, uint32_t room)
{
    struct port *p = port_at(c, i);
    if (p->is_refused)
        return 0;
    const struct sector_mem_request *m = port_head(c, i);
    uint32_t taken = 0;
    if (!m || (p->head == ENTRY_NONE && !index_pool_has(&c->free_entries)))
        return 0;
    if (p->head == ENTRY_NONE)
        begin_entry(c, i, m);
    while (p->sectors_left && taken < room && hand_over(c, i, m))
        taken++;
    if (p->sectors_left)
        return taken;
    uint32_t entry = p->head;
    p->head = ENTRY_NONE;
    p->unanswered++;
    if (!entry_at(c, entry)->unsettled)
        answer_later(c, entry);
    count_request(c, m);
    sector_dram_top_pop(c, i);
    return taken;
}

/* Sends the answers that are due on a port. */
static bool finish_request(struct sector_dram *c, uint32_t i)
{
    struct port *p = port_at(c, i);
    bool progress = false;
    while (p->count) {
        uint32_t number = arena_at(uint32_t, p->answers_at)[p->first & c->mask];
        const struct entry *e = entry_at(c, number);
        if (e->due > component_tick_now(&c->io.base)) {
            sector_dram_wake_at(c, e->due);
            break;
        }
        if (!sector_dram_top_can_reply(c, i))
            break;
        reply(c, i, e->kind, e->tag, e->sectors);
        for (unsigned n = 0; n < e->number_count; n++)
            index_pool_release(&c->free_numbers, e->numbers[n]);
        p->numbers -= e->number_count;
        p->unanswered--;
        p->first++;
        p->count--;
        index_pool_release(&c->free_entries, number);
        progress = true;
    }
    return progress;
}

/* ---- a cycle ---- */

/* Takes as many sectors as a cycle allows, from the ports in turn, one request each. */
static uint32_t accept_sectors(struct sector_dram *c)
{
    uint32_t ports = sector_dram_top_count(c), width = sector_dram_params(c)->width, taken = 0,
             idle = 0;
    while (taken < width && idle < ports) {
        uint32_t more = sector_dram_timing_ops(c) ? accept_timed(c, c->turn, width - taken)
                                                  : accept_ideal(c, c->turn, width - taken);
        idle = more ? 0 : idle + 1;
        taken += more;
        c->turn = c->turn + 1 == ports ? 0 : c->turn + 1;
    }
    return taken;
}

/* A tick lets the part issue the bursts that were due before this cycle, takes new sectors, and
 * lets the part issue the bursts of this cycle; so more ticks change nothing. */
static bool tick_timed(struct sector_dram *c)
{
    uint64_t now_ps = component_now_ps(&c->io.base);
    bool room = now_ps && advance(c, now_ps - 1);
    uint32_t taken = accept_sectors(c);
    room |= advance(c, now_ps);
    for (uint32_t i = 0; i < sector_dram_top_count(c); i++)
        room |= finish_request(c, i);
    uint64_t next_ps = sector_dram_timing_ops(c)->next_ps(sector_dram_timing(c));
    if (next_ps != DRAM_TIMING_LATER)
        sector_dram_wake_at(c, edge_at(c, next_ps));
    return room || taken;
}

static bool sector_dram_tick(struct sector_dram *c)
{
    if (sector_dram_timing_ops(c))
        return tick_timed(c);
    return accept_sectors(c) != 0;
}

static unsigned sector_dram_outstanding(const struct sector_dram *c, struct hang_report *report)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < sector_dram_top_count(c); i++) {
        uint32_t taken = port_at(c, i)->unanswered;
        waiting += taken;
        if (report && taken)
            hang_note(report, "%u requests of slice %u are not answered", taken, i);
    }
    return waiting;
}
