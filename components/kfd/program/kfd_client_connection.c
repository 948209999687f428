/* The connection of a process with the server: see kfd_channel.h. The first kfd_connect() makes the
 * connection that stands for the process; each thread makes a connection of its own at its first
 * call. A child of fork() begins anew. */
#define _GNU_SOURCE /* dlsym */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "components/kfd/channel/kfd_socket.h"

#include "kfd_client.h"

struct kfd_client kfd_client;

static struct {
    pthread_mutex_t mutex;
    bool was_tried, is_open; /* atomic: the latter */
    bool is_prepared;        /* handlers of fork() and exit() */
    int connection;          /* the main one of the process */
    pthread_key_t key;       /* closes a thread's connection with it */
} client = {.mutex = PTHREAD_MUTEX_INITIALIZER, .connection = -1};

/* 1 + the connection of this thread; 0: it has none. */
static _Thread_local int mine __attribute__((tls_model("initial-exec")));
static _Thread_local bool rang __attribute__((tls_model("initial-exec")));

bool kfd_is_open(void)
{
    return __atomic_load_n(&client.is_open, __ATOMIC_ACQUIRE);
}

bool kfd_is_submitter(void)
{
    return rang;
}

uint64_t kfd_read_clock(void)
{
    struct kfd_page *s = kfd_client.page;
    uint64_t reading = __atomic_add_fetch(&s->readings, 1, __ATOMIC_RELAXED);
    return kfd_clock_ns(__atomic_load_n(&s->time_ns, __ATOMIC_RELAXED)) + reading;
}

/* ---- threads ---- */

static int connect_server(void)
{
    const char *folder = getenv("HEDDLE_TOPOLOGY");
    errno = ENOENT;
    return folder ? kfd_socket_connect(folder) : -1;
}

static int open_thread(void)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_THREAD, .word = {(uint64_t)syscall(SYS_gettid)}};
    struct kfd_reply reply;
    int fd = connect_server();
    if (fd < 0)
        return -1;
    if (!kfd_socket_put(fd, &call, -1) || !kfd_socket_take(fd, &reply, NULL, 0)
        || reply.result != 0) {
        kfd_socket_close(fd);
        return -1;
    }
    mine = fd + 1;
    pthread_setspecific(client.key, &mine);
    return fd;
}

static void end_thread(void *unused)
{
    (void)unused;
    if (mine)
        kfd_socket_close(mine - 1);
    mine = 0;
}

static int fail_disconnected(void)
{
    static bool has_warned;
    if (!__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED))
        kfd_say("the simulator is not there any more");
    return -ENODEV;
}

/* True if an answer comes within the time. */
static bool wait_for_answer(int fd, uint32_t limit_ms)
{
    struct timespec now, end;
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t spent = (now.tv_sec - end.tv_sec) * 1000 + (now.tv_nsec - end.tv_nsec) / 1000000;
        int64_t left = (int64_t)limit_ms - spent;
        int ready = poll(&answer, 1, left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left);
        if (ready > 0)
            return true;
        if (left <= 0)
            return false;
    }
}

/* Without the server such a call does not end well: what it waits for never happens, and AMD's
 * runtime would look for it for ever. */
static bool is_wait(const struct kfd_call *call)
{
    return call->kind == KFD_MESSAGE_WAIT
           || (call->kind == KFD_MESSAGE_IOCTL
               && _IOC_NR(call->word[0]) == _IOC_NR(AMDKFD_IOC_WAIT_EVENTS));
}

int kfd_send_with(struct kfd_call *call, struct kfd_reply *reply, uint32_t limit_ms, int *file)
{
    int error = errno, fd = mine ? mine - 1 : open_thread(), sent = file ? *file : -1;
    bool is_valid = fd >= 0 && kfd_socket_put(fd, call, sent);
    if (file)
        *file = -1;
    if (is_valid && limit_ms != UINT32_MAX && !wait_for_answer(fd, limit_ms)) {
        const struct kfd_call end = {.kind = KFD_MESSAGE_GIVE_UP};
        is_valid = kfd_socket_put(fd, &end, -1);
    }
    is_valid = is_valid && kfd_socket_take(fd, reply, file, 1);
    if (is_valid)
        kfd_views_renew();
    rang |= call->kind == KFD_MESSAGE_RUNG;
    int result = is_valid ? reply->result : fail_disconnected();
    if (!is_valid && is_wait(call))
        abort();
    errno = error;
    return result;
}

int kfd_send(struct kfd_call *call, struct kfd_reply *reply, uint32_t limit_ms)
{
    return kfd_send_with(call, reply, limit_ms, NULL);
}

/* ---- the process ---- */

/* Work that is still queued is done, as a program may end without waiting for its last kernel. */
static void finish_connection(void)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_BYE};
    struct kfd_reply reply;
    if (kfd_is_open())
        kfd_send(&call, &reply, UINT32_MAX);
}

static void begin_child(void)
{
    if (mine)
        kfd_socket_close(mine - 1);
    mine = 0;
    rang = false;
    if (client.connection >= 0) {
        kfd_socket_close(client.connection);
        kfd_socket_close(kfd_client.memory);
        kfd_socket_close(kfd_client.file);
    }
    kfd_doorbells_reset();
    kfd_views_reset();
    kfd_close_reset();
    kfd_spans_reset();
    client.connection = -1;
    client.was_tried = client.is_open = false;
    pthread_mutex_init(&client.mutex, NULL);
}

static bool send_hello(int fd)
{
    struct kfd_reply reply;
    const struct r_debug *code = dlsym(RTLD_DEFAULT, "_amdgpu_r_debug");
    const struct kfd_call call = {.kind = KFD_MESSAGE_HELLO,
                                  .word = {KFD_CHANNEL_VERSION, (uintptr_t)code}};
    int files[KFD_PASS_FILES] = {-1, -1};
    if (!kfd_socket_put(fd, &call, -1) || !kfd_socket_take(fd, &reply, files, KFD_PASS_FILES))
        return false;
    if (reply.result != 0 && reply.size)
        kfd_say("%.*s", (int)reply.size, (const char *)reply.bytes);
    if (reply.result != 0 || files[0] < 0)
        return false;
    kfd_client.gpu_count = (uint32_t)reply.word[0];
    memcpy(kfd_client.doorbell_bytes, reply.bytes, sizeof kfd_client.doorbell_bytes);
    kfd_client.memory = kfd_socket_move_up(files[KFD_PASS_MEMORY]);
    kfd_client.file = kfd_socket_move_up(files[KFD_PASS_SHARED]);
    void *page = mmap(NULL, KFD_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, kfd_client.file, 0);
    if (page == MAP_FAILED)
        return false;
    madvise(page, KFD_PAGE, MADV_DONTFORK);
    kfd_client.page = page;
    prctl(PR_SET_PTRACER, reply.word[1]); /* the server reads arguments of calls */
    return true;
}

static bool open_once(void)
{
    int fd = connect_server();
    if (fd < 0) {
        kfd_say("there is no simulator behind HEDDLE_TOPOLOGY: %s", strerror(errno));
        return false;
    }
    if (!send_hello(fd)) { /* the server has said why */
        kfd_socket_close(fd);
        return false;
    }
    client.connection = fd;
    if (!client.is_prepared && pthread_key_create(&client.key, end_thread) == 0) {
        pthread_atfork(NULL, NULL, begin_child);
        atexit(finish_connection);
        client.is_prepared = true;
    }
    return client.is_prepared;
}

bool kfd_connect(void)
{
    pthread_mutex_lock(&client.mutex);
    if (!client.was_tried)
        __atomic_store_n(&client.is_open, open_once(), __ATOMIC_RELEASE);
    client.was_tried = true;
    pthread_mutex_unlock(&client.mutex);
    return client.is_open;
}
