/* See kfd_sdma_fake.h. */
#include "kfd_sdma_fake.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

_Alignas(64) char vram[SIZE], host[SIZE];
static struct kfd_allocation allocations[] = {
    {.address = VRAM, .size = SIZE, .flags = 1},
    {.address = HOST, .size = SIZE, .flags = 2, .is_at_host = true}};
struct kfd_queue q;
char said[256], calls[256];
uint32_t interrupt;

struct kfd_machine kfd;
static struct kfd_cache_state caches;
static struct kfd_process process = {.caches = &caches};

/* ---- what kfd_sdma_queue.c asks of the machine ---- */

void *kfd_bytes(const struct kfd_process *p, uint32_t gpu, uint64_t address, uint64_t size)
{
    struct kfd_allocation *a = kfd_find_allocation(p, address);
    (void)gpu;
    if (!a || size > SIZE - (address - a->address))
        return NULL;
    return (a->address == VRAM ? vram : host) + (address - a->address);
}

struct kfd_allocation *kfd_find_allocation(const struct kfd_process *p, uint64_t address)
{
    (void)p;
    return address - VRAM < SIZE ? &allocations[0] : address - HOST < SIZE ? &allocations[1] : NULL;
}

void kfd_packet_track(struct kfd_queue *queue, uint64_t ticket, uint64_t completion)
{
    cr_assert(ticket && !completion);
    queue->count++;
}

void kfd_queue_stop(struct kfd_queue *queue, enum kfd_stop reason, const char *why)
{
    (void)reason;
    queue->is_stopped = true;
    snprintf(said, sizeof said, "%s", why);
}

void kfd_queue_fault(struct kfd_queue *queue, const char *why, uint64_t address)
{
    char at[32];
    snprintf(at, sizeof at, "at 0x%llx,", (unsigned long long)address);
    cr_expect(strstr(why, at), "%s", why);
    kfd_queue_stop(queue, STOP_OTHER, why);
}

int kfd_status(enum driver_status status, const char *what)
{
    (void)what;
    return status == DRIVER_OK ? 0 : -1;
}

void kfd_event_interrupt(struct kfd_process *p, uint32_t id)
{
    (void)p;
    interrupt = id;
}

uint64_t kfd_clock_at(const struct kfd_process *p, uint64_t time_ps)
{
    (void)p;
    return time_ps / 1000;
}

/* ---- the driver ---- */

struct move {
    char *to;
    const char *from; /* NULL: a fill */
    uint64_t size;
    char pattern[4];
};
static struct move moves[64];
uint32_t first_move, move_count;
static uint64_t last_ticket;

static enum driver_status note(char letter, struct move move, uint64_t *ticket)
{
    size_t length = strlen(calls);
    if (length + 1 < sizeof calls)
        calls[length] = letter;
    if (!ticket)
        return DRIVER_OK;
    cr_assert(move_count - first_move < 64);
    moves[move_count++ % 64] = move;
    *ticket = ++last_ticket;
    return DRIVER_OK;
}

static enum driver_status copy(uint32_t queue, uint64_t to, uint64_t from, uint64_t size,
                               uint64_t *ticket)
{
    struct move m = {.to = kfd_bytes(&process, queue, to, size),
                     .from = kfd_bytes(&process, queue, from, size),
                     size};
    return note('C', m, ticket);
}

bool kfd_queues_unreleased(const struct kfd_process *p)
{
    return p->caches->is_unreleased;
}

void kfd_queues_released(struct kfd_process *p, const struct kfd_queue *queue)
{
    (void)queue;
    p->caches->is_unreleased = false;
}

static enum driver_status read(uint32_t queue, void *to, uint64_t from, uint64_t size,
                               uint64_t *ticket)
{
    return note('R', (struct move){.to = to, .from = kfd_bytes(&process, queue, from, size), size},
                ticket);
}

static enum driver_status write(uint32_t queue, uint64_t to, const void *from, uint64_t size,
                                uint64_t *ticket)
{
    return note('W', (struct move){.to = kfd_bytes(&process, queue, to, size), .from = from, size},
                ticket);
}

static enum driver_status fill(uint32_t queue, uint64_t to, const void *pattern, uint32_t bytes,
                               uint64_t count, uint64_t *ticket)
{
    struct move m = {.to = kfd_bytes(&process, queue, to, count * bytes), .size = count * bytes};
    for (uint32_t i = 0; i < sizeof m.pattern; i++)
        m.pattern[i] = ((const char *)pattern)[i % bytes];
    return note('F', m, ticket);
}

static enum driver_status fence(uint32_t queue, uint64_t *ticket)
{
    (void)queue;
    return note('f', (struct move){0}, ticket);
}

static uint64_t now(void)
{
    return 1000 * last_ticket;
}

static const struct driver_api api = {
    .copy = copy, .read = read, .write = write, .fill = fill, .fence = fence, .now = now};

bool finish(void)
{
    if (first_move == move_count)
        return false;
    const struct move *m = &moves[first_move++ % 64];
    for (uint64_t i = 0; i < m->size; i++)
        m->to[i] = m->from ? m->from[i] : m->pattern[i % 4];
    q.count--;
    return true;
}

/* ---- sending packets ---- */

static const struct isa_traits generations[] = {{.encoding = ISA_ENCODING_GFX8},
                                                {.encoding = ISA_ENCODING_GFX9}};
uint64_t written;

void open_queue(bool gfx9)
{
    kfd.api = &api;
    kfd.gpu[0].traits = &generations[gfx9];
    q = (struct kfd_queue){.process = &process,
                           .type = 1,
                           .ring = RING,
                           .read_pointer = READ_POINTER,
                           .sdma.ring_bytes = RING_BYTES};
    caches = (struct kfd_cache_state){0};
    written = first_move = move_count = 0;
    last_ticket = 0;
    interrupt = 0;
    memset(calls, 0, sizeof calls);
    memset(said, 0, sizeof said);
    for (uint32_t i = 0; i < SIZE; i++) {
        vram[i] = (char)(i * 7 + i / 256);
        host[i] = i < DATA ? 0 : (char)(i * 5 + 3);
    }
}

bool is_gfx9(void)
{
    return kfd.gpu[0].traits == &generations[1];
}

bool ring(void)
{
    return kfd_sdma_read_doorbell(&q, is_gfx9() ? written : written % RING_BYTES);
}

void put(const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, written += 4)
        memcpy(host + written % RING_BYTES, &words[i], 4);
}

void run(void)
{
    ring();
    while (kfd_sdma_begin(&q) || finish())
        ;
}

uint32_t word(uint64_t address)
{
    uint32_t value;
    memcpy(&value, kfd_bytes(&process, 0, address, 4), 4);
    return value;
}

void set(uint64_t address, uint64_t value, size_t bytes)
{
    memcpy(kfd_bytes(&process, 0, address, bytes), &value, bytes);
}

void expect_all_done(void)
{
    cr_expect(!q.is_stopped, "%s", said);
    cr_expect_eq(q.next, q.announced_end);
    cr_expect_eq(first_move, move_count);
}
