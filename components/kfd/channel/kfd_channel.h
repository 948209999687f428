/* The channel between a process of the program and the server: messages of SOCK_SEQPACKET sockets,
 * and memory that both see. docs/design/kfd.md has the order of messages.
 *
 * A process has one main connection (HELLO), and one for each thread that makes calls
 * (THREAD). A thread sends a call and waits for its answer; only GIVE_UP may be sent meanwhile, and
 * has no answer of its own. Anything else is a mistake, for which the server cuts the process off.
 * The server takes nothing from the client for granted: the kernel says which process it is, and
 * addresses are read and written as a kernel does (program_memory.h). */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_CHANNEL_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kfd_ids.h"
#include "kfd_stderr.h"

#define KFD_SOCKET "socket" /* in the folder of HEDDLE_TOPOLOGY */

enum {
    KFD_CHANNEL_VERSION = 3,
    KFD_CHANNEL_WORDS = 4,
    KFD_CHANNEL_BYTES = 1024,
    KFD_GPUS_MAX = 64,
    KFD_PAGE = 4096,
    KFD_DOORBELLS = 1024,  /* doorbells of a process on a GPU (kfd_priv.h: one page or two) */
    KFD_EVENTS_MAX = 4096, /* KFD_SIGNAL_EVENT_LIMIT */
};

/* Words of a call and, after the arrow, of its answer. */
enum kfd_message {
    /* version, address of ROCr's list of code (0: none) -> number of GPUs, process of the server;
     * bytes: of a doorbell of each GPU (uint32_t); descriptors: KFD_PASS_FILES. With an error the
     * bytes, if there are any, say what it is */
    KFD_MESSAGE_HELLO,
    /* version, DRIVER_API_VERSION: in place of HELLO, by a guest (guest_channel.h) -> number of
     * GPUs, process of the server, flags of streams, 1: functional */
    KFD_MESSAGE_GUEST,
    KFD_MESSAGE_THREAD, /* the thread's number in the system */
    /* number, enum kfd_ioctl_flags; bytes: its argument, as far as there is room -> bytes: that,
     * where the call returns it. A descriptor in the argument goes beside (kfd_descriptor_at()) */
    KFD_MESSAGE_IOCTL,
    KFD_MESSAGE_FIND, /* offset for mmap() of a render node, bytes -> handle */
    KFD_MESSAGE_SHOW, /* handle, first byte, end -> bytes: struct kfd_extent of some, from the first
                       */
    KFD_MESSAGE_GIVEN,  /* first byte, end: memory by attributes -> handle (0: none), address, bytes
                         */
    KFD_MESSAGE_UNMAPS, /* first byte, end: the process is about to unmap memory by attributes */
    KFD_MESSAGE_RUNG,   /* GPU: its doorbells were written; 1: the runtime waits for that queue */
    KFD_MESSAGE_WAIT, /* 1: only looks; bytes: struct kfd_condition of some, one of which is met */
    KFD_MESSAGE_DRIVER,  /* bytes: struct guest_call -> as guest_channel.h says */
    KFD_MESSAGE_BYE,     /* answered when all work of the process is done */
    KFD_MESSAGE_GIVE_UP, /* the call that is being done is a wait, and its time is over */
    KFD_MESSAGES
};

enum kfd_ioctl_flags { KFD_IOCTL_UNREADABLE = 1, KFD_IOCTL_OTHER = 2 /* a render node's */ };

/* The memory of the GPUs, and struct kfd_page with what follows it. */
enum { KFD_PASS_MEMORY, KFD_PASS_SHARED, KFD_PASS_FILES };

struct kfd_call {
    uint32_t kind, size; /* enum kfd_message; of bytes */
    uint64_t word[KFD_CHANNEL_WORDS];
    _Alignas(8) uint8_t bytes[KFD_CHANNEL_BYTES];
};

struct kfd_reply {
    int32_t result; /* 0 or a negative errno */
    uint32_t size;
    uint64_t word[KFD_CHANNEL_WORDS];
    _Alignas(8) uint8_t bytes[KFD_CHANNEL_BYTES];
};

/* The value of the signal at an address that a thread waits for (hsa_signal_condition_t). */
struct kfd_condition {
    uint64_t signal;
    int64_t compare;
    uint64_t condition;
};

enum { KFD_CONDITIONS_MAX = KFD_CHANNEL_BYTES / sizeof(struct kfd_condition) };

/* A part of the file of the GPUs' memory. */
struct kfd_extent {
    uint64_t offset, bytes;
};

/* A page that a process and the server both see; mailboxes of events, and the doorbells of each
 * GPU, follow it. */
struct kfd_page {
    uint64_t time_ns;  /* simulated, as it was when the server went on last */
    uint64_t readings; /* readings of the clock: each is later than the one before */
    uint64_t moves;    /* moves of pages: views of memory by attributes have to be made anew */
};

enum {
    KFD_SHARED_EVENTS = KFD_PAGE,
    KFD_EVENT_BYTES = KFD_EVENTS_MAX * 8,
    KFD_SHARED_DOORBELLS = KFD_SHARED_EVENTS + KFD_EVENT_BYTES,
    KFD_DOORBELL_ROOM = KFD_DOORBELLS * 8
};

static inline size_t kfd_doorbells_at(uint32_t gpu)
{
    return KFD_SHARED_DOORBELLS + (size_t)gpu * KFD_DOORBELL_ROOM;
}

/* Nanoseconds of the clock at a simulated time, without the readings. */
static inline uint64_t kfd_clock_ns(uint64_t time_ns)
{
    return UINT64_C(1000000000) + time_ns;
}

/* Offsets for mmap() of /dev/kfd (kfd_priv.h): the type in bits 62..63, the GPU in 46..61. */
enum { KFD_MAP_TYPE_SHIFT = 62, KFD_MAP_GPU_SHIFT = 46 };
enum kfd_map_type { KFD_MAP_MMIO, KFD_MAP_RESERVED, KFD_MAP_EVENTS, KFD_MAP_DOORBELL };

static inline uint64_t kfd_map_offset(enum kfd_map_type type, uint32_t gpu_id)
{
    return (uint64_t)type << KFD_MAP_TYPE_SHIFT | (uint64_t)gpu_id << KFD_MAP_GPU_SHIFT;
}

/* The offset of the descriptor in the argument of a call of the driver; `*makes` says whether the
 * call makes it. -1: none. */
int kfd_descriptor_at(unsigned long number, bool *makes);

#endif
