/* State of the mmio device. Included by mmio.c alone, before the files that work on it.
 *
 * Each call of the host has a slot from the write of its address to the answer of that write. Calls
 * are executed one after the other, by a function of mmio_execute.h that is called again whenever
 * something it asked for has come (`step`); what belongs to a stream becomes an operation, which
 * goes on by itself (mmio_stream.h). What is asked of DMA engine and driver goes through a *post*:
 * a slot whose number is the tag, with a note of who wants the answer.
 *
 * Code objects that the host has registered live outside of the arena, as the driver's do. */
#ifndef HEDDLE_MMIO_STATE_H
#define HEDDLE_MMIO_STATE_H

#include <string.h>

#include "api_answer.gen.h"
#include "api_request.gen.h"
#include "components/protocols/api_packet/api_stream.h"
#include "components/host/driver/driver_api.h"
#include "components/protocols/device_call/device_call.h"
#include "components/amd/isa/object/bundle.h"
#include "components/amd/isa/object/kernarg.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/host/packet_dma/packet_dma_state.h"
#include "components/protocols/work/work_placement.h"
#include "packet_dma_command.gen.h"
#include "runtime/state/blob.h"
#include "runtime/engine/bug.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"

enum {
    MMIO_LINE = 64,
    MMIO_FETCH = 128, /* bytes of a packet that are fetched at first: enough for most */
    MMIO_DEVICES = 64,
    MMIO_THREADS = 64,
    MMIO_MODULES = 64,
    MMIO_NAMES = 1024, /* functions; variables */
    MMIO_EVENTS = 1024,
    MMIO_ARGUMENTS = 4096, /* bytes of a kernel's explicit arguments */
    MMIO_POSTS = 1024,     /* to the DMA engine; to the driver */
    MMIO_OPERATIONS = API_STREAM_OPERATIONS_MOST,
    MMIO_CODE_MOST = 1 << 28, /* bytes of a code object */
    MMIO_NONE = UINT32_MAX
};

/* hipError_t, as hip_runtime_api.h numbers them. */
enum mmio_error {
    MMIO_SUCCESS = 0,
    MMIO_INVALID_VALUE = 1,
    MMIO_OUT_OF_MEMORY = 2,
    MMIO_INVALID_CONFIGURATION = 9,
    MMIO_INVALID_SYMBOL = 13,
    MMIO_INVALID_POINTER = 17,
    MMIO_INVALID_DIRECTION = 21,
    MMIO_MISSING_CONFIGURATION = 52,
    MMIO_INVALID_FUNCTION = 98,
    MMIO_INVALID_DEVICE = 101,
    MMIO_INVALID_IMAGE = 200,
    MMIO_NO_BINARY = 209,
    MMIO_INVALID_HANDLE = 400,
    MMIO_NOT_FOUND = 500,
    MMIO_NOT_READY = 600,
    MMIO_LAUNCH_FAILURE = 719,
    MMIO_NOT_SUPPORTED = 801,
    MMIO_UNKNOWN = 999
};

enum mmio_owner {
    OWNER_NONE,
    OWNER_FETCH,
    OWNER_ANSWER,
    OWNER_STEP,
    OWNER_OPERATION,
    OWNER_BLOCK,
    OWNER_HOSTED
};

/* Something asked of the DMA engine or the driver. */
struct mmio_post {
    uint8_t owner; /* enum mmio_owner; OWNER_NONE: free */
    uint8_t kind;  /* of requests to the driver: enum device_call_request_kind */
    uint8_t width;
    uint32_t number; /* the owner's */
    uint32_t next;   /* of those that are not sent, or are free */
    uint32_t blob, device, pattern;
    uint64_t address, from, size; /* the driver's; the DMA engine's are in `dma` */
    struct packet_dma_command dma;
};

struct mmio_posts {
    uint32_t table;       /* arena: struct mmio_post[MMIO_POSTS] */
    uint32_t free;        /* list */
    uint32_t first, last; /* to be sent */
    uint32_t used;
};

enum mmio_phase {
    PHASE_FREE,
    PHASE_FETCHING,
    PHASE_READY,   /* the packet is here */
    PHASE_RUNNING, /* is being executed */
    PHASE_WAITING, /* for a stream */
    PHASE_DONE,    /* the answer is to be written */
    PHASE_ANSWERING,
    PHASE_TELL,  /* the write is to be answered */
    PHASE_UNREAD /* return_on_read: the host is to read the device */
};

struct mmio_call {
    uint8_t phase; /* enum mmio_phase */
    bool told;     /* the write has been answered */
    bool malformed;
    uint16_t tag;   /* of the host's write */
    uint32_t step;  /* of execution */
    uint32_t place; /* step of placing a module */
    uint32_t blob;  /* the packet */
    uint32_t work;  /* another blob, while it is executed */
    uint32_t index; /* of what is being made */
    uint64_t address, order;
    uint64_t since, ready, done; /* cycles */
    uint64_t value;              /* of the driver's answer */
    uint32_t status;
    uint32_t pending; /* answers that are awaited */
    struct api_request request;
    struct api_answer answer;
};

enum operation_kind {
    OPERATION_NONE,
    OPERATION_WRITE, /* host to device */
    OPERATION_READ,
    OPERATION_COPY,
    OPERATION_HOST, /* host to host */
    OPERATION_FILL,
    OPERATION_LAUNCH,
    OPERATION_RECORD,
    OPERATION_WAIT
};

/* What is or will be in a stream. */
struct mmio_operation {
    uint8_t kind; /* enum operation_kind */
    bool begun;
    uint8_t width;
    uint16_t stream;
    uint32_t queue;
    uint32_t thread; /* whose error it is */
    uint32_t call;   /* slot that waits for it, or MMIO_NONE */
    uint32_t blob;   /* launch */
    uint32_t event, pattern;
    uint32_t blocks; /* in flight */
    int32_t error;
    uint64_t to, from, size; /* bytes, or elements of a fill */
    uint64_t cut, moved;     /* bytes */
};

struct mmio_block {
    bool used;
    bool second; /* its first half, from where the bytes come, is over */
    uint32_t operation, size, blob;
    uint64_t offset;
};

struct mmio_stream {
    bool used;
    uint32_t device, queue;
};

struct mmio_event {
    bool used, recorded, happened;
    struct api_stream_point point;
    uint64_t time_ps;
};

struct mmio_thread {
    uint32_t device;
    int32_t error;
    bool configured;
    uint32_t grid[3], block[3], shared, argument_bytes;
    uint64_t stream;
    uint8_t arguments[MMIO_ARGUMENTS];
};

struct mmio_name {
    bool used;
    uint32_t module, index; /* kernel, or symbol of its code object */
    uint64_t address;       /* stub or shadow */
};

struct mmio_module {
    bool used;
    struct code_object object;
    uint64_t base[MMIO_DEVICES]; /* 0: not placed there */
};

struct mmio {
    struct mmio_io io;
    struct mmio_posts dma, driver;
    uint32_t calls, operations, blocks, streams_state, threads; /* arena */
    uint32_t functions, variables, events, info;
    struct mmio_stream streams[API_STREAM_COUNT]; /* 0: the default one, of all devices */
    uint32_t device_count, devices_asked;         /* 0: nobody has said yet */
    uint32_t running;                             /* call that is executed, or MMIO_NONE */
    uint64_t taken, executed;                     /* calls, by order */
    uint64_t last_answer;                         /* address */
    uint32_t used_calls, used_blocks;
    uint16_t read_tags[16]; /* return_on_read: reads that wait */
    uint32_t reads;
    bool reading;       /* an answer is being written for the first of them */
    bool read_ready;    /* and is there */
    uint32_t info_blob; /* while the driver is asked what it has */
};

static struct mmio_module mmio_modules[MMIO_MODULES];

static struct mmio_call *call_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_call, c->calls) + i;
}

static struct mmio_operation *operation_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_operation, c->operations) + i;
}

static struct mmio_block *block_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_block, c->blocks) + i;
}

static struct mmio_event *event_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_event, c->events) + i;
}

static struct mmio_name *function_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_name, c->functions) + i;
}

static struct mmio_name *variable_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_name, c->variables) + i;
}

static struct mmio_thread *thread_of(const struct mmio *c, uint32_t thread)
{
    return arena_at(struct mmio_thread, c->threads) + thread % MMIO_THREADS;
}

static struct driver_device_info *info_of(const struct mmio *c, uint32_t device)
{
    return arena_at(struct driver_device_info, c->info) + device;
}

static struct api_streams *streams_of(const struct mmio *c)
{
    return arena_at(struct api_streams, c->streams_state);
}

static uint32_t call_count(const struct mmio *c)
{
    return (uint32_t)mmio_params(c)->calls;
}

static int32_t error_of(uint32_t status)
{
    static const int16_t errors[] = {[DRIVER_OK] = MMIO_SUCCESS,
                                     [DRIVER_NOT_READY] = MMIO_NOT_READY,
                                     [DRIVER_OUT_OF_MEMORY] = MMIO_OUT_OF_MEMORY,
                                     [DRIVER_INVALID_DEVICE] = MMIO_INVALID_DEVICE,
                                     [DRIVER_INVALID_ADDRESS] = MMIO_INVALID_VALUE,
                                     [DRIVER_INVALID_VALUE] = MMIO_INVALID_VALUE,
                                     [DRIVER_TOO_LARGE] = MMIO_INVALID_CONFIGURATION,
                                     [DRIVER_FAULT] = MMIO_LAUNCH_FAILURE};
    return status < sizeof errors / sizeof errors[0] ? errors[status] : MMIO_UNKNOWN;
}

/* ---- posts ---- */

static void posts_init(struct mmio_posts *p)
{
    p->table = arena_allocate(MMIO_POSTS * sizeof(struct mmio_post));
    for (uint32_t i = 0; i < MMIO_POSTS; i++)
        arena_at(struct mmio_post, p->table)[i].next = i + 1 < MMIO_POSTS ? i + 1 : MMIO_NONE;
    p->free = 0;
    p->first = p->last = MMIO_NONE;
}

static struct mmio_post *post_at(const struct mmio_posts *p, uint32_t i)
{
    return arena_at(struct mmio_post, p->table) + i;
}

/* There is room: calls, operations and blocks have one post each at a time, and a call that asks
 * for more looks first. */
static struct mmio_post *post_new(struct mmio_posts *p, enum mmio_owner owner, uint32_t number)
{
    uint32_t i = p->free;
    if (i == MMIO_NONE)
        bug("mmio: more than %d posts", MMIO_POSTS);
    struct mmio_post *post = post_at(p, i);
    p->free = post->next;
    *post = (struct mmio_post){.owner = (uint8_t)owner, .number = number, .next = MMIO_NONE};
    if (p->first == MMIO_NONE)
        p->first = i;
    else
        post_at(p, p->last)->next = i;
    p->last = i;
    p->used++;
    return post;
}

static struct mmio_post post_take(struct mmio_posts *p, uint32_t i)
{
    struct mmio_post post = *post_at(p, i);
    post_at(p, i)->owner = OWNER_NONE;
    post_at(p, i)->next = p->free;
    p->free = i;
    p->used--;
    return post;
}

static void post_dma(struct mmio *c, enum mmio_owner owner, uint32_t number,
                     struct packet_dma_command command)
{
    post_new(&c->dma, owner, number)->dma = command;
}

static struct mmio_post *post_driver(struct mmio *c, enum mmio_owner owner, uint32_t number,
                                     enum device_call_request_kind kind)
{
    struct mmio_post *post = post_new(&c->driver, owner, number);
    post->kind = (uint8_t)kind;
    return post;
}

static bool send_dma(struct mmio *c)
{
    struct mmio_posts *p = &c->dma;
    bool sent = false;
    while (p->first != MMIO_NONE && mmio_dma_can_send(c)) {
        uint32_t i = p->first;
        struct mmio_post *post = post_at(p, i);
        void *payload =
            mmio_dma_send_write(c, (uint16_t)i, (uint64_t)mmio_params(c)->dma_register, 0);
        uint8_t *line = mem_write_data(payload, MMIO_LINE);
        struct packet_fault fault;
        memset(line, 0, MMIO_LINE);
        size_t bytes = packet_dma_command_encode(&post->dma, line, MMIO_LINE, &fault);
        if (!bytes)
            bug("mmio: a command of the DMA engine cannot be encoded");
        mem_mask_store(mem_write_mask(payload, MMIO_LINE),
                       mem_mask_range(0, (unsigned)bytes, MMIO_LINE), MMIO_LINE);
        p->first = post->next;
        post->next = MMIO_NONE;
        sent = true;
    }
    return sent;
}

static void send_to_driver(struct mmio *c, uint16_t tag, const struct mmio_post *p)
{
    void *payload;
    switch ((enum device_call_request_kind)p->kind) {
    case DEVICE_CALL_INFO:
        mmio_driver_send_info(c, tag, p->blob, p->device);
        break;
    case DEVICE_CALL_ROOM:
        mmio_driver_send_room(c, tag, p->device);
        break;
    case DEVICE_CALL_ALLOCATE:
        mmio_driver_send_allocate(c, tag, p->size, p->device);
        break;
    case DEVICE_CALL_RELEASE:
        mmio_driver_send_release(c, tag, p->address);
        break;
    case DEVICE_CALL_OPEN:
        mmio_driver_send_open(c, tag, p->device);
        break;
    case DEVICE_CALL_CLOSE:
        mmio_driver_send_close(c, tag, p->device);
        break;
    case DEVICE_CALL_WRITE:
        mmio_driver_send_write(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_READ:
        mmio_driver_send_read(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_COPY:
        payload = mmio_driver_send_copy(c, tag, p->address, p->from, p->device);
        *device_call_copy_size(payload) = p->size;
        break;
    case DEVICE_CALL_FILL:
        payload = mmio_driver_send_fill(c, tag, p->address, p->size, p->pattern, p->width);
        *device_call_fill_queue(payload) = p->device;
        break;
    case DEVICE_CALL_LAUNCH:
        mmio_driver_send_launch(c, tag, p->blob, p->device);
        break;
    case DEVICE_CALL_CODE:
        mmio_driver_send_code(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_KERNEL:
        mmio_driver_send_kernel(c, tag, p->address, p->blob, p->device);
        break;
    case DEVICE_CALL_FORGET:
        mmio_driver_send_forget(c, tag, p->address);
        break;
    case DEVICE_CALL_EXECUTE:
        mmio_driver_send_execute(c, tag, p->blob);
        break;
    }
}

static bool send_driver(struct mmio *c)
{
    struct mmio_posts *p = &c->driver;
    bool sent = false;
    while (p->first != MMIO_NONE && mmio_driver_can_send(c)) {
        uint32_t i = p->first;
        send_to_driver(c, (uint16_t)i, post_at(p, i));
        p->first = post_at(p, i)->next;
        post_at(p, i)->next = MMIO_NONE;
        sent = true;
    }
    return sent;
}

#endif
