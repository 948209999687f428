/* Probes: the memory below keeps track of the lines in this cache, and sends a probe when others
 * have changed one (std/probe). So lines of that memory are never older than the last release, and
 * fences and kernels drop only the lines of other memories.
 *
 * A probe is answered at once, whatever else is under way. A present line keeps its own dirty
 * bytes. A pending line is forgotten when the requests that wait for it by now have been answered,
 * and later requests do not join them: the answer may be as old as the line. */
#include "cache.gen.h"

#include "components/protocols/probe/probe_die.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/link/shard_cut.h"
#include "runtime/state/platform.h"

#include "cache_state.h"

static bool is_probed(const struct cache *c)
{
    return c->io.probe_request != RING_NONE;
}

/* Drops the line's bytes, which are old, but not those that were written here. */
static void line_outdate(struct cache *c, uint32_t line)
{
    if (is_write_back(c) && line_is_dirty(c, line))
        get_set(c, line / way_count(c))->filled &= ~((uint64_t)1 << (line % way_count(c)));
    else
        line_drop(c, line);
}

static void probe_line(struct cache *c, uint64_t address)
{
    uint64_t number = address / line_bytes(c);
    uint32_t line = find_line(c, find_set(c, number), number);
    if (line == CACHE_LINE_NONE)
        return;
    if (line_is_pending(c, line))
        line_mshr(c, line)->is_outdated = true;
    else
        line_outdate(c, line);
}

/* A probe is about a line of the memory, which may be longer than those of this cache. */
static OUT_OF_LINE void answer_probes(struct cache *c)
{
    const struct probe_request *m;
    while ((m = cache_probe_peek(c)) && cache_probe_can_reply(c)) {
        for (unsigned offset = 0; offset < below_bytes(c); offset += line_bytes(c))
            probe_line(c, m->changed.address / below_bytes(c) * below_bytes(c) + offset);
        cache_probe_reply_done(c, m->tag);
        cache_probe_pop(c);
    }
}

/* Drops the lines that others may have changed unnoticed. */
static void drop_stale(struct cache *c)
{
    if (!is_probed(c)) {
        drop_all(c);
        return;
    }
    if (!c->has_lines || !c->has_other_memory)
        return;
    for (uint32_t line = 0; line < line_count(c); line++)
        if (*line_tag(c, line) != CACHE_TAG_FREE
            && line_number(c, line) * line_bytes(c) - c->probed_base >= c->probed_size)
            line_drop(c, line);
}

/* ---- start-up: what the wires say ---- */

/* The element of the sender's array of ports that request ring `ring` belongs to. */
static uint32_t find_probe_element(const struct platform_table *t, uint32_t ring)
{
    const struct platform_instance *from = &t->instances[t->rings[ring].sender];
    for (uint32_t i = from->bindings; i < from->bindings + from->binding_count; i++) {
        uint32_t first = t->bindings[i];
        if (t->binding_kinds[i] != BIND_FIRST_RING)
            continue;
        for (uint32_t element = 0; element < t->bindings[i - 1]; element++)
            if (t->port_rings[2 * (first + element)] == shard_cut_near(ring))
                return element;
    }
    bug("no port of '%s' leads to ring %u", t->strings + from->path, ring);
}

/* A request ring that leads to the interconnect in front of `ring`, or `ring`; in *count, how many
 * do. */
static uint32_t find_probe_source(const struct platform_table *t, uint32_t ring, uint32_t *count)
{
    const struct platform_instance *via = &t->instances[t->rings[ring].sender];
    uint32_t found = ring;
    *count = 0;
    for (uint32_t i = via->incoming; i < via->incoming + via->incoming_count; i++) {
        const struct platform_ring *r = &t->rings[t->incoming[i]];
        if (r->is_reply || r->protocol != t->rings[ring].protocol)
            continue;
        found = t->incoming[i];
        ++*count;
    }
    *count += !*count;
    return found;
}

static void init_probes(struct cache *c)
{
    const struct platform_table *t = engine_base.platform;
    if (!is_probed(c))
        return;
    uint32_t below = t->rings[ring_number(c->io.bottom_request)].receiver, count;
    uint32_t source = find_probe_source(t, ring_number(c->io.probe_request), &count);
    struct platform_interleaving w = {.size = UINT64_MAX, .targets = 1};
    if (t->instances[below].route_space >= 0)
        w = platform_interleaving(t->instances[below].route_space);
    if (count != w.targets)
        engine_die(&c->io.base,
                   "there are %u memories behind `bottom`, but `probe` comes from %u: lines of "
                   "the others would stay when they change",
                   w.targets, count);
    c->probe_pid = probe_pid(find_probe_element(t, source));
    c->probed_base = w.base;
    c->probed_size = w.size;
    c->has_other_memory = t->instances[below].route_else >= 0;
}
