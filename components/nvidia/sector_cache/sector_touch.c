/* Touches a sector cache: changes it as a request would, without simulated time, messages and
 * statistics. For warming caches up before what is simulated in detail.
 *
 * The state afterwards is as after a request that is taken when nothing is under way and answered
 * before the next. The caller does to the next level what is returned, in this order: the store of
 * `evicted`, the load, the store, the atomic or fill. Called between edges only, while the cache
 * has nothing under way. */
#include "sector_state.h"

static inline uint32_t touch_claim(struct sector_cache *c, uint32_t set, uint64_t number,
                                   struct sector_touched *below)
{
    bool is_in_use;
    uint32_t line = sector_victim(c, set, &is_in_use);
    if (is_in_use) {
        const struct sector_line *l = sector_line_at(c, line);
        below->evicted = *sector_tag_at(c, line) * SECTOR_LINE;
        below->evicted_sectors = l->dirty;
        below->evicted_partial = l->dirty & l->partial;
        sector_drop(c, line);
    }
    sector_claim(c, line, number);
    return line;
}

/* A load, or the load of an atomic that happens here. */
static inline uint32_t touch_load(struct sector_cache *c, uint64_t number, unsigned sectors,
                                  struct sector_touched *below)
{
    uint32_t set = sector_set_of(c, number), line = sector_find(c, set, number);
    if (line == SECTOR_NONE)
        line = touch_claim(c, set, number, below);
    else
        sector_mark_used(c, line);
    below->load = (uint8_t)(sectors & ~sector_line_at(c, line)->present);
    sector_install(c, line, sectors);
    return line;
}

static inline void touch_store(struct sector_cache *c, uint64_t number, unsigned sectors,
                               unsigned partial, struct sector_touched *below)
{
    uint32_t set = sector_set_of(c, number), line = sector_find(c, set, number);
    int64_t miss = sector_cache_params(c)->write_miss;
    unsigned known = line == SECTOR_NONE ? 0 : sector_valid(sector_line_at(c, line)) & sectors;
    if (!sector_writes_back(c)) {
        below->store = (uint8_t)sectors;
        below->partial = (uint8_t)partial;
    }
    if (miss == SECTOR_CACHE_WRITE_MISS_AROUND)
        sectors = known;
    if (line != SECTOR_NONE)
        sector_mark_used(c, line);
    else if (miss == SECTOR_CACHE_WRITE_MISS_AROUND)
        return;
    else
        line = touch_claim(c, set, number, below);
    sector_write(c, line, sectors, partial);
    if (miss == SECTOR_CACHE_WRITE_MISS_FETCH) {
        below->load = (uint8_t)(sectors & partial & ~known);
        sector_install(c, line, below->load);
    }
}

/* A request of this kind to sectors of the line at `address`. */
static inline struct sector_touched sector_cache_touch(struct sector_cache *c,
                                                       enum sector_mem_request_kind kind,
                                                       uint64_t address, unsigned sectors,
                                                       unsigned partial)
{
    struct sector_touched below = {0};
    uint64_t number = address / SECTOR_LINE;
    bool here = sector_cache_params(c)->atomics == SECTOR_CACHE_ATOMICS_HERE;
    sectors &= SECTOR_ALL;
    if (!c->ways_used || !sectors)
        return below;
    if (kind == SECTOR_MEM_LOAD) {
        touch_load(c, number, sectors, &below);
    } else if (kind == SECTOR_MEM_STORE) {
        touch_store(c, number, sectors, partial & sectors, &below);
    } else if (kind == SECTOR_MEM_ATOMIC && here) {
        sector_write(c, touch_load(c, number, sectors, &below), sectors, 0);
    } else {
        uint32_t set = sector_set_of(c, number), line = sector_find(c, set, number);
        below.atomic = kind == SECTOR_MEM_ATOMIC ? (uint8_t)sectors : 0;
        below.fill = kind == SECTOR_MEM_FILL && !here ? (uint8_t)sectors : 0;
        if (line != SECTOR_NONE)
            sector_forget(c, line, sectors);
        if (kind == SECTOR_MEM_ATOMIC || !here)
            return below;
        if (line == SECTOR_NONE)
            line = touch_claim(c, set, number, &below);
        else
            sector_mark_used(c, line);
        sector_install(c, line, sectors);
    }
    return below;
}

/* Forgets everything, dirty or not: as new. */
static inline void sector_cache_clear(struct sector_cache *c)
{
    sector_drop_all(c);
}
