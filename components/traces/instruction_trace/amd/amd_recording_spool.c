/* What wavefronts do, on its way to their kernel's file without a name. Each unit has its own
 * buffers, so units of several threads meet only where a wavefront looks for its kernel. */
#include "components/traces/instruction_trace/amd/amd_recording_spool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

/* More than the longest step: 64 addresses of 10 bytes, and the rest. */
#define STEP_MOST 720

struct wave {
    struct record_kernel *kernel; /* NULL: not recorded */
    uint64_t chain;               /* in kernel->chain */
    uint64_t next_pc, mask, address;
    uint32_t block, used;
    uint64_t steps;
    uint8_t bytes[RECORD_BLOCK]; /* the block that is being filled */
};

struct unit {
    struct wave **waves;
    size_t capacity;
};

static struct unit *units;
static uint32_t unit_count;
static struct record_kernel *(*find_kernel)(uint32_t gpu, uint32_t dispatch);
static int failure; /* errno, or -1: a step that no code is known for */

void record_spool_open(uint32_t count, struct record_kernel *(*find)(uint32_t, uint32_t))
{
    units = itrace_allocate(count, sizeof *units);
    unit_count = count;
    find_kernel = find;
    failure = 0;
}

int record_spool_failure(void)
{
    return __atomic_load_n(&failure, __ATOMIC_RELAXED);
}

static void fail(int reason)
{
    __atomic_store_n(&failure, reason, __ATOMIC_RELAXED);
}

void record_spool_close(void)
{
    for (uint32_t u = 0; u < unit_count; u++) {
        for (size_t i = 0; i < units[u].capacity; i++)
            itrace_free(units[u].waves[i]);
        itrace_free(units[u].waves);
    }
    itrace_free(units);
    units = NULL;
    unit_count = 0;
}

static struct wave *wave_of(uint32_t unit, uint32_t number)
{
    struct unit *u = &units[unit];
    size_t before = u->capacity;
    u->waves = itrace_reserve(u->waves, number + 1, &u->capacity, sizeof *u->waves);
    if (u->capacity > before)
        memset(u->waves + before, 0, (u->capacity - before) * sizeof *u->waves);
    if (!u->waves[number])
        u->waves[number] = itrace_allocate(1, sizeof *u->waves[number]);
    return u->waves[number];
}

static bool write_at(int fd, const uint8_t *bytes, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t put = pwrite(fd, bytes, size, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size -= (size_t)put;
        at += (uint64_t)put;
    }
    return true;
}

static uint32_t new_block(struct record_kernel *k)
{
    return __atomic_add_fetch(&k->blocks, 1, __ATOMIC_RELAXED);
}

/* Writes the wavefront's block; `next` comes behind it. */
static void write_block(struct wave *w, uint32_t next)
{
    uint32_t head[2] = {next, w->used - RECORD_HEAD};
    memcpy(w->bytes, head, sizeof head);
    if (!write_at(fileno(w->kernel->spool), w->bytes, w->used,
                  (uint64_t)(w->block - 1) * RECORD_BLOCK))
        fail(errno);
    w->block = next;
    w->used = RECORD_HEAD;
}

static void begin(uint32_t unit, uint32_t number, const struct observed_wavefront *what)
{
    struct wave *w = wave_of(unit, number);
    struct record_kernel *k = find_kernel(what->gpu, what->dispatch);
    w->kernel = k;
    if (!k)
        return;
    uint64_t group =
        ((uint64_t)what->group[2] * k->groups[1] + what->group[1]) * k->groups[0] + what->group[0];
    w->chain = group * k->group_waves + what->number;
    w->block = new_block(k);
    w->used = RECORD_HEAD;
    w->next_pc = w->mask = w->address = w->steps = 0;
    k->chain[w->chain].first = w->block;
}

static uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_signed(uint8_t *at, uint64_t value)
{
    return put(at, value << 1 ^ (0 - (value >> 63)));
}

/* Are the addresses of the lanes, which follow each other, evenly apart? */
static bool is_even(const struct observed_instruction *s)
{
    uint64_t mask = s->mask;
    if (!mask)
        return true;
    unsigned first = (unsigned)__builtin_ctzll(mask);
    mask >>= first;
    unsigned count = (unsigned)__builtin_popcountll(mask);
    if (count < 2 || mask & (mask + 1))
        return false;
    const uint64_t *address = s->address + first;
    uint64_t different = 0, stride = address[1] - address[0];
    for (unsigned i = 2; i < count; i++)
        different |= (address[i] - address[i - 1]) ^ stride;
    return !different;
}

static uint8_t *put_addresses(struct wave *w, const struct observed_instruction *s, bool even,
                              uint8_t *at)
{
    uint64_t last = w->address;
    if (!s->mask)
        return at;
    unsigned first = (unsigned)__builtin_ctzll(s->mask);
    w->address = s->address[first];
    if (even) {
        at = put_signed(at, s->address[first] - last);
        return put_signed(at, s->address[first + 1] - s->address[first]);
    }
    for (uint64_t rest = s->mask; rest; rest &= rest - 1) {
        uint64_t address = s->address[__builtin_ctzll(rest)];
        at = put_signed(at, address - last);
        last = address;
    }
    return at;
}

/* The lines of code that an instruction lies in; false: the code object has no such lines. */
static bool note_code(struct record_kernel *k, uint64_t pc, uint32_t size)
{
    uint64_t offset = pc - k->start.code_address;
    if (offset >= k->start.code_bytes || size > k->start.code_bytes - offset)
        return false;
    __atomic_store_n(&k->line_used[offset / RECORD_LINE], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&k->line_used[(offset + size - 1) / RECORD_LINE], 1, __ATOMIC_RELAXED);
    return true;
}

static void step(uint32_t unit, uint32_t number, const struct observed_instruction *s)
{
    struct wave *w = units[unit].waves[number];
    if (!w->kernel)
        return;
    if (!note_code(w->kernel, s->pc, s->size)) {
        fail(-1);
        return;
    }
    if (w->used > RECORD_BLOCK - STEP_MOST)
        write_block(w, new_block(w->kernel));
    bool even = s->address && is_even(s);
    unsigned flags = (s->pc == w->next_pc ? STEP_FOLLOWS : 0u)
                     | (s->mask == w->mask ? STEP_SAME_MASK : 0u) | (s->address ? STEP_ACCESS : 0u)
                     | (even ? STEP_STRIDE : 0u) | (s->apart ? STEP_APART : 0u);
    uint8_t *at = w->bytes + w->used;
    *at++ = (uint8_t)flags;
    if (!(flags & STEP_FOLLOWS))
        at = put_signed(at, s->pc - w->next_pc);
    if (!(flags & STEP_SAME_MASK)) {
        memcpy(at, &s->mask, sizeof s->mask);
        at += sizeof s->mask;
    }
    if (s->address) {
        at = put(at, s->bytes);
        if (s->apart)
            at = put(at, s->apart);
        at = put_addresses(w, s, even, at);
    }
    w->used = (uint32_t)(at - w->bytes);
    w->next_pc = s->pc + s->size;
    w->mask = s->mask;
    w->steps++;
}

static void end(uint32_t unit, uint32_t number)
{
    struct wave *w = units[unit].waves[number];
    if (!w->kernel)
        return;
    w->kernel->chain[w->chain].steps = w->steps;
    write_block(w, 0);
    w->kernel = NULL;
}

const struct execution_observer record_spool_ops = {.begin = begin, .step = step, .end = end};
