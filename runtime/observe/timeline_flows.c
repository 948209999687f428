/* Arrows from a request to those that it caused. A component's list holds the requests that it has
 * been sent and not answered, in the order of their sending: some dozens, a few hundred at a
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash_table.h"
#include "base/number.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring.h"
#include "runtime/state/lookup.h"

#include "timeline_internal.h"

#define LINE_BYTES 64  /* assumed where answers of a protocol have no line */
#define BYTES_MAX  256 /* a request of one line, or part of one, has no more */
#define PAGE_BITS  12  /* the smallest page */
#define FIELD_NONE 0xff

/* The offset of a field in a message, and its bytes. */
struct field {
    uint8_t at, bytes; /* at: FIELD_NONE: there is none */
};

struct shape {
    struct field address, size, pid, page_bits;
    bool is_awaited, translates; /* answers have a page */
    uint32_t line;
};

struct request {
    uint64_t flow, merged, address, arrival_ps;
    uint32_t ring, pid, line;
    uint32_t request_counts[2]; /* requests to others on its behalf: lines; translations */
    uint16_t tag;
    bool is_shown;  /* a message of the flow */
    uint32_t asker; /* instance that sent it */
};

struct list {
    struct request *requests;
    uint32_t count;
    size_t capacity;
};

struct translation {
    uint64_t page, pid; /* page: the number of the first of PAGE_BITS */
    uint64_t physical;
    uint32_t bits;
};

static const struct hash_kind translation_kind = HASH_KIND(struct translation, pid, "flows");

static struct {
    const struct platform_table *table;
    struct shape *shapes; /* by message */
    struct list *lists;   /* by instance */
    struct hash_table translations;
    uint64_t sizes_seen; /* bit n: a page of 2^n bytes was seen */
} flows;

/* ---- fields ---- */

static uint64_t value_of(struct field f, const uint8_t *fields)
{
    uint64_t value = 0;
    if (f.at != FIELD_NONE)
        memcpy(&value, fields + f.at, f.bytes);
    return value;
}

/* `layout` as in struct platform_message. */
static struct shape shape_of(const char *layout)
{
    struct field none = {FIELD_NONE, 0};
    struct shape s = {none, none, none, none, false, false, LINE_BYTES};
    uint8_t at = 0;
    while (*layout) {
        size_t n = strcspn(layout, ":");
        struct field f = {at, (uint8_t)(layout[n + 2] - '0')};
        if (layout[n + 1] == 'a' && s.address.at == FIELD_NONE)
            s.address = f;
        else if (n == 4 && strncmp(layout, "size", n) == 0)
            s.size = f;
        else if (n == 3 && strncmp(layout, "pid", n) == 0)
            s.pid = f;
        else if (n == 9 && strncmp(layout, "page_bits", n) == 0)
            s.page_bits = f;
        at = (uint8_t)(at + f.bytes);
        layout += strcspn(layout, ",");
        layout += *layout == ',';
    }
    return s;
}

static void learn_protocol(const struct platform_protocol *p)
{
    struct shape *shape_list = &flows.shapes[p->first_message];
    uint32_t line = 0;
    bool translates = false;
    for (uint32_t i = 0; i < p->request_count + p->reply_count; i++) {
        const struct platform_message *m = &flows.table->messages[p->first_message + i];
        shape_list[i] = shape_of(platform_string(m->fields));
        shape_list[i].is_awaited = m->awaited;
        if (i < p->request_count)
            continue;
        line = max(m->payload_bytes, line);
        translates = translates || shape_list[i].page_bits.at != FIELD_NONE;
    }
    for (uint32_t i = 0; i < p->request_count + p->reply_count; i++) {
        shape_list[i].line = line ? line : LINE_BYTES;
        shape_list[i].translates = translates;
    }
}

void timeline_flows_open(const struct platform_table *described)
{
    uint32_t messages = 0;
    flows.table = described;
    for (uint32_t i = 0; i < flows.table->protocol_count; i++) {
        const struct platform_protocol *p = &flows.table->protocols[i];
        uint32_t end = p->first_message + p->request_count + p->reply_count;
        messages = max(end, messages);
    }
    flows.shapes = grow_zeroed((messages + 1) * sizeof *flows.shapes, "flows");
    flows.lists = grow_zeroed((flows.table->instance_count + 1) * sizeof *flows.lists, "flows");
    for (uint32_t i = 0; i < flows.table->protocol_count; i++)
        learn_protocol(&flows.table->protocols[i]);
}

/* ---- translations ---- */

/* A page is found by the first of its smallest parts. */
static void learn_translation(const struct request *r, uint64_t physical, uint32_t bits)
{
    if (bits < PAGE_BITS || bits > 62)
        bits = PAGE_BITS;
    const uint64_t key[] = {r->address >> bits << (bits - PAGE_BITS), r->pid};
    struct translation *t = hash_table_add(&flows.translations, &translation_kind, key);
    t->physical = physical;
    t->bits = bits;
    flows.sizes_seen |= (uint64_t)1 << bits;
}

static bool translate(uint32_t pid, uint64_t address, uint64_t *physical)
{
    for (uint64_t sizes = flows.sizes_seen; sizes; sizes &= sizes - 1) {
        unsigned bits = (unsigned)__builtin_ctzll(sizes);
        const uint64_t key[] = {address >> bits << (bits - PAGE_BITS), pid};
        const struct translation *t = hash_table_find(&flows.translations, &translation_kind, key);
        if (!t || t->bits != bits)
            continue;
        *physical = t->physical | (address & (((uint64_t)1 << bits) - 1));
        return true;
    }
    return false;
}

/* ---- requests ---- */

/* The likelihood that a request is about an address. A request that waits for its translation asks
 * for no line. */
enum likeness { OTHER_LINE, SAME_IN_PAGE, SAME_LINE };

static enum likeness likeness_of(const struct request *r, uint64_t address, uint32_t line)
{
    uint64_t physical, bytes = max(line, r->line);
    if (r->address / bytes == address / bytes)
        return SAME_LINE;
    if (translate(r->pid, r->address, &physical))
        return physical / bytes == address / bytes ? SAME_LINE : OTHER_LINE;
    uint64_t in_page = ((uint64_t)1 << PAGE_BITS) - 1;
    bool is_same = (r->address & in_page) / bytes == (address & in_page) / bytes;
    return is_same && !r->request_counts[1] ? SAME_IN_PAGE : OTHER_LINE;
}

/* The request on whose behalf `instance` asks; NULL: on its own. */
static struct request *behalf_of(uint32_t instance, const struct shape *s, uint64_t address,
                                 uint64_t now_ps)
{
    struct list *l = &flows.lists[instance];
    struct request *best = NULL;
    unsigned most = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct request *r = &l->requests[i];
        if (r->arrival_ps > now_ps)
            continue;
        enum likeness alike = SAME_LINE;
        if (!s->translates)
            alike = likeness_of(r, address, s->line);
        else if (r->address >> PAGE_BITS != address >> PAGE_BITS)
            alike = OTHER_LINE;
        unsigned score = alike ? 2 * (unsigned)alike + !r->request_counts[s->translates] : 0;
        if (score > most) {
            most = score;
            best = r;
        }
    }
    return best;
}

static void add_request(uint32_t instance, const struct request *r)
{
    struct list *l = &flows.lists[instance];
    grow_list(l->requests, l->count + 1, l->capacity, "flows");
    l->requests[l->count++] = *r;
}

static bool remove_request(uint32_t instance, uint32_t ring, uint16_t tag, struct request *r)
{
    struct list *l = &flows.lists[instance];
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->requests[i].ring != ring || l->requests[i].tag != tag)
            continue;
        *r = l->requests[i];
        memmove(&l->requests[i], &l->requests[i + 1], (--l->count - i) * sizeof *r);
        return true;
    }
    return false;
}

static struct timeline_flow add_request_hop(const struct timeline_hop *h,
                                            const struct platform_ring *p, const struct shape *s,
                                            bool is_shown)
{
    uint64_t address = value_of(s->address, h->fields);
    if (s->address.at == FIELD_NONE || value_of(s->size, h->fields) > BYTES_MAX)
        return (struct timeline_flow){0};
    struct request *parent = behalf_of(p->sender, s, address, h->sent_ps);
    struct request r = {.flow = parent ? parent->flow : h->id,
                        .address = address,
                        .arrival_ps = h->arrival_ps,
                        .ring = h->ring,
                        .pid = (uint32_t)value_of(s->pid, h->fields),
                        .line = s->line,
                        .tag = h->tag,
                        .is_shown = is_shown || (parent && parent->is_shown),
                        .asker = p->sender};
    struct timeline_flow flow = {.id = r.flow, .is_first = !(parent && parent->is_shown)};
    if (parent) {
        parent->request_counts[s->translates]++;
        parent->is_shown = r.is_shown;
        parent->merged = s->translates ? parent->merged : 0;
    }
    if (s->is_awaited)
        add_request(p->receiver, &r);
    return flow;
}

/* Notes the requests that wait at the receiver for the line of this answer without a request of
 * their own below. */
static void mark_merged(const struct request *answered, uint64_t arrival_ps)
{
    struct list *l = &flows.lists[answered->asker];
    for (uint32_t i = 0; i < l->count; i++) {
        struct request *r = &l->requests[i];
        if (r->flow != answered->flow && !r->request_counts[0] && !r->merged
            && r->arrival_ps <= arrival_ps
            && likeness_of(r, answered->address, answered->line) == SAME_LINE)
            r->merged = answered->flow;
    }
}

static struct timeline_flow add_reply_hop(const struct timeline_hop *h,
                                          const struct platform_ring *p, const struct shape *s)
{
    struct request r;
    if (p->peer == RING_NONE || !remove_request(p->sender, p->peer, h->tag, &r))
        return (struct timeline_flow){0};
    if (s->translates)
        learn_translation(&r, value_of(s->address, h->fields),
                          (uint32_t)value_of(s->page_bits, h->fields));
    else
        mark_merged(&r, h->arrival_ps);
    struct list *l = &flows.lists[r.asker];
    bool is_unfinished = false;
    for (uint32_t i = 0; i < l->count && !is_unfinished; i++)
        is_unfinished = l->requests[i].flow == r.flow;
    return (struct timeline_flow){.id = r.flow,
                                  .is_first = !r.is_shown,
                                  .is_last = !is_unfinished,
                                  .merged = r.request_counts[0] ? 0 : r.merged};
}

struct timeline_flow timeline_flows_add(const struct timeline_hop *hop, bool is_shown)
{
    const struct platform_ring *p = &flows.table->rings[hop->ring];
    const struct platform_protocol *protocol = &flows.table->protocols[p->protocol];
    uint32_t kind = hop->kind + (p->is_reply ? protocol->request_count : 0);
    const struct shape *s = &flows.shapes[protocol->first_message + kind];
    return p->is_reply ? add_reply_hop(hop, p, s) : add_request_hop(hop, p, s, is_shown);
}

void timeline_flows_close(void)
{
    if (flows.lists)
        for (uint32_t i = 0; i < flows.table->instance_count; i++)
            free(flows.lists[i].requests);
    free(flows.lists);
    free(flows.shapes);
    hash_table_release(&flows.translations);
    flows.lists = NULL;
    flows.shapes = NULL;
    flows.sizes_seen = 0;
}
