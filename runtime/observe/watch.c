/* See watch.h. A request is about a line when its first field, which is where addresses stand, lies
 * in it; its reply is recognised by connection and tag. What has no room for an address (fences,
 * cache control) is about no line. Called for each message while engine.tracing has ENGINE_WATCHES.
 */
#include "watch.h"

#include <stdio.h>
#include <string.h>

#include "runtime/link/ring.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

#define MOST_AWAITED 4096 /* requests about watched lines in flight; more are not recognised */
#define FRAME_BYTES                                                                                \
    8 /* of wire_bytes, beside fields and payload: codegen/emit/message_layout.h                   \
       */

struct awaited {
    uint32_t ring; /* of the reply */
    uint16_t tag;
    uint64_t address;
};

static const struct platform_table *table;
static struct platform_lines watched, suspects;
static bool seen[PLATFORM_LINES]; /* a message was about the watched line */
static struct awaited *awaited;
static uint32_t awaited_count;
static struct {
    char text[512]; /* "": none */
    const uint8_t *payload;
    uint32_t payload_bytes;
} held; /* the message that is printed next */

static bool is_watched(uint64_t address)
{
    for (uint32_t i = 0; i < watched.count; i++) {
        if (address / WATCH_LINE == watched.address[i] / WATCH_LINE)
            return seen[i] = true;
    }
    return false;
}

/* The address that the message is about; false: none that is watched. */
static bool address_of(const struct platform_ring *p, uint32_t number,
                       const struct platform_message *kind, const struct message *m,
                       uint64_t *address)
{
    if (!p->is_reply) {
        if (kind->wire_bytes - kind->payload_bytes < FRAME_BYTES + sizeof *address)
            return false;
        memcpy(address, m->fields, sizeof *address);
        if (!is_watched(*address))
            return false;
        if (kind->awaited && awaited_count < MOST_AWAITED)
            awaited[awaited_count++] = (struct awaited){p->peer, m->tag, *address};
        return true;
    }
    for (uint32_t i = 0; i < awaited_count; i++) {
        if (awaited[i].ring != number || awaited[i].tag != m->tag)
            continue;
        *address = awaited[i].address;
        awaited[i] = awaited[--awaited_count];
        return true;
    }
    return false;
}

/* Payloads are filled behind the sending, but before anybody sends again. */
static void print_held(void)
{
    if (!held.text[0])
        return;
    fputs(held.text, stderr);
    for (uint32_t i = 0; i < held.payload_bytes; i++)
        fprintf(stderr, "%s%02x", i % 4 ? "" : " ", held.payload[i]);
    fputc('\n', stderr);
    held.text[0] = '\0';
}

void watch_message(const struct ring *r, const struct message *m, uint64_t time_ps)
{
    uint32_t number = (uint32_t)(r - ring_at(0));
    const struct platform_ring *p = &table->rings[number];
    const struct platform_protocol *protocol = &table->protocols[p->protocol];
    const struct platform_message *kind =
        &table->messages[protocol->first_message + message_kind(m)
                         + (p->is_reply ? protocol->request_count : 0)];
    uint64_t address;
    print_held();
    if (!address_of(p, number, kind, m, &address) || time_ps < watched.since_ps)
        return;
    snprintf(held.text, sizeof held.text, "%12llu ps, cycle %llu: %s -> %s: %s 0x%llx, tag %u%s",
             (unsigned long long)time_ps,
             (unsigned long long)component_now(engine_base.components[ring_sender(r)]),
             platform_string(table->instances[p->sender].path),
             platform_string(table->instances[p->receiver].path), platform_string(kind->name),
             (unsigned long long)address, m->tag, kind->payload_bytes ? "," : "");
    held.payload_bytes = kind->payload_bytes;
    if (kind->payload_bytes)
        held.payload = ring_payload((uint32_t)(((const char *)m - engine_base.arena) / ARENA_UNIT));
}

void watch_suspect(uint64_t address, uint64_t since_ps)
{
    if (!suspects.count || since_ps < suspects.since_ps)
        suspects.since_ps = since_ps;
    if (suspects.count < PLATFORM_LINES)
        suspects.address[suspects.count++] = address;
}

void watch_close(void)
{
    print_held();
    for (uint32_t i = 0; i < watched.count; i++)
        if (!seen[i])
            fprintf(stderr, "heddle: no message was about the line at 0x%llx\n",
                    (unsigned long long)watched.address[i]);
}

bool watch_suspects(struct platform_lines *lines)
{
    *lines = suspects;
    return suspects.count > 0;
}

void watch_open(const struct platform_table *described, const struct heddle_options *options)
{
    table = described;
    watched = options->watch;
    suspects = (struct platform_lines){0};
    awaited_count = 0;
    memset(seen, 0, sizeof seen);
    if (!watched.count)
        return;
    if (!awaited)
        awaited = arena_reserve(MOST_AWAITED * sizeof *awaited);
    engine.tracing |= ENGINE_WATCHES;
    ring_trace_all(true);
}
