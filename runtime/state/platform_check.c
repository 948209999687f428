/* Does a platform table agree with itself? Generated tables do; a .tables file may be anything.
 * Every index that platform.c follows is checked here first, so that it can follow them blindly.
 * Called by platform_build(). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/link/ring.h"
#include "lookup.h"
#include "runtime/engine/platform_table.h"

#define MAX_MISTAKES   8
#define MAX_DEPTH      65535u
#define MAX_PAYLOAD    (1u << 18)          /* bytes; a slot's size in arena units has 16 bits */
#define MAX_RING_BYTES ((uint64_t)8 << 30) /* all rings together: their share of the arena */
#define MAX_PHYSICAL   ((uint64_t)1 << 44) /* 16 TiB of simulated memory */

struct checker {
    const struct platform_table *t;
    uint32_t mistakes;
};

static void mistake(struct checker *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void mistake(struct checker *c, const char *format, ...)
{
    if (++c->mistakes > MAX_MISTAKES)
        return;
    va_list arguments;
    va_start(arguments, format);
    fputs("heddle: platform tables: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void below(struct checker *c, const char *table, uint32_t row, const char *field,
                  uint64_t value, uint64_t bound)
{
    if (value >= bound)
        mistake(c, "%s[%u].%s is %llu; there are only %llu", table, row, field,
                (unsigned long long)value, (unsigned long long)bound);
}

/* first .. first + count - 1 must lie in a list of `bound`. */
static bool run(struct checker *c, const char *table, uint32_t row, const char *field,
                uint32_t first, uint32_t count, uint32_t bound)
{
    if (count <= bound && first <= bound - count)
        return true;
    mistake(c, "%s[%u].%s: %u entries from %u do not fit in %u", table, row, field, count, first,
            bound);
    return false;
}

static void string(struct checker *c, const char *table, uint32_t row, uint32_t offset)
{
    if (c->t->string_bytes)
        below(c, table, row, "name", offset, c->t->string_bytes);
}

static void check_domains(struct checker *c)
{
    if (c->t->domain_count == 0 || c->t->domain_count > ENGINE_MAX_CLOCKS)
        mistake(c, "%u clock domains; 1 to %u are possible", c->t->domain_count, ENGINE_MAX_CLOCKS);
    for (uint32_t i = 0; i < c->t->domain_count; i++) {
        string(c, "domains", i, c->t->domains[i].name);
        if (c->t->domains[i].hz == 0 || c->t->domains[i].hz > 1000000000000u)
            mistake(c, "domains[%u] runs at %llu Hz; 1 Hz to 1 THz are possible", i,
                    (unsigned long long)c->t->domains[i].hz);
    }
}

static void check_groups(struct checker *c)
{
    uint32_t next = 0;
    uint32_t domain = 0;
    for (uint32_t i = 0; i < c->t->group_count; i++) {
        const struct platform_group *g = &c->t->groups[i];
        below(c, "groups", i, "unit", g->unit, c->t->unit_count);
        below(c, "groups", i, "domain", g->domain, c->t->domain_count);
        if (g->first != next || g->count > c->t->instance_count - next)
            mistake(c, "groups[%u] holds instances %u .. %u, not the next ones", i, g->first,
                    g->first + g->count);
        else
            next += g->count;
        if (g->domain < domain)
            mistake(c, "groups[%u] of domain %u stands behind one of domain %u", i, g->domain,
                    domain);
        domain = g->domain;
    }
    if (next != c->t->instance_count)
        mistake(c, "the groups hold %u of %u instances", next, c->t->instance_count);
}

static void check_binding(struct checker *c, const char *table, uint32_t row, uint32_t word)
{
    uint32_t value = c->t->bindings[word];
    switch (c->t->binding_kinds[word]) {
    case BIND_RING:
        if (value != RING_NONE)
            below(c, table, row, "ring binding", value, c->t->ring_count);
        break;
    case BIND_COUNT:
        break;
    case BIND_FIRST_RING:
        run(c, table, row, "port array", value * 2, c->t->bindings[word - 1] * 2,
            c->t->port_ring_words);
        break;
    case BIND_PART:
        if (value != UINT32_MAX)
            below(c, table, row, "part binding", value, c->t->part_count);
        break;
    case BIND_FIRST_PART:
        run(c, table, row, "part array", value, c->t->bindings[word - 1], c->t->part_ref_count);
        break;
    case BIND_STORE:
        if (value != UINT32_MAX)
            below(c, table, row, "store binding", value, c->t->store_count);
        break;
    default:
        mistake(c, "%s[%u]: binding %u is of unknown kind %u", table, row, word,
                c->t->binding_kinds[word]);
    }
}

static void check_bindings(struct checker *c, const char *table, uint32_t row, uint32_t first,
                           uint32_t count)
{
    if (!run(c, table, row, "bindings", first, count, c->t->binding_words))
        return;
    for (uint32_t w = first; w < first + count; w++) {
        uint8_t kind = c->t->binding_kinds[w];
        if ((kind == BIND_FIRST_RING || kind == BIND_FIRST_PART)
            && (w == first || c->t->binding_kinds[w - 1] != BIND_COUNT))
            mistake(c, "%s[%u]: the array at binding %u has no count", table, row, w);
        else
            check_binding(c, table, row, w);
    }
}

static void check_instances(struct checker *c)
{
    for (uint32_t i = 0; i < c->t->instance_count; i++) {
        const struct platform_instance *p = &c->t->instances[i];
        string(c, "instances", i, p->path);
        string(c, "instances", i, p->type);
        below(c, "instances", i, "partition", p->partition, (uint64_t)c->t->partition_count + 1);
        run(c, "instances", i, "params", p->params, p->param_count, c->t->param_words);
        check_bindings(c, "instances", i, p->bindings, p->binding_count);
        if (p->route_space < -1 || p->route_space >= (int32_t)c->t->space_count)
            mistake(c, "instances[%u] routes by space %d of %u", i, p->route_space,
                    c->t->space_count);
        if (p->route_count != 0 && p->route_count != c->t->space_count)
            mistake(c, "instances[%u] has %u routes to %u spaces", i, p->route_count,
                    c->t->space_count);
        run(c, "instances", i, "routes", p->routes, p->route_count, c->t->route_words);
        if (!run(c, "instances", i, "incoming", p->incoming, p->incoming_count,
                 c->t->incoming_count))
            continue;
        for (uint32_t k = 0; k < p->incoming_count; k++) {
            uint32_t ring = c->t->incoming[p->incoming + k];
            if (ring != RING_NONE
                && (ring >= c->t->ring_count || c->t->rings[ring].receiver != i
                    || c->t->rings[ring].pending != k))
                mistake(c, "instances[%u]: incoming ring %u (%u) does not end there", i, k, ring);
        }
    }
}

static void check_rings(struct checker *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->t->ring_count; i++) {
        const struct platform_ring *r = &c->t->rings[i];
        string(c, "rings", i, r->name);
        below(c, "rings", i, "sender", r->sender, c->t->instance_count);
        below(c, "rings", i, "receiver", r->receiver, c->t->instance_count);
        if (r->peer != RING_NONE)
            below(c, "rings", i, "peer", r->peer, c->t->ring_count);
        below(c, "rings", i, "protocol", r->protocol, c->t->protocol_count);
        below(c, "rings", i, "link", r->link, (uint64_t)c->t->link_count + 1);
        if (r->link > UINT16_MAX)
            mistake(c, "rings[%u] crosses link %u; at most %u links are possible", i, r->link,
                    UINT16_MAX);
        if (!r->depth || r->depth > MAX_DEPTH || !r->width || r->width > MAX_DEPTH)
            mistake(c, "rings[%u]: depth %u and width %u must be 1 to %u", i, r->depth, r->width,
                    MAX_DEPTH);
        if (r->payload_bytes % 16 || r->payload_bytes > MAX_PAYLOAD)
            mistake(c, "rings[%u]: payload of %u bytes is not a multiple of 16", i,
                    r->payload_bytes);
        bytes += (uint64_t)r->depth * (r->payload_bytes + sizeof(struct message));
        if (r->is_reply > 1)
            mistake(c, "rings[%u]: is_reply is %u, neither 0 nor 1", i, r->is_reply);
        if (r->reversed > 1
            || (r->reversed && r->link <= c->t->link_count && r->link
                && c->t->links[r->link - 1].shared != LINK_WIRE))
            mistake(c, "rings[%u]: reversed, but it crosses no shared wire", i);
        if (!r->link && !r->latency)
            mistake(c, "rings[%u] has neither a link nor a latency", i);
        if (r->receiver < c->t->instance_count) {
            const struct platform_instance *p = &c->t->instances[r->receiver];
            if (r->pending >= p->incoming_count || p->incoming + r->pending >= c->t->incoming_count
                || c->t->incoming[p->incoming + r->pending] != i)
                mistake(c, "rings[%u] is not among the incoming rings of its receiver", i);
        }
    }
    if (bytes > MAX_RING_BYTES)
        mistake(c, "the rings take %llu bytes", (unsigned long long)bytes);
    for (uint32_t i = 0; i < c->t->port_ring_words; i++) {
        if (c->t->port_rings[i] != RING_NONE)
            below(c, "port_rings", i, "ring", c->t->port_rings[i], c->t->ring_count);
    }
}

static void check_parts(struct checker *c)
{
    for (uint32_t i = 0; i < c->t->part_count; i++) {
        const struct platform_part *p = &c->t->parts[i];
        string(c, "parts", i, p->path);
        string(c, "parts", i, p->type);
        below(c, "parts", i, "owner_instance", p->owner_instance, c->t->instance_count);
        if (p->owner_part != UINT32_MAX)
            below(c, "parts", i, "owner_part", p->owner_part, i);
        run(c, "parts", i, "params", p->params, p->param_count, c->t->param_words);
        check_bindings(c, "parts", i, p->bindings, p->binding_count);
    }
    for (uint32_t i = 0; i < c->t->part_ref_count; i++)
        below(c, "part_refs", i, "part", c->t->part_refs[i], c->t->part_count);
}

static void check_protocols(struct checker *c)
{
    for (uint32_t i = 0; i < c->t->protocol_count; i++) {
        const struct platform_protocol *p = &c->t->protocols[i];
        string(c, "protocols", i, p->name);
        if (p->request_count > 256 || p->reply_count > 256)
            mistake(c, "protocols[%u] has more than 256 messages", i);
        run(c, "protocols", i, "messages", p->first_message, p->request_count + p->reply_count,
            c->t->message_count);
    }
    for (uint32_t i = 0; i < c->t->message_count; i++) {
        const struct platform_message *m = &c->t->messages[i];
        string(c, "messages", i, m->name);
        string(c, "messages", i, m->fields);
        if (m->length_at > sizeof(struct message) - sizeof(uint32_t) || m->variable > m->wire_bytes)
            mistake(c, "messages[%u] has %u bytes of a length at %u", i, m->variable, m->length_at);
    }
}

static void check_spaces(struct checker *c)
{
    for (uint32_t i = 0; i < c->t->space_count; i++) {
        const struct platform_space *s = &c->t->spaces[i];
        string(c, "spaces", i, s->name);
        if (!s->target_count || !s->interleave)
            mistake(c, "spaces[%u] has %u targets, interleaved by %llu bytes", i, s->target_count,
                    (unsigned long long)s->interleave);
        if (s->hashed
            && ((s->target_count & (s->target_count - 1)) != 0
                || (s->interleave & (s->interleave - 1)) != 0))
            mistake(c, "spaces[%u] is hashed over %u targets, interleaved by %llu bytes", i,
                    s->target_count, (unsigned long long)s->interleave);
        if (s->base > MAX_PHYSICAL || s->size > MAX_PHYSICAL)
            mistake(c, "spaces[%u] goes beyond %llu TiB", i,
                    (unsigned long long)(MAX_PHYSICAL >> 40));
    }
    for (uint32_t i = 0; i < c->t->map_count; i++)
        below(c, "maps", i, "space", c->t->maps[i].space, c->t->space_count);
}

bool platform_check(const struct platform_table *table)
{
    struct checker c = {.t = table};
    if (table->abi != PLATFORM_ABI) {
        mistake(&c, "made for runtime interface %u, this is %u; generate the platform again",
                table->abi, PLATFORM_ABI);
        return false;
    }
    if (table->string_bytes && table->strings[table->string_bytes - 1])
        mistake(&c, "the strings do not end");
    check_domains(&c);
    check_groups(&c);
    check_rings(&c);
    check_instances(&c);
    check_parts(&c);
    check_protocols(&c);
    check_spaces(&c);
    for (uint32_t i = 0; i < table->link_count; i++) {
        string(&c, "links", i, table->links[i].name);
        below(&c, "links", i, "shared", table->links[i].shared, LINK_SHARINGS);
    }
    if (c.mistakes > MAX_MISTAKES)
        fprintf(stderr, "heddle: platform tables: and %u more mistakes\n",
                c.mistakes - MAX_MISTAKES);
    return c.mistakes == 0;
}
