/* Calls of /dev/kfd that have files of their own, and what else asks for them. Machine's thread,
 * unless a function says otherwise. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_KFD_IOCTL_H
#define HEDDLE_COMPONENTS_KFD_SERVER_KFD_IOCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kfd_machine.h"

#define KFD_ADDRESSES_END ((uint64_t)1 << 47)

/* ---- kfd_ioctl.c ---- */

/* True if the call can run in the middle of a kernel. Any thread. */
bool kfd_ioctl_runs_mid_kernel(unsigned long number);
/* Executes a call of /dev/kfd for the process; the request has its argument, after which all bytes
 * are 0. *returns: the argument goes back to the program. Calls that are not there are named
 * once. */
int kfd_ioctl_run(struct kfd_process *p, struct kfd_request *request,
                  const struct kfd_call *message, bool *returns);

/* ---- kfd_svm.c ---- */

/* Parts of a process, opened and closed as kfd_memory_open() does. */
void kfd_svm_open(struct kfd_process *p);
void kfd_svm_close(struct kfd_process *p);
bool kfd_svm_any(const struct kfd_process *p);
int kfd_svm_call(struct kfd_process *p, struct kfd_request *request);
struct kfd_span {
    uint64_t start, end;
};
/* The process is about to unmap the addresses. */
void kfd_svm_unmap(struct kfd_process *p, const struct kfd_span *gone);

/* ---- kfd_rocr_targets.c ---- */

/* Says, once, which GPUs the ROCr does not know that has its list of code at this address. */
void kfd_rocr_targets_check(pid_t pid, uint64_t code);

/* ---- kfd_smi_events.c ---- */

int kfd_smi_events_open(struct kfd_process *p, struct kfd_request *request);
void kfd_smi_events_close(struct kfd_process *p);
/* A kernel has used an address that is no memory. */
void kfd_smi_events_fault(struct kfd_process *p, uint32_t gpu);

/* ---- kfd_memory.c ---- */

/* Gives the memory of an allocation another address, too. */
int kfd_memory_import(struct kfd_process *p, struct kfd_allocation *original, uint64_t address,
                      uint64_t *handle, uint64_t *offset);
/* The allocation with the handle, or one that was imported from it while it was there. */
struct kfd_allocation *kfd_find_origin(const struct kfd_process *p, uint64_t handle);

/* ---- kfd_shared_memory.c ---- */

int kfd_share_export_dmabuf(struct kfd_process *p, struct kfd_request *request);
int kfd_share_dmabuf_info(struct kfd_process *p, struct kfd_request *request);
int kfd_share_import_dmabuf(struct kfd_process *p, struct kfd_request *request);
int kfd_share_export_handle(struct kfd_process *p, struct kfd_request *request);
int kfd_share_import_handle(struct kfd_process *p, struct kfd_request *request);
void kfd_share_close(struct kfd_process *p);

/* ---- kfd_queue.c ---- */

bool kfd_queues_any(const struct kfd_process *p);
/* True if a packet waits, for a signal or for its header. */
bool kfd_queues_have_packets(struct kfd_process *p);
int kfd_queue_mask(struct kfd_process *p, struct kfd_request *request);
int kfd_queue_wave_state(struct kfd_process *p, struct kfd_request *request);

#endif
