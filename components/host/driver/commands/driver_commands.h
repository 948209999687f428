/* Execution of commands: the functions that the files of this folder offer one another and the rest
 * of the driver. driver_command.h has the commands themselves. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_COMMANDS_DRIVER_COMMANDS_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_COMMANDS_DRIVER_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "components/amd/functional/functional.h"
#include "components/host/driver/copy_middleware.h"
#include "components/host/driver/driver_state.h"
#include "components/sampling/sampling_options.h"

/* The functions of each kind of command, one row a kind. */

struct command_kind {
    const char *name;
    /* True if the first command of its queue may begin: all flushes are done, and its phase is
     * what follows PHASE_QUEUED. False: it is asked again. */
    bool (*begin)(struct driver *d, struct driver_queue *q, struct driver_command *k);
    /* One step in PHASE_MOVE or PHASE_LAUNCH_FIRST: at most one message, or the end. True:
     * something changed. */
    bool (*step)(struct driver *d, struct driver_queue *q, uint32_t command);
    /* Sends the next message of the command, if it can be sent now. NULL: the kind has no messages
     * that move data. */
    bool (*send)(struct driver *d, uint32_t command, uint32_t gpu);
    /* An answer from GPU `gpu` to a message of the command that was no flush; the slot is what was
     * sent. */
    void (*answer)(struct driver *d, uint32_t gpu, uint32_t command,
                   const struct driver_slot *sent);
};

static const struct command_kind command_kinds[DRIVER_KINDS]; /* defined in the .c file */

/* The side of the driver that ticks. See driver_command_queues.c. */

/* Called at the end of a window, when no component is being ticked: stores that others read, and
 * the memory itself, change then. */
static void driver_window_end(struct component *c);

static bool answers_receive(struct driver *d);

/* A step of each queue that can make one, starting after the queue that did last. */
static bool queues_step(struct driver *d);

/* Called when a command has been enqueued: what takes no time is done before the engine runs. */
static void queue_do_at_once(struct driver *d, uint32_t queue);

/* The time that a command takes before it begins, and the program after a wait. */

/* True: the command may begin. Otherwise its set-up has just begun, and `not_before` says when it
 * is over; asked again, it is true. */
static bool command_set_up(struct driver *d, struct driver_command *k);

/* The cycles that the call which enqueues `k` takes on the host. */
static uint64_t host_call_cycles(const struct driver *d, const struct driver_command *k);

/* The program has waited for `ticket`, which is done. */
static void host_note_wait(struct driver *d, uint64_t ticket);

/* L2 caches that may hold what kernels wrote. See driver_l2_flush.c. */

static void l2_init(struct driver *d);

/* A kernel of process `pid` begins or ends on GPU `gpu`. */
static void l2_note_kernel(struct driver *d, uint32_t gpu, uint32_t pid);

/* True if the L2 of GPU `number` must be flushed before memory of the process is copied there. */
static bool l2_is_dirty(const struct driver *d, uint32_t number, uint32_t pid);

/* A flush of GPU `number` is on its way; running kernels still write. */
static void l2_note_flush(struct driver *d, uint32_t number);

/* Pages of the process are given back: their next owner must not find its lines. */
static void l2_note_left(struct driver *d, uint32_t pid);

/* A device whose caches must be flushed before the command, or DRIVER_NONE. */
static uint32_t command_flush_device(const struct driver *d, const struct driver_command *k,
                                     uint32_t device);

/* True if another command's flush is under way of a device that this command needs flushed. */
static bool command_flush_awaited(const struct driver *d, const struct driver_command *k);

/* Sends a flush to GPU `number` for the command. False: it waits for room. */
static bool command_flush(struct driver *d, uint32_t command, uint32_t number);

/* Messages that move data, and the slots that they occupy. See driver_transfer.c. */

/* A slot for a message to device `number`, or -1 when none is free or the port is full. */
static int slot_for(struct driver *d, uint32_t number);
static int slot_for_launch(struct driver *d, uint32_t number);

enum link_way { LINK_THERE, LINK_BACK };

/* True if the link takes no more data for now; the driver wakes when it does. One page may wait.
 */
static bool link_busy(struct driver *d, uint32_t number, enum link_way way);
static void link_take(struct driver *d, uint32_t number, enum link_way way, uint32_t bytes);

/* The bytes that the next message of a command moves. */
static uint32_t copy_cut(struct driver *d, uint32_t command, uint64_t physical, uint64_t most);

static void slot_acquire(struct driver *d, uint32_t number, int slot, uint32_t command,
                         uint64_t offset, uint32_t size);
/* Sends a write of bytes that the caller puts where this says. */
static void *send_write(struct driver *d, uint32_t number, int slot, uint64_t physical,
                        uint32_t size);
/* Bytes of the program's buffer, from `offset` on. */
static void program_read(const struct driver *d, const struct driver_command *k, void *to,
                         uint64_t offset, uint64_t size);
static void program_write(const struct driver *d, const struct driver_command *k, uint64_t offset,
                          const void *from, uint64_t size);
static enum copy_kind command_copy_kind(const struct driver_command *k);

/* The way of the copy: inside of one GPU, between GPUs that all have access to each other as far as
 * the copy goes, or through the host. */
static enum copy_way copy_find_way(const struct driver *d, const struct driver_command *k);

/* Each sends the next message of a command, if it can be sent now. `gpu`: that of the queue. A copy
 * may have nothing to send. */
static bool send_writes(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_reads(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_copies(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_fills(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_stages(struct driver *d, uint32_t command, uint32_t gpu);
static bool send_shootdowns(struct driver *d, uint32_t command, uint32_t gpu);

/* Copies between GPUs through the host. See driver_bounce.c. */

static void bounce_init(struct driver *d);

/* Sends one message of the copy, if there is one to send and it can be sent. */
static bool send_between(struct driver *d, uint32_t command);

/* The answer to one: `data` is what was read, or NULL when a write is over. */
static void bounce_answer(struct driver *d, struct driver_command *k,
                          const struct driver_slot *sent, const void *data);

/* Copies that take no simulated time (the part magic_copy). See driver_direct_copy.c. */

static void direct_init(struct driver *d);

/* True if the bytes of the command are moved directly: they are noted for direct_move().
 * There must be room. */
static bool direct_note(struct driver *d, const struct driver_command *k, uint32_t gpu);
/* No room for another before direct_move()? */
static bool direct_full(const struct driver *d);
/* Could a message of the command be there before what was noted is? */
static bool direct_holds(const struct driver *d, const struct driver_command *k);
/* Moves what was noted, in order. Called between windows only. */
static void direct_move(struct driver *d);
/* True if a command that has just been enqueued may be done at once, before the engine runs. */
static bool direct_at_once(const struct driver *d, const struct driver_queue *q);

/* Commands done at once on simulated memory. See driver_functional.c. */

struct functional_profile;

/* The record of a launch that has been executed; from a tick, whose time it gets. */
static void functional_record(struct driver *d, const struct driver_command *k, uint32_t number,
                              enum sampling_way way, const struct functional_profile *profile);

/* The launch as the executor takes it, without touches; `descriptor` is filled, too. */
static struct functional_launch functional_describe_launch(const struct driver *d,
                                                           const struct driver_command *k,
                                                           uint32_t number,
                                                           struct aql_descriptor *descriptor);

/* Executes a launch without timing. False: the run has failed. */
static bool functional_launch(struct driver *d, struct driver_command *k, uint32_t number,
                              enum sampling_way way);

/* Moves the data of a copy, a fill, or a launch's arguments. */
static void functional_move_command(struct driver *d, const struct driver_command *k,
                                    uint32_t number);

/* True if the command has room beside launches that have yielded. */
static bool functional_can_begin(const struct driver *d, const struct driver_command *k,
                                 uint32_t number);

/* Goes on with a launch in PHASE_YIELDED. False: the run has failed. */
static bool functional_go_on(struct driver *d, struct driver_command *k, uint32_t number);

/* Executes a command without timing; a launch may yield (PHASE_YIELDED). False: the run has
 * failed. */
static bool functional_command(struct driver *d, struct driver_command *k, uint32_t number);

/* Launches that are timed, and the execution of the others. See driver_sampling.c. */

enum { SAMPLE_RETRY = 64 }; /* cycles until it is looked again whether all is quiet */

/* At start-up: with chosen launches, a simulated host is none of what has to be quiet. */
static void sample_init(const struct driver *d);

/* The flushes that the command would have asked for, in no time: what is dirty is in memory
 * already. */
static void sample_flush(struct driver *d, struct driver_command *k, uint32_t device);

/* Executes commands that wait for the end of a window, if nothing else is under way. */
static void sample_window_end(struct driver *d);

enum sample_turn { SAMPLE_GO_ON, SAMPLE_WAITS, SAMPLE_BEGAN };

/* The turn of the first command of a queue: SAMPLE_GO_ON if it continues in simulated time,
 * SAMPLE_BEGAN if it is executed by `at_end` when the window ends, SAMPLE_WAITS if a timed launch
 * has to end first. */
static enum sample_turn sample_begin(struct driver *d, struct driver_command *k,
                                     void (*at_end)(struct component *c));

/* True if the command is done. Otherwise it is tried again a little later. */
static bool sample_step(struct driver *d, struct driver_command *k, uint32_t device);

/* A timed launch has begun, past everything that it may have to wait for. */
static void sample_note_timed(struct driver *d, struct driver_command *k);

/* Launches in parts. See driver_launch_parts.c. */

/* A launch that is to be simulated: in parts, if that pays and can be done. Its first part is next.
 */
static void parts_choose(const struct driver *d, struct driver_command *k, uint32_t device);

/* A launch, or a part of one, is over. True: there is another part, which waits for its turn. */
static bool parts_continue(struct driver *d, struct driver_command *k, uint32_t device);

/* True if a part of the launch has been executed already. */
static bool parts_goes_on(const struct driver_command *k);

#endif
