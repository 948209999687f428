/* Makes the driver's calls by messages to the server of a shared machine. A thread's connection is
 * made by its first call and closed with it. */
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

#include "base/number.h"
#include "components/kfd/channel/guest_channel.h"
#include "components/kfd/channel/kfd_socket.h"

static struct {
    char folder[4096];
    int connection; /* the main one of the process */
    uint32_t gpu_count, stream_flags;
    pthread_key_t key;
    uint64_t now_ps; /* atomic */
    void (*attend)(const struct driver_attention *now);
} guest_state = {.connection = -1};

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

static int exchange_message(int fd, const struct kfd_call *call, struct kfd_reply *reply)
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
    const struct kfd_call call = {.kind = KFD_MESSAGE_THREAD, .word = {(uint64_t)gettid()}};
    struct kfd_reply reply;
    int fd = kfd_socket_connect(guest_state.folder);
    if (fd < 0 || exchange_message(fd, &call, &reply) != 0)
        return -1;
    mine = fd + 1;
    pthread_setspecific(guest_state.key, &mine);
    return fd;
}

static void attend_kernel(void);
static void print_bytes(uint64_t bytes);

/* Arguments of a call, and what it gives. */
#define ASK(name, ...) ask_machine(GUEST_##name, (const uint64_t[GUEST_WORDS]){__VA_ARGS__}, &reply)

static enum driver_status ask_machine(enum guest_name name, const uint64_t *word,
                                      struct kfd_reply *reply)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_DRIVER, .size = sizeof(struct guest_call)};
    struct guest_call c = {.name = name};
    int fd = mine ? mine - 1 : connect_thread();
    memcpy(c.word, word, sizeof c.word);
    memcpy(call.bytes, &c, sizeof c);
    int status = exchange_message(fd, &call, reply);
    while (status == GUEST_ATTEND) {
        attend_kernel();
        c.name = GUEST_go_on;
        memcpy(call.bytes, &c, sizeof c);
        status = exchange_message(fd, &call, reply);
    }
    if (reply->word[3])
        __atomic_store_n(&guest_state.now_ps, reply->word[3], __ATOMIC_RELAXED);
    if (reply->word[2] && name != GUEST_printed)
        print_bytes(reply->word[2]);
    if (status != DRIVER_OK && reply->size)
        memcpy(failure, reply->bytes, reply->size);
    return (enum driver_status)status;
}

/* Text that kernels of this process have printed. */
static void print_bytes(uint64_t bytes)
{
    char text[4096] = "";
    struct kfd_reply reply;
    while (bytes) {
        uint64_t part = min(bytes, sizeof text);
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

static void attend_kernel(void)
{
    const struct driver_attention now = {.read = peek, .write = poke};
    if (guest_state.attend)
        guest_state.attend(&now);
}

static void guest_set_attendant(void (*attendant)(const struct driver_attention *now))
{
    struct kfd_reply reply;
    guest_state.attend = attendant;
    ASK(set_attendant, attendant != NULL);
}

/* ---- calls in messages, one for a row of driver_calls.def ---- */

static uint64_t word_of(const void *pattern, uint32_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, pattern, bytes <= sizeof word ? bytes : 0);
    return word;
}

#define POINTER(pointer)        (uintptr_t)(pointer)
#define PATTERN(pattern, bytes) word_of(pattern, bytes)
#define WORDS(...)              __VA_ARGS__
#define NOTHING(...)
#define MESSAGE(read_result, name, parameters, words)                                              \
    static enum driver_status guest_##name parameters                                              \
    {                                                                                              \
        struct kfd_reply reply;                                                                    \
        enum driver_status status = ASK(name, WORDS words);                                        \
        read_result;                                                                               \
        return status;                                                                             \
    }
#define FORM_PLAIN MESSAGE,
#define FORM_GIVES(result)                                                                         \
    MESSAGE, if (result && status == DRIVER_OK) *result = (__typeof__(*result))reply.word[0]
#define FORM_FILLS(result)                                                                         \
    MESSAGE, if (status == DRIVER_OK) memcpy(result, reply.bytes, sizeof *result)
#define FORM_CUSTOM                                NOTHING,
#define FORM_LOCAL                                 NOTHING,
#define EXPAND_FORM(...)                           EXPAND(__VA_ARGS__)
#define EXPAND(define, ...)                        define(__VA_ARGS__)
#define DRIVER_CALL(name, form, parameters, words) EXPAND_FORM(FORM_##form, name, parameters, words)
#include "components/host/driver/driver_calls.def"

/* ---- calls that driver_calls.def leaves to this file ---- */

static uint32_t guest_device_count(void)
{
    return guest_state.gpu_count;
}

static bool guest_find(uint64_t address, struct driver_allocation *allocation)
{
    struct kfd_reply reply;
    bool is_allocated = ASK(find, address) == DRIVER_OK;
    if (is_allocated)
        memcpy(allocation, reply.bytes, sizeof *allocation);
    return is_allocated;
}

static enum driver_status guest_memory_info(uint32_t device, uint64_t *free_bytes,
                                            uint64_t *total_bytes)
{
    struct kfd_reply reply;
    enum driver_status status = ASK(memory_info, device);
    *free_bytes = reply.word[0];
    *total_bytes = reply.word[1];
    return status;
}

static uint64_t guest_name(uint32_t device, uint64_t address)
{
    struct kfd_reply reply;
    return ASK(name, device, address) == DRIVER_OK ? reply.word[0] : address;
}

static enum driver_status guest_unify(const uint32_t *gpus, uint32_t count, uint32_t *device)
{
    (void)gpus, (void)count, (void)device;
    snprintf(failure, sizeof failure,
             "one device of several GPUs cannot be made on a machine that several processes share");
    return DRIVER_INVALID_VALUE;
}

static uint32_t guest_stream_flags(void)
{
    return guest_state.stream_flags;
}

static uint64_t guest_now(void)
{
    return __atomic_load_n(&guest_state.now_ps, __ATOMIC_RELAXED);
}

/* Checks know no lines of programs in other processes. */
static enum driver_status guest_describe_code(uint64_t address, const void *file, uint64_t size)
{
    (void)address, (void)file, (void)size;
    return DRIVER_OK;
}

static enum driver_status guest_describe_constant(uint64_t address, uint64_t size)
{
    (void)address, (void)size;
    return DRIVER_OK;
}

static bool guest_meets(uint64_t entry)
{
    struct kfd_reply reply;
    return ASK(meets, entry) == DRIVER_OK && reply.word[0];
}

static enum driver_ptx_fault guest_ptx_fault(void)
{
    struct kfd_reply reply;
    ASK(ptx_fault, 0);
    return (enum driver_ptx_fault)reply.word[0];
}

/* ---- the process ---- */

static const char *guest_error_text(void)
{
    return failure;
}

static void guest_program_ends(bool ends)
{
    struct kfd_reply reply;
    ASK(leaves, ends);
}

static int guest_finish(void)
{
    const struct kfd_call call = {.kind = KFD_MESSAGE_BYE};
    struct kfd_reply reply;
    exchange_message(mine ? mine - 1 : connect_thread(), &call, &reply);
    kfd_socket_close(guest_state.connection);
    return 0;
}

/* The simulation's state is in another process, and so is the clock of its calls. */
static void guest_hide(void)
{
}

static void guest_enter_call(void)
{
}

static void guest_leave_call(const char *function)
{
    (void)function;
}

static bool guest_is_hidden(const void *address)
{
    (void)address;
    return false;
}

#define IN_PLAIN(name)   .name = guest_##name,
#define IN_CUSTOM        IN_PLAIN
#define IN_GIVES(result) IN_PLAIN
#define IN_FILLS(result) IN_PLAIN
#define IN_LOCAL(name)

static const struct driver_api table = {
    .version = DRIVER_API_VERSION,
#define DRIVER_CALL(name, form, ...)           IN_##form(name)
#define DRIVER_FUNCTION(type, name, form, ...) IN_##form(name)
#include "components/host/driver/driver_calls.def"
};

/* ---- opening ---- */

bool guest_driver_is(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

const struct driver_api *guest_driver_open(const char *path, bool *functional)
{
    const struct kfd_call call = {.kind = KFD_MESSAGE_GUEST,
                                  .word = {KFD_CHANNEL_VERSION, DRIVER_API_VERSION}};
    struct kfd_reply reply;
    const char *end = strrchr(path, '/');
    snprintf(guest_state.folder, sizeof guest_state.folder, "%.*s", end ? (int)(end - path) : 0,
             path);
    guest_state.connection = kfd_socket_connect(guest_state.folder);
    if (guest_state.connection < 0) {
        fprintf(stderr, "heddle: there is no machine at '%s': %s\n", path, strerror(errno));
        return NULL;
    }
    /* The server has said why it refuses. */
    if (exchange_message(guest_state.connection, &call, &reply) != 0
        || pthread_key_create(&guest_state.key, end_thread) != 0)
        return NULL;
    guest_state.gpu_count = (uint32_t)reply.word[0];
    guest_state.stream_flags = (uint32_t)reply.word[2];
    *functional = reply.word[3] != 0;
    prctl(PR_SET_PTRACER, reply.word[1]); /* it reads and writes what calls point to */
    return &table;
}
