/* Keeps the calls of a program whose state is to be written, and replays them. Records are written
 * between runs of the engine only: what was done since the last one is gathered and becomes one
 * record. */
#include "driver_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/likely.h"
#include "base/number.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/sampling/sampling_options.h"
#include "runtime/engine/arena.h"
#include "runtime/state/checkpoint.h"

#include "driver_program.h"

enum journal_kind {
    JOURNAL_RUN,     /* the engine ran to its end */
    JOURNAL_STATE,   /* the engine ran to where a state was written */
    JOURNAL_AT_ONCE, /* commands were done in the call that enqueued them */
    JOURNAL_ADDRESS, /* an allocation's */
};

struct journal_record {
    uint64_t kind;  /* enum journal_kind */
    uint64_t calls; /* hash of the calls before */
    union {
        struct {
            uint64_t cycle, time_ps; /* by the driver's clock */
            uint64_t stop_at;
            uint64_t written; /* bit i: the newest piece of GPU i's ring of arguments is there */
            uint32_t done,
                buffers; /* struct journal_done, then struct journal_bytes, that follow */
        } ran;
        struct {
            uint64_t size, address;
        } allocated;
    };
};

struct journal_done {
    uint64_t ticket, done_ps; /* as in struct driver_ticket */
    uint64_t queue;
};

struct journal_buffer {
    uint64_t ticket, queue;
    char *host;
    uint64_t size;
};

/* The head of what a read has brought; `size` bytes follow, filled up to a multiple of 8. */
struct journal_bytes {
    uint64_t ticket, queue, size;
};

enum { TEXT_BYTES_LOG2 = 36 };

static struct driver_journal *journal(void)
{
    return &driver_process()->journal;
}

static bool journal_replays(void)
{
    return checkpoint_is_pending() && journal()->is_open;
}

static bool journal_keeps(void)
{
    return journal()->is_open && (checkpoint_is_wanted() || checkpoint_is_pending());
}

/* ---- what the calls are ---- */

static void fold(uint64_t word)
{
    journal()->calls = hash_bytes(journal()->calls, &word, sizeof word);
}

/* Bytes that are written count, too, unless a read is still to bring something there. */
static void journal_call(const struct driver_command *k)
{
    if (!journal_keeps())
        return;
    fold((uint64_t)k->kind << 32 | k->queue);
    fold(k->size);
    if (command_is_move(k))
        fold(k->move.address);
    if (k->kind == DRIVER_LAUNCH) {
        fold(k->launch.entry);
        fold(k->launch.groups);
    }
    if (k->kind == DRIVER_WRITE && !journal()->reads)
        journal()->calls = hash_bytes(journal()->calls, k->move.host, k->size / 8 * 8);
    journal()->reads += k->kind == DRIVER_READ;
}

/* ---- keeping ---- */

static void append_entry(const void *bytes, uint64_t size)
{
    struct driver_journal *j = journal();
    uint64_t whole = round_up(size, 8);
    if (whole > ((uint64_t)1 << TEXT_BYTES_LOG2) - j->used_bytes)
        die("a state is to be written, and the program has read more than %d GiB before; "
            "write it earlier",
            1 << (TEXT_BYTES_LOG2 - 30));
    memcpy(j->text + j->used_bytes, bytes, size); /* zeros follow */
    j->used_bytes += whole;
}

static void append_bytes(uint64_t ticket, uint64_t queue, const char *host, uint64_t size)
{
    const struct journal_bytes head = {ticket, queue, size};
    append_entry(&head, sizeof head);
    append_entry(host, size);
}

/* Reads that are under way, as far as they have come. */
static uint32_t count_begun(const struct driver *d, bool put)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        for (uint32_t c = q->first; c != DRIVER_NONE; c = driver_command_at(d, c)->next) {
            const struct driver_command *k = driver_command_at(d, c);
            if (k->kind != DRIVER_READ || !k->received)
                continue;
            count++;
            if (put)
                append_bytes(k->ticket, i, k->move.host, k->size);
        }
    }
    return count;
}

static void keep_record(struct driver *d, enum journal_kind kind)
{
    struct driver_journal *j = journal();
    const struct engine_domain *domain = &engine.domains[d->io.base.domain];
    bool state = kind == JOURNAL_STATE;
    struct journal_record r = {
        .kind = kind,
        .calls = j->calls,
        .ran = {.cycle = domain->cycle,
                .time_ps = domain->time_ps,
                .stop_at = d->stop_at,
                .done = j->done_count,
                .buffers = j->buffer_count + (state ? count_begun(d, false) : 0)}};
    for (uint32_t i = 0; i < d->device_count; i++)
        r.ran.written |= (uint64_t)d->device[i].ring.last_piece.is_written << i;
    append_entry(&r, sizeof r);
    append_entry(j->done, j->done_count * sizeof *j->done);
    for (uint32_t i = 0; i < j->buffer_count; i++)
        append_bytes(j->buffer[i].ticket, j->buffer[i].queue, j->buffer[i].host, j->buffer[i].size);
    if (state)
        count_begun(d, true);
    j->done_count = j->buffer_count = 0;
}

static void journal_note_done(struct driver *d, const struct driver_command *k)
{
    struct driver_journal *j = journal();
    if (!journal_keeps() || journal_replays())
        return;
    j->done[j->done_count++] =
        (struct journal_done){k->ticket, driver_ticket_at(d, k->ticket)->done_ps, k->queue};
    if (k->kind == DRIVER_READ)
        j->buffer[j->buffer_count++] =
            (struct journal_buffer){k->ticket, k->queue, k->move.host, k->size};
    j->reads -= k->kind == DRIVER_READ;
}

static void journal_ran(struct driver *d)
{
    if (journal_keeps())
        keep_record(d, JOURNAL_RUN);
}

static void journal_keep_address(struct driver *d, uint64_t size, uint64_t address)
{
    (void)d;
    if (!journal_keeps() || driver_process()->is_running)
        return;
    const struct journal_record r = {
        .kind = JOURNAL_ADDRESS, .calls = journal()->calls, .allocated = {size, address}};
    append_entry(&r, sizeof r);
}

/* ---- answering ---- */

static enum driver_status broken(void)
{
    return run_lose(DRIVER_FAULT, "%s",
                    "the calls are not those before the state that was to be restored: it is of "
                    "another trace, or of other options");
}

static const struct journal_record *next_record(enum journal_kind kind)
{
    struct driver_journal *j = journal();
    if (j->next_answer + sizeof(struct journal_record) > j->used_bytes)
        return NULL;
    const struct journal_record *r = (const void *)(j->text + j->next_answer);
    return r->kind == kind && r->calls == j->calls ? r : NULL;
}

static struct driver_command *find_command(struct driver *d, uint64_t queue, uint64_t ticket)
{
    uint32_t c = queue < d->queue_count ? driver_queue_at(d, (uint32_t)queue)->first : DRIVER_NONE;
    while (c != DRIVER_NONE && driver_command_at(d, c)->ticket != ticket)
        c = driver_command_at(d, c)->next;
    return c == DRIVER_NONE ? NULL : driver_command_at(d, c);
}

/* The bytes of reads, which follow the `done` entries at `text`. NULL: they do not fit. */
static const char *take_bytes(struct driver *d, const char *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct journal_bytes *b = (const void *)text;
        struct driver_command *k = find_command(d, b->queue, b->ticket);
        if (!k || k->kind != DRIVER_READ || k->size != b->size)
            return NULL;
        memcpy(k->move.host, b + 1, b->size);
        text += sizeof *b + round_up(b->size, 8);
    }
    return text;
}

static bool take_done(struct driver *d, const struct journal_done *done, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (done[i].queue >= d->queue_count)
            return false;
        struct driver_queue *q = driver_queue_at(d, (uint32_t)done[i].queue);
        if (q->first == DRIVER_NONE || driver_command_at(d, q->first)->ticket != done[i].ticket)
            return false;
        struct driver_command *k = driver_command_at(d, q->first);
        journal()->reads -= k->kind == DRIVER_READ;
        command_complete(d, q);
        driver_ticket_at(d, done[i].ticket)->done_ps = done[i].done_ps;
    }
    return true;
}

/* Repeats on the driver what the run of the record did, as far as calls can see it. */
static bool take_run(struct driver *d, const struct journal_record *r)
{
    struct engine_domain *domain = &engine.domains[d->io.base.domain];
    const struct journal_done *done = (const void *)(r + 1);
    const char *end = take_bytes(d, (const char *)(done + r->ran.done), r->ran.buffers);
    if (!end || !take_done(d, done, r->ran.done))
        return false;
    for (uint32_t i = 0; i < d->device_count; i++)
        d->device[i].ring.last_piece.is_written = r->ran.written >> i & 1;
    domain->cycle = r->ran.cycle;
    engine.time_ps = domain->time_ps = r->ran.time_ps;
    d->stop_at = r->ran.stop_at;
    journal()->next_answer = (uint64_t)(end - journal()->text);
    return true;
}

static enum driver_status journal_enqueued(struct driver *d)
{
    if (!journal_replays()) {
        if (journal_keeps() && journal()->done_count)
            keep_record(d, JOURNAL_AT_ONCE);
        return DRIVER_OK;
    }
    const struct journal_record *r = next_record(JOURNAL_AT_ONCE);
    return !r || take_run(d, r) ? DRIVER_OK : broken();
}

static enum driver_status journal_take_address(uint64_t size, uint64_t *address)
{
    const struct journal_record *r = next_record(JOURNAL_ADDRESS);
    if (!r || r->allocated.size != size)
        return broken();
    *address = r->allocated.address;
    journal()->next_answer += sizeof *r;
    return DRIVER_OK;
}

/* ---- the state takes the place of what the calls have made ---- */

struct host_buffer {
    uint64_t ticket;
    char *host;
};

/* Moves the host addresses of copies that are not done into `buffer`, or back from there. */
static uint32_t exchange_buffers(struct driver *d, struct host_buffer *buffer, bool put,
                                 uint32_t count)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        for (uint32_t c = q->first; c != DRIVER_NONE; c = driver_command_at(d, c)->next) {
            struct driver_command *k = driver_command_at(d, c);
            if (k->kind != DRIVER_WRITE && k->kind != DRIVER_READ)
                continue;
            if (put && (number == count || buffer[number].ticket != k->ticket))
                bug("driver: a state has a copy that its program has not asked for");
            if (!put)
                buffer[number] = (struct host_buffer){k->ticket, k->move.host};
            k->move.host = put ? buffer[number].host : NULL;
            number++;
        }
    }
    return number;
}

/* Buffers that have left the arena meanwhile. */
static struct {
    struct host_buffer *buffer;
    uint32_t count;
} taken_out;

static void take_out(struct driver *d)
{
    taken_out.buffer = arena_reserve(DRIVER_COMMANDS_MAX * sizeof *taken_out.buffer);
    taken_out.count = exchange_buffers(d, taken_out.buffer, false, DRIVER_COMMANDS_MAX);
}

/* With `put` false they are given up. */
static void put_back(struct driver *d, bool put)
{
    if (put)
        exchange_buffers(d, taken_out.buffer, true, taken_out.count);
    arena_release(taken_out.buffer, DRIVER_COMMANDS_MAX * sizeof *taken_out.buffer);
    taken_out.buffer = NULL;
}

static bool put_in_place(struct driver *d)
{
    take_out(d);
    bool good = checkpoint_resume();
    put_back(d, good);
    return good;
}

static enum journal_answer journal_answer(struct driver *d, bool *woken)
{
    struct driver_journal *j = journal();
    const struct journal_record *r;
    *woken = false;
    if (!journal_replays())
        return JOURNAL_LIVE;
    while ((r = next_record(JOURNAL_STATE))) {
        if (!take_run(d, r))
            break;
        if (j->next_answer < j->used_bytes)
            continue;
        *woken = true;
        if (put_in_place(d))
            return JOURNAL_LIVE;
        run_lose(DRIVER_FAULT, "%s", "the state could not be restored");
        return JOURNAL_BROKEN;
    }
    r = r ? NULL : next_record(JOURNAL_RUN);
    if (r && take_run(d, r))
        return JOURNAL_ANSWERED;
    broken();
    return JOURNAL_BROKEN;
}

/* ---- the part of a state ---- */

static uint64_t journal_size(void)
{
    if (journal()->is_open) /* where the program is */
        keep_record(driver_process()->driver, JOURNAL_STATE);
    return journal()->used_bytes;
}

static void journal_save(struct checkpoint_sink *to)
{
    checkpoint_put(to, journal()->text, journal()->used_bytes);
}

static bool journal_load(const void *bytes, uint64_t size)
{
    (void)bytes;
    (void)size; /* it was read before */
    return true;
}

static void journal_take_out(void)
{
    if (journal()->is_open)
        take_out(driver_process()->driver);
}

static void journal_put_back(void)
{
    if (taken_out.buffer)
        put_back(driver_process()->driver, true);
}

static void state_at_launch(const struct driver *d, const struct driver_command *k)
{
    const struct program_table *program = driver_program(d);
    const struct sampling chosen = {.kernels = checkpoint_kernel()};
    if (unlikely(chosen.kernels != NULL)
        && sampling_chosen(&chosen, k->launch.number,
                           program_kernel_name(program, k->launch.kernel),
                           program_kernel_symbol(program, k->launch.kernel)))
        checkpoint_now();
}

static const struct checkpoint_part journal_part = {.name = "driver",
                                                    .size = journal_size,
                                                    .save = journal_save,
                                                    .load = journal_load,
                                                    .detach = journal_take_out,
                                                    .reattach = journal_put_back};

/* The reason why this platform's state cannot be restored without its program; NULL: it can. */
static const char *refuse_journal(struct driver *d)
{
    if (call_path(d) || driver_calls_count(d))
        return "its calls go as packets through a simulated host";
    if (driver_move_count(d))
        return "it moves pages of memory while kernels run";
    if (driver_params(d)->launch_by == DRIVER_LAUNCH_BY_QUEUE)
        return "its launches go through user queues (driver.launch_by = queue)";
    return NULL;
}

static void journal_open(struct driver *d)
{
    const char *refusal = refuse_journal(d);
    checkpoint_set_driver(refusal);
    if (!refusal)
        checkpoint_register(&journal_part);
}

static void journal_begin(void)
{
    struct driver_journal *j = journal();
    uint64_t size = 0;
    const void *before = checkpoint_is_pending() ? checkpoint_pending_part("driver", &size) : NULL;
    if (!before && !checkpoint_is_wanted())
        return;
    j->text = arena_reserve((uint64_t)1 << TEXT_BYTES_LOG2);
    j->done = arena_reserve(DRIVER_COMMANDS_MAX * sizeof *j->done);
    j->buffer = arena_reserve(DRIVER_COMMANDS_MAX * sizeof *j->buffer);
    j->is_open = true;
    if (before)
        append_entry(before, size);
}
