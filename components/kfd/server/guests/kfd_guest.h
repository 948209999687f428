/* Guests: processes with heddle's HIP library, whose calls are those of the driver's table
 * (guest_channel.h). A guest is a kfd_process without queues, memory and events of the kernel
 * driver's. Machine's thread, unless a function says otherwise. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_GUESTS_KFD_GUEST_H
#define HEDDLE_COMPONENTS_KFD_SERVER_GUESTS_KFD_GUEST_H

#include "components/kfd/channel/guest_channel.h"
#include "components/kfd/server/kfd_connection.h"

struct kfd_guest_queue {
    uint32_t device; /* as the guest calls it */
    uint32_t flags;
    uint32_t number; /* the driver's; UINT32_MAX: it is not made yet */
    bool is_used;
};

struct kfd_guest {
    struct kfd_request *calls; /* those not answered, in the order in which they came */
    bool has_entered;          /* it has an address space; before, it may only look at devices */
    bool is_joining;           /* it waits for others that have to come (--shared) */
    struct kfd_guest_queue *queues; /* by the guest's numbers */
    size_t queue_count;
    uint64_t peers[KFD_GPUS_MAX]; /* GPUs whose memory each may access, a bit for each */
    uint64_t progress;            /* the driver's record of a program; switch_program() */
    bool attends;
    char *fault; /* mistake of one of its kernels; NULL: none */
    char *printed;
    size_t printed_bytes;
};

/* ---- kfd_guest.c ---- */

/* A connection makes a call of the driver. */
int kfd_guest_call(struct kfd_connection *c);
/* The guest of the connection gets an address space, and its calls are done. */
void kfd_guest_enter(struct kfd_connection *c);
/* Calls of the guest fail, and say why. */
void kfd_guest_refuse(struct kfd_connection *c, const char *text);
/* Any thread: can the call be done in the middle of a kernel? */
bool kfd_guest_call_runs_mid_kernel(const struct kfd_call *call);
/* The process has ended: the contexts that it has made are destroyed. */
void kfd_guest_close(struct kfd_process *p);
/* Takes a request, which may wait for something, out of all lists. */
void kfd_guest_drop(const struct kfd_request *request);
/* True for a guest that has entered and has not ended. */
bool kfd_guest_lives(struct kfd_process *p);
/* Executes the calls of guests that are possible while no simulated time passes. True if it has
 * executed one. */
bool kfd_guests_step(void);
/* A command was done, of whatever process. */
void kfd_guests_advanced(void);
/* Kernels that are executed without timing wait: guests look whether it is for them. */
void kfd_guests_attend(const struct driver_attention *attention);

/* ---- kfd_guest_calls.c ---- */

enum kfd_guest_kind { GUEST_LOOKS, GUEST_NOW, GUEST_RUNS, GUEST_WAITS, GUEST_MID_KERNEL };
enum kfd_guest_kind kfd_guest_kind_of(uint32_t name);
/* Makes the queues of a guest that has entered. */
void kfd_guest_make_queues(struct kfd_process *p);
/* Executes the call of the connection, and puts what it gives into the answer. */
enum driver_status kfd_guest_do(struct kfd_connection *c);
/* The guest is about to be freed: it makes no more calls. */
void kfd_guest_calls_release(const struct kfd_guest *g);
/* The text of an answer that is not DRIVER_OK. */
void kfd_guest_put_text(struct kfd_connection *c, const char *text);
/* The driver moves bytes of programs, and gives what kernels print. */
void kfd_guest_calls_open(void);
/* Memory that peek() and poke() access; NULL: none. */
void kfd_guest_set_attention(const struct driver_attention *attention);

#endif
