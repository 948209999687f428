/* Watched lines of memory. A request is about a line when its first field, which is where addresses
 * are, lies in it; its reply is recognised by connection and tag. What has no room for an address
 * (fences, cache control) is about no line. Called for each message while engine.tracing has
 * ENGINE_WATCHES.
 */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/byte_list.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

/* Wire bytes of a message in addition to its fields and payload (dsl/message_layout.h). */
#define FRAME_BYTES 8

struct awaited {
    uint32_t ring; /* the reply's ring */
    uint16_t tag;
    uint64_t address;
};

static struct {
    const struct platform_table *table;
    struct platform_lines watched, suspects;
    bool was_seen[PLATFORM_LINES_MAX]; /* a message was about the watched line */
    struct byte_list awaiting; /* struct awaited[]: requests about watched lines in flight */
} watch;
/* A message that is printed next, and its bytes. */
static struct {
    char text[512]; /* "": none */
    uint32_t payload_bytes;
    const uint8_t *payload;
} pending;

static bool is_watched(uint64_t address)
{
    for (uint32_t i = 0; i < watch.watched.count; i++)
        if (address / WATCH_LINE == watch.watched.address[i] / WATCH_LINE)
            return watch.was_seen[i] = true;
    return false;
}

/* The address that the message is about. False: none that is watched. */
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
        if (kind->awaited)
            byte_list_add(&watch.awaiting, &(struct awaited){p->peer, m->tag, *address},
                          sizeof(struct awaited));
        return true;
    }
    struct awaited *requests = (struct awaited *)(void *)watch.awaiting.bytes;
    for (size_t i = 0; i < watch.awaiting.used / sizeof *requests; i++) {
        if (requests[i].ring != number || requests[i].tag != m->tag)
            continue;
        *address = requests[i].address;
        watch.awaiting.used -= sizeof *requests;
        requests[i] = requests[watch.awaiting.used / sizeof *requests];
        return true;
    }
    return false;
}

/* Payloads are filled after the sending, but before the next message is sent. */
static void print_pending(void)
{
    if (!pending.text[0])
        return;
    fputs(pending.text, stderr);
    for (uint32_t i = 0; i < pending.payload_bytes; i++)
        fprintf(stderr, "%s%02x", i % 4 ? "" : " ", pending.payload[i]);
    fputc('\n', stderr);
    pending.text[0] = '\0';
}

static const struct platform_message *kind_of(const struct platform_ring *p,
                                              const struct message *m)
{
    const struct platform_protocol *protocol = &watch.table->protocols[p->protocol];
    return &watch.table->messages[protocol->first_message + message_kind(m)
                                  + (p->is_reply ? protocol->request_count : 0)];
}

void watch_message(const struct ring *r, const struct message *m, uint64_t time_ps)
{
    uint32_t number = (uint32_t)(r - ring_at(0));
    const struct platform_ring *p = &watch.table->rings[number];
    const struct platform_message *kind = kind_of(p, m);
    uint64_t address;
    print_pending();
    if (!address_of(p, number, kind, m, &address) || time_ps < watch.watched.since_ps)
        return;
    snprintf(pending.text, sizeof pending.text,
             "%12llu ps, cycle %llu: %s -> %s: %s 0x%llx, tag %u%s", (unsigned long long)time_ps,
             (unsigned long long)component_now(engine_base.components[ring_sender(r)]),
             platform_string(watch.table->instances[p->sender].path),
             platform_string(watch.table->instances[p->receiver].path), platform_string(kind->name),
             (unsigned long long)address, m->tag, kind->payload_bytes ? "," : "");
    pending.payload_bytes = kind->payload_bytes;
    if (kind->payload_bytes)
        pending.payload =
            ring_payload((uint32_t)(((const char *)m - engine_base.arena) / ARENA_UNIT));
}

void watch_suspect(uint64_t address, uint64_t since_ps)
{
    if (!watch.suspects.count || since_ps < watch.suspects.since_ps)
        watch.suspects.since_ps = since_ps;
    if (watch.suspects.count < PLATFORM_LINES_MAX)
        watch.suspects.address[watch.suspects.count++] = address;
}

void watch_close(void)
{
    print_pending();
    for (uint32_t i = 0; i < watch.watched.count; i++)
        if (!watch.was_seen[i])
            fprintf(stderr, "heddle: no message was about the line at 0x%llx\n",
                    (unsigned long long)watch.watched.address[i]);
}

bool watch_suspects(struct platform_lines *lines)
{
    *lines = watch.suspects;
    return watch.suspects.count > 0;
}

void watch_open(const struct platform_table *described)
{
    char address[32];
    watch.table = described;
    watch.watched = (struct platform_lines){.since_ps = option_number("watch-from")};
    while (watch.watched.count < PLATFORM_LINES_MAX
           && option_line("watch", watch.watched.count, address, sizeof address))
        watch.watched.address[watch.watched.count++] = strtoull(address, NULL, 0);
    watch.suspects = (struct platform_lines){0};
    watch.awaiting.used = 0;
    memset(watch.was_seen, 0, sizeof watch.was_seen);
    if (!watch.watched.count)
        return;
    engine.tracing |= ENGINE_WATCHES;
    ring_trace_all(true);
}
