/* The TLB inside a cache: a translation table and two counters. The cache asks for pages and keeps
 * what waits. */
#include "tlb_l1.gen.h"

#include "base/likely.h"
#include "components/memory/cache/address_translation.h"
#include "components/memory/tlb/translation_table.h"

/* `page` is that of the last hit, shifted right by its size: found again, it is already the most
 * recently used of its set, so neither the table nor its order are looked at. */
struct tlb_l1 {
    struct tlb_l1_io io;
    uint64_t page; /* PAGE_NONE: none */
    uint64_t physical;
    uint32_t pid;
    uint32_t page_bits;
    uint8_t traits;
    struct translation_table table;
};

#define PAGE_NONE UINT64_MAX

static void tlb_l1_init(struct tlb_l1 *p)
{
    translation_table_init(&p->table, tlb_l1_params(p)->sets, tlb_l1_params(p)->ways,
                           tlb_l1_params(p)->mshrs, tlb_l1_params(p)->fragments);
    p->page = PAGE_NONE;
    p->page_bits = p->table.page_bits;
}

static uint32_t tlb_l1_latency(const struct part *self)
{
    const struct tlb_l1 *p = (const struct tlb_l1 *)(const void *)self;
    return tlb_l1_params(p)->latency;
}

static uint32_t tlb_l1_capacity(const struct part *self)
{
    const struct tlb_l1 *p = (const struct tlb_l1 *)(const void *)self;
    return tlb_l1_params(p)->mshrs;
}

/* Entry `i` of the table has been used. */
static void tlb_l1_use(struct tlb_l1 *p, uint32_t i, uint64_t address)
{
    const struct translation_entry *e = translation_entry(&p->table, i);
    translation_touch(&p->table, i);
    p->page_bits = translation_bits(e);
    p->page = address >> p->page_bits;
    p->physical = e->physical;
    p->pid = e->pid;
    p->traits = e->traits;
}

/* The page that was used last is that of `address`. */
static inline enum address_translation_result tlb_l1_hit(struct tlb_l1 *p, uint64_t address,
                                                         struct address_translation *out)
{
    out->physical = p->physical + (address & (((uint64_t)1 << p->page_bits) - 1));
    out->traits = p->traits;
    p->io.stats.hits++;
    return ADDRESS_TRANSLATION_HIT;
}

static OUT_OF_LINE enum address_translation_result
tlb_l1_search(struct tlb_l1 *p, uint32_t pid, uint64_t address, struct address_translation *out)
{
    uint32_t i = translation_find(&p->table, pid, address);
    if (translation_is_pending(&p->table, i))
        return ADDRESS_TRANSLATION_PENDING;
    if (i == TRANSLATION_NONE)
        return translation_can_ask(&p->table) ? ADDRESS_TRANSLATION_ABSENT
                                              : ADDRESS_TRANSLATION_FULL;
    tlb_l1_use(p, i, address);
    return tlb_l1_hit(p, address, out);
}

static inline enum address_translation_result
tlb_l1_lookup(struct part *self, uint32_t pid, uint64_t address, struct address_translation *out)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    if (unlikely(address >> p->page_bits != p->page || pid != p->pid))
        return tlb_l1_search(p, pid, address, out);
    return tlb_l1_hit(p, address, out);
}

static uint32_t tlb_l1_wait(struct part *self, uint32_t pid, uint64_t address)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    uint32_t i = translation_find(&p->table, pid, address);
    p->io.stats.misses++;
    if (i != TRANSLATION_NONE)
        return translation_pending_number(&p->table, i);
    return translation_ask(&p->table, pid, address);
}

static uint32_t tlb_l1_fault(struct part *self, uint32_t pid, uint64_t address)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    uint32_t i = translation_find(&p->table, pid, address);
    if (!translation_can_ask(&p->table))
        return UINT32_MAX;
    p->page = PAGE_NONE;
    if (i != TRANSLATION_NONE)
        translation_drop(&p->table, i);
    p->io.stats.misses++;
    return translation_ask(&p->table, pid, address);
}

static uint32_t tlb_l1_pending(const struct part *self, uint32_t pid, uint64_t address)
{
    const struct tlb_l1 *p = (const struct tlb_l1 *)(const void *)self;
    uint32_t i = translation_find_pending(&p->table, pid, address);
    return i == TRANSLATION_NONE ? UINT32_MAX : translation_pending_number(&p->table, i);
}

static bool tlb_l1_fits(const struct part *self, const struct translated_page *page)
{
    return translation_fits(&((const struct tlb_l1 *)(const void *)self)->table, page);
}

static void tlb_l1_fill(struct part *self, uint32_t number, const struct translated_page *page)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    p->page = PAGE_NONE;
    p->io.stats.entered += translation_fill(&p->table, number, page, true);
}

static void tlb_l1_flush(struct part *self)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    p->page = PAGE_NONE;
    translation_table_flush(&p->table);
}

static bool tlb_l1_warm(struct part *self, uint32_t pid, uint64_t address,
                        const struct translated_page *page)
{
    struct tlb_l1 *p = (struct tlb_l1 *)(void *)self;
    if (address >> p->page_bits == p->page && pid == p->pid)
        return true;
    uint32_t i = translation_find(&p->table, pid, address);
    if (i != TRANSLATION_NONE) {
        tlb_l1_use(p, i, address);
        return true;
    }
    p->page = PAGE_NONE;
    translation_enter(&p->table, pid, address, page);
    return false;
}

static const struct address_translation_ops tlb_l1_ops = {
    .latency = tlb_l1_latency,
    .capacity = tlb_l1_capacity,
    .lookup = tlb_l1_lookup,
    .wait = tlb_l1_wait,
    .fault = tlb_l1_fault,
    .pending = tlb_l1_pending,
    .fits = tlb_l1_fits,
    .fill = tlb_l1_fill,
    .flush = tlb_l1_flush,
    .warm = tlb_l1_warm,
};
