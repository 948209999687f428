/* Stream prefetcher: next lines of the streams that it sees, kept in a small buffer (N. Jouppi,
 * "Improving direct-mapped cache performance by the addition of a small fully-associative cache and
 * prefetch buffers", ISCA 1990).
 *
 * A stream is the line expected next and how far its prefetches have got. A read of the expected
 * line, or of one that the stream has asked for already, moves the stream on; any other read takes
 * the stream that was used longest ago. So the second of two reads that follow each other starts
 * the prefetches.
 *
 * Everything below is asked under a tag of our own: the number of the buffer entry, or that of the
 * buffer entries plus the number of the request from above. Invariants: a line is in at most one
 * live entry of the buffer; what is in a live entry, or will be when its answer comes, is not older
 * than the last write from above. An entry dies when that would end; a reader that was waiting for
 * it by then is still answered. */
#include "prefetcher.gen.h"

#include <string.h>

#include "runtime/observe/hang.h"

enum entry_state { FREE, COMING, DEAD, READY }; /* COMING and DEAD: the answer is on its way */

struct entry {
    uint64_t line;   /* address */
    uint64_t number; /* the order in which entries were taken */
    uint32_t pid;
    uint16_t waiter; /* tag of the read that waits, if waited_for */
    uint8_t state;   /* enum entry_state */
    bool waited_for;
};

struct stream {
    uint64_t next;       /* address of the line expected, 0: never used */
    uint64_t asked, end; /* prefetches still to send: lines asked ..< end */
    uint64_t used;       /* the order in which streams were used */
    uint32_t pid;
};

struct prefetcher {
    struct prefetcher_io io; /* first: what the component is connected to, and its statistics */
    uint64_t taken;          /* counts entries taken and streams used */
    uint32_t coming;         /* entries COMING or DEAD */
    uint32_t unanswered;     /* requests from above that wait for an answer from below */
    uint32_t waiting;        /* reads from above that wait for a prefetch */
    bool clearing; /* the command at `control` has been seen; it is answered when nothing is coming
                    */
    uint32_t entries; /* offsets: struct entry[buffer] */
    uint32_t data;    /* uint8_t[buffer * line] */
    uint32_t streams; /* struct stream[streams] */
    uint32_t tags;    /* uint16_t[in_flight], the tags from above */
    uint32_t unused;  /* uint16_t[in_flight]: the first in_flight - unanswered are free numbers for
                         them */
};

/* Parameters as the C code needs them. */
static uint64_t line_bytes(const struct prefetcher *c)
{
    return prefetcher_params(c)->line;
}

static uint32_t buffer_size(const struct prefetcher *c)
{
    return prefetcher_params(c)->buffer;
}

static struct entry *entries(const struct prefetcher *c)
{
    return arena_at(struct entry, c->entries);
}

static uint8_t *entry_data(const struct prefetcher *c, const struct entry *e)
{
    return arena_at(uint8_t, c->data) + (size_t)(e - entries(c)) * line_bytes(c);
}

/* Once, before the first tick. Memory comes from arena_allocate(), zeroed. */
static void prefetcher_init(struct prefetcher *c)
{
    const struct prefetcher_params *p = prefetcher_params(c);
    c->entries = arena_allocate(p->buffer * sizeof(struct entry));
    c->data = arena_allocate((size_t)(p->buffer * p->line));
    c->streams = arena_allocate(p->streams * sizeof(struct stream));
    c->tags = arena_allocate(p->in_flight * sizeof(uint16_t));
    c->unused = arena_allocate(p->in_flight * sizeof(uint16_t));
    for (uint32_t i = 0; i < p->in_flight; i++)
        arena_at(uint16_t, c->unused)[i] = (uint16_t)i;
}

/* The buffer. */

static struct entry *find(const struct prefetcher *c, uint64_t line)
{
    struct entry *e = entries(c), *end = e + buffer_size(c);
    for (; e < end; e++)
        if (e->line == line && (e->state == COMING || e->state == READY))
            return e;
    return NULL;
}

/* What the entry holds must not be read from now on. */
static void kill_entry(struct prefetcher *c, struct entry *e)
{
    if (!e->waited_for)
        c->io.stats.dropped++;
    e->state = e->state == COMING ? DEAD : FREE;
}

static void kill_all(struct prefetcher *c)
{
    for (uint32_t i = 0; i < buffer_size(c); i++) {
        struct entry *e = &entries(c)[i];
        if (e->state == COMING || e->state == READY)
            kill_entry(c, e);
    }
    struct stream *s = arena_at(struct stream, c->streams);
    for (uint64_t i = 0; i < prefetcher_params(c)->streams; i++)
        s[i].asked = s[i].end;
}

/* For a new line: a free entry, else that of the line that has waited longest. NULL: all are on
 * their way. */
static struct entry *room(struct prefetcher *c)
{
    struct entry *oldest = NULL;
    for (uint32_t i = 0; i < buffer_size(c); i++) {
        struct entry *e = &entries(c)[i];
        if (e->state == FREE)
            return e;
        if (e->state == READY && (!oldest || e->number < oldest->number))
            oldest = e;
    }
    return oldest;
}

/* The streams. */

static uint64_t page_end(const struct prefetcher *c, uint64_t address)
{
    uint64_t page = prefetcher_params(c)->page;
    return (address / page + 1) * page;
}

static struct stream *stream_of(const struct prefetcher *c, uint64_t line, uint32_t pid,
                                bool *follows)
{
    struct stream *s = arena_at(struct stream, c->streams), *oldest = s;
    for (uint64_t i = 0; i < prefetcher_params(c)->streams; i++) {
        uint64_t last = s[i].end > s[i].next ? s[i].end - line_bytes(c) : s[i].next;
        if (s[i].next && s[i].pid == pid && line >= s[i].next && line <= last) {
            *follows = true;
            return &s[i];
        }
        if (s[i].used < oldest->used)
            oldest = &s[i];
    }
    *follows = false;
    return oldest;
}

static void train(struct prefetcher *c, uint64_t line, uint32_t pid)
{
    bool follows;
    struct stream *s = stream_of(c, line, pid, &follows);
    uint64_t next = line + line_bytes(c), page = page_end(c, line);
    uint64_t end = next + prefetcher_params(c)->degree * line_bytes(c);
    s->used = ++c->taken;
    s->next = next;
    s->pid = pid;
    if (!follows)
        end = s->asked = next;
    else if (s->asked < next)
        s->asked = next;
    s->end = end < page ? end : page;
    if (s->asked > s->end)
        s->asked = s->end;
}

/* One prefetch, if one is wanted and there is room. */
static bool prefetch(struct prefetcher *c)
{
    struct stream *s = arena_at(struct stream, c->streams);
    for (uint64_t i = 0; i < prefetcher_params(c)->streams; i++) {
        if (s[i].asked >= s[i].end)
            continue;
        if (find(c, s[i].asked)) {
            s[i].asked += line_bytes(c);
            return true;
        }
        struct entry *e = room(c);
        if (!e || !prefetcher_bottom_can_send(c))
            return false;
        if (e->state == READY)
            kill_entry(c, e);
        *e = (struct entry){
            .line = s[i].asked, .number = ++c->taken, .pid = s[i].pid, .state = COMING};
        prefetcher_bottom_send_read(c, (uint16_t)(e - entries(c)), e->line, (uint32_t)line_bytes(c),
                                    e->pid, false);
        s[i].asked += line_bytes(c);
        c->coming++;
        c->io.stats.prefetches++;
        return true;
    }
    return false;
}

/* Requests. */

/* A tag for a request that goes on; there is one when unanswered < in_flight. */
static uint16_t take_tag(struct prefetcher *c, uint16_t tag)
{
    uint32_t left = prefetcher_params(c)->in_flight - ++c->unanswered;
    uint16_t number = arena_at(uint16_t, c->unused)[left];
    arena_at(uint16_t, c->tags)[number] = tag;
    return (uint16_t)(buffer_size(c) + number);
}

static uint16_t give_tag(struct prefetcher *c, uint16_t tag)
{
    uint16_t number = (uint16_t)(tag - buffer_size(c));
    uint32_t left = prefetcher_params(c)->in_flight - c->unanswered--;
    arena_at(uint16_t, c->unused)[left] = number;
    return arena_at(uint16_t, c->tags)[number];
}

static bool can_forward(struct prefetcher *c)
{
    return c->unanswered < prefetcher_params(c)->in_flight && prefetcher_bottom_can_send(c);
}

static void forward(struct prefetcher *c, const struct mem_request *m)
{
    void *from = prefetcher_top_payload(c), *to;
    uint16_t tag = take_tag(c, m->tag);
    int64_t line = prefetcher_params(c)->line;
    switch (message_kind(m)) {
    case MEM_READ:
        prefetcher_bottom_send_read(c, tag, m->read.address, m->read.size, m->read.pid,
                                    m->read.coherent);
        break;
    case MEM_WRITE:
        to = prefetcher_bottom_send_write(c, tag, m->write.address, m->write.pid, m->write.scope);
        memcpy(to, from, mem_write_payload_bytes(line));
        break;
    case MEM_ATOMIC:
        to = prefetcher_bottom_send_atomic(c, tag, m->atomic.address, m->atomic.pid, m->atomic.op,
                                           m->atomic.size, m->atomic.returns);
        memcpy(to, from, mem_atomic_payload_bytes(line));
        break;
    }
}

static bool take_read(struct prefetcher *c, const struct mem_request *m)
{
    uint64_t line = m->read.address / line_bytes(c) * line_bytes(c);
    struct entry *e = find(c, line);
    if (e && e->pid != m->read.pid)
        e = NULL;
    if (e && e->state == READY) {
        if (!prefetcher_top_can_reply(c))
            return false;
        memcpy(prefetcher_top_reply_data(c, m->tag), entry_data(c, e), line_bytes(c));
        e->state = FREE;
        c->io.stats.replies++;
        c->io.stats.useful++;
    } else if (e && !e->waited_for) {
        e->waited_for = true;
        e->waiter = m->tag;
        c->waiting++;
        c->io.stats.late++;
    } else {
        if (!can_forward(c))
            return false;
        forward(c, m);
    }
    train(c, line, m->read.pid);
    return true;
}

/* Writes, atomics, and reads that must agree with memory: what is here of the line is of no
 * use. The address stands in the same place in all of them. */
static bool take_past(struct prefetcher *c, const struct mem_request *m)
{
    if (!can_forward(c))
        return false;
    struct entry *e = find(c, m->read.address / line_bytes(c) * line_bytes(c));
    if (e)
        kill_entry(c, e);
    forward(c, m);
    return true;
}

/* A fence ends here, since all see what is below: it is answered when everything before it
 * has been. */
static bool take_fence(struct prefetcher *c, const struct mem_request *m)
{
    if (c->unanswered || c->waiting || !prefetcher_top_can_reply(c))
        return false;
    if (message_kind(m) == MEM_FENCE ? m->fence.acquire : m->fence_at.acquire)
        kill_all(c);
    prefetcher_top_reply_done(c, m->tag);
    c->io.stats.replies++;
    return true;
}

static bool take(struct prefetcher *c, const struct mem_request *m)
{
    switch (message_kind(m)) {
    case MEM_READ:
        return m->read.coherent ? take_past(c, m) : take_read(c, m);
    case MEM_FENCE:
    case MEM_FENCE_AT:
        return take_fence(c, m);
    default:
        return take_past(c, m);
    }
}

/* False: there is no request, or no room for it. In both cases the component is woken when that
 * changes. */
static bool take_request(struct prefetcher *c)
{
    const struct mem_request *m = prefetcher_top_peek(c);
    if (!m || !take(c, m))
        return false;
    prefetcher_top_pop(c);
    c->io.stats.requests++;
    return true;
}

/* Answers. */

/* To a prefetch: into the buffer, or up to the read that waits for it. */
static bool take_line(struct prefetcher *c, struct entry *e)
{
    const void *from = prefetcher_bottom_reply_payload(c);
    if (e->waited_for && !prefetcher_top_can_reply(c))
        return false;
    if (e->waited_for) {
        memcpy(prefetcher_top_reply_data(c, e->waiter), from, line_bytes(c));
        c->waiting--;
        c->io.stats.replies++;
    } else if (e->state == COMING) {
        memcpy(entry_data(c, e), from, line_bytes(c));
    }
    e->state = e->state == COMING && !e->waited_for ? READY : FREE;
    c->coming--;
    return true;
}

static bool take_reply(struct prefetcher *c)
{
    const struct mem_reply *m = prefetcher_bottom_peek_reply(c);
    if (!m)
        return false;
    if (m->tag < buffer_size(c)) {
        if (!take_line(c, &entries(c)[m->tag]))
            return false;
    } else {
        if (!prefetcher_top_can_reply(c))
            return false;
        if (message_kind(m) == MEM_DATA)
            memcpy(prefetcher_top_reply_data(c, give_tag(c, m->tag)),
                   prefetcher_bottom_reply_payload(c), line_bytes(c));
        else
            prefetcher_top_reply_done(c, give_tag(c, m->tag));
        c->io.stats.replies++;
    }
    prefetcher_bottom_pop_reply(c);
    return true;
}

/* A command drops everything. Its answer says that no prefetch is on its way any more: what follows
 * in the caches below must not be overtaken by one. */
static bool take_command(struct prefetcher *c)
{
    const struct cache_control_request *m = prefetcher_control_peek(c);
    if (!m)
        return false;
    if (!c->clearing) {
        kill_all(c);
        c->clearing = true;
        return true;
    }
    if (c->coming || !prefetcher_control_can_reply(c))
        return false;
    prefetcher_control_reply_finished(c, m->tag);
    prefetcher_control_pop(c);
    c->clearing = false;
    return true;
}

/* One cycle. True: made progress, tick again at the next one. Requests go before prefetches. */
static bool prefetcher_tick(struct prefetcher *c)
{
    bool progress = take_command(c);
    for (uint64_t i = 0; i < prefetcher_params(c)->rate && take_reply(c); i++)
        progress = true;
    for (uint64_t i = 0; i < prefetcher_params(c)->rate && take_request(c); i++)
        progress = true;
    if (!c->clearing && prefetch(c))
        progress = true;
    return progress;
}

/* The number of unfinished things in here, for explaining hangs. */
static unsigned prefetcher_outstanding(const struct prefetcher *c, struct hang_report *report)
{
    if (report && c->unanswered)
        hang_note(report, "%u requests wait for an answer from below", (unsigned)c->unanswered);
    if (report && c->coming)
        hang_note(report, "%u prefetches are on their way", (unsigned)c->coming);
    return (unsigned)(c->unanswered + c->coming);
}
