/* Caches that do not see each other, and lines that they hold: a table in front of memory with a
 * bit a die for each line (std/probe), as the snoop filters of CDNA3 in front of Infinity Cache
 * (AMD, CDNA3 white paper). It has room for all lines, so it forgets no holder.
 *
 * A read of `top` adds its die to the holders. A write takes effect at once, leaves its own die as
 * the only holder, and is answered when all others have let go. So what is released after that
 * answer is not hidden by an old line. An atomic waits until no other die holds the line; so do
 * writes to memory with a timing part and nothing in front, which are answered later than they are
 * taken. */
#include "dram.gen.h"

#include "base/likely.h"
#include "components/protocols/probe/probe_die.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"

#include "dram_state.h"

enum { DRAM_WITHHELD = 64, DRAM_AT_HEAD = DRAM_WITHHELD }; /* tags of probes */

/* A write whose answer waits for probes. */
struct dram_withheld {
    uint16_t tag;
    uint16_t awaited;
};

static bool dram_is_probing(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP && dram_probe_count(c);
}

static struct dram_withheld *dram_withheld_at(const struct dram *c, uint32_t number)
{
    return arena_at(struct dram_withheld, c->withheld_at) + number;
}

/* The holders of a line: lines of this slice follow each other. */
static uint16_t *dram_holders(struct dram *c, uint64_t address)
{
    struct platform_interleaving *w = &c->placing;
    if (unlikely(!w->size))
        *w = platform_interleaving(platform_space(address));
    uint64_t offset = address - w->base;
    uint64_t chunk = w->is_power_of_two ? offset >> w->shift >> __builtin_ctz(w->targets)
                                        : offset / w->interleave / w->targets;
    return arena_at(uint16_t, c->holders_at)
           + (chunk * w->interleave + offset % w->interleave) / dram_line(c);
}

static unsigned dram_die_bit(uint32_t pid)
{
    return probe_is_die(pid) ? 1u << (pid - PROBE_FIRST) : 0;
}

static uint32_t dram_requester(const struct mem_request *m)
{
    return message_kind(m) == MEM_READ    ? m->read.pid
           : message_kind(m) == MEM_WRITE ? m->write.pid
                                          : m->atomic.pid;
}

/* The dies that a write or an atomic has to wait for. */
static unsigned dram_other_holders(struct dram *c, const struct mem_request *m, uint64_t address)
{
    return *dram_holders(c, address) & ~dram_die_bit(dram_requester(m));
}

static bool dram_can_probe(struct dram *c, unsigned dies)
{
    for (; dies; dies &= dies - 1)
        if (!dram_probe_can_send(c, (uint32_t)__builtin_ctz(dies)))
            return false;
    return true;
}

static void dram_probe(struct dram *c, unsigned dies, uint16_t tag, uint64_t address)
{
    for (; dies; dies &= dies - 1)
        dram_probe_send_changed(c, (uint32_t)__builtin_ctz(dies), tag, address);
}

/* True if the oldest request of `top` may take effect. */
static bool dram_may_happen(struct dram *c, const struct mem_request *m, uint64_t address)
{
    if (message_kind(m) >= MEM_FENCE)
        return !index_pool_used(&c->free_withheld);
    if (message_kind(m) == MEM_READ || !memory_contains(address, dram_line(c)))
        return true;
    unsigned others = c->head_is_probed ? 0 : dram_other_holders(c, m, address);
    if (!others)
        return !c->head_awaited;
    if (!dram_can_probe(c, others))
        return false;
    if (message_kind(m) == MEM_WRITE && (!dram_timing_ops(c) || dram_front_ops(c)))
        return index_pool_has(&c->free_withheld);
    dram_probe(c, others, DRAM_AT_HEAD, address);
    c->head_is_probed = true;
    c->head_awaited = (uint16_t)__builtin_popcount(others);
    return false;
}

/* A write of `top` has taken effect. True if its answer waits for others to let go of the line. */
static bool dram_withhold(struct dram *c, const struct mem_request *m, uint64_t address)
{
    unsigned others = dram_other_holders(c, m, address);
    if (!others)
        return false;
    uint32_t number = index_pool_acquire(&c->free_withheld);
    *dram_withheld_at(c, number) =
        (struct dram_withheld){m->tag, (uint16_t)__builtin_popcount(others)};
    dram_probe(c, others, (uint16_t)number, address);
    return true;
}

/* Updates the holders after a request of `top` has taken effect. */
static void dram_update_holders(struct dram *c, const struct mem_request *m, uint64_t address)
{
    uint16_t *holders = dram_holders(c, address), own = (uint16_t)dram_die_bit(dram_requester(m));
    if (message_kind(m) == MEM_READ) {
        *holders |= own;
        return;
    }
    *holders = message_kind(m) == MEM_WRITE ? own : 0;
    c->head_is_probed = false;
}

/* A die has let go of a line. False: the answer to the write has no room yet. */
static bool dram_let_go_of(struct dram *c, uint16_t tag)
{
    if (tag == DRAM_AT_HEAD) {
        c->head_awaited--;
        return true;
    }
    struct dram_withheld *w = dram_withheld_at(c, tag);
    if (w->awaited == 1 && !dram_top_can_reply(c))
        return false;
    if (--w->awaited)
        return true;
    dram_top_reply_done(c, w->tag);
    index_pool_release(&c->free_withheld, tag);
    return true;
}

static bool dram_accept_probe_answers(struct dram *c)
{
    const struct probe_reply *m;
    bool has_worked = false;
    for (uint32_t die = 0; die < dram_probe_count(c); die++)
        while ((m = dram_probe_peek_reply(c, die)) && dram_let_go_of(c, m->tag)) {
            dram_probe_pop_reply(c, die);
            has_worked = true;
        }
    return has_worked;
}

/* An access without time changes the holders as it would in time. */
static void dram_touch_holders(struct dram *c, const struct warm_access *a)
{
    uint64_t line = a->physical / dram_line(c) * dram_line(c);
    uint16_t *holders = dram_holders(c, line), own = (uint16_t)dram_die_bit(a->pid);
    if (a->kind == WARM_READ) {
        *holders |= own;
        return;
    }
    if (a->kind != WARM_WRITE && a->kind != WARM_ATOMIC)
        return;
    struct warm_access probe = {.address = line, .physical = line, .kind = WARM_PROBE};
    for (unsigned rest = *holders & ~(unsigned)own; rest; rest &= rest - 1)
        warm_pass(
            engine_base.port_rings[2 * (dram_io(c)->probe_first + (uint32_t)__builtin_ctz(rest))],
            &probe);
    *holders = a->kind == WARM_WRITE ? own : 0;
}

static void dram_init_probes(struct dram *c)
{
    if (!dram_probe_count(c))
        return;
    if (dram_probe_count(c) > PROBE_DIES)
        engine_die(&c->io.base, "there are more than %u dies to probe", PROBE_DIES);
    size_t lines = dram_params(c)->size / dram_line(c);
    c->holders_at = arena_allocate(lines * sizeof(uint16_t));
    c->withheld_at = arena_allocate(DRAM_WITHHELD * sizeof(struct dram_withheld));
    index_pool_init(&c->free_withheld, DRAM_WITHHELD);
}
