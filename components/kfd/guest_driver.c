/* See guest_driver.h. A thread's connection is made by its first call and closed with it. */
#define _GNU_SOURCE /* gettid */
#include "guest_driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest_channel.h"
#include "kfd_socket.h"

static struct {
    char folder[4096];
    int connection; /* that stands for the process */
    uint32_t gpu_count, stream_flags;
    pthread_key_t key;
    uint64_t now_ps; /* atomic */
    void (*attend)(const struct driver_attention *now);
} own = {.connection = -1};

static _Thread_local int mine; /* 1 + the connection of this thread; 0: it has none */
static _Thread_local char failure[KFD_CHANNEL_BYTES];

/* ---- messages ---- */

static void end_thread(void *unused)
{
    (void)unused;
    if (mine)
        kfd_socket_close(mine - 1);
    mine = 0;
}

static int exchange(int fd, const struct kfd_call *call, struct kfd_reply *reply)
{
    *reply = (struct kfd_reply){0};
    if (fd >= 0 && kfd_socket_put(fd, call, -1) && kfd_socket_take(fd, reply, NULL, 0)
        && reply->result >= 0)
        return reply->result;
    snprintf(failure, sizeof failure, "the simulator is not there any more");
    return DRIVER_FAULT;
}

static int connect_thread(void)
{
    const struct kfd_call call = {.kind = KFD_SAY_THREAD, .word = {(uint64_t)gettid()}};
    struct kfd_reply reply;
    int fd = kfd_socket_connect(own.folder);
    if (fd < 0 || exchange(fd, &call, &reply) != 0)
        return -1;
    mine = fd + 1;
    pthread_setspecific(own.key, &mine);
    return fd;
}

static void attend(void);
static void print(uint64_t bytes);

/* Arguments of a call, and what it gives. */
#define ASK(name, ...) ask(GUEST_##name, (const uint64_t[GUEST_WORDS]){__VA_ARGS__}, &reply)

static enum driver_status ask(enum guest_name name, const uint64_t *word, struct kfd_reply *reply)
{
    struct kfd_call call = {.kind = KFD_SAY_DRIVER, .size = sizeof(struct guest_call)};
    struct guest_call c = {.name = name};
    int fd = mine ? mine - 1 : connect_thread();
    memcpy(c.word, word, sizeof c.word);
    memcpy(call.bytes, &c, sizeof c);
    int status = exchange(fd, &call, reply);
    while (status == GUEST_ATTEND) {
        attend();
        c.name = GUEST_go_on;
        memcpy(call.bytes, &c, sizeof c);
        status = exchange(fd, &call, reply);
    }
    if (reply->word[3])
        __atomic_store_n(&own.now_ps, reply->word[3], __ATOMIC_RELAXED);
    if (reply->word[2] && name != GUEST_printed)
        print(reply->word[2]);
    if (status != DRIVER_OK && reply->size)
        memcpy(failure, reply->bytes, reply->size);
    return (enum driver_status)status;
}

/* What kernels of this process have printed. */
static void print(uint64_t bytes)
{
    char text[4096] = "";
    struct kfd_reply reply;
    while (bytes) {
        uint64_t part = bytes < sizeof text ? bytes : sizeof text;
        if (ASK(printed, (uintptr_t)text, part) != DRIVER_OK)
            return;
        fwrite(text, 1, part, stdout);
        bytes -= part;
    }
}

/* ---- kernels that wait ---- */

static bool peek(uint64_t address, void *bytes, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(peek, address, (uintptr_t)bytes, size) == DRIVER_OK;
}

static bool poke(uint64_t address, const void *bytes, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(poke, address, (uintptr_t)bytes, size) == DRIVER_OK;
}

static void attend(void)
{
    const struct driver_attention now = {.read = peek, .write = poke};
    if (own.attend)
        own.attend(&now);
}

static void set_attendant(void (*attendant)(const struct driver_attention *now))
{
    struct kfd_reply reply;
    own.attend = attendant;
    ASK(set_attendant, attendant != NULL);
}

/* ---- devices and memory ---- */

static uint32_t device_count(void)
{
    return own.gpu_count;
}

static enum driver_status device_info(uint32_t device, struct driver_device_info *info)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(device_info, device);
    if (status == DRIVER_OK)
        memcpy(info, reply.bytes, sizeof *info);
    return status;
}

static enum driver_status set_window(uint64_t base, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(set_window, base, size);
}

static enum driver_status allocate(uint32_t device, uint64_t size, uint64_t align,
                                   uint64_t *address)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(allocate, device, size, align);
    *address = status == DRIVER_OK ? reply.word[0] : *address;
    return status;
}

static enum driver_status allocate_at(uint32_t device, uint64_t address, uint64_t size,
                                      enum driver_place place)
{
    struct kfd_reply reply;
    return ASK(allocate_at, device, address, size, place);
}

static enum driver_status allocate_unified(uint32_t device, uint64_t size, uint64_t align,
                                           uint64_t *address)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(allocate_unified, device, size, align);
    *address = status == DRIVER_OK ? reply.word[0] : *address;
    return status;
}

static enum driver_status release(uint64_t address)
{
    struct kfd_reply reply;
    return ASK(release, address);
}

static bool find(uint64_t address, struct driver_allocation *allocation)
{
    struct kfd_reply reply;
    bool found = ASK(find, address) == DRIVER_OK;
    if (found)
        memcpy(allocation, reply.bytes, sizeof *allocation);
    return found;
}

static enum driver_status memory_info(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(memory_info, device);
    *free_bytes = reply.word[0];
    *total_bytes = reply.word[1];
    return status;
}

static uint64_t name_of(uint32_t device, uint64_t address)
{
    struct kfd_reply reply;
    return ASK(name, device, address) == DRIVER_OK ? reply.word[0] : address;
}

static enum driver_status page_info(uint64_t address, struct driver_page *page)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(page_info, address);
    if (status == DRIVER_OK)
        memcpy(page, reply.bytes, sizeof *page);
    return status;
}

static enum driver_status remap(uint64_t address, uint64_t size, uint32_t gpu)
{
    struct kfd_reply reply;
    return ASK(remap, address, size, gpu);
}

static enum driver_status prefetch(uint32_t device, uint64_t address, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(prefetch, device, address, size);
}

static enum driver_status advise(uint64_t address, uint64_t size, enum driver_advice advice,
                                 bool on)
{
    struct kfd_reply reply;
    return ASK(advise, address, size, advice, on);
}

static enum driver_status set_peer(uint32_t gpu, uint32_t peer, bool on)
{
    struct kfd_reply reply;
    return ASK(set_peer, gpu, peer, on);
}

static enum driver_status context_create(uint32_t device, uint32_t process, uint32_t *context)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(context_create, device, process);
    *context = (uint32_t)reply.word[0];
    return status;
}

static enum driver_status context_destroy(uint32_t context)
{
    struct kfd_reply reply;
    return ASK(context_destroy, context);
}

static enum driver_status unify(const uint32_t *gpus, uint32_t count, uint32_t *device)
{
    (void)gpus, (void)count, (void)device;
    snprintf(failure, sizeof failure,
             "one device of several GPUs cannot be made on a machine that several processes share");
    return DRIVER_INVALID_VALUE;
}

/* ---- queues ---- */

static enum driver_status queue_create(uint32_t device, uint32_t *queue)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(queue_create, device);
    *queue = (uint32_t)reply.word[0];
    return status;
}

static enum driver_status queue_destroy(uint32_t queue)
{
    struct kfd_reply reply;
    return ASK(queue_destroy, queue);
}

static enum driver_status queue_attends(uint32_t queue)
{
    struct kfd_reply reply;
    return ASK(queue_attends, queue);
}

/* A call that gives a ticket. */
#define GIVE_TICKET(...)                                                                           \
    do {                                                                                           \
        struct kfd_reply reply;                                                                    \
        enum driver_status status = ASK(__VA_ARGS__);                                              \
        if (ticket && status == DRIVER_OK)                                                         \
            *ticket = reply.word[0];                                                               \
        return status;                                                                             \
    } while (0)

static enum driver_status write_host(uint32_t queue, uint64_t address, const void *host,
                                     uint64_t size, uint64_t *ticket)
{
    GIVE_TICKET(write, queue, address, (uintptr_t)host, size);
}

static enum driver_status read_host(uint32_t queue, void *host, uint64_t address, uint64_t size,
                                    uint64_t *ticket)
{
    GIVE_TICKET(read, queue, (uintptr_t)host, address, size);
}

static enum driver_status write_shared(uint32_t queue, uint64_t address, const void *host,
                                       uint64_t size, uint64_t *ticket)
{
    GIVE_TICKET(write_shared, queue, address, (uintptr_t)host, size);
}

static enum driver_status read_shared(uint32_t queue, void *host, uint64_t address, uint64_t size,
                                      uint64_t *ticket)
{
    GIVE_TICKET(read_shared, queue, (uintptr_t)host, address, size);
}

static enum driver_status copy(uint32_t queue, uint64_t to, uint64_t from, uint64_t size,
                               uint64_t *ticket)
{
    GIVE_TICKET(copy, queue, to, from, size);
}

static enum driver_status fill(uint32_t queue, uint64_t address, const void *pattern,
                               uint32_t pattern_bytes, uint64_t count, uint64_t *ticket)
{
    uint64_t word = 0;
    memcpy(&word, pattern, pattern_bytes <= sizeof word ? pattern_bytes : 0);
    GIVE_TICKET(fill, queue, address, word, pattern_bytes, count);
}

static enum driver_status launch(uint32_t queue, const struct driver_launch *what, uint64_t *ticket)
{
    GIVE_TICKET(launch, queue, (uintptr_t)what);
}

static enum driver_status mark(uint32_t queue, uint64_t *ticket)
{
    GIVE_TICKET(mark, queue);
}

static enum driver_status last(uint32_t queue, uint64_t *ticket)
{
    GIVE_TICKET(last, queue);
}

static enum driver_status wait_for(uint32_t queue, uint64_t ticket)
{
    struct kfd_reply reply;
    return ASK(wait_for, queue, ticket);
}

static uint32_t stream_flags(void)
{
    return own.stream_flags;
}

static enum driver_status call_begin(uint32_t queue, enum driver_stream_call call, bool is_default,
                                     uint64_t *blocker)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(call_begin, queue, call, is_default);
    *blocker = reply.word[0];
    return status;
}

static enum driver_status call_end(uint32_t queue, uint64_t ticket)
{
    struct kfd_reply reply;
    return ASK(call_end, queue, ticket);
}

/* ---- waiting and time ---- */

static enum driver_status wait(uint64_t ticket)
{
    struct kfd_reply reply;
    return ASK(wait, ticket);
}

static enum driver_status advance(bool poll)
{
    struct kfd_reply reply;
    return ASK(advance, poll);
}

static enum driver_status query(uint64_t ticket)
{
    struct kfd_reply reply;
    return ASK(query, ticket);
}

static enum driver_status time_of(uint64_t ticket, uint64_t *time_ps)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(time_of, ticket);
    *time_ps = status == DRIVER_OK ? reply.word[0] : *time_ps;
    return status;
}

static uint64_t now(void)
{
    return __atomic_load_n(&own.now_ps, __ATOMIC_RELAXED);
}

/* ---- code ---- */

static enum driver_status register_code(uint32_t device, const char *name, uint64_t address,
                                        const void *bytes, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(register_code, device, (uintptr_t)name, address, (uintptr_t)bytes, size);
}

static enum driver_status unregister_code(uint64_t address)
{
    struct kfd_reply reply;
    return ASK(unregister_code, address);
}

/* Checks know no lines of programs in other processes. */
static enum driver_status describe_code(uint64_t address, const void *file, uint64_t size)
{
    (void)address, (void)file, (void)size;
    return DRIVER_OK;
}

static enum driver_status describe_constant(uint64_t address, uint64_t size)
{
    (void)address, (void)size;
    return DRIVER_OK;
}

static enum driver_status copy_code(uint32_t device, uint64_t address)
{
    struct kfd_reply reply;
    return ASK(copy_code, device, address);
}

static enum driver_status register_kernel(uint32_t device, const char *name, uint64_t entry)
{
    struct kfd_reply reply;
    return ASK(register_kernel, device, (uintptr_t)name, entry);
}

static enum driver_status register_ptx(uint32_t device, const char *name, uint64_t address,
                                       const char *text, uint64_t size)
{
    struct kfd_reply reply;
    return ASK(register_ptx, device, (uintptr_t)name, address, (uintptr_t)text, size);
}

static enum driver_status ptx_kernel(uint64_t entry, struct driver_ptx_kernel *kernel)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(ptx_kernel, entry);
    if (status == DRIVER_OK)
        memcpy(kernel, reply.bytes, sizeof *kernel);
    return status;
}

static enum driver_status ptx_blocks(uint32_t device, uint64_t entry, uint32_t threads,
                                     uint64_t dynamic_shared_bytes, uint32_t *blocks)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(ptx_blocks, device, entry, threads, dynamic_shared_bytes);
    *blocks = (uint32_t)reply.word[0];
    return status;
}

static enum driver_status set_kernel_heap(uint32_t device, uint64_t bytes)
{
    struct kfd_reply reply;
    return ASK(set_kernel_heap, device, bytes);
}

static bool meets(uint64_t entry)
{
    struct kfd_reply reply;
    return ASK(meets, entry) == DRIVER_OK && reply.word[0];
}

static enum driver_ptx_fault ptx_fault(void)
{
    struct kfd_reply reply;
    ASK(ptx_fault, 0);
    return (enum driver_ptx_fault)reply.word[0];
}

/* ---- the process ---- */

static const char *error_text(void)
{
    return failure;
}

static void program_ends(bool ends)
{
    struct kfd_reply reply;
    ASK(leaves, ends);
}

static int finish(void)
{
    const struct kfd_call call = {.kind = KFD_SAY_BYE};
    struct kfd_reply reply;
    exchange(mine ? mine - 1 : connect_thread(), &call, &reply);
    kfd_socket_close(own.connection);
    return 0;
}

/* The simulation's state is in another process, and so is the clock of its calls. */
static void nothing(void)
{
}

static void leave_call(const char *function)
{
    (void)function;
}

static bool is_hidden(const void *address)
{
    (void)address;
    return false;
}

static const struct driver_api table = {
    .version = DRIVER_API_VERSION,
    .device_count = device_count,
    .device_info = device_info,
    .set_window = set_window,
    .allocate = allocate,
    .allocate_at = allocate_at,
    .allocate_unified = allocate_unified,
    .release = release,
    .find = find,
    .memory_info = memory_info,
    .name = name_of,
    .page_info = page_info,
    .remap = remap,
    .prefetch = prefetch,
    .advise = advise,
    .set_peer = set_peer,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .unify = unify,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_attends = queue_attends,
    .write = write_host,
    .read = read_host,
    .write_shared = write_shared,
    .read_shared = read_shared,
    .copy = copy,
    .fill = fill,
    .launch = launch,
    .mark = mark,
    .last = last,
    .wait_for = wait_for,
    .stream_flags = stream_flags,
    .call_begin = call_begin,
    .call_end = call_end,
    .wait = wait,
    .advance = advance,
    .query = query,
    .time_of = time_of,
    .now = now,
    .register_code = register_code,
    .unregister_code = unregister_code,
    .describe_code = describe_code,
    .describe_constant = describe_constant,
    .copy_code = copy_code,
    .register_kernel = register_kernel,
    .register_ptx = register_ptx,
    .ptx_kernel = ptx_kernel,
    .ptx_blocks = ptx_blocks,
    .set_kernel_heap = set_kernel_heap,
    .meets = meets,
    .ptx_fault = ptx_fault,
    .set_attendant = set_attendant,
    .error_text = error_text,
    .program_ends = program_ends,
    .finish = finish,
    .hide = nothing,
    .is_hidden = is_hidden,
    .enter_call = nothing,
    .leave_call = leave_call,
};

/* ---- opening ---- */

bool guest_driver_is(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

const struct driver_api *guest_driver_open(const char *path, bool *functional)
{
    const struct kfd_call call = {.kind = KFD_SAY_GUEST,
                                  .word = {KFD_CHANNEL_VERSION, DRIVER_API_VERSION}};
    struct kfd_reply reply;
    const char *end = strrchr(path, '/');
    snprintf(own.folder, sizeof own.folder, "%.*s", end ? (int)(end - path) : 0, path);
    own.connection = kfd_socket_connect(own.folder);
    if (own.connection < 0) {
        fprintf(stderr, "heddle: there is no machine at '%s': %s\n", path, strerror(errno));
        return NULL;
    }
    /* The server has said why it refuses. */
    if (exchange(own.connection, &call, &reply) != 0
        || pthread_key_create(&own.key, end_thread) != 0)
        return NULL;
    own.gpu_count = (uint32_t)reply.word[0];
    own.stream_flags = (uint32_t)reply.word[2];
    *functional = reply.word[3] != 0;
    prctl(PR_SET_PTRACER, reply.word[1]); /* it reads and writes what calls point to */
    return &table;
}
