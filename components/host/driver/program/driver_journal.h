/* Answers for a program that repeats its calls from before a state was written
 * (runtime/state/checkpoint.h), so that the program's half of the state is there when the state is
 * loaded.
 *
 * The program is a player of recorded calls: it makes the same calls whenever it is told the same.
 * Until a state is written, the journal keeps what calls came to: the addresses of allocations, and
 * for each time the engine ran, which commands were done, when, and the bytes they brought to the
 * host. In a run that continues from the state, the calls do what they always do, but the engine
 * does not run: the journal answers. At its end the program waits in the call in which the state
 * was written; the state takes the place of what the calls have made, and the engine runs.
 *
 * Invariant: the commands of queues that are not done are the same in the state and in what the
 * calls have made, in the same order; so host buffers are found by ticket. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_PROGRAM_DRIVER_JOURNAL_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_PROGRAM_DRIVER_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "components/host/driver/commands/driver_command.h"
#include "components/host/driver/driver_api.h"

struct driver_journal {
    char *text; /* reserved; records one after the other */
    uint64_t used_bytes;
    uint64_t next_answer;      /* offset of the next answer in `text` */
    uint64_t calls;            /* hash of the calls so far */
    uint32_t reads;            /* reads that are not done */
    struct journal_done *done; /* reserved; since the last record */
    uint32_t done_count;
    struct journal_buffer *buffer; /* reserved; those of reads done since the last record */
    uint32_t buffer_count;
    bool is_open;
};

struct driver;

static void journal_open(struct driver *d);
/* The program's first call. */
static void journal_begin(void);
/* The engine must not run, and commands are done when the journal says so. */
static bool journal_replays(void);
/* A command is in its queue. */
static void journal_call(const struct driver_command *k);
/* After the steps that enqueueing has done at once, or instead of them. */
static enum driver_status journal_enqueued(struct driver *d);
/* A command is done; its bytes are with the program at the end of the window. */
static void journal_note_done(struct driver *d, const struct driver_command *k);
/* A launch begins: writes the state if this is the launch that was named for it. */
static void state_at_launch(const struct driver *d, const struct driver_command *k);
/* An allocation in a call: the address that it got, or is to have. */
static void journal_keep_address(struct driver *d, uint64_t size, uint64_t address);
static enum driver_status journal_take_address(uint64_t size, uint64_t *address);

/* Instead of running the engine. JOURNAL_LIVE: it must run, and has been woken before if `*woken`.
 */
enum journal_answer { JOURNAL_ANSWERED, JOURNAL_LIVE, JOURNAL_BROKEN };
static enum journal_answer journal_answer(struct driver *d, bool *woken);
/* The engine has run. */
static void journal_ran(struct driver *d);

#endif
