/* User queues: a program writes AQL packets into memory and rings a doorbell; the GPU does the
 * rest. The driver makes and destroys queues and knows which GPU each belongs to. Asked for through
 * driver_api.user_queues; needs a platform whose GPUs have `doorbell` and `packet_processor`
 * (`--set queues=true` for the ones that come with heddle).
 *
 *     create(device, 64, &queue);              a ring of 64 packets, in memory of the device
 *     map(device, queue.offset, &page);        what mmap() of the device file is for a real driver
 *     write(queue.id, packet, &number);        or copies of one's own to queue.ring + number %
 * packets * 64 ring(page, queue.offset, number);        packets up to `number` are there
 *     signal_wait(signal, 0, cycles);          a kernel's completion signal
 *     destroy(queue.id);
 *
 * Ownership: ring and read index belong to the queue and go with it. Signals are memory of the
 * program: 64 bytes, the value at offset 8 (components/protocols/user_queue/aql_queue.h). Packets,
 * kernels' arguments and results are consistent as HSA says: a packet whose header asks for system
 * scope before (after) it makes the caches consistent with the host before (after) it.
 *
 * Private memory of kernels is what the GPU asks the driver for when a packet needs some.
 *
 * HIP programs need none of this: with `launch_by = queue` the driver makes a user queue for each
 * of their streams.
 *
 * Limit: timing mode only. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_USER_QUEUE_API_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_USER_QUEUE_API_H

#include <stdint.h>

#include "driver_api.h"

/* An offset to map, as the Linux driver of AMD's GPUs encodes it (kfd_priv.h): type in bits 62..63,
 * GPU in bits 46..61. What lies in one page of 4 KiB is mapped at once; the bits below are the
 * doorbell's place in it. */
#define QUEUE_OFFSET_TYPE       ((uint64_t)3)
#define QUEUE_OFFSET_TYPE_SHIFT 62
#define QUEUE_OFFSET_GPU_SHIFT  46
#define QUEUE_OFFSET_GPU_MASK   0xffffu
#define QUEUE_PAGE_BYTES        4096u
#define QUEUE_DOORBELL_BYTES    8u

struct queue_info {
    uint32_t id;         /* for the calls below */
    uint32_t packets;    /* room, a power of two */
    uint64_t ring;       /* device address */
    uint64_t read_index; /* device address of 8 bytes: packets before it are over */
    uint64_t offset;     /* where its doorbell is to be mapped, and rung */
};

struct queue_state {
    uint64_t read;  /* packets before it are over */
    uint32_t error; /* enum queue_error; 0: it works */
    uint32_t gpu;
    const char *text; /* text for the error */
};

struct driver_queue_api {
    /* `packets`: a power of two from 2 to 65536. */
    enum driver_status (*create)(uint32_t device, uint32_t packets, struct queue_info *info);
    /* Waits for packets that were begun; drops the others. Nothing of other queues changes, on this
     * GPU or another. */
    enum driver_status (*destroy)(uint32_t queue);
    enum driver_status (*state)(uint32_t queue, struct queue_state *state);
    /* The page of doorbells in which `offset` lies, for the process of `device`. */
    enum driver_status (*map)(uint32_t device, uint64_t offset, uint32_t *page);
    enum driver_status (*unmap)(uint32_t page);
    /* Takes no simulated time. DRIVER_INVALID_ADDRESS: the page is not mapped, the offset is not
     * one of its GPU's doorbells, or no queue of this process has that doorbell. A number before
     * packets that were announced already changes nothing. */
    enum driver_status (*ring)(uint32_t page, uint64_t offset, uint64_t number);
    /* Copies a packet of 64 bytes to the next place after those that this call has written; so the
     * packets of a queue are all written by it, or all copied by the program. DRIVER_NOT_READY: the
     * ring is full. `number` is that of the packet. */
    enum driver_status (*write)(uint32_t queue, const void *packet, uint64_t *number);
    /* Runs the simulation until the signal has this value. DRIVER_NOT_READY: not in so many cycles
     * of the driver's clock; UINT64_MAX: as long as it takes, and DRIVER_DEADLOCK when nothing can
     * change it any more. */
    enum driver_status (*signal_wait)(uint32_t device, uint64_t signal, int64_t value,
                                      uint64_t cycles);
    /* Names the kernel with this descriptor, for statistics and reports. */
    enum driver_status (*name_kernel)(uint64_t kernel_object, const char *name);
};

#endif
