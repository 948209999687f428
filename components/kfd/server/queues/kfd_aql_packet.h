/* A queue, and packets that it begins and ends. See kfd_aql_packet.c. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_AQL_PACKET_H
#define HEDDLE_COMPONENTS_KFD_SERVER_QUEUES_KFD_AQL_PACKET_H

#include "components/kfd/server/kfd_machine.h"
#include "components/protocols/user_queue/aql_queue.h"

enum { KFD_FLIGHTS = 4096 }; /* packets of a queue that are begun and not over */

/* amd_signal_t (amd_hsa_signal.h). */
struct amd_signal {
    int64_t kind, value;
    uint64_t event_mailbox;
    uint32_t event_id, reserved;
    uint64_t start_ts, end_ts;
    uint64_t queue, reserved_too;
};

/* A packet that was begun. */
struct kfd_flight {
    uint64_t ticket; /* the driver's; 0: nothing is with the driver */
    uint64_t completion;
    uint64_t begun_ps;
};

/* Further state of a ring of packets for SDMA engines (kfd_sdma_queue.c). */
struct kfd_sdma {
    uint64_t ring_bytes;
    uint64_t row;          /* row of the copy at `next`: those before it have begun */
    uint64_t buffer, left; /* address and bytes of an indirect buffer that goes first; 0: none */
};

struct kfd_queue {
    struct kfd_process *process;
    uint32_t type;   /* KFD_IOC_QUEUE_TYPE_* */
    bool is_stopped; /* it made a mistake, or the program asked for it */
    uint32_t priority;
    uint64_t waits_since; /* it waits for a slot of the GPU: in this order; 0: it does not */
    uint32_t gpu, slot;   /* its number, and that of its doorbell */
    uint32_t driver;      /* the driver's queue */
    uint64_t ring, packets;
    uint64_t read_pointer;  /* its address */
    uint64_t next;          /* packet to begin; of an SDMA engine: its first byte */
    uint64_t announced_end; /* packets before it are there */
    struct kfd_sdma sdma;
    uint64_t doorbell_value; /* at the last look */
    uint64_t last_end_ps;
    bool is_unreleased;                    /* launches of it have released less than system scope */
    uint64_t acquisitions;                 /* the process' acquisitions at its last launch */
    struct kfd_flight flight[KFD_FLIGHTS]; /* a ring */
    uint32_t first, count;
};

/* The reason why a queue has stopped, as the processor's firmware writes it to the queue's signal
 * for that (AqlQueue::DynamicScratchHandler of ROCr). */
enum kfd_stop {
    STOP_DIMENSION = 2,
    STOP_GROUP_MEMORY = 4,
    STOP_CODE = 8,
    STOP_PACKET = 32,
    STOP_GROUP_SIZE = 64,
    STOP_OTHER = 0x80000000
};

enum kfd_turn { TURN_BEGUN, TURN_WAITS, TURN_OVER /* the queue has stopped */ };

/* Lines of a process's memory that caches may hold. */
struct kfd_cache_state {
    bool has_host_run;     /* since the last launch on a GPU: it may have written anything */
    uint64_t acquisitions; /* times that launches had to see that, from 1 */
    bool is_unreleased;    /* queues that are gone have left something */
};

/* True if caches may hold writes of launches. A fence of one queue does not wait for launches of
 * another. */
bool kfd_queues_unreleased(const struct kfd_process *p);
/* A fence follows all that `q` has begun, and all that is over; NULL: everything. */
void kfd_queues_released(struct kfd_process *p, const struct kfd_queue *q);
/* `size` bytes at an address that the queue uses; NULL: they are not in memory of its GPU. */
static inline void *kfd_queue_bytes(const struct kfd_queue *q, uint64_t address, uint64_t size)
{
    return kfd_bytes(q->process, q->gpu, address, size);
}
/* The signal at an address; NULL: it is not in memory of the queue's GPU. */
struct amd_signal *kfd_signal_at(const struct kfd_queue *q, uint64_t address);
/* Says reason, and tells the program. A queue of an SDMA engine cannot say so itself: the GPU
 * hangs, and is reset. */
void kfd_queue_stop(struct kfd_queue *q, enum kfd_stop reason, const char *text);
/* Stops it at an address that the GPU does not reach. */
void kfd_queue_fault(struct kfd_queue *q, const char *text, uint64_t address);
/* Tells the program. */
void kfd_queue_report(struct kfd_queue *q, enum kfd_stop reason);
/* The driver has the packet until the ticket is done; 0: it is over. */
void kfd_packet_track(struct kfd_queue *q, uint64_t ticket, uint64_t completion);
/* Begins the packet, which is then a flight of the queue, if that can be done now. */
enum kfd_turn kfd_packet_begin(struct kfd_queue *q, const void *packet, uint16_t header);
/* A packet is over: its signal says so, and when it ran. */
void kfd_packet_end(struct kfd_queue *q, const struct kfd_flight *f, uint64_t end_ps);

#endif
