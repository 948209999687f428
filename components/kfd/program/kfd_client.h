/* The program's side of the channel: what interposers and handlers of signals use. */
#ifndef HEDDLE_COMPONENTS_KFD_PROGRAM_KFD_CLIENT_H
#define HEDDLE_COMPONENTS_KFD_PROGRAM_KFD_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "components/kfd/channel/kfd_channel.h"

#include "kfd_devices.h"

struct kfd_client {
    uint32_t gpu_count;
    uint32_t doorbell_bytes[KFD_GPUS_MAX];
    int memory; /* the file of the GPUs' memory */
    int file;   /* file that holds the page and what follows it */
    struct kfd_page *page;
};
extern struct kfd_client kfd_client; /* valid when kfd_is_open() */

/* Connects the process with the server, once. False: a message on stderr has the reason. */
bool kfd_connect(void);
bool kfd_is_open(void);
/* Sends a call by the connection of this thread and waits for the answer. `limit_ms` UINT32_MAX:
 * for ever; else the call is a wait, which is given up then. Returns the answer's result; -ENODEV:
 * there is no server any more. Also for handlers of signals, after kfd_connect(). */
int kfd_send(struct kfd_call *call, struct kfd_reply *reply, uint32_t limit_ms);
/* Sends a descriptor with the call, and gets one with the answer; -1: none. */
int kfd_send_with(struct kfd_call *call, struct kfd_reply *reply, uint32_t limit_ms, int *file);
/* True if the thread has written to a doorbell. */
bool kfd_is_submitter(void);
/* Nanoseconds of simulated time. Each reading is later than the one before. */
uint64_t kfd_read_clock(void);
/* ---- kfd_client.c ---- */

/* The process is a child of the one that has given memory to GPUs. */
void kfd_views_reset(void);
/* Memory of the process becomes a view of what the server has given. */
int kfd_view_add(uint64_t handle, uint64_t host, uint64_t size, bool by_attributes);
/* Those by attributes that touch [*start, *end) are the process' own memory again; the range grows
 * by them. */
void kfd_views_take_back(uint64_t *start, uint64_t *end);
/* Makes views anew whose pages have moved, before the program runs. */
void kfd_views_renew(void);

/* ---- kfd_page_protection.c ---- */

/* Memory of the process is about to be copied and replaced: stores of other threads wait until
 * kfd_open_range(). NULL: it stays open. `replaced`: what lies there now may be written. */
struct kfd_closed *kfd_close_range(uint64_t start, uint64_t size);
void kfd_open_range(struct kfd_closed *closed, bool replaced);
/* The process is a child, which has none of the threads that have closed something. */
void kfd_close_reset(void);
/* A store of this thread has faulted. True: it is to be tried again. Also for handlers. */
bool kfd_close_waits(uint64_t address);

/* ---- interpose_signal_waits.c ---- */

/* True if this thread is inside the runtime, which waits for the work that it begins there.
 * Handlers may ask. */
bool kfd_runtime_waits(void);

/* ---- kfd_svm_views.c ---- */

/* A call that changes attributes of memory. */
int kfd_spans_change(struct kfd_call *call, struct kfd_reply *reply);
void kfd_spans_reset(void);

/* ---- kfd_doorbell_trap.c ---- */

/* From here on the library sees faults before the program does. */
void kfd_faults_watch(void);

/* Maps the doorbells of a GPU at the place that the program asks for, and watches them. */
int kfd_doorbell_map(uint32_t gpu, void **address, size_t length, int flags);
/* The program is about to unmap [start, end). */
void kfd_doorbell_unmap(uintptr_t start, uintptr_t end);
/* The process is a child of the one that has mapped them: its pages are not there. */
void kfd_doorbells_reset(void);

#endif
