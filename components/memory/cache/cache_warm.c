/* Touches of a cache (components/sampling/warmup.h): lines, order of replacement, dirty and present
 * bytes change as they would for a request that is taken when nothing else is under way;
 * cache_request.c does the same in time. Bytes are not moved. Called between launches, never within
 * a cycle. */
#include "cache.gen.h"

#include "base/number.h"
#include "components/protocols/translate/translated_page.h"
#include "components/sampling/warmup.h"
#include "runtime/state/memory.h"

#include "cache_state.h"

/* One line of an access, in physical addresses. */
struct cache_touch {
    const struct warm_access *access;
    uint64_t number; /* the line's number */
    uint32_t set;
    struct mem_mask mask;
};

static void warm_below(const struct cache *c, const struct cache_touch *t, enum warm_kind kind)
{
    struct warm_access below = *t->access;
    below.address = below.physical;
    below.pid = pid_below(c, below.pid);
    below.kind = (uint8_t)kind;
    if (kind == WARM_READ || kind == WARM_COHERENT)
        below.mask = UINT64_MAX;
    warm_pass(ring_number(c->io.bottom_request), &below);
}

/* The dirty bytes of a line that goes, for a cache below. */
static void warm_write_back(struct cache *c, uint32_t line)
{
    uint64_t address = line_number(c, line) * line_bytes(c);
    const struct mem_mask *mask = line_mask(c, line);
    for (unsigned offset = 0; offset < line_bytes(c); offset += WARM_LINE) {
        struct warm_access below = {.address = address + offset,
                                    .physical = address + offset,
                                    .mask = mask->word[offset / WARM_LINE],
                                    .pid = pid_below(c, 0),
                                    .kind = WARM_WRITE};
        if (below.mask)
            warm_pass(ring_number(c->io.bottom_request), &below);
    }
    line_set_clean(c, line);
}

/* Takes a way for the line, as make_room() and line_claim() do. */
static uint32_t warm_claim(struct cache *c, const struct cache_touch *t)
{
    uint64_t used = get_set(c, t->set)->used, all = mem_mask_low_bits(way_count(c));
    uint32_t way = ~used & all
                       ? (uint32_t)__builtin_ctzll(~used & all)
                       : cache_replacement_ops(c)->victim(cache_replacement(c), t->set, all);
    uint32_t line = t->set * way_count(c) + way;
    if (is_write_back(c) && c->dirty_count && line_is_dirty(c, line))
        warm_write_back(c, line);
    line_claim(c, t->set, way, t->number);
    return way;
}

static void warm_fill(struct cache *c, const struct cache_touch *t, uint32_t way)
{
    warm_below(c, t, WARM_READ);
    get_set(c, t->set)->filled |= (uint64_t)1 << way;
}

static bool warm_is_here(const struct cache *c, const struct cache_touch *t, uint32_t way)
{
    return (get_set(c, t->set)->filled >> way & 1)
           || (keeps_masks(c)
               && mem_mask_covers(*line_mask(c, t->set * way_count(c) + way), t->mask));
}

static uint32_t warm_read(struct cache *c, const struct cache_touch *t)
{
    uint32_t way = find_way(c, get_set(c, t->set), t->number);
    if (way == CACHE_WAY_NONE) {
        way = warm_claim(c, t);
        warm_fill(c, t, way);
        return way;
    }
    line_touch(c, t->set, way);
    if (!warm_is_here(c, t, way))
        warm_fill(c, t, way);
    return way;
}

static void warm_note_bytes(struct cache *c, const struct cache_touch *t, uint32_t way)
{
    struct mem_mask *have = line_mask(c, t->set * way_count(c) + way);
    *have = mem_mask_or(*have, t->mask);
    if (mem_mask_is_full(*have, line_bytes(c)))
        get_set(c, t->set)->filled |= (uint64_t)1 << way;
}

static void warm_write_here(struct cache *c, const struct cache_touch *t)
{
    uint32_t way = find_way(c, get_set(c, t->set), t->number);
    if (way == CACHE_WAY_NONE)
        way = warm_claim(c, t);
    else
        line_touch(c, t->set, way);
    warm_note_bytes(c, t, way);
    line_set_dirty(c, t->set * way_count(c) + way);
}

static void warm_write_on(struct cache *c, const struct cache_touch *t)
{
    uint32_t way = find_way(c, get_set(c, t->set), t->number);
    if (way != CACHE_WAY_NONE && cache_params(c)->write == CACHE_WRITE_EVICT) {
        line_drop(c, t->set * way_count(c) + way);
    } else if (way != CACHE_WAY_NONE) {
        line_touch(c, t->set, way);
        if (keeps_masks(c))
            warm_note_bytes(c, t, way);
    } else if (cache_params(c)->write == CACHE_WRITE_THROUGH) {
        warm_note_bytes(c, t, warm_claim(c, t));
    }
    warm_below(c, t, WARM_WRITE);
}

/* A write that bypasses this cache makes its copy an old one. */
static void warm_past(struct cache *c, const struct cache_touch *t)
{
    uint32_t line = find_line(c, t->set, t->number);
    if (is_write_back(c) && line != CACHE_LINE_NONE && line_is_dirty(c, line))
        warm_write_back(c, line);
    if (line != CACHE_LINE_NONE)
        line_drop(c, line);
    warm_below(c, t, (enum warm_kind)t->access->kind);
}

static void warm_atomic(struct cache *c, const struct cache_touch *t)
{
    if (!has_last_word(c)) {
        warm_past(c, t);
        return;
    }
    uint32_t way = warm_read(c, t);
    struct mem_mask *dirty = line_mask(c, t->set * way_count(c) + way);
    *dirty = mem_mask_or(*dirty, t->mask);
    line_set_dirty(c, t->set * way_count(c) + way);
}

static void warm_page(struct cache *c, const struct warm_access *a)
{
    uint64_t start = a->physical >> a->page_bits << a->page_bits;
    struct translated_page found = {start, a->page_bits, a->fragment_bits,
                                    page_traits(a->writable, MEM_COARSE)};
    if (cache_translation_ops(c)->warm(cache_translation(c), a->pid, a->address, &found))
        return;
    struct warm_access page = *a;
    page.kind = WARM_PAGE;
    page.physical = start;
    warm_pass(ring_number(c->io.translate_request), &page);
}

static void cache_touch_line(struct component *self, const struct warm_access *a)
{
    struct cache *c = (struct cache *)(void *)self;
    struct cache_touch t = {.access = a, .number = a->physical / line_bytes(c)};
    if (cache_translation_ops(c))
        warm_page(c, a);
    t.set = find_set(c, t.number);
    t.mask.word[a->physical % line_bytes(c) / WARM_LINE] = a->mask;
    switch ((enum warm_kind)a->kind) {
    case WARM_PROBE:
        probe_line(c, a->physical);
        break;
    case WARM_WRITE:
        is_write_back(c) ? warm_write_here(c, &t) : warm_write_on(c, &t);
        break;
    case WARM_ATOMIC:
        warm_atomic(c, &t);
        break;
    case WARM_COHERENT:
        has_last_word(c) || cache_params(c)->shared ? (void)warm_read(c, &t) : warm_past(c, &t);
        break;
    default:
        warm_read(c, &t);
        break;
    }
}

static void cache_warm_drop(struct component *self)
{
    struct cache *c = (struct cache *)(void *)self;
    uint32_t lines = cache_params(c)->sets * way_count(c);
    memset(arena_at(uint64_t, c->dirty_at), 0, divide_up(lines, 64) * sizeof(uint64_t));
    c->dirty_count = 0;
    drop_all(c);
    if (cache_translation_ops(c))
        cache_translation_ops(c)->flush(cache_translation(c));
}

static void cache_write_out(struct component *self)
{
    const struct cache *c = (const struct cache *)(const void *)self;
    uint32_t lines = cache_params(c)->sets * way_count(c);
    if (!c->dirty_count)
        return;
    for (uint32_t w = 0; w < divide_up(lines, 64); w++)
        for (uint64_t bits = arena_at(uint64_t, c->dirty_at)[w]; bits; bits &= bits - 1) {
            uint32_t line = w * 64 + (uint32_t)__builtin_ctzll(bits);
            uint64_t address = line_number(c, line) * line_bytes(c);
            mem_copy_masked(memory_span(address, line_bytes(c)), line_data(c, line),
                            *line_mask(c, line), line_bytes(c));
        }
}

static void cache_read_in(struct component *self)
{
    const struct cache *c = (const struct cache *)(const void *)self;
    uint32_t lines = cache_params(c)->sets * way_count(c);
    if (!c->has_lines)
        return;
    for (uint32_t line = 0; line < lines; line++) {
        uint64_t number = line_number(c, line);
        if (*line_tag(c, line) != CACHE_TAG_FREE)
            memcpy(line_data(c, line), memory_span(number * line_bytes(c), line_bytes(c)),
                   line_bytes(c));
    }
}

static const struct warm_ops cache_warm_ops = {.touch = cache_touch_line,
                                               .drop = cache_warm_drop,
                                               .write_out = cache_write_out,
                                               .read_in = cache_read_in};
