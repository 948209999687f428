/* Ranks and their exchanges. A message is its length and its bytes, cut into pieces that every
 * library can send. A rank that waits for ranks of its machine polls for a moment, then sleeps
 * until the last of them wakes it. Where there are more ranks than processors it sleeps at once, so
 * that ranks do not take processors from each other. Whatever else it waits for it asks the library
 * for, between naps that grow with the time it has waited: the number of polls
 * grows with the logarithm of the wait.
 *
 * Invariant: all ranks have made the same exchanges. Each message carries its number, so that a
 * mistake of ours shows at once. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "rank.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"

#include "bug.h"
#include "disturbance.h"
#include "rank_channel.h"
#include "rank_transport.h"
#include "run_control.h"

#define PIECE     ((size_t)1 << 30)
#define POLLS     500u /* each takes 10 to 50 ns: together as long as it takes to sleep and wake */
/* Naps: a quarter of the time that was waited, but no shorter and no longer. */
#define NAP_NS    20000u
#define SLEEP_NS  20000000u
/* Launchers kill one or two seconds after their first signal. */
#define ANSWER_NS ((uint64_t)400000000)

#define MESSAGES "messages between ranks"

struct buffer {
    char *bytes;
    size_t used, capacity;
    size_t read;
};

struct message_header {
    uint64_t size; /* bytes of the message with this header */
    uint64_t number;
};

struct ranks ranks = {0, 1, {0}};
static const struct rank_transport *transport;
static struct buffer out[RANK_MAX], in[RANK_MAX];
static uint32_t poll_count;       /* polls before a rank sleeps */
static jmp_buf *interrupt_escape; /* NULL: no rank_try() is active */
static bool is_lost;              /* another rank has not answered an interruption */
static uint64_t interrupted_ns; /* when an interruption was first seen while waiting; 0: not yet */
static uint64_t exchanges, sent_bytes, waited_ns, waited_cpu_ns;

void *rank_reserve(uint32_t to, size_t bytes)
{
    struct buffer *b = &out[to];
    if (!b->used)
        b->used = sizeof(struct message_header);
    grow_list(b->bytes, b->used + bytes, b->capacity, MESSAGES);
    b->used += bytes;
    return b->bytes + b->used - bytes;
}

void rank_put(uint32_t to, const void *from, size_t bytes)
{
    memcpy(rank_reserve(to, bytes), from, bytes);
}

void rank_put_others(const void *from, size_t bytes)
{
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1))
        rank_put(i, from, bytes);
}

size_t rank_begin(uint32_t to)
{
    rank_reserve(to, sizeof(uint64_t));
    return out[to].used;
}

void rank_end(uint32_t to, size_t start)
{
    const uint64_t size = out[to].used - start;
    memcpy(out[to].bytes + start - sizeof size, &size, sizeof size);
}

static void send_to(uint32_t to)
{
    struct buffer *b = &out[to];
    rank_reserve(to, 0);
    const struct message_header head = {b->used, exchanges};
    memcpy(b->bytes, &head, sizeof head);
    sent_bytes += b->used;
    for (size_t done = 0; done < b->used; done += PIECE)
        transport->send(to, b->bytes + done, min(b->used - done, PIECE));
    transport->notify(to, exchanges);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void escape_interrupted(void)
{
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    if (!rank_is_first() || !interrupt_escape || !engine_is_interrupted())
        return;
    interrupted_ns = interrupted_ns ? interrupted_ns : now;
    is_lost = now - interrupted_ns > ANSWER_NS;
    if (is_lost)
        longjmp(*interrupt_escape, 1);
}

/* `idle_polls`: polls of the library since something came. It may find a message only at the second
 * poll. */
static void wait_a_moment(uint64_t since_ns, uint32_t idle_polls)
{
    uint64_t nap_ns = min(max((now_ns(CLOCK_MONOTONIC) - since_ns) / 4, NAP_NS), SLEEP_NS);
    const struct timespec nap = {0, (long)nap_ns};
    escape_interrupted();
    if (transport->wait(exchanges, poll_count, transport->has_sent() ? SLEEP_NS : (uint32_t)nap_ns)
        && idle_polls > 1)
        nanosleep(&nap, NULL);
}

bool rank_try(void (*work)(void))
{
    jmp_buf here;
    interrupt_escape = &here;
    if (!is_lost && setjmp(here) == 0)
        work();
    interrupt_escape = NULL;
    return !is_lost;
}

/* Receives a piece of the message of a rank. True if it was the last one. */
static bool receive_piece(uint32_t from, size_t size)
{
    struct buffer *b = &in[from];
    struct message_header head = {0, exchanges};
    grow_list(b->bytes, b->used + size, b->capacity, MESSAGES);
    transport->receive(from, b->bytes + b->used, size);
    b->used += size;
    if (b->used >= sizeof head)
        memcpy(&head, b->bytes, sizeof head);
    if (head.size < sizeof head || b->used > head.size || head.number != exchanges)
        bug("rank %u sends exchange %llu, this is %llu", from, (unsigned long long)head.number,
            (unsigned long long)exchanges);
    b->read = sizeof head;
    return b->used == head.size;
}

struct rank_use rank_use(void)
{
    return (struct rank_use){exchanges, sent_bytes, waited_ns, waited_cpu_ns};
}

/* Receives what has come from `awaited` ranks; returns those that are still awaited. */
static uint64_t receive_arrived(uint64_t awaited)
{
    for (uint64_t bits = awaited; bits; bits &= bits - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(bits);
        int64_t size = transport->probe(i);
        if (size < 0)
            continue;
        interrupted_ns = 0;
        if (receive_piece(i, (size_t)size))
            awaited &= ~((uint64_t)1 << i);
    }
    return awaited;
}

void rank_exchange(void)
{
    uint64_t awaited = 0;
    disturb(DISTURB_EXCHANGE, ranks.number, ++exchanges);
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1)) {
        in[i].used = 0;
        awaited |= (uint64_t)1 << i;
        send_to(i);
    }
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), start_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t idle_polls = 0; awaited || !transport->has_sent();) {
        uint64_t before = awaited;
        wait_a_moment(start_ns, idle_polls);
        awaited = receive_arrived(awaited);
        idle_polls = awaited == before ? idle_polls + 1 : 0;
    }
    waited_ns += now_ns(CLOCK_MONOTONIC) - start_ns;
    waited_cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - start_cpu_ns;
    for (uint32_t i = 0; i < ranks.count; i++)
        out[i].used = 0;
}

size_t rank_bytes_left(uint32_t from)
{
    return in[from].used - in[from].read;
}

const void *rank_read_next(uint32_t from, size_t bytes)
{
    struct buffer *b = &in[from];
    if (bytes > rank_bytes_left(from))
        bug("rank %u has sent %zu bytes, %zu are expected", from, rank_bytes_left(from), bytes);
    b->read += bytes;
    return b->bytes + b->read - bytes;
}

const void *rank_read_last(uint32_t from, size_t bytes)
{
    struct buffer *b = &in[from];
    if (bytes > rank_bytes_left(from))
        bug("rank %u has sent %zu bytes, %zu are expected", from, rank_bytes_left(from), bytes);
    b->used -= bytes;
    return b->bytes + b->used;
}

void rank_call(enum rank_command command)
{
    if (rank_is_alone() || !rank_is_first())
        return;
    rank_put_others(&command, sizeof command);
    rank_exchange();
}

enum rank_command rank_await(void)
{
    enum rank_command command;
    rank_exchange();
    memcpy(&command, rank_read_next(0, sizeof command), sizeof command);
    return command;
}

uint64_t rank_sum(uint64_t number)
{
    uint64_t sum = number;
    if (rank_is_alone())
        return number;
    rank_put_others(&number, sizeof number);
    rank_exchange();
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1)) {
        uint64_t theirs;
        memcpy(&theirs, rank_read_next(i, sizeof theirs), sizeof theirs);
        sum += theirs;
    }
    return sum;
}

void rank_share(void *value, size_t bytes)
{
    if (rank_is_alone())
        return;
    if (rank_is_first())
        rank_put_others(value, bytes);
    rank_exchange();
    if (!rank_is_first())
        memcpy(value, rank_read_next(0, bytes), bytes);
}

void rank_say(const char *format, ...)
{
    va_list arguments;
    if (!rank_is_first())
        return;
    va_start(arguments, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

bool rank_agree(const char *subject, const char *text,
                char *(*find_difference)(const char *text, const char *other))
{
    bool is_same = true;
    rank_put_others(text, strlen(text) + 1);
    rank_exchange();
    for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1)) {
        const char *theirs = rank_read_next(i, rank_bytes_left(i));
        if (strcmp(text, theirs) == 0)
            continue;
        char *ours_only = find_difference ? find_difference(text, theirs) : NULL;
        char *theirs_only = find_difference ? find_difference(theirs, text) : NULL;
        if (is_same)
            rank_say("ranks 0 and %u differ in the %s: '%s' and '%s'; start the same heddle with "
                     "the same files and options at all ranks",
                     i, subject, ours_only ? ours_only : text, theirs_only ? theirs_only : theirs);
        free(ours_only);
        free(theirs_only);
        is_same = false;
    }
    return is_same;
}

void rank_require_alone(const char *feature)
{
    if (!rank_is_alone())
        die("several ranks cannot be used with %s; run it without mpirun", feature);
}

/* ---- start and end ---- */

static const struct rank_transport *load_transport(const char *path)
{
    rank_transport_function *function = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = library ? dlsym(library, "heddle_rank_transport") : NULL;
    memcpy(&function, &symbol, sizeof function);
    if (!function) {
        fprintf(stderr, "heddle: cannot use MPI by '%s': %s\n", path, dlerror());
        return NULL;
    }
    return function();
}

/* MPI and libraries that it uses take signals. How a run is interrupted is for us, or the program,
 * and a program that fails says the same as without MPI. */
static bool open_transport(void)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGXCPU,
                                  SIGABRT, SIGBUS,  SIGFPE, SIGSEGV};
    enum { COUNT = ARRAY_COUNT(signals) };
    struct sigaction before[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        sigaction(signals[i], NULL, &before[i]);
    bool is_open = transport->open(&ranks.number, &ranks.count);
    for (size_t i = 0; i < COUNT; i++)
        sigaction(signals[i], &before[i], NULL);
    return is_open;
}

bool rank_open(void)
{
    const char *text = getenv(RANK_ENVIRONMENT);
    char path[4096], taken;
    unsigned count;
    int token;
    ranks = (struct ranks){0, 1, {0}};
    rank_channels_forget();
    if (!text || sscanf(text, "%4095[^;];%u;%d", path, &count, &token) != 3)
        return true;
    if (read(token, &taken, 1) != 1) {
        fprintf(stderr, "heddle: with several ranks, one process of a program can use HIP; this is "
                        "another one\n");
        return false;
    }
    transport = load_transport(path);
    if (!transport)
        return false;
    if (transport->abi != RANK_TRANSPORT_ABI) {
        fprintf(stderr, "heddle: '%s' is of another version of heddle\n", path);
        return false;
    }

    if (!open_transport())
        return false;
    cpu_set_t own;
    bool has_processors = sched_getaffinity(0, sizeof own, &own) != 0
                          || transport->neighbours() <= (uint32_t)CPU_COUNT(&own);
    poll_count = has_processors ? POLLS : 0;
    if (ranks.count != count || ranks.count > RANK_MAX) {
        fprintf(stderr,
                "heddle: the launcher has started %u ranks, of which %s sees %u (at most %d can be "
                "used): is its mpirun that of another MPI library?\n",
                count, transport->name, ranks.count, RANK_MAX);
        return false;
    }
    return true;
}

void rank_close(void)
{
    /* When all are here, the library has none to wait for. */
    if (transport && rank_try(rank_exchange))
        transport->close();
    transport = NULL;
    ranks.count = 1;
}
