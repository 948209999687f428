/* State of the mmio device, and the functions that its files share.
 *
 * Each call of the host has a slot from the write of its address to the answer of that write. Calls
 * are executed one after the other. The function that executes a call (mmio_call.c has the table)
 * is called again whenever something it asked for has come (`step`). A call that belongs to a
 * stream becomes an operation, which continues by itself (mmio_operation.c). Requests to the DMA
 * engine and the driver go through a *post* (mmio_post.c): a slot whose number is the tag, with a
 * note of the call that wants the answer.
 *
 * Code objects that the host has registered live outside of the arena, as the driver's do. */
#ifndef HEDDLE_COMPONENTS_PACKETS_MMIO_MMIO_STATE_H
#define HEDDLE_COMPONENTS_PACKETS_MMIO_MMIO_STATE_H

#include "mmio.gen.h"

#include <string.h>

#include "base/number.h"
#include "components/amd/isa/object/bundle.h"
#include "components/amd/isa/object/kernarg.h"
#include "components/host/api_stream/api_stream.h"
#include "components/host/driver/driver_api.h"
#include "components/nvidia/program/ptx_services.h"
#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"
#include "components/packets/packet_dma_command/packet_dma_command.h"
#include "components/packets/packet_dma_command/packet_dma_status.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/blob.h"

enum {
    MMIO_LINE = 64,
    MMIO_FETCH = 128, /* bytes of a packet that are fetched at first: enough for most */
    MMIO_DEVICES = 64,
    MMIO_THREADS_MAX = 64,
    MMIO_MODULES_MAX = 64,
    MMIO_NAMES_MAX = 1024, /* functions; variables */
    MMIO_EVENTS_MAX = 1024,
    MMIO_ARGUMENT_BYTES_MAX = 4096, /* bytes of a kernel's explicit arguments */
    MMIO_OPERATIONS = API_STREAM_OPERATIONS_MAX,
    MMIO_HOST_PAGE = 4096,
    MMIO_CODE_MAX = 1 << 28, /* bytes of a code object */
    MMIO_NONE = UINT32_MAX
};

enum mmio_error {
    MMIO_SUCCESS = 0,
#define API_ERROR(name, number, text) MMIO_##name = (number),
#include "components/packets/api_packet/api_error.def"
#undef API_ERROR
};

enum mmio_owner {
    OWNER_NONE,
    OWNER_FETCH,
    OWNER_ANSWER,
    OWNER_STEP,
    OWNER_OPERATION,
    OWNER_BLOCK,
    OWNER_HOSTED,
    OWNER_DELIVERY /* hosted: the bytes of a copy to memory */
};

/* Something asked of the DMA engine or the driver. */
struct mmio_post {
    uint8_t owner;   /* enum mmio_owner; OWNER_NONE: free */
    uint8_t kind;    /* enum device_call_request_kind, for requests to the driver */
    uint8_t width;   /* bytes of an element; for an allocation, enum driver_place */
    uint32_t number; /* the owner's */
    uint32_t next;   /* the next post that is not sent */
    uint32_t blob, device, pattern;
    uint64_t address, from, size; /* the driver's; the DMA engine's are in `dma` */
    struct packet_dma_command dma;
};

struct mmio_posts {
    uint32_t posts_at; /* arena: struct mmio_post[] */
    struct index_pool free_posts;
    uint32_t first, last; /* to be sent */
};

enum mmio_phase {
    PHASE_FREE,
    PHASE_FETCHING,
    PHASE_READY,   /* the packet is here */
    PHASE_RUNNING, /* is being executed */
    PHASE_WAITING, /* for a stream */
    PHASE_DONE,    /* the answer is to be written */
    PHASE_ANSWERING,
    PHASE_REPLY, /* the write is to be answered */
    PHASE_UNREAD /* the host is to read the device: with return_on_read, or when it polls */
};

/* hosted: a call that waits is answered `pending` first. */
enum mmio_notice { NOTICE_NONE, NOTICE_DUE, NOTICE_WRITING, NOTICE_REPLY, NOTICE_SENT };

struct mmio_call {
    uint8_t phase;  /* enum mmio_phase */
    uint8_t notice; /* enum mmio_notice */
    bool is_write_answered;
    bool is_malformed;
    uint16_t tag;   /* tag of the host's write */
    uint32_t step;  /* step of the execution */
    uint32_t place; /* step of placing a module */
    uint32_t blob;  /* the packet */
    uint32_t work;  /* another blob, while it is executed */
    uint32_t data;  /* hosted: another, with the bytes of a copy */
    uint32_t index; /* number of the object that is being made */
    uint64_t address, order;
    uint64_t since, ready, done; /* cycles */
    uint64_t value;              /* value in the driver's answer */
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

/* An operation that is or will be in a stream. */
struct mmio_operation {
    uint8_t kind; /* enum operation_kind */
    bool has_begun;
    uint8_t width;
    uint16_t stream;
    uint32_t queue;
    uint32_t thread; /* gets the error */
    uint32_t call;   /* slot that waits for it, or MMIO_NONE */
    uint32_t blob;   /* launch */
    uint32_t event, pattern;
    uint32_t blocks; /* in flight */
    int32_t error;
    uint64_t to, from, size; /* bytes, or elements of a fill */
    uint64_t cut, moved;     /* bytes */
};

struct mmio_block {
    bool is_used;
    bool is_fetched; /* its bytes are here and are sent on */
    uint32_t operation, size, blob;
    uint64_t offset;
};

struct mmio_stream {
    bool is_used;
    uint32_t device, queue;
};

struct mmio_event {
    bool is_used, is_recorded, has_happened;
    struct api_stream_point point;
    uint64_t time_ps;
};

struct mmio_thread {
    uint32_t device;
    int32_t error;
    bool is_configured;
    uint32_t grid[3], block[3], shared, argument_bytes;
    uint64_t stream;
    uint8_t arguments[MMIO_ARGUMENT_BYTES_MAX];
};

struct mmio_name {
    bool is_used;
    uint32_t module, index; /* kernel, or symbol of its code object */
    uint64_t address;       /* stub or shadow */
};

struct mmio_module {
    bool is_used;
    struct code_object object;
    struct ptx_module *ptx; /* where the devices execute PTX; its text is a blob */
    uint32_t text;
    uint64_t base[MMIO_DEVICES]; /* 0: not placed there */
};

struct mmio {
    struct mmio_io io;
    struct mmio_posts dma, driver;
    uint32_t calls_at, operations_at, blocks_at, streams_at, threads_at; /* arena */
    uint32_t functions_at, variables_at, events_at, info_at;
    struct mmio_stream streams[API_STREAMS_MAX]; /* 0: the default one, of all devices */
    uint32_t device_count, devices_asked;        /* 0: not known yet */
    uint32_t running;                            /* call that is executed, or MMIO_NONE */
    uint64_t calls_taken, calls_executed;
    uint64_t last_answer; /* address */
    uint32_t used_calls, used_blocks;
    uint16_t read_tags[16]; /* return_on_read: reads that wait */
    uint32_t reads;
    bool is_reading;    /* an answer is being written for the first of them */
    bool is_read_ready; /* the answer for the first of them is there */
    uint32_t info_blob; /* while the driver is asked what it has */
};

static struct mmio_module mmio_modules[MMIO_MODULES_MAX]; /* mmio_module.c */

static inline struct mmio_call *call_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_call, c->calls_at) + i;
}

static inline struct mmio_operation *operation_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_operation, c->operations_at) + i;
}

static inline struct mmio_block *block_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_block, c->blocks_at) + i;
}

static inline struct mmio_event *event_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_event, c->events_at) + i;
}

static inline struct mmio_name *function_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_name, c->functions_at) + i;
}

static inline struct mmio_name *variable_at(const struct mmio *c, uint32_t i)
{
    return arena_at(struct mmio_name, c->variables_at) + i;
}

/* A packet of a thread past the last is none (read_packet()). */
static inline struct mmio_thread *thread_of(const struct mmio *c, uint32_t thread)
{
    return arena_at(struct mmio_thread, c->threads_at) + thread;
}

static inline struct driver_device_info *info_of(const struct mmio *c, uint32_t device)
{
    return arena_at(struct driver_device_info, c->info_at) + device;
}

static inline struct api_streams *streams_of(const struct mmio *c)
{
    return arena_at(struct api_streams, c->streams_at);
}

/* Memory that the host shares has them. */
static inline uint64_t whole_host_pages(uint64_t size)
{
    return round_up(size, MMIO_HOST_PAGE);
}

static inline uint32_t call_count(const struct mmio *c)
{
    return mmio_params(c)->calls;
}

/* Calls, and the functions that execute them. A function is called when nothing that it asked for
 * is outstanding. It returns true when the call is over, or belongs to a stream from now on, and
 * false when it has asked the driver for something (`step` says how far it is) or wants to be tried
 * again. */
#define MMIO_CALLS(X)                                                                              \
    X(REGISTER_MODULE, register_module)                                                            \
    X(UNREGISTER_MODULE, unregister_module)                                                        \
    X(REGISTER_FUNCTION, register_function)                                                        \
    X(REGISTER_VARIABLE, register_variable)                                                        \
    X(GET_SYMBOL, get_symbol)                                                                      \
    X(MALLOC, allocate_memory)                                                                     \
    X(MALLOC_MANAGED, allocate_managed)                                                            \
    X(HOST_GET_DEVICE_POINTER, map_host)                                                           \
    X(MEM_PREFETCH, prefetch)                                                                      \
    X(FREE, release_memory)                                                                        \
    X(MALLOC_HOST, refuse_call)                                                                    \
    X(FREE_HOST, refuse_call)                                                                      \
    X(MEMORY_INFO, memory_info)                                                                    \
    X(MEMCPY, copy_memory)                                                                         \
    X(MEMCPY_ASYNC, copy_memory_async)                                                             \
    X(MEMCPY_PEER, copy_peer)                                                                      \
    X(MEMCPY_PEER_ASYNC, copy_peer_async)                                                          \
    X(MEMCPY_TO_SYMBOL, copy_to_symbol)                                                            \
    X(MEMCPY_TO_SYMBOL_ASYNC, copy_to_symbol_async)                                                \
    X(MEMCPY_FROM_SYMBOL, copy_from_symbol)                                                        \
    X(MEMCPY_FROM_SYMBOL_ASYNC, copy_from_symbol_async)                                            \
    X(MEMSET, set_memory)                                                                          \
    X(MEMSET_ASYNC, set_memory_async)                                                              \
    X(CONFIGURE_CALL, configure_call)                                                              \
    X(SET_ARGUMENT, set_argument)                                                                  \
    X(LAUNCH, launch_kernel)                                                                       \
    X(MAX_BLOCKS, max_blocks)                                                                      \
    X(DEVICE_SYNCHRONIZE, device_synchronize)                                                      \
    X(DEVICE_RESET, device_reset)                                                                  \
    X(GET_LAST_ERROR, get_last_error)                                                              \
    X(PEEK_AT_LAST_ERROR, peek_at_last_error)                                                      \
    X(GET_ERROR_STRING, get_error_string)                                                          \
    X(GET_DEVICE_COUNT, get_device_count)                                                          \
    X(GET_DEVICE, get_device)                                                                      \
    X(SET_DEVICE, set_device)                                                                      \
    X(SET_DEVICE_FLAGS, set_device_flags)                                                          \
    X(GET_DEVICE_PROPERTIES, get_device_properties)                                                \
    X(DEVICE_GET_ATTRIBUTE, device_get_attribute)                                                  \
    X(STREAM_CREATE, stream_create)                                                                \
    X(STREAM_CREATE_WITH_FLAGS, stream_create_with_flags)                                          \
    X(STREAM_DESTROY, stream_destroy)                                                              \
    X(STREAM_SYNCHRONIZE, stream_synchronize)                                                      \
    X(STREAM_QUERY, stream_query)                                                                  \
    X(STREAM_WAIT_EVENT, stream_wait_event)                                                        \
    X(EVENT_CREATE, event_create)                                                                  \
    X(EVENT_CREATE_WITH_FLAGS, event_create_with_flags)                                            \
    X(EVENT_DESTROY, event_destroy)                                                                \
    X(EVENT_RECORD, event_record)                                                                  \
    X(EVENT_SYNCHRONIZE, event_synchronize)                                                        \
    X(EVENT_QUERY, event_query)                                                                    \
    X(EVENT_ELAPSED_TIME, event_elapsed_time)                                                      \
    X(OTHER, refuse_call)

#define MMIO_CALL_FUNCTION(CALL, function)                                                         \
    static bool function(struct mmio *c, struct mmio_call *k);
MMIO_CALLS(MMIO_CALL_FUNCTION)
#undef MMIO_CALL_FUNCTION

/* ---- mmio_post.c ---- */

static int32_t error_of(uint32_t status);
static void posts_init(const struct mmio *c, struct mmio_posts *p);
static struct mmio_post post_remove(struct mmio_posts *p, uint32_t i);
static void post_dma(struct mmio *c, enum mmio_owner owner, uint32_t number,
                     struct packet_dma_command command);
static struct mmio_post *post_driver(struct mmio *c, enum mmio_owner owner, uint32_t number,
                                     enum device_call_request_kind kind);
static bool send_dma(struct mmio *c);
static bool send_driver(struct mmio *c);

/* ---- mmio_operation.c ---- */

static uint32_t operation_find_free(const struct mmio *c);
static void call_end(struct mmio *c, struct mmio_call *call, int32_t error);
static void operation_end(struct mmio *c, uint32_t number);
static void block_next(struct mmio *c, uint32_t number, int32_t error);
static bool streams_step(struct mmio *c);

/* ---- mmio_module.c ---- */

static int32_t module_read(const struct mmio *c, struct mmio_module *module, const uint8_t *bytes,
                           size_t size, uint32_t device);
static uint32_t module_of_handle(uint64_t handle);
static struct mmio_name *name_find(struct mmio_name *names, uint64_t address);
static struct mmio_name *name_place(struct mmio_name *names, uint64_t address);
static void names_release(struct mmio_name *names, uint32_t module);
static const struct code_object_kernel *kernel_of(const struct mmio_name *function);
static bool module_place(struct mmio *c, struct mmio_call *call, uint32_t number, uint32_t device,
                         int32_t *error);

/* ---- mmio_call.c ---- */

static bool call_is_known(uint16_t call);
static bool call_step(struct mmio *c, struct mmio_call *k);
static uint32_t slot_of(const struct mmio *c, const struct mmio_call *k);
static bool end_call(struct mmio *c, struct mmio_call *k, int32_t error);
static bool end_blocked(struct mmio *c, struct mmio_call *k);
static struct mmio_post *ask_driver(struct mmio *c, struct mmio_call *k,
                                    enum device_call_request_kind kind);
static uint32_t device_of(const struct mmio *c, const struct mmio_call *k);

/* ---- mmio_call_stream.c ---- */

static bool stream_exists(const struct mmio *c, uint64_t stream);
static uint32_t device_of_stream(const struct mmio *c, const struct mmio_call *k, uint64_t stream);
static bool issue_operation(struct mmio *c, struct mmio_call *k, uint64_t stream,
                            struct mmio_operation operation);

/* ---- mmio_call_memory.c ---- */

static bool in_window(uint64_t address);
static bool copy_range(struct mmio *c, struct mmio_call *k, uint64_t stream, uint64_t to,
                       uint64_t from, uint64_t size, uint32_t direction);

#endif
