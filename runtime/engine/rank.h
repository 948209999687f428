/* Ranks: the processes, perhaps of several machines, that simulate one platform together. Each
 * builds the whole platform, with the same layout of the arena, and runs some of its shards.
 *
 * All messages between ranks go through rank_exchange(), which every rank calls the same
 * number of times: a message to every other rank and one from each. Between two exchanges a rank
 * collects what it has to say in a buffer for each of the others.
 *
 * Life cycle: rank_open() before the platform is built; rank_close() at the end. Alone, with one
 * rank, nothing of this is used. By the thread that runs the engine, between windows. How bytes get
 * from one process to another is up to a module: rank_transport.h. */
#ifndef HEDDLE_RUNTIME_ENGINE_RANK_H
#define HEDDLE_RUNTIME_ENGINE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"

#include "engine.h"
#include "rank_transport.h"

/* In the environment of those that open a platform, "PATH;COUNT;TOKEN": the module's path, how many
 * ranks the launcher has started, and a file with one byte in it, for the first process that opens
 * a platform. Set by `heddle run`. */
#define RANK_ENVIRONMENT "HEDDLE_RANKS"

struct ranks {
    uint32_t number;
    uint32_t count;                       /* 1: alone */
    uint8_t of_shard[ENGINE_DOMAINS_MAX]; /* which rank runs it */
};
extern struct ranks ranks __attribute__((visibility("hidden")));

static inline bool rank_is_alone(void)
{
    return likely(ranks.count == 1);
}

/* Alone, or the one that knows the program and the user. */
static inline bool rank_is_first(void)
{
    return ranks.number == 0;
}

/* `for (uint32_t i = rank_other(0); i < ranks.count; i = rank_other(i + 1))`: all but this one. */
static inline uint32_t rank_other(uint32_t from)
{
    return from + (from == ranks.number);
}

static inline bool rank_has(uint32_t shard)
{
    return ranks.of_shard[shard] == ranks.number;
}

/* Opens what the environment names. Prints why and returns false when that fails. */
bool rank_open(void);
/* All ranks call it, when nothing is left to be sent. */
void rank_close(void);
/* Ends the program when there are several ranks, which do not have `feature` yet. */
void rank_require_alone(const char *feature);

/* Calls `work`, which exchanges. False: it did not come to its end, or was not begun, since the run
 * was interrupted and another rank has not answered rank 0 for long: a launcher ends all ranks when
 * one dies, a moment after it has sent them a signal. Then there are no exchanges any more. `work`
 * is left at an exchange, where it may hold no lock and no memory of its own. */
bool rank_try(void (*work)(void));

/* Adds `bytes` to the message to rank `to`. The caller fills them before the next call. */
void *rank_reserve(uint32_t to, size_t bytes);
void rank_put(uint32_t to, const void *from, size_t bytes);
void rank_put_others(const void *from, size_t bytes);
/* Enclose a part that has its size before it in the message. rank_begin() returns where the part
 * starts, for rank_end(). */
size_t rank_begin(uint32_t to);
void rank_end(uint32_t to, size_t start);
/* Sends the messages put so far, receives those of all other ranks, and begins to read them. */
void rank_exchange(void);
/* Reads the next `bytes` of the message of rank `from`. It is a bug when there are fewer. */
const void *rank_read_next(uint32_t from, size_t bytes);
/* Reads the last `bytes` of a message, and removes them from its end. */
const void *rank_read_last(uint32_t from, size_t bytes);
/* Bytes of a message that have not been read. */
size_t rank_bytes_left(uint32_t from);
/* The cost of exchanges to this rank: their number, the bytes sent, and the time of waiting for
 * others. */
struct rank_use {
    uint64_t exchanges, bytes, waited_ns;
    uint64_t waited_cpu_ns; /* processor time of that */
};
struct rank_use rank_use(void);
/* Rank 0's request to the others: run when it does, or come to the end. */
enum rank_command { RANK_RUN, RANK_END };
/* By any rank. Rank 0 asks, if there are others. */
void rank_call(enum rank_command command);
/* By the others: waits for it. */
enum rank_command rank_await(void);
/* Returns the sum of the numbers of all ranks. */
uint64_t rank_sum(uint64_t number);
/* Every rank gets the bytes of rank 0. */
void rank_share(void *value, size_t bytes);
/* Rank 0 prints the message, after "heddle: ". */
void rank_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True if all ranks hold the same `text`. If not, rank 0 says that `subject` differs.
 * `find_difference` returns what is to be printed of a text, memory that is freed here; NULL: the
 * text is printed. */
bool rank_agree(const char *subject, const char *text,
                char *(*find_difference)(const char *text, const char *other));

#endif
