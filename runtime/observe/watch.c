/* See watch.h. A request is about a line when its first field, which is where addresses stand, lies
 * in it; its reply is recognised by connection and tag. What has no room for an address (fences,
 * cache control) is about no line. Called for each message while engine.tracing has ENGINE_WATCHES.
 */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/link/ring.h"
#include "runtime/engine/options.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "needed.h"
#include "runtime/engine/byte_list.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

/* Wire bytes of a message beside its fields and payload (dsl/message_layout.h). */
#define FRAME_BYTES 8

struct awaited {
    uint32_t ring; /* of the reply */
    uint16_t tag;
    uint64_t address;
};

static const struct platform_table *table;
static struct platform_lines watched, suspects;
static bool seen[PLATFORM_LINES]; /* a message was about the watched line */
static struct byte_list awaiting; /* struct awaited[]: requests about watched lines in flight */
/* A message that is printed, with its bytes. */
struct printed {
    struct watch_place place;
    uint32_t sequence; /* of this rank, since ranks have met */
    uint32_t payload_bytes;
    char text[512]; /* "": none */
};
static struct printed held; /* is printed next */
static const uint8_t *held_payload;

/* With several ranks, until they meet: struct printed and payload, one behind the other. */
static struct byte_list waiting;
static uint32_t waiting_count;

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
        if (kind->awaited && platform_rank_of(p->receiver) == ranks.number)
            byte_list_add(&awaiting, &(struct awaited){p->peer, m->tag, *address},
                          sizeof(struct awaited));
        return true;
    }
    struct awaited *all = (struct awaited *)(void *)awaiting.bytes;
    for (size_t i = 0; i < awaiting.used / sizeof *all; i++) {
        if (all[i].ring != number || all[i].tag != m->tag)
            continue;
        *address = all[i].address;
        awaiting.used -= sizeof *all;
        all[i] = all[awaiting.used / sizeof *all];
        return true;
    }
    return false;
}

static void print_line(const struct printed *p, const uint8_t *payload)
{
    fputs(p->text, stderr);
    for (uint32_t i = 0; i < p->payload_bytes; i++)
        fprintf(stderr, "%s%02x", i % 4 ? "" : " ", payload[i]);
    fputc('\n', stderr);
}

static void add_line(const struct printed *p, const void *payload)
{
    size_t bytes = sizeof *p + (p->payload_bytes + 7) / 8 * 8;
    struct printed *own = byte_list_room(&waiting, bytes);
    *own = *p;
    own->sequence = waiting_count++;
    memcpy(own + 1, payload, p->payload_bytes);
}

/* Payloads are filled after the sending, but before the next message is sent. */
static void print_held(void)
{
    if (!held.text[0])
        return;
    if (rank_is_alone())
        print_line(&held, held_payload);
    else
        add_line(&held, held_payload);
    held.text[0] = '\0';
}

static const struct platform_message *kind_of(const struct platform_ring *p,
                                              const struct message *m)
{
    const struct platform_protocol *protocol = &table->protocols[p->protocol];
    return &table->messages[protocol->first_message + message_kind(m)
                            + (p->is_reply ? protocol->request_count : 0)];
}

void watch_message(const struct ring *r, const struct message *m, uint64_t time_ps,
                   struct watch_place place)
{
    uint32_t number = (uint32_t)(r - ring_at(0));
    const struct platform_ring *p = &table->rings[number];
    const struct platform_message *kind = kind_of(p, m);
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
    held.place = place;
    held.payload_bytes = kind->payload_bytes;
    if (kind->payload_bytes)
        held_payload = ring_payload((uint32_t)(((const char *)m - engine_base.arena) / ARENA_UNIT));
}

/* ---- several ranks ---- */

void watch_arrival(uint32_t ring, const struct message *m)
{
    const struct platform_ring *p = &table->rings[ring];
    uint64_t address;
    if (!p->is_reply)
        address_of(p, ring, kind_of(p, m), m, &address);
}

static bool has_lines(void)
{
    return waiting.used != 0 || held.text[0];
}

static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    print_held();
    rank_put(to, seen, sizeof seen);
    rank_put(to, waiting.bytes, waiting.used);
    waiting.used = 0;
    waiting_count = 0;
}

static void merge(struct rank_reader *from)
{
    const bool *theirs = rank_read(from, sizeof seen);
    for (uint32_t i = 0; i < PLATFORM_LINES; i++)
        seen[i] |= theirs[i];
    while (from->left) {
        struct printed p;
        memcpy(&p, rank_read(from, sizeof p), sizeof p);
        add_line(&p, rank_read(from, (p.payload_bytes + 7) / 8 * 8));
    }
}

/* Lines of one rank stay in their order; one instance is at one rank. */
static int by_place(const void *a, const void *b)
{
    const struct printed *x = *(const struct printed *const *)a;
    const struct printed *y = *(const struct printed *const *)b;
    if (x->place.ps != y->place.ps)
        return x->place.ps < y->place.ps ? -1 : 1;
    if (x->place.order != y->place.order)
        return x->place.order < y->place.order ? -1 : 1;
    if (x->place.place != y->place.place)
        return x->place.place < y->place.place ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void watch_settle(void)
{
    print_held();
    if (!waiting_count)
        return;
    const struct printed **sorted = needed(calloc(waiting_count, sizeof *sorted), "watched lines");
    size_t at = 0;
    for (uint32_t i = 0; i < waiting_count; i++) {
        sorted[i] = (const struct printed *)(const void *)(waiting.bytes + at);
        at += sizeof *sorted[i] + (sorted[i]->payload_bytes + 7) / 8 * 8;
    }
    qsort(sorted, waiting_count, sizeof *sorted, by_place);
    for (uint32_t i = 0; i < waiting_count; i++)
        print_line(sorted[i], (const uint8_t *)(sorted[i] + 1));
    free(sorted);
    waiting.used = 0;
    waiting_count = 0;
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
    watch_settle();
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

void watch_open(const struct platform_table *described)
{
    char address[32];
    table = described;
    watched = (struct platform_lines){.since_ps = option_number("watch-from")};
    while (watched.count < PLATFORM_LINES
           && option_line("watch", watched.count, address, sizeof address))
        watched.address[watched.count++] = strtoull(address, NULL, 0);
    suspects = (struct platform_lines){0};
    awaiting.used = 0;
    memset(seen, 0, sizeof seen);
    if (!watched.count)
        return;
    static const struct rank_channel channel = {
        .times = RANK_CHANNEL_BARRIER, .encode = encode, .merge = merge, .is_filling = has_lines};
    rank_channel_register(&channel);
    engine.tracing |= ENGINE_WATCHES;
    ring_trace_all(true);
}
