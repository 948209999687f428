/* Accepts requests: looks their sectors up, opens MSHRs for sectors that are absent, and sends
 * below. An accept_* that returns false has left the request for a later cycle. It has counted
 * nothing, and changed nothing but a victim that it may have written back, whose way is then free.
 */
#include "base/hash.h"
#include "base/number.h"

#include "sector_state.h"

/* ---- MSHRs ---- */

static inline uint32_t *mshr_chain(const struct sector_cache *c, uint64_t number)
{
    return arena_at(uint32_t, c->chains_at) + ((hash_multiply(number) >> 32) & c->chain_mask);
}

static inline uint32_t mshr_find(const struct sector_cache *c, uint64_t number)
{
    uint32_t i = index_pool_used(&c->free_mshrs) ? *mshr_chain(c, number) : SECTOR_NONE;
    while (i != SECTOR_NONE && sector_mshr_at(c, i)->number != number)
        i = sector_mshr_at(c, i)->next;
    return i;
}

/* Sectors that a further request waits for without asking for them. */
static inline unsigned sector_mshr_under_way(const struct sector_cache *c, uint32_t i)
{
    return sector_mshr_at(c, i)->pending_sectors | sector_mshr_at(c, i)->ready_sectors;
}

static inline uint32_t mshr_open(struct sector_cache *c, uint64_t number)
{
    uint32_t i = index_pool_acquire(&c->free_mshrs), *chain = mshr_chain(c, number);
    *sector_mshr_at(c, i) = (struct sector_mshr){.number = number, .next = *chain, .is_used = 1};
    *chain = i;
    stat_histogram_add(&c->io.stats.mshr_occupancy, index_pool_used(&c->free_mshrs) - 1);
    return i;
}

static inline void mshr_close(struct sector_cache *c, uint32_t number)
{
    struct sector_mshr *mshr = sector_mshr_at(c, number);
    uint32_t *link = mshr_chain(c, mshr->number);
    while (*link != number)
        link = &sector_mshr_at(c, *link)->next;
    *link = mshr->next;
    mshr->is_used = 0;
    index_pool_release(&c->free_mshrs, number);
}

/* ---- messages ---- */

static inline bool queues_misses(const struct sector_cache *c)
{
    return sector_cache_params(c)->miss_queue != 0;
}

static inline uint32_t sector_bank(const struct sector_cache *c, uint64_t number, unsigned sector)
{
    return (uint32_t)(number * 4 + sector) & (uint32_t)(sector_cache_params(c)->banks - 1);
}

static inline struct sector_queue *bank_queue(const struct sector_cache *c, uint32_t bank)
{
    return arena_at(struct sector_queue, c->bank_queues_at) + bank;
}

/* True if a message of these sectors of a line fits, into the queues of their banks or onto the
 * wire. */
static inline bool below_has_room(const struct sector_cache *c, uint64_t number, unsigned sectors)
{
    uint8_t more[32] = {0};
    if (!queues_misses(c))
        return sector_cache_bottom_can_send(c);
    for (unsigned rest = sectors; rest; rest &= rest - 1) {
        uint32_t bank = sector_bank(c, number, (unsigned)__builtin_ctz(rest));
        if (bank_queue(c, bank)->count + more[bank]++ >= sector_cache_params(c)->latency)
            return false;
    }
    return true;
}

static inline void send_now(struct sector_cache *c, const struct sector_below *m)
{
    switch (m->kind) {
    case SECTOR_MEM_LOAD:
        sector_cache_bottom_send_load(c, m->tag, m->address, m->sectors, m->bypass);
        break;
    case SECTOR_MEM_STORE:
        sector_cache_bottom_send_store(c, m->tag, m->address, m->sectors, m->partial);
        break;
    case SECTOR_MEM_ATOMIC:
        sector_cache_bottom_send_atomic(c, m->tag, m->address, m->sectors, m->count);
        break;
    default:
        sector_cache_bottom_send_fill(c, m->tag, m->address, m->sectors);
    }
}

/* Sends a message, or puts each of its sectors into the queue; returns how many answers will come.
 * The elements of an atomic are spread evenly. below_has_room() must hold. */
static inline uint8_t send_below(struct sector_cache *c, struct sector_below m)
{
    uint32_t count = sector_count(m.sectors), elements = m.count, done = 0;
    if (!queues_misses(c)) {
        send_now(c, &m);
        return 1;
    }
    for (unsigned rest = m.sectors; rest; rest &= rest - 1, done++) {
        uint32_t depth = sector_cache_params(c)->latency,
                 bank = sector_bank(c, m.address / SECTOR_LINE, (unsigned)__builtin_ctz(rest));
        struct sector_queue *q = bank_queue(c, bank);
        struct sector_below *message = arena_at(struct sector_below, c->bank_below_at)
                                       + bank * depth + (q->first + q->count++) % depth;
        *message = m;
        message->sectors = (uint8_t)(rest & -rest);
        message->partial = m.partial & message->sectors;
        message->count = elements * (done + 1) / count - elements * done / count;
        c->banked++;
    }
    return (uint8_t)count;
}

/* Each bank puts its oldest sector into the queue of misses, lower banks first. */
static inline void queue_banked(struct sector_cache *c)
{
    uint32_t depth = sector_cache_params(c)->latency, most = sector_cache_params(c)->miss_queue;
    for (uint32_t bank = 0; c->banked && bank < sector_cache_params(c)->banks; bank++) {
        struct sector_queue *q = bank_queue(c, bank);
        if (!q->count || c->misses.count == most)
            continue;
        arena_at(struct sector_below, c->below_at)[(c->misses.first + c->misses.count++) % most] =
            arena_at(struct sector_below, c->bank_below_at)[bank * depth + q->first];
        q->first = (q->first + 1) % depth;
        q->count--;
        c->banked--;
    }
}

/* Sends what waits in the queue as far as there is room. */
static inline bool send_waiting(struct sector_cache *c)
{
    bool progress = c->banked != 0;
    queue_banked(c);
    while (c->misses.count && sector_cache_bottom_can_send(c)) {
        send_now(c, arena_at(struct sector_below, c->below_at) + c->misses.first);
        c->misses.first = (c->misses.first + 1) % sector_cache_params(c)->miss_queue;
        c->misses.count--;
        progress = true;
    }
    return progress;
}

/* Asks below for sectors of the line, which has a way or none yet. Room below must be there. */
static inline void fetch(struct sector_cache *c, uint32_t mshr, uint32_t line, unsigned sectors)
{
    struct sector_mshr *m = sector_mshr_at(c, mshr);
    m->pending_sectors |= (uint8_t)sectors;
    if (line != SECTOR_NONE)
        sector_mark_pending(c, line, sectors);
    send_below(c, (struct sector_below){.address = m->number * SECTOR_LINE,
                                        .tag = (uint16_t)mshr,
                                        .kind = SECTOR_MEM_LOAD,
                                        .sectors = (uint8_t)sectors});
    c->io.stats.fetches += sector_count(sectors);
}

/* True if one more request can wait for these sectors. */
static inline bool has_room(const struct sector_cache *c, uint32_t mshr, unsigned sectors)
{
    const struct sector_cache_params *params = sector_cache_params(c);
    uint32_t fresh = sector_count(sectors);
    for (unsigned rest = mshr == SECTOR_NONE ? 0 : sectors; rest; rest &= rest - 1) {
        uint16_t waiting = sector_mshr_at(c, mshr)->waiting_targets[__builtin_ctz(rest)];
        fresh -= waiting != 0;
        if (waiting >= params->targets)
            return false;
    }
    bool is_streaming = params->allocate == SECTOR_CACHE_ALLOCATE_STREAMING;
    bool is_alone = !c->waited; /* a request of more sectors than there are MSHRs goes by itself */
    return (is_streaming || is_alone || c->waited + fresh <= params->mshrs)
           && (mshr != SECTOR_NONE || index_pool_has(&c->free_mshrs));
}

static inline void target_add(struct sector_cache *c, uint32_t mshr, struct sector_target target)
{
    struct sector_mshr *m = sector_mshr_at(c, mshr);
    for (unsigned rest = target.missing_sectors; rest; rest &= rest - 1)
        c->waited += m->waiting_targets[__builtin_ctz(rest)]++ == 0;
    uint32_t i = index_pool_acquire(&c->free_targets);
    target.next = SECTOR_NONE;
    *sector_target_at(c, i) = target;
    if (m->targets++)
        sector_target_at(c, m->last)->next = i;
    else
        m->first = i;
    m->last = i;
    c->unanswered++;
}

/* ---- room ---- */

static inline bool can_send(struct sector_cache *c, uint64_t number, unsigned sectors)
{
    return index_pool_has(&c->free_sent) && below_has_room(c, number, sectors);
}

/* Sends the dirty sectors of a line below. can_send() must hold. */
static inline void write_back(struct sector_cache *c, uint32_t line)
{
    struct sector_line *l = sector_line_at(c, line);
    uint32_t sent = index_pool_acquire(&c->free_sent);
    uint8_t left =
        send_below(c, (struct sector_below){.address = *sector_tag_at(c, line) * SECTOR_LINE,
                                            .tag = (uint16_t)(c->mshr_count + sent),
                                            .kind = SECTOR_MEM_STORE,
                                            .sectors = l->dirty,
                                            .partial = l->dirty & l->partial});
    arena_at(struct sector_sent, c->sent_at)[sent] =
        (struct sector_sent){.kind = SECTOR_SENT_WRITE_BACK, .answers_left = left};
    c->io.stats.writebacks += sector_count(l->dirty);
    sector_set_dirty(c, l, 0);
}

/* A line of the set that is not in use any more. SECTOR_NONE: there is none now. */
static inline uint32_t make_room(struct sector_cache *c, uint32_t set)
{
    bool is_in_use;
    if (c->dirty_lines && !can_send(c, 0, SECTOR_ALL))
        return SECTOR_NONE;
    uint32_t line = sector_victim(c, set, &is_in_use);
    if (line == SECTOR_NONE || !is_in_use)
        return line;
    if (sector_line_at(c, line)->dirty)
        write_back(c, line);
    sector_drop(c, line);
    c->io.stats.evictions++;
    return line;
}

/* ---- requests ---- */

/* Counts the sectors of a request that was looked up. `brings_line`: its line was not here and not
 * asked for. */
static inline void count_lookup(struct sector_cache *c, unsigned hits, unsigned pending,
                                unsigned absent, bool brings_line, bool is_store)
{
    struct sector_cache_stats *s = &c->io.stats;
    uint32_t missing = sector_count(absent), all = sector_count(hits | pending | absent);
    brings_line = brings_line && missing;
    s->accesses += all;
    s->hits += sector_count(hits);
    s->pending_hits += sector_count(pending);
    s->misses += brings_line;
    s->sector_misses += missing - brings_line;
    s->store_accesses += is_store ? all : 0;
}

/* Goes below without a look; `kind` is what its answer is passed on as. */
static inline bool pass_on(struct sector_cache *c, const struct sector_mem_request *m,
                           enum sector_sent_kind kind)
{
    struct sector_below below = {.address = m->load.address,
                                 .kind = (uint8_t)message_kind(m),
                                 .sectors = (uint8_t)(SECTOR_OF_REQUEST(m) & SECTOR_ALL)};
    if (!can_send(c, below.address / SECTOR_LINE, below.sectors))
        return false;
    uint32_t sent = index_pool_acquire(&c->free_sent);
    below.tag = (uint16_t)(c->mshr_count + sent);
    below.bypass = below.kind == SECTOR_MEM_LOAD && m->load.bypass;
    below.partial = below.kind == SECTOR_MEM_STORE ? m->store.partial : 0;
    below.count = below.kind == SECTOR_MEM_ATOMIC ? m->atomic.count : 0;
    arena_at(struct sector_sent, c->sent_at)[sent] = (struct sector_sent){
        .tag = m->tag, .kind = (uint8_t)kind, .answers_left = send_below(c, below)};
    c->unanswered++;
    return true;
}

/* Keeps the banks of the sectors busy for the elements of an atomic, which are spread evenly. */
static inline void atomic_happens(struct sector_cache *c, uint32_t line, uint64_t number,
                                  unsigned sectors, uint32_t count)
{
    uint64_t *banks = arena_at(uint64_t, c->banks_at), now = component_tick_now(&c->io.base);
    uint32_t each = divide_up(count, sector_count(sectors));
    uint32_t rate = sector_cache_params(c)->atomic_rate;
    for (unsigned rest = sectors; rest; rest &= rest - 1) {
        uint64_t *bank = &banks[(number * 4 + (unsigned)__builtin_ctz(rest))
                                & (uint64_t)(sector_cache_params(c)->banks - 1)];
        *bank = max(*bank, now) + divide_up(each, rate) - 1;
    }
    if (line != SECTOR_NONE)
        sector_write(c, line, sectors, 0);
    c->io.stats.atomics_done += count;
}

/* A load, or an atomic that happens here. */
static inline bool accept_load(struct sector_cache *c, uint16_t tag, uint64_t number,
                               unsigned sectors, bool is_atomic, uint32_t count)
{
    uint32_t set = sector_set_of(c, number), line = sector_find(c, set, number), mshr;
    unsigned present = line == SECTOR_NONE ? 0 : sector_line_at(c, line)->present & sectors;
    if (present == sectors) {
        if (!sector_cache_top_can_reply(c))
            return false;
        sector_mark_used(c, line);
        count_lookup(c, present, 0, 0, false, false);
        if (is_atomic)
            atomic_happens(c, line, number, sectors, count);
        sector_cache_top_reply_data(c, tag, (uint8_t)sectors);
        return true;
    }
    mshr = mshr_find(c, number);
    bool brings_line = line == SECTOR_NONE && mshr == SECTOR_NONE;
    unsigned pending =
        mshr == SECTOR_NONE ? 0 : sector_mshr_under_way(c, mshr) & sectors & ~present;
    unsigned absent = sectors & ~present & ~pending;
    if (!has_room(c, mshr, pending | absent))
        return false;
    if (!index_pool_has(&c->free_targets) || (absent && !below_has_room(c, number, absent)))
        return false;
    if (line != SECTOR_NONE) {
        sector_mark_used(c, line);
    } else if (brings_line && sector_cache_params(c)->allocate == SECTOR_CACHE_ALLOCATE_MISS) {
        line = make_room(c, set);
        if (line == SECTOR_NONE
            || !below_has_room(c, number, absent)) /* a write-back has used the room */
            return false;
        sector_claim(c, line, number);
    }
    if (mshr == SECTOR_NONE)
        mshr = mshr_open(c, number);
    if (absent)
        fetch(c, mshr, line, absent);
    count_lookup(c, present, pending, absent, brings_line, false);
    target_add(c, mshr,
               (struct sector_target){.count = count,
                                      .tag = tag,
                                      .sectors = (uint8_t)sectors,
                                      .missing_sectors = (uint8_t)(pending | absent),
                                      .is_atomic = is_atomic});
    return true;
}

/* State of a store's line. */
struct sector_found {
    uint32_t set, line, mshr;
    unsigned hits, pending, absent;
};

static inline struct sector_found find_for_store(const struct sector_cache *c, uint64_t number,
                                                 unsigned sectors)
{
    struct sector_found f = {.set = sector_set_of(c, number), .mshr = mshr_find(c, number)};
    f.line = sector_find(c, f.set, number);
    f.pending = f.mshr == SECTOR_NONE ? 0 : sector_mshr_at(c, f.mshr)->pending_sectors & sectors;
    f.hits = f.line == SECTOR_NONE ? 0 : sector_valid(sector_line_at(c, f.line)) & sectors;
    f.pending &= ~f.hits;
    f.absent = sectors & ~f.hits & ~f.pending;
    return f;
}

/* Stores go below, and the own copy follows. */
static inline bool accept_store_through(struct sector_cache *c, const struct sector_mem_request *m,
                                        uint64_t number)
{
    unsigned sectors = m->store.sectors & SECTOR_ALL, partial = m->store.partial & sectors;
    struct sector_found f = find_for_store(c, number, sectors);
    bool brings_line = f.line == SECTOR_NONE && f.mshr == SECTOR_NONE;
    bool places_line = sector_cache_params(c)->write_miss != SECTOR_CACHE_WRITE_MISS_AROUND;
    if (!can_send(c, number, sectors))
        return false;
    if (f.line == SECTOR_NONE && places_line) {
        f.line = make_room(c, f.set);
        if (f.line == SECTOR_NONE)
            return false;
        sector_claim(c, f.line, number);
        if (f.mshr != SECTOR_NONE)
            sector_mark_pending(c, f.line, sector_mshr_at(c, f.mshr)->pending_sectors);
    } else if (f.line != SECTOR_NONE) {
        sector_mark_used(c, f.line);
    }
    if (f.line != SECTOR_NONE)
        sector_write(c, f.line, places_line ? sectors : f.hits, partial);
    count_lookup(c, f.hits, f.pending, f.absent, brings_line, true);
    return pass_on(c, m, SECTOR_SENT_DONE);
}

/* Stores stay here. */
static inline bool accept_store_back(struct sector_cache *c, const struct sector_mem_request *m,
                                     uint64_t number)
{
    unsigned sectors = m->store.sectors & SECTOR_ALL, partial = m->store.partial & sectors;
    struct sector_found f = find_for_store(c, number, sectors);
    bool brings_line = f.line == SECTOR_NONE && f.mshr == SECTOR_NONE;
    unsigned wanted = sector_cache_params(c)->write_miss == SECTOR_CACHE_WRITE_MISS_FETCH
                          ? f.absent & partial
                          : 0;
    if (!sector_cache_top_can_reply(c))
        return false;
    if (wanted
        && ((f.mshr == SECTOR_NONE && !index_pool_has(&c->free_mshrs))
            || !below_has_room(c, number, wanted)))
        return false;
    if (f.line == SECTOR_NONE) {
        f.line = make_room(c, f.set);
        if (f.line == SECTOR_NONE || (wanted && !below_has_room(c, number, wanted)))
            return false;
        sector_claim(c, f.line, number);
        if (f.mshr != SECTOR_NONE)
            sector_mark_pending(c, f.line, sector_mshr_at(c, f.mshr)->pending_sectors);
    } else {
        sector_mark_used(c, f.line);
    }
    sector_write(c, f.line, sectors, partial);
    if (wanted)
        fetch(c, f.mshr == SECTOR_NONE ? mshr_open(c, number) : f.mshr, f.line, wanted);
    count_lookup(c, f.hits, f.pending, f.absent, brings_line, true);
    sector_cache_top_reply_done(c, m->tag);
    return true;
}

/* A copy by the host: here at the first cache that all share, or on its way there. */
static inline bool accept_fill(struct sector_cache *c, const struct sector_mem_request *m,
                               uint64_t number)
{
    uint32_t set = sector_set_of(c, number), line = sector_find(c, set, number);
    unsigned sectors = m->fill.sectors & SECTOR_ALL;
    if (sector_cache_params(c)->atomics == SECTOR_CACHE_ATOMICS_BELOW) {
        if (!can_send(c, number, sectors))
            return false;
        if (line != SECTOR_NONE)
            sector_forget(c, line, sectors);
        return pass_on(c, m, SECTOR_SENT_DONE);
    }
    if (!sector_cache_top_can_reply(c))
        return false;
    uint32_t mshr = mshr_find(c, number);
    if (line == SECTOR_NONE) {
        line = make_room(c, set);
        if (line == SECTOR_NONE)
            return false;
        sector_claim(c, line, number);
        if (mshr != SECTOR_NONE)
            sector_mark_pending(c, line, sector_mshr_at(c, mshr)->pending_sectors);
    } else {
        sector_mark_used(c, line);
    }
    sector_forget(c, line, sectors);
    sector_line_at(c, line)->present |= (uint8_t)sectors;
    c->io.stats.filled += sector_count(sectors);
    sector_cache_top_reply_done(c, m->tag);
    return true;
}

/* An atomic of all sharers below makes the own copy stale. */
static inline bool accept_atomic_below(struct sector_cache *c, const struct sector_mem_request *m,
                                       uint64_t number)
{
    unsigned sectors = m->atomic.sectors & SECTOR_ALL;
    uint32_t line = sector_find(c, sector_set_of(c, number), number);
    if (!pass_on(c, m, SECTOR_SENT_DATA))
        return false;
    if (line != SECTOR_NONE)
        sector_forget(c, line, sectors);
    c->io.stats.passed += sector_count(sectors);
    return true;
}

static inline bool accept_any_load(struct sector_cache *c, const struct sector_mem_request *m)
{
    unsigned sectors = m->load.sectors & SECTOR_ALL;
    if (!m->load.bypass || sector_cache_params(c)->atomics == SECTOR_CACHE_ATOMICS_HERE)
        return accept_load(c, m->tag, m->load.address / SECTOR_LINE, sectors, false, 0);
    if (!pass_on(c, m, SECTOR_SENT_DATA))
        return false;
    c->io.stats.passed += sector_count(sectors);
    return true;
}

static inline bool accept_request(struct sector_cache *c, const struct sector_mem_request *m)
{
    uint64_t number = m->load.address / SECTOR_LINE; /* in the same place for all */
    bool is_accepted;
    switch (message_kind(m)) {
    case SECTOR_MEM_LOAD:
        is_accepted = accept_any_load(c, m);
        c->io.stats.loads += is_accepted;
        return is_accepted;
    case SECTOR_MEM_STORE:
        is_accepted = sector_writes_back(c) ? accept_store_back(c, m, number)
                                            : accept_store_through(c, m, number);
        c->io.stats.stores += is_accepted;
        return is_accepted;
    case SECTOR_MEM_ATOMIC:
        is_accepted = sector_cache_params(c)->atomics == SECTOR_CACHE_ATOMICS_HERE
                          ? accept_load(c, m->tag, number, m->atomic.sectors & SECTOR_ALL, true,
                                        m->atomic.count)
                          : accept_atomic_below(c, m, number);
        c->io.stats.atomic_requests += is_accepted;
        return is_accepted;
    default:
        return accept_fill(c, m, number);
    }
}
