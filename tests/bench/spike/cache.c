/* A set-associative cache with data, MSHRs and an optional translation in front; L1 (write-through,
 * no allocation on writes) and L2 (write-back, allocation on whole lines) of the spike.
 *
 * Invariant: a line is in the tag array or in one MSHR, never both. A request is looked at
 * `latency`
 * - 1 cycles after it has arrived, one a cycle, so the ring is the pipeline. Replies of the level
 * below are taken first. */
#include "cache.gen.h"

#include <string.h>

#define NO_LINE UINT64_MAX
#define TARGETS 8
#define LARGE   65536 /* bytes from which on looking ahead for the host's caches pays */

struct mshr {
    uint8_t target_count;
    uint8_t answered; /* targets, once `filled` */
    bool filled;
    bool write;   /* a write-through or write-back on its way, without line */
    uint16_t tag; /* of the written-through request */
    uint16_t targets[TARGETS];
};

#define FILTER 256

struct cache {
    struct cache_io io;
    uint32_t tags;  /* arena: uint64_t, line address or NO_LINE */
    uint32_t hints; /* arena: a byte of the tag a line, 8 ways a word: finds a way without looking
                       at all tags */
    uint32_t dirty; /* arena: a byte a line */
    uint32_t data;  /* arena: line bytes a line */
    uint32_t mshrs; /* arena: struct mshr */
    uint32_t lines; /* arena: uint64_t, the line of each MSHR or NO_LINE; apart, because they are
                       searched */
    uint32_t
        filter;    /* arena: FILTER bytes, how many MSHRs hold a line with this hash: mostly none */
    uint64_t free; /* bit: MSHR unused */
    uint32_t tlb;  /* arena: page numbers, direct mapped */
    uint32_t busy; /* MSHRs in use */
    uint64_t translated; /* cycle of the translation of the request at the head, 0: none */
};

static size_t hint_words(const struct cache *c)
{
    return (size_t)(cache_params(c)->ways + 7) / 8;
}

static void cache_init(struct cache *c)
{
    const struct cache_params *p = cache_params(c);
    size_t lines = (size_t)(p->sets * p->ways);
    c->tags = arena_allocate(lines * sizeof(uint64_t));
    c->dirty = arena_allocate(lines);
    c->data = arena_allocate(lines * (size_t)p->line);
    c->mshrs = arena_allocate((size_t)p->mshrs * sizeof(struct mshr));
    c->tlb = arena_allocate((size_t)(p->tlb + 1) * sizeof(uint64_t));
    c->lines = arena_allocate((size_t)p->mshrs * sizeof(uint64_t));
    c->filter = arena_allocate(FILTER);
    c->hints = arena_allocate((size_t)p->sets * hint_words(c) * 8);
    c->free = p->mshrs == 64 ? ~(uint64_t)0 : ((uint64_t)1 << p->mshrs) - 1;
    memset(arena_at(uint64_t, c->tags), 0xff, lines * sizeof(uint64_t));
    memset(arena_at(uint64_t, c->lines), 0xff, (size_t)p->mshrs * sizeof(uint64_t));
    ring_set_delay(cache_io(c)->top_request, (uint32_t)p->latency - 1);
    cache_replacement_ops(c)->prepare(cache_replacement(c), (uint32_t)p->sets, (uint32_t)p->ways);
}

static uint32_t set_of(const struct cache *c, uint64_t address)
{
    const struct cache_params *p = cache_params(c);
    uint64_t line = (uint64_t)p->line;
    uint64_t stripe = (uint64_t)p->stripe;
    uint64_t row = address / (stripe * (uint64_t)p->banks);
    return (uint32_t)((row * (stripe / line) + address % stripe / line) % (uint64_t)p->sets);
}

static uint8_t hint_of(const struct cache *c, uint64_t line_address)
{
    uint64_t line = line_address / (uint64_t)cache_params(c)->line;
    return (uint8_t)(line * 0x9e3779b97f4a7c15u >> 56);
}

/* Zero bytes of hint ^ wanted are candidates; what the subtraction marks falsely, the tag rejects.
 */
static int32_t find_way(const struct cache *c, uint32_t set, uint64_t line_address)
{
    const uint64_t *tag = arena_at(uint64_t, c->tags) + set * cache_params(c)->ways;
    const uint64_t *hint = arena_at(uint64_t, c->hints) + set * hint_words(c);
    uint64_t wanted = hint_of(c, line_address) * 0x0101010101010101u;
    for (uint32_t word = 0; word < hint_words(c); word++) {
        uint64_t differs = hint[word] ^ wanted;
        uint64_t zero = (differs - 0x0101010101010101u) & ~differs & 0x8080808080808080u;
        for (; zero; zero &= zero - 1) {
            uint32_t way = word * 8 + (unsigned)__builtin_ctzll(zero) / 8;
            if (way < (uint32_t)cache_params(c)->ways && tag[way] == line_address)
                return (int32_t)way;
        }
    }
    return -1;
}

static uint32_t filter_of(const struct cache *c, uint64_t line_address)
{
    return (uint32_t)(line_address / (uint64_t)cache_params(c)->line * 0x9e3779b97f4a7c15u >> 40)
           % FILTER;
}

/* Number of the MSHR of a line, -1 without. */
static int32_t find_mshr(const struct cache *c, uint64_t line_address)
{
    if (!arena_at(uint8_t, c->filter)[filter_of(c, line_address)])
        return -1;
    const uint64_t *line = arena_at(uint64_t, c->lines);
    for (int32_t i = 0; i < (int32_t)cache_params(c)->mshrs; i++) {
        if (line[i] == line_address)
            return i;
    }
    return -1;
}

static int32_t free_mshr_number(const struct cache *c)
{
    return c->free ? __builtin_ctzll(c->free) : -1;
}

static struct mshr *mshr_at(const struct cache *c, int32_t number)
{
    return &arena_at(struct mshr, c->mshrs)[number];
}

static void take_mshr(struct cache *c, int32_t number, uint64_t line_address)
{
    arena_at(uint64_t, c->lines)[number] = line_address;
    arena_at(uint8_t, c->filter)[filter_of(c, line_address)]++;
    c->free &= ~((uint64_t)1 << number);
    stat_histogram_add(&cache_stats(c)->mshr_occupancy, ++c->busy);
}

static void free_mshr(struct cache *c, int32_t number)
{
    uint64_t *line = &arena_at(uint64_t, c->lines)[number];
    arena_at(uint8_t, c->filter)[filter_of(c, *line)]--;
    *line = NO_LINE;
    c->free |= (uint64_t)1 << number;
    c->busy--;
}

static uint8_t *line_data(const struct cache *c, size_t index)
{
    return arena_at(uint8_t, c->data) + index * (size_t)cache_params(c)->line;
}

/* A stand-in for address translation: direct-mapped page numbers, a miss costs 20 cycles. true:
 * done. */
static bool translate(struct cache *c, uint64_t address)
{
    const struct cache_params *p = cache_params(c);
    if (!p->tlb)
        return true;
    uint64_t page = address >> 12;
    uint64_t *entry = &arena_at(uint64_t, c->tlb)[page % (uint64_t)p->tlb];
    if (*entry == page + 1)
        return true;
    if (!c->translated) {
        c->translated = cache_now(c) + 20;
        cache_stats(c)->translations_missed++;
    }
    if (cache_now(c) < c->translated) {
        cache_wake_at(c, c->translated);
        return false;
    }
    c->translated = 0;
    *entry = page + 1;
    return true;
}

/* Makes room for a line in `set`; false: its dirty victim cannot leave yet. */
static bool evict(struct cache *c, uint32_t set, uint32_t *way)
{
    const struct cache_params *p = cache_params(c);
    *way = cache_replacement_ops(c)->victim(cache_replacement(c), set);
    size_t index = set * (size_t)p->ways + *way;
    if (!arena_at(uint8_t, c->dirty)[index])
        return true;
    int32_t m = free_mshr_number(c);
    if (m < 0 || !cache_bottom_can_send(c))
        return false;
    uint64_t address = arena_at(uint64_t, c->tags)[index];
    void *payload = cache_bottom_send_write(c, (uint16_t)m, address, 0);
    memset(mem_write_mask(payload, (uint64_t)p->line), 0xff, (size_t)p->line / 8);
    memcpy(mem_write_data(payload, (uint64_t)p->line), line_data(c, index), (size_t)p->line);
    /* The line stays guarded until the write is done, so that a read cannot overtake it. */
    take_mshr(c, m, address);
    *mshr_at(c, m) = (struct mshr){.write = true, .tag = UINT16_MAX};
    arena_at(uint8_t, c->dirty)[index] = 0;
    arena_at(uint64_t, c->tags)[index] = NO_LINE;
    cache_stats(c)->writebacks++;
    return true;
}

static size_t install(struct cache *c, uint64_t line_address, uint32_t set, uint32_t way,
                      const uint8_t *data)
{
    const struct cache_params *p = cache_params(c);
    size_t index = set * (size_t)p->ways + way;
    arena_at(uint64_t, c->tags)[index] = line_address;
    arena_at(uint8_t, c->hints)[set * hint_words(c) * 8 + way] = hint_of(c, line_address);
    memcpy(line_data(c, index), data, (size_t)p->line);
    cache_replacement_ops(c)->touch(cache_replacement(c), set, way);
    return index;
}

/* Fetches what a line will need into the host's caches: the large cache's state does not stay
 * there.
 */
static void prefetch_set(const struct cache *c, uint64_t address)
{
    const struct cache_params *p = cache_params(c);
    uint32_t set = set_of(c, address);
    __builtin_prefetch(arena_at(uint64_t, c->hints) + set * hint_words(c));
    for (uint32_t way = 0; way < (uint32_t)p->ways; way += 8)
        __builtin_prefetch(arena_at(uint64_t, c->tags) + set * (size_t)p->ways + way);
}

static void prefetch_fill(struct cache *c, uint64_t address)
{
    uint32_t set = set_of(c, address);
    uint32_t victim = cache_replacement_ops(c)->victim(cache_replacement(c), set);
    __builtin_prefetch(line_data(c, set * (size_t)cache_params(c)->ways + victim), 1);
}

static void look_ahead(struct cache *c)
{
    if (cache_params(c)->size < LARGE)
        return;
    const struct mem_request *request =
        (const struct mem_request *)ring_ahead(cache_io(c)->top_request);
    const struct mem_reply *reply = (const struct mem_reply *)ring_ahead(cache_io(c)->bottom_reply);
    if (request)
        prefetch_set(c, request->read.address);
    if (reply && reply->kind == MEM_DATA)
        prefetch_fill(c, arena_at(uint64_t, c->lines)[reply->tag]);
}

static bool take_reply(struct cache *c)
{
    const struct mem_reply *r = cache_bottom_peek_reply(c);
    if (!r)
        return false;
    const struct cache_params *p = cache_params(c);
    struct mshr *m = mshr_at(c, r->tag);
    if (m->write) {
        if (m->tag != UINT16_MAX) {
            if (!cache_top_can_reply(c))
                return false;
            cache_top_reply_done(c, m->tag);
        }
        free_mshr(c, r->tag);
        cache_bottom_pop_reply(c);
        return true;
    }
    bool progress = false;
    if (!m->filled) {
        uint64_t line_address = arena_at(uint64_t, c->lines)[r->tag];
        uint32_t set = set_of(c, line_address);
        uint32_t way;
        if (!evict(c, set, &way))
            return false;
        const uint8_t *data = mem_data_data(cache_bottom_reply_payload(c), (uint64_t)p->line);
        install(c, line_address, set, way, data);
        m->filled = true;
        progress = true;
    }
    if (!cache_top_can_reply(c))
        return progress;
    uint8_t *to =
        mem_data_data(cache_top_reply_data(c, m->targets[m->answered]), (uint64_t)p->line);
    memcpy(to, cache_bottom_reply_payload(c), (size_t)p->line);
    if (++m->answered == m->target_count) {
        free_mshr(c, r->tag);
        cache_bottom_pop_reply(c);
    }
    return true;
}

static bool read(struct cache *c, const struct mem_request *m)
{
    const struct cache_params *p = cache_params(c);
    uint64_t line_address = m->read.address & ~(uint64_t)(p->line - 1);
    uint32_t set = set_of(c, line_address);
    int32_t way = find_way(c, set, line_address);
    if (way >= 0) {
        if (!cache_top_can_reply(c))
            return false;
        uint8_t *to = mem_data_data(cache_top_reply_data(c, m->tag), (uint64_t)p->line);
        memcpy(to, line_data(c, set * (size_t)p->ways + (uint32_t)way), (size_t)p->line);
        cache_replacement_ops(c)->touch(cache_replacement(c), set, (uint32_t)way);
        cache_stats(c)->hits++;
        cache_top_pop(c);
        return true;
    }
    int32_t number = find_mshr(c, line_address);
    struct mshr *miss = number < 0 ? NULL : mshr_at(c, number);
    if (miss && (miss->write || miss->filled || miss->target_count == TARGETS))
        return false;
    if (!miss) {
        number = free_mshr_number(c);
        if (number < 0 || !cache_bottom_can_send(c))
            return false;
        cache_bottom_send_read(c, (uint16_t)number, line_address, (uint32_t)p->line, m->read.pid);
        take_mshr(c, number, line_address);
        miss = mshr_at(c, number);
        *miss = (struct mshr){0};
    }
    miss->targets[miss->target_count++] = m->tag;
    cache_stats(c)->misses++;
    cache_top_pop(c);
    return true;
}

static void merge(uint8_t *to, const uint8_t *from, const uint64_t *mask, uint64_t line)
{
    for (uint64_t word = 0; word < (line + 63) / 64; word++) {
        for (uint64_t bits = mask[word]; bits; bits &= bits - 1) {
            uint64_t i = word * 64 + (unsigned)__builtin_ctzll(bits);
            to[i] = from[i];
        }
    }
}

/* Whole lines only: what the spike's loads send. */
static bool write_back(struct cache *c, const struct mem_request *m)
{
    const struct cache_params *p = cache_params(c);
    uint64_t line_address = m->write.address;
    uint32_t set = set_of(c, line_address);
    int32_t found = find_way(c, set, line_address);
    uint32_t way = (uint32_t)found;
    if (!cache_top_can_reply(c) || (found < 0 && find_mshr(c, line_address) >= 0))
        return false;
    if (found < 0 && !evict(c, set, &way))
        return false;
    const uint8_t *data = mem_write_data(cache_top_payload(c), (uint64_t)p->line);
    size_t index =
        found < 0 ? install(c, line_address, set, way, data) : set * (size_t)p->ways + way;
    merge(line_data(c, index), data, mem_write_mask(cache_top_payload(c), (uint64_t)p->line),
          (uint64_t)p->line);
    arena_at(uint8_t, c->dirty)[index] = 1;
    cache_replacement_ops(c)->touch(cache_replacement(c), set, way);
    cache_top_reply_done(c, m->tag);
    cache_top_pop(c);
    return true;
}

static bool write_through(struct cache *c, const struct mem_request *m)
{
    const struct cache_params *p = cache_params(c);
    uint64_t line = (uint64_t)p->line;
    uint32_t set = set_of(c, m->write.address);
    int32_t way = find_way(c, set, m->write.address);
    if (find_mshr(c, m->write.address) >= 0)
        return false;
    int32_t number = free_mshr_number(c);
    if (number < 0 || !cache_bottom_can_send(c))
        return false;
    void *from = cache_top_payload(c);
    void *to = cache_bottom_send_write(c, (uint16_t)number, m->write.address, m->write.pid);
    memcpy(mem_write_mask(to, line), mem_write_mask(from, line), line / 8);
    memcpy(mem_write_data(to, line), mem_write_data(from, line), line);
    if (way >= 0)
        merge(line_data(c, set * (size_t)p->ways + (uint32_t)way), mem_write_data(from, line),
              mem_write_mask(from, line), line);
    take_mshr(c, number, m->write.address);
    *mshr_at(c, number) = (struct mshr){.write = true, .tag = m->tag};
    cache_top_pop(c);
    return true;
}

static bool take_request(struct cache *c)
{
    const struct mem_request *m = cache_top_peek(c);
    if (!m)
        return false;
    if (!translate(c, m->read.address))
        return false;
    if (m->kind == MEM_READ)
        return read(c, m);
    return cache_params(c)->write_back ? write_back(c, m) : write_through(c, m);
}

/* One answer and one request a cycle: with more of them here already, there is a next tick. */
static bool cache_tick(struct cache *c)
{
    look_ahead(c);
    bool progress = take_reply(c);
    progress |= take_request(c);
    return progress && (cache_bottom_peek_reply(c) || cache_top_peek(c));
}

static unsigned cache_outstanding(const struct cache *c, struct hang_report *report)
{
    if (c->busy && report)
        hang_note(report, "%u lines are under way", c->busy);
    return c->busy;
}
