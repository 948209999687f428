/* See sector_loader.heddle. */
#include "sector_loader.gen.h"

#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/observe/hang.h"

enum { MOST = 1024 };

struct request {
    uint64_t since;
    uint8_t used, kind, sectors;
    uint8_t reserved[5];
};

enum phase { REQUESTS, OWN_CACHE, SLICES, DONE };

struct sector_loader {
    struct sector_loader_io io;
    uint64_t random;
    uint32_t sent, answered;
    uint32_t free_count, asked, finished;
    uint32_t phase; /* enum phase */
    uint16_t free_tags[MOST];
    struct request requests[MOST];
};

static void sector_loader_init(struct sector_loader *c)
{
    c->random = c->io.base.leaf * 0x9e3779b97f4a7c15u + 88172645463325252u;
    c->free_count = sector_loader_params(c)->outstanding;
    for (uint32_t i = 0; i < c->free_count; i++)
        c->free_tags[i] = (uint16_t)(c->free_count - 1 - i);
}

static uint64_t draw(struct sector_loader *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random;
}

static uint64_t address_of(struct sector_loader *c, uint64_t z)
{
    const struct sector_loader_params *k = sector_loader_params(c);
    uint64_t lines = k->footprint / 128, own = c->io.base.leaf;
    switch (k->pattern) {
    case SECTOR_LOADER_PATTERN_STREAM:
        return ((uint64_t)c->sent * k->loaders + own) % lines * 128;
    case SECTOR_LOADER_PATTERN_STRIDE:
        return ((uint64_t)c->sent * k->stride + own * 128) % k->footprint;
    case SECTOR_LOADER_PATTERN_LOCAL:
        return (own * 64 + z % 64) * 128;
    case SECTOR_LOADER_PATTERN_HOT:
        return 0;
    default:
        return z % lines * 128;
    }
}

static void send(struct sector_loader *c)
{
    const struct sector_loader_params *k = sector_loader_params(c);
    uint64_t z = draw(c), address = address_of(c, z >> 8);
    uint16_t tag = c->free_tags[--c->free_count];
    int64_t what = (int64_t)(z >> 56 & 15);
    uint8_t sectors = k->whole || !(z >> 48 & 15) ? 15 : (uint8_t)(z >> 48 & 15);
    uint8_t kind = SECTOR_MEM_LOAD;
    if (what < k->stores) {
        kind = SECTOR_MEM_STORE;
        sector_loader_mem_send_store(c, tag, address, sectors, k->whole ? 0 : z >> 44 & sectors);
        c->io.stats.stores_sent++;
    } else if (what < k->stores + k->atomics) {
        kind = SECTOR_MEM_ATOMIC;
        sector_loader_mem_send_atomic(c, tag, address, sectors, 1 + (z >> 40 & 31));
        c->io.stats.atomics_sent++;
    } else {
        sector_loader_mem_send_load(c, tag, address, sectors, false);
        c->io.stats.loads++;
    }
    c->requests[tag] = (struct request){
        .since = sector_loader_now(c), .used = 1, .kind = kind, .sectors = sectors};
    c->io.stats.sectors += (unsigned)__builtin_popcount(sectors);
    c->sent++;
}

static void look(struct sector_loader *c, const struct sector_mem_reply *m)
{
    struct request *r = &c->requests[m->tag % MOST];
    bool data = message_kind(m) == SECTOR_MEM_DATA;
    if (!r->used || data != (r->kind != SECTOR_MEM_STORE)
        || (data && m->data.sectors != r->sectors))
        engine_fail(&c->io.base, "request %u has a wrong answer, or one too many", m->tag);
    r->used = 0;
    c->free_tags[c->free_count++] = m->tag;
    c->answered++;
    stat_histogram_add(&c->io.stats.latency, sector_loader_now(c) - r->since);
}

/* When all is answered, caches are flushed from above. */
static bool flush(struct sector_loader *c)
{
    bool progress = false;
    if (c->phase == REQUESTS && c->answered == sector_loader_params(c)->requests)
        c->phase = sector_loader_control_is_connected(c) ? OWN_CACHE : SLICES;
    if (c->phase == OWN_CACHE) {
        if (!c->asked && sector_loader_control_can_send(c)) {
            sector_loader_control_send_flush(c, 0, true);
            c->asked = 1;
        }
        if (!sector_loader_control_peek_reply(c))
            return false;
        sector_loader_control_pop_reply(c);
        c->asked = 0;
        c->phase = SLICES;
        progress = true;
    }
    uint32_t slices = sector_loader_slices_count(c);
    for (; c->phase == SLICES && c->asked < slices && sector_loader_slices_can_send(c, c->asked);
         c->asked++)
        sector_loader_slices_send_flush(c, c->asked, 0, true);
    for (uint32_t i = 0; i < slices; i++)
        while (sector_loader_slices_peek_reply(c, i)) {
            sector_loader_slices_pop_reply(c, i);
            c->finished++;
        }
    if (c->phase == SLICES && c->finished == slices)
        c->phase = DONE;
    return progress;
}

static bool sector_loader_tick(struct sector_loader *c)
{
    const struct sector_mem_reply *m;
    bool progress = false;
    while ((m = sector_loader_mem_peek_reply(c))) {
        look(c, m);
        sector_loader_mem_pop_reply(c);
        progress = true;
    }
    if (c->sent < sector_loader_params(c)->requests && c->free_count
        && sector_loader_mem_can_send(c)) {
        send(c);
        progress = true;
    }
    return flush(c) || progress;
}

static unsigned sector_loader_outstanding(const struct sector_loader *c, struct hang_report *report)
{
    if (report && c->phase != DONE)
        hang_note(report, "%u of %u requests sent, %u answered", c->sent,
                  sector_loader_params(c)->requests, c->answered);
    return c->phase != DONE;
}
