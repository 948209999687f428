/* Write combiner: see write_combiner.heddle for what it promises.
 *
 * Requests that go on keep their tags, which are unique among what is unanswered; a line goes on
 * under the tag of its first write. Invariant: at most one line of an address is HELD, and all that
 * came after it for this address is in it. So the order of requests to one address is that of their
 * coming. */
#include "write_combiner.gen.h"

#include <string.h>

#include "components/protocols/mem/mem_mask.h"
#include "runtime/observe/hang.h"

enum line_state { FREE, HELD, SENT, ANSWERED };

struct line {
    uint64_t address, due; /* due: the cycle in which it goes on */
    uint16_t pid, scope;
    uint32_t count, answered; /* writes in it, and those that were told */
    uint8_t state;            /* enum line_state */
    struct mem_mask mask;
};

struct write_combiner {
    struct write_combiner_io io; /* first: what the component is connected to, and its statistics */
    uint32_t lines;              /* offsets: struct line[lines] */
    uint32_t data;               /* uint8_t[lines * line] */
    uint32_t tags;               /* uint16_t[lines * merge], of the writes */
    uint32_t used, answering;    /* lines that are not FREE; that are ANSWERED */
};

static uint32_t line_bytes(const struct write_combiner *c)
{
    return write_combiner_params(c)->line;
}

static struct line *first(const struct write_combiner *c)
{
    return arena_at(struct line, c->lines);
}

static struct line *end(const struct write_combiner *c)
{
    return first(c) + write_combiner_params(c)->lines;
}

static uint8_t *data_of(const struct write_combiner *c, const struct line *l)
{
    return arena_at(uint8_t, c->data) + (size_t)(l - first(c)) * line_bytes(c);
}

static uint16_t *tags_of(const struct write_combiner *c, const struct line *l)
{
    return arena_at(uint16_t, c->tags) + (size_t)(l - first(c)) * write_combiner_params(c)->merge;
}

static void write_combiner_init(struct write_combiner *c)
{
    const struct write_combiner_params *p = write_combiner_params(c);
    c->lines = arena_allocate(p->lines * sizeof(struct line));
    c->data = arena_allocate((size_t)(p->lines * p->line));
    c->tags = arena_allocate((size_t)(p->lines * p->merge) * sizeof(uint16_t));
}

/* The HELD line of an address, or NULL. */
static struct line *held(const struct write_combiner *c, uint64_t address)
{
    for (struct line *l = first(c); c->used && l < end(c); l++)
        if (l->state == HELD && l->address == address)
            return l;
    return NULL;
}

/* The HELD line that is due first, or NULL. */
static struct line *oldest(const struct write_combiner *c)
{
    struct line *found = NULL;
    for (struct line *l = first(c); c->used && l < end(c); l++)
        if (l->state == HELD && (!found || l->due < found->due))
            found = l;
    return found;
}

/* False: there is no room below. */
static bool send(struct write_combiner *c, struct line *l, uint64_t *why)
{
    if (!write_combiner_bottom_can_send(c))
        return false;
    void *to = write_combiner_bottom_send_write(c, tags_of(c, l)[0], l->address, l->pid, l->scope);
    mem_mask_store(mem_write_mask(to, line_bytes(c)), l->mask, line_bytes(c));
    memcpy(mem_write_data(to, line_bytes(c)), data_of(c, l), line_bytes(c));
    l->state = SENT;
    c->io.stats.sent++;
    if (why)
        ++*why;
    return true;
}

/* ---- requests ---- */

static void join(struct write_combiner *c, struct line *l, const struct mem_request *m)
{
    void *from = write_combiner_top_payload(c);
    struct mem_mask mask = mem_mask_load(mem_write_mask(from, line_bytes(c)), line_bytes(c));
    mem_copy_masked(data_of(c, l), mem_write_data(from, line_bytes(c)), mask, line_bytes(c));
    l->mask = mem_mask_or(l->mask, mask);
    tags_of(c, l)[l->count++] = m->tag;
    if (mem_mask_is_full(l->mask, line_bytes(c)))
        l->due = write_combiner_now(c);
    c->io.stats.writes++;
}

static bool take_write(struct write_combiner *c, const struct mem_request *m)
{
    const struct write_combiner_params *p = write_combiner_params(c);
    struct line *l = held(c, m->write.address);
    if (l && l->pid == m->write.pid && l->scope == m->write.scope && l->count < p->merge) {
        c->io.stats.merged++;
        join(c, l, m);
        return true;
    }
    if (l && !send(c, l, &c->io.stats.ordered))
        return false;
    for (l = first(c); l < end(c) && l->state != FREE;)
        l++;
    if (l == end(c)) {
        if ((l = oldest(c)))
            send(c, l, &c->io.stats.evicted);
        return false;
    }
    *l = (struct line){.address = m->write.address,
                       .due = write_combiner_now(c) + p->hold,
                       .pid = m->write.pid,
                       .scope = m->write.scope,
                       .state = HELD};
    c->used++;
    join(c, l, m);
    return true;
}

static void forward(struct write_combiner *c, const struct mem_request *m)
{
    switch (message_kind(m)) {
    case MEM_READ:
        write_combiner_bottom_send_read(c, m->tag, m->read.address, m->read.size, m->read.pid,
                                        m->read.coherent);
        break;
    case MEM_ATOMIC:
        memcpy(write_combiner_bottom_send_atomic(c, m->tag, m->atomic.address, m->atomic.pid,
                                                 m->atomic.op, m->atomic.size, m->atomic.returns),
               write_combiner_top_payload(c), mem_atomic_payload_bytes(line_bytes(c)));
        break;
    case MEM_FENCE:
        write_combiner_bottom_send_fence(c, m->tag, m->fence.scope, m->fence.acquire,
                                         m->fence.release);
        break;
    case MEM_FENCE_AT:
        write_combiner_bottom_send_fence_at(c, m->tag, m->fence_at.address, m->fence_at.scope,
                                            m->fence_at.acquire, m->fence_at.release);
        break;
    }
}

static bool take(struct write_combiner *c, const struct mem_request *m)
{
    unsigned kind = message_kind(m);
    if (kind == MEM_WRITE)
        return take_write(c, m);
    bool all = kind == MEM_FENCE || kind == MEM_FENCE_AT;
    uint64_t address = m->read.address & ~(uint64_t)(line_bytes(c) - 1);
    for (struct line *l; (l = all ? oldest(c) : held(c, address));)
        if (!send(c, l, &c->io.stats.ordered))
            return false;
    if (!write_combiner_bottom_can_send(c))
        return false;
    forward(c, m);
    return true;
}

static bool take_request(struct write_combiner *c)
{
    const struct mem_request *m = write_combiner_top_peek(c);
    if (!m || !take(c, m))
        return false;
    write_combiner_top_pop(c);
    c->io.stats.requests++;
    return true;
}

static bool send_due(struct write_combiner *c)
{
    struct line *l = oldest(c);
    if (!l)
        return false;
    if (l->due > write_combiner_now(c)) {
        write_combiner_wake_at(c, l->due);
        return false;
    }
    return send(c, l, NULL);
}

/* ---- answers ---- */

/* One answer for each of the writes that went on as one. */
static bool answer_write(struct write_combiner *c)
{
    if (!c->answering || !write_combiner_top_can_reply(c))
        return false;
    struct line *l = first(c);
    while (l->state != ANSWERED)
        l++;
    write_combiner_top_reply_done(c, tags_of(c, l)[l->answered++]);
    c->io.stats.replies++;
    if (l->answered == l->count) {
        l->state = FREE;
        c->used--;
        c->answering--;
    }
    return true;
}

static bool take_reply(struct write_combiner *c)
{
    const struct mem_reply *m = write_combiner_bottom_peek_reply(c);
    if (!m)
        return false;
    struct line *l = first(c);
    while (l < end(c) && !(l->state == SENT && tags_of(c, l)[0] == m->tag))
        l++;
    if (l < end(c)) {
        l->state = ANSWERED;
        c->answering++;
        write_combiner_bottom_pop_reply(c);
        return true;
    }
    if (!write_combiner_top_can_reply(c))
        return false;
    if (message_kind(m) == MEM_DATA)
        memcpy(write_combiner_top_reply_data(c, m->tag), write_combiner_bottom_reply_payload(c),
               mem_data_payload_bytes(line_bytes(c)));
    else
        write_combiner_top_reply_done(c, m->tag);
    write_combiner_bottom_pop_reply(c);
    c->io.stats.replies++;
    return true;
}

static bool write_combiner_tick(struct write_combiner *c)
{
    bool progress = false;
    for (uint64_t i = 0; i < write_combiner_params(c)->rate && take_reply(c); i++)
        progress = true;
    for (uint64_t i = 0; i < write_combiner_params(c)->rate && answer_write(c); i++)
        progress = true;
    for (uint64_t i = 0; i < write_combiner_params(c)->rate && take_request(c); i++)
        progress = true;
    if (send_due(c))
        progress = true;
    return progress;
}

static unsigned write_combiner_outstanding(const struct write_combiner *c,
                                           struct hang_report *report)
{
    if (report && c->used)
        hang_note(report, "%u lines wait or are on their way", (unsigned)c->used);
    return c->used;
}
