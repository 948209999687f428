/* Connections as the machine sees them: which process and thread each is of, what its messages ask
 * for, and their answers. See kfd_connection.h. */
#define _GNU_SOURCE /* SCM_RIGHTS */
#include "kfd_connection.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/number.h"
#include "base/proc_stat.h"
#include "components/kfd/server/guests/kfd_guest.h"
#include "components/kfd/server/guests/kfd_start_barrier.h"
#include "runtime/engine/options.h"

#include "kfd_ioctl.h"

static struct kfd_connection *connections;

struct kfd_process *kfd_process_of(const struct kfd_request *request)
{
    return request->connection ? request->connection->process : NULL;
}

bool kfd_is_submitter(const struct kfd_request *request)
{
    return request->connection && request->connection->is_submitter;
}

bool kfd_messages_pending(const struct kfd_process *p)
{
    bool is_pending = false;
    for (const struct kfd_connection *c = connections; c; c = c->next) {
        struct pollfd message = {.fd = c->fd, .events = POLLIN};
        is_pending |= c->process == p && poll(&message, 1, 0) != 0;
    }
    return is_pending || kfd_is_receiving();
}

enum kfd_submitters kfd_submitters(const struct kfd_process *p)
{
    enum kfd_submitters state = KFD_SUBMITTERS_NONE;
    for (const struct kfd_connection *c = connections; c; c = c->next) {
        if (c->process != p || !c->is_submitter)
            continue;
        if (__atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE))
            return KFD_SUBMITTER_WAITS;
        state = KFD_SUBMITTERS_RUN;
    }
    return state;
}

bool kfd_submitters_sleep(const struct kfd_process *p)
{
    for (const struct kfd_connection *c = connections; c; c = c->next)
        if (c->process == p && c->is_submitter && !proc_thread_sleeps(c->pid, c->thread))
            return false;
    return true;
}

/* True if the thread waits for an answer of the server. */
static bool is_in_call(const struct kfd_process *p, int thread)
{
    for (const struct kfd_connection *c = connections; c; c = c->next)
        if (c->process == p && c->thread == thread
            && __atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

bool kfd_all_threads(const struct kfd_process *p,
                     bool (*is)(const struct kfd_process *p, int thread))
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
    DIR *folder = opendir(path);
    bool all = true;
    if (folder)
        for (const struct dirent *entry; all && (entry = readdir(folder));) {
            int thread = atoi(entry->d_name); /* 0: "." and ".." */
            all = !thread || is(p, thread);
        }
    if (folder)
        closedir(folder);
    return all;
}

static bool is_in_call_or_asleep(const struct kfd_process *p, int thread)
{
    return is_in_call(p, thread) || proc_thread_sleeps(p->pid, thread);
}

/* One that has run while they were looked at may have woken another one. */
bool kfd_is_quiescent(struct kfd_process *p)
{
    uint64_t before = kfd_spent_ns(p);
    if (!p->is_quiescent)
        p->is_quiescent = kfd_all_threads(p, is_in_call_or_asleep) && !kfd_messages_pending(p)
                          && kfd_spent_ns(p) == before;
    return p->is_quiescent;
}

/* Puts descriptors beside a message. */
static void pass_files(struct msghdr *message, char *control, const int *files, size_t count)
{
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *passed = CMSG_FIRSTHDR(message);
    *passed = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(passed), files, count * sizeof(int));
}

/* A socket that does not take an answer is the client's mistake. */
void kfd_answer(struct kfd_request *request, int result)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(KFD_PASS_FILES * sizeof(int))] = {0};
    struct kfd_connection *c = request->connection;
    if (!c || request != &c->request)
        return;
    c->reply.result = result;
    if (c->call.kind == KFD_MESSAGE_IOCTL && c->returns) {
        c->reply.size = c->call.size;
        memcpy(c->reply.bytes, c->call.bytes, c->call.size);
    }
    struct iovec part = {&c->reply, offsetof(struct kfd_reply, bytes) + c->reply.size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int fd = c->fd, passed = c->passed; /* the connection may do its next call at once */
    if (c->passes_files)
        pass_files(&message, control, (const int[]){kfd.memory, c->process->file}, KFD_PASS_FILES);
    else if (passed >= 0)
        pass_files(&message, control, &passed, 1);
    c->passes_files = false;
    c->passed = -1;
    if (c->process)
        c->process->is_quiescent = false;
    __atomic_store_n(&c->is_pending, false, __ATOMIC_RELEASE);
    if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
    if (passed >= 0)
        close(passed);
}

void kfd_connections_detach(const struct kfd_process *p)
{
    for (struct kfd_connection *c = connections; c; c = c->next)
        c->process = c->process == p ? NULL : c->process;
}

static struct kfd_process *find_process(pid_t pid)
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next)
        if (p->pid == pid && p->life != KFD_ENDED)
            return p;
    return NULL;
}

/* Other connections of the process end, too, also when a child has copies of them. */
static void leave_machine(struct kfd_process *p)
{
    kfd_process_leave(p);
    for (const struct kfd_connection *c = connections; c; c = c->next)
        if (c->process == p)
            shutdown(c->fd, SHUT_RDWR);
}

static void list_connection(struct kfd_connection *c, struct kfd_process *p)
{
    if (!c->is_listed) {
        c->next = connections;
        connections = c;
    }
    c->is_listed = true;
    c->is_submitter = p->kind->takes_turns;
    c->process = p;
}

/* ---- calls ---- */

int kfd_connection_open(struct kfd_connection *c)
{
    bool is_guest = c->call.kind == KFD_MESSAGE_GUEST;
    struct kfd_process *before = find_process(c->pid);
    uint32_t bytes[KFD_GPUS_MAX] = {0};
    if (before) /* exec() has put another program into its place */
        leave_machine(before);
    struct kfd_process *p = kfd_process_open(c->pid, is_guest ? 0 : c->call.word[1], is_guest);
    if (!p)
        return -ENODEV;
    kfd_rocr_targets_check(c->pid, c->call.word[1]);
    list_connection(c, p);
    c->is_main = true;
    c->reply.word[0] = kfd.gpu_count;
    c->reply.word[1] = (uint64_t)getpid();
    if (is_guest) {
        c->reply.word[2] = kfd.api->stream_flags();
        c->reply.word[3] = option_is_set_early("mode", "functional");
        return 0;
    }
    c->passes_files = true;
    for (uint32_t i = 0; i < kfd.gpu_count; i++)
        bytes[i] = kfd.gpu[i].doorbell_bytes;
    c->reply.size = sizeof bytes;
    memcpy(c->reply.bytes, bytes, sizeof bytes);
    return 0;
}

static int run_hello(struct kfd_connection *c)
{
    bool is_guest = c->call.kind == KFD_MESSAGE_GUEST;
    bool is_same_version = c->call.word[0] == KFD_CHANNEL_VERSION
                           && (!is_guest || c->call.word[1] == DRIVER_API_VERSION);
    if (c->is_listed || !is_same_version || !kfd_machine_open(!is_guest))
        return c->is_listed ? -EPROTO : -ENODEV;
    if (is_guest && kfd.api->stream_flags() & DRIVER_STREAMS_TELL_CALLS) {
        kfd_say("this platform takes calls as packets, and can be used by one program only");
        return -ENODEV;
    }
    if (is_guest)
        return kfd_connection_open(c);
    if (kfd.has_ended) {
        c->reply.size = sizeof kfd.end_reason;
        memcpy(c->reply.bytes, kfd.end_reason, sizeof kfd.end_reason);
        return -ENODEV;
    }
    kfd_start_barrier_enter(c);
    return KFD_LATER;
}

static int run_thread(struct kfd_connection *c)
{
    struct kfd_process *p = find_process(c->pid);
    if (c->is_listed || !p)
        return -EPROTO;
    list_connection(c, p);
    c->thread = (int)c->call.word[0];
    return 0;
}

static int run_show(struct kfd_connection *c)
{
    struct kfd_extent part[KFD_CHANNEL_BYTES / sizeof(struct kfd_extent)];
    size_t count = 0;
    int result = kfd_memory_extent_at(c->process, c->call.word[0], c->call.word[1], c->call.word[2],
                                      part, ARRAY_COUNT(part), &count);
    c->reply.size = (uint32_t)(count * sizeof part[0]);
    memcpy(c->reply.bytes, part, c->reply.size);
    return result;
}

static int run_find(struct kfd_connection *c)
{
    return kfd_memory_find(c->process, c->call.word[0], c->call.word[1], &c->reply.word[0]);
}

static int run_rung(struct kfd_connection *c)
{
    if (c->call.word[0] >= kfd.gpu_count)
        return -EINVAL;
    static uint32_t submitters;
    submitters += !c->is_submitter;
    if (submitters > 1)
        kfd.api->note_unordered();
    c->is_submitter = true;
    kfd_process_asked(c->process);
    c->request.waits_until_idle =
        kfd_queues_read_doorbells(c->process, (uint32_t)c->call.word[0], &c->request.queue);
    c->request.waits_until_done = c->call.word[1] != 0;
    return 0;
}

static int run_wait(struct kfd_connection *c)
{
    const struct kfd_condition *conditions =
        (const struct kfd_condition *)(const void *)c->call.bytes;
    return kfd_signal_wait_begin(c->process, &c->request, conditions,
                                 c->call.size / sizeof *conditions, c->call.word[0]);
}

static int run_bye(struct kfd_connection *c)
{
    c->process->life = KFD_LEAVES;
    c->request.waits_until_idle = true;
    return 0;
}

/* A descriptor that the program names has come beside the call; one that the call makes goes
 * beside the answer. */
static int run_ioctl(struct kfd_connection *c)
{
    bool makes = false;
    int at = kfd_descriptor_at(c->call.word[0], &makes);
    bool has = at >= 0 && c->call.size >= (size_t)at + sizeof c->passed;
    if (has)
        memcpy(c->call.bytes + at, &c->passed, sizeof c->passed);
    int result = kfd_ioctl_run(c->process, &c->request, &c->call, &c->returns);
    if (c->passed >= 0)
        close(c->passed);
    c->passed = -1;
    if (has && makes && result == 0)
        memcpy(&c->passed, c->call.bytes + at, sizeof c->passed);
    return result;
}

static int run_given(struct kfd_connection *c)
{
    const struct kfd_allocation *a =
        kfd_memory_find_given(c->process, c->call.word[0], c->call.word[1]);
    if (!a)
        return 0;
    c->reply.word[0] = a->handle;
    c->reply.word[1] = a->address;
    c->reply.word[2] = a->size;
    return 0;
}

static int run_unmaps(struct kfd_connection *c)
{
    struct kfd_span gone = {c->call.word[0], c->call.word[1]};
    if (gone.start >= gone.end || gone.end > KFD_ADDRESSES_END)
        return -EINVAL;
    kfd_svm_unmap(c->process, &gone);
    return 0;
}

static const struct {
    int (*run)(struct kfd_connection *c);
    bool runs_mid_kernel;  /* it needs nothing of the driver */
    bool needs_no_process; /* it comes before the connection has a process */
    bool has_bytes;
    bool is_for_guests;
} messages[KFD_MESSAGES] = {
    [KFD_MESSAGE_HELLO] = {run_hello, false, true, false},
    [KFD_MESSAGE_GUEST] = {run_hello, false, true, false},
    [KFD_MESSAGE_THREAD] = {run_thread, true, true, false},
    [KFD_MESSAGE_IOCTL] = {run_ioctl, false, false, true},
    [KFD_MESSAGE_FIND] = {run_find, true, false, false},
    [KFD_MESSAGE_SHOW] = {run_show, false, false, false},
    [KFD_MESSAGE_GIVEN] = {run_given, true, false, false},
    [KFD_MESSAGE_UNMAPS] = {run_unmaps, false, false, false},
    [KFD_MESSAGE_RUNG] = {run_rung, true, false, false},
    [KFD_MESSAGE_WAIT] = {run_wait, true, false, true},
    [KFD_MESSAGE_DRIVER] = {kfd_guest_call, false, false, true, true},
    [KFD_MESSAGE_BYE] = {run_bye, true, false, false, true},
};

int kfd_connection_call(struct kfd_request *request)
{
    struct kfd_connection *c = request->connection;
    memset(&c->reply, 0, offsetof(struct kfd_reply, bytes));
    if (!c->process && !messages[c->call.kind].needs_no_process)
        return -EPROTO;
    if (c->process && c->process->guest && !messages[c->call.kind].is_for_guests)
        return -EPROTO;
    return messages[c->call.kind].run(c);
}

bool kfd_kind_runs_mid_kernel(uint32_t kind)
{
    return messages[kind].runs_mid_kernel;
}

bool kfd_kind_has_bytes(uint32_t kind)
{
    return messages[kind].has_bytes;
}

int kfd_connection_give_up(struct kfd_request *request)
{
    struct kfd_give_up *g = (struct kfd_give_up *)(void *)request;
    struct kfd_connection *c = request->connection;
    if (c->process && __atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE)
        && __atomic_load_n(&c->calls, __ATOMIC_RELAXED) == g->call)
        kfd_event_give_up(c->process, &c->request);
    free(g);
    return KFD_LATER;
}

int kfd_connection_gone(struct kfd_request *request)
{
    struct kfd_connection *c = request->connection, **link = &connections;
    kfd_start_barrier_drop(c);
    if (c->process) {
        kfd_drop(&c->request);
        if (c->is_main && c->process->life != KFD_ENDED)
            leave_machine(c->process);
    }
    while (*link && *link != c)
        link = &(*link)->next;
    if (*link)
        *link = c->next;
    close(c->fd);
    if (c->watch >= 0)
        close(c->watch);
    free(c);
    return KFD_LATER;
}
