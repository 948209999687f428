/* The server of `heddle run --stack rocm`: a process with the machine, to which processes of the
 * program connect (kfd_channel.h). One thread takes their messages and hands them over; the
 * machine's answers. The platform is opened for the first of them, so that programs without GPUs
 * cost nothing.
 *
 * A connection belongs to the thread that takes messages until it is handed over as `gone`; it does
 * one call at a time. What is wrong with a message is said, and cuts its process off. */
#define _GNU_SOURCE /* accept4, SO_PEERCRED */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kfd_calls.h"
#include "kfd_machine.h"

struct kfd_connection {
    struct kfd_connection *next; /* in the machine's list */
    int fd, watch;               /* the latter tells when the process has ended; -1: none */
    pid_t pid;
    bool pending; /* atomic: a call is being done */
    bool listed;  /* of the machine's thread, as what follows */
    bool stands;  /* for the process */
    bool rung;
    int thread;
    struct kfd_process *process; /* NULL: none yet, or not any more */
    struct kfd_request request, gone;
    struct kfd_call call;
    struct kfd_reply reply;
    int passed;        /* a descriptor beside a call or its answer; -1: none */
    bool passes;       /* those of KFD_PASS_FILES with the answer */
    bool returns;      /* the argument of the call */
    uint32_t calls;    /* atomic: number of the call */
    uint32_t given_up; /* of the thread that takes messages: the call whose time is over */
};

static struct {
    int poll, listener, control;
    struct kfd_connection *list; /* the machine's */
} own;

/* ---- the machine's side ---- */

struct kfd_process *kfd_process_of(const struct kfd_request *request)
{
    return request->connection ? request->connection->process : NULL;
}

bool kfd_is_ringer(const struct kfd_request *request)
{
    return request->connection && request->connection->rung;
}

bool kfd_ringer_waits(bool *any)
{
    bool waits = false;
    for (const struct kfd_connection *c = own.list; c; c = c->next) {
        if (c->process != kfd_now || !c->rung)
            continue;
        *any = true;
        waits |= __atomic_load_n(&c->pending, __ATOMIC_ACQUIRE);
    }
    return waits;
}

/* Does the thread sleep, or has it ended? */
static bool is_asleep(pid_t pid, int thread)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, thread);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (file)
        fclose(file);
    return !end || end[1] != ' ' || end[2] != 'R';
}

bool kfd_ringers_sleep(void)
{
    for (const struct kfd_connection *c = own.list; c; c = c->next) {
        if (c->process == kfd_now && c->rung && !is_asleep(c->pid, c->thread))
            return false;
    }
    return true;
}

/* Puts descriptors beside a message. */
static void pass(struct msghdr *message, char *room, const int *files, size_t count)
{
    message->msg_control = room;
    message->msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *passed = CMSG_FIRSTHDR(message);
    *passed = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(passed), files, count * sizeof(int));
}

/* A socket that does not take an answer is the client's mistake. */
void kfd_answer(struct kfd_request *request, int result)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(KFD_PASS_FILES * sizeof(int))] = {0};
    struct kfd_connection *c = request->connection;
    if (!c || request != &c->request)
        return;
    c->reply.result = result;
    if (c->call.kind == KFD_SAY_IOCTL && c->returns) {
        c->reply.size = c->call.size;
        memcpy(c->reply.bytes, c->call.bytes, c->call.size);
    }
    struct iovec part = {&c->reply, offsetof(struct kfd_reply, bytes) + c->reply.size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int fd = c->fd, passed = c->passed; /* the connection may do its next call at once */
    if (c->passes)
        pass(&message, room, (const int[]){kfd.memory, c->process->file}, KFD_PASS_FILES);
    else if (passed >= 0)
        pass(&message, room, &passed, 1);
    c->passes = false;
    c->passed = -1;
    __atomic_store_n(&c->pending, false, __ATOMIC_RELEASE);
    if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
    if (passed >= 0)
        close(passed);
}

void kfd_connections_forget(const struct kfd_process *p)
{
    for (struct kfd_connection *c = own.list; c; c = c->next)
        c->process = c->process == p ? NULL : c->process;
}

static struct kfd_process *find_process(pid_t pid)
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next) {
        if (p->pid == pid && !p->gone)
            return p;
    }
    return NULL;
}

/* Other connections of the process end, too, also when a child has copies of them. */
static void leave(struct kfd_process *p)
{
    kfd_process_leave(p);
    for (const struct kfd_connection *c = own.list; c; c = c->next) {
        if (c->process == p)
            shutdown(c->fd, SHUT_RDWR);
    }
}

static void list(struct kfd_connection *c, struct kfd_process *p)
{
    if (!c->listed) {
        c->next = own.list;
        own.list = c;
    }
    c->listed = true;
    c->process = p;
}

/* ---- calls ---- */

static int run_hello(struct kfd_connection *c)
{
    struct kfd_process *before = find_process(c->pid);
    uint32_t bytes[KFD_GPUS_MAX] = {0};
    if (c->listed || c->call.word[0] != KFD_CHANNEL_VERSION || !kfd_machine_open())
        return c->listed ? -EPROTO : -ENODEV;
    if (before) /* exec() has put another program into its place */
        leave(before);
    struct kfd_process *p = kfd_process_open(c->pid, c->call.word[1]);
    if (!p)
        return -ENODEV;
    list(c, p);
    c->stands = c->passes = true;
    for (uint32_t i = 0; i < kfd.gpu_count; i++)
        bytes[i] = kfd.gpu[i].doorbell_bytes;
    c->reply.word[0] = kfd.gpu_count;
    c->reply.word[1] = (uint64_t)getpid();
    c->reply.size = sizeof bytes;
    memcpy(c->reply.bytes, bytes, sizeof bytes);
    return 0;
}

static int run_thread(struct kfd_connection *c)
{
    struct kfd_process *p = find_process(c->pid);
    if (c->listed || !p)
        return -EPROTO;
    list(c, p);
    c->thread = (int)c->call.word[0];
    return 0;
}

static int run_show(struct kfd_connection *c)
{
    struct kfd_extent part[KFD_CHANNEL_BYTES / sizeof(struct kfd_extent)];
    size_t count = 0;
    int result = kfd_memory_show(c->call.word[0], c->call.word[1], c->call.word[2], part,
                                 sizeof part / sizeof part[0], &count);
    c->reply.size = (uint32_t)(count * sizeof part[0]);
    memcpy(c->reply.bytes, part, c->reply.size);
    return result;
}

static int run_find(struct kfd_connection *c)
{
    return kfd_memory_find(c->call.word[0], c->call.word[1], &c->reply.word[0]);
}

static int run_rung(struct kfd_connection *c)
{
    if (c->call.word[0] >= kfd.gpu_count)
        return -EINVAL;
    c->rung = true;
    c->process->behind = false;
    c->request.until_idle = kfd_queues_rung((uint32_t)c->call.word[0]);
    return 0;
}

static int run_wait(struct kfd_connection *c)
{
    const uint64_t *word = c->call.word;
    return kfd_wait_begin(&c->request, word[0], (uint32_t)word[1], (int64_t)word[2], word[3]);
}

static int run_bye(struct kfd_connection *c)
{
    c->request.until_idle = true;
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
    int result = kfd_ioctl_run(&c->request, &c->call, &c->returns);
    if (c->passed >= 0)
        close(c->passed);
    c->passed = -1;
    if (has && makes && result == 0)
        memcpy(&c->passed, c->call.bytes + at, sizeof c->passed);
    return result;
}

static int run_given(struct kfd_connection *c)
{
    const struct kfd_allocation *a = kfd_memory_given(c->call.word[0], c->call.word[1]);
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
    struct kfd_request request = {.argument = &gone};
    return gone.start < gone.end && gone.end <= KFD_ADDRESSES_END ? kfd_svm_forget(&request)
                                                                  : -EINVAL;
}

static const struct {
    int (*run)(struct kfd_connection *c);
    bool aside; /* it needs nothing of the driver */
    bool alone; /* before the connection is a process' or thread's */
    bool has_bytes;
} says[KFD_SAYS] = {
    [KFD_SAY_HELLO] = {run_hello, false, true, false},
    [KFD_SAY_THREAD] = {run_thread, true, true, false},
    [KFD_SAY_IOCTL] = {run_ioctl, false, false, true},
    [KFD_SAY_FIND] = {run_find, true, false, false},
    [KFD_SAY_SHOW] = {run_show, false, false, false},
    [KFD_SAY_GIVEN] = {run_given, true, false, false},
    [KFD_SAY_UNMAPS] = {run_unmaps, false, false, false},
    [KFD_SAY_RUNG] = {run_rung, true, false, false},
    [KFD_SAY_WAIT] = {run_wait, true, false, false},
    [KFD_SAY_BYE] = {run_bye, true, false, false},
};

static int run_call(struct kfd_request *request)
{
    struct kfd_connection *c = request->connection;
    memset(&c->reply, 0, offsetof(struct kfd_reply, bytes));
    if (!c->process && !says[c->call.kind].alone)
        return -EPROTO;
    return says[c->call.kind].run(c);
}

/* The time of a call is over. The call may have been answered, and the next one be on its way,
 * before the machine hears of it. */
struct give_up {
    struct kfd_request request;
    uint32_t call;
};

static int run_give_up(struct kfd_request *request)
{
    struct give_up *g = (struct give_up *)(void *)request;
    struct kfd_connection *c = request->connection;
    if (c->process && __atomic_load_n(&c->pending, __ATOMIC_ACQUIRE)
        && __atomic_load_n(&c->calls, __ATOMIC_RELAXED) == g->call)
        kfd_event_give_up(&c->request);
    free(g);
    return KFD_LATER;
}

/* Nothing refers to the connection any more. */
static int run_gone(struct kfd_request *request)
{
    struct kfd_connection *c = request->connection, **link = &own.list;
    if (c->process) {
        kfd_drop(&c->request);
        if (c->stands && !c->process->gone)
            leave(c->process);
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

static int run_end(struct kfd_request *request)
{
    (void)request;
    kfd_machine_end();
    return KFD_LATER;
}

/* ---- the thread that takes messages ---- */

static void watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    epoll_ctl(own.poll, EPOLL_CTL_ADD, fd, &event);
}

static void end_connection(struct kfd_connection *c)
{
    epoll_ctl(own.poll, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->watch >= 0)
        epoll_ctl(own.poll, EPOLL_CTL_DEL, c->watch, NULL);
    kfd_hand_over(&c->gone);
}

/* Said once for a process. */
static void cut_off(struct kfd_connection *c, const char *why)
{
    static pid_t last;
    shutdown(c->fd, SHUT_RDWR);
    if (last != c->pid)
        kfd_say("process %d is cut off: %s", (int)c->pid, why);
    last = c->pid;
    end_connection(c);
}

static void accept_connection(void)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    int fd = accept4(own.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0
        || who.uid != geteuid()) {
        kfd_say("a connection of another user, or of a process that cannot be seen, is refused");
        close(fd);
        return;
    }
    struct kfd_connection *c = kfd_new(sizeof *c);
    c->fd = fd;
    c->passed = -1;
    c->pid = who.pid;
    c->watch = (int)syscall(SYS_pidfd_open, who.pid, 0);
    c->request = (struct kfd_request){.connection = c, .run = run_call};
    c->gone = (struct kfd_request){.connection = c, .run = run_gone, .aside = true};
    watch(c->fd, c);
    if (c->watch >= 0)
        watch(c->watch, c);
}

/* Behind the call itself, and once for each. */
static void take_give_up(struct kfd_connection *c)
{
    if (!__atomic_load_n(&c->pending, __ATOMIC_ACQUIRE) || c->given_up == c->calls)
        return;
    struct give_up *g = kfd_new(sizeof *g);
    *g = (struct give_up){{.connection = c, .run = run_give_up, .aside = c->request.aside},
                          c->calls};
    c->given_up = c->calls;
    kfd_hand_over(&g->request);
}

/* A message, and the descriptor beside it; what else is passed is closed. */
static ssize_t receive(const struct kfd_connection *c, struct kfd_call *call, int *passed)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {call, sizeof *call};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t got = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *passed = -1;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len >= CMSG_LEN(sizeof *passed))
        memcpy(passed, CMSG_DATA(head), sizeof *passed);
    return got;
}

/* What is wrong with a message, or NULL. */
static const char *check_message(const struct kfd_connection *c, const struct kfd_call *call,
                                 ssize_t got)
{
    const size_t head = offsetof(struct kfd_call, bytes);
    if ((size_t)got < head || (size_t)got > sizeof *call || call->size != (size_t)got - head
        || call->kind >= KFD_SAYS)
        return "it has sent what is no message of this version of heddle";
    if (call->size && !says[call->kind].has_bytes && call->kind != KFD_SAY_GIVE_UP)
        return "its message has bytes that do not belong there";
    if (call->kind == KFD_SAY_IOCTL && call->size > _IOC_SIZE(call->word[0]))
        return "its call has more bytes than its number says";
    if (call->kind != KFD_SAY_GIVE_UP && __atomic_load_n(&c->pending, __ATOMIC_ACQUIRE))
        return "it makes a call before the last one of the thread was answered";
    return NULL;
}

static void begin_call(struct kfd_connection *c, const struct kfd_call *call, int passed)
{
    c->call = *call;
    memset(c->call.bytes + call->size, 0, sizeof call->bytes - call->size);
    c->passed = passed;
    c->request.until_idle = false;
    c->request.argument = c->call.bytes;
    c->request.aside =
        call->kind == KFD_SAY_IOCTL ? kfd_ioctl_is_aside(call->word[0]) : says[call->kind].aside;
    __atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&c->pending, true, __ATOMIC_RELEASE);
    kfd_hand_over(&c->request);
}

static void take_message(struct kfd_connection *c)
{
    struct kfd_call call;
    int passed;
    ssize_t got = receive(c, &call, &passed);
    const char *wrong = got > 0 ? check_message(c, &call, got) : NULL;
    if (got > 0 && !wrong && call.kind != KFD_SAY_GIVE_UP) {
        begin_call(c, &call, passed);
        return;
    }
    if (passed >= 0)
        close(passed);
    if (got <= 0) /* it has closed, or its process has ended */
        end_connection(c);
    else if (wrong)
        cut_off(c, wrong);
    else
        take_give_up(c);
}

/* The program has ended, or the user asks for it. A second signal ends the server at once. */
static void take_end(void)
{
    static struct kfd_request end = {.run = run_end};
    static bool ended;
    struct signalfd_siginfo signal;
    ssize_t got = read(own.control, &signal, sizeof signal);
    if (ended && got == (ssize_t)sizeof signal)
        _exit(128 + (int)signal.ssi_signo);
    if (got != (ssize_t)sizeof signal)
        epoll_ctl(own.poll, EPOLL_CTL_DEL, own.control, NULL);
    if (!ended)
        kfd_hand_over(&end);
    ended = true;
}

static void *take_messages(void *unused)
{
    (void)unused;
    for (;;) {
        struct epoll_event event;
        /* One at a time: a connection may be gone behind its first event. */
        if (epoll_wait(own.poll, &event, 1, -1) != 1)
            continue;
        if (event.data.ptr == &own.listener)
            accept_connection();
        else if (event.data.ptr == &own.control)
            take_end();
        else
            take_message(event.data.ptr);
    }
    return NULL;
}

/* Signals that the user sends are for the program; with `serve` they end the server. */
static int open_control(const char *text)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    bool serves = strcmp(text, "serve") == 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !serves; i++)
        signal(numbers[i], SIG_IGN);
    if (!serves)
        return atoi(text);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* heddle-kfd LISTENER CONTROL: descriptors; the program has ended when the latter does. */
int main(int count, char **words)
{
    pthread_t thread;
    if (count != 3) {
        fprintf(stderr, "heddle-kfd: `heddle run --stack rocm` starts this\n");
        return 2;
    }
    own.listener = atoi(words[1]);
    own.control = open_control(words[2]);
    own.poll = epoll_create1(EPOLL_CLOEXEC);
    watch(own.listener, &own.listener);
    watch(own.control, &own.control);
    int error = pthread_create(&thread, NULL, take_messages, NULL);
    if (error) {
        kfd_say("cannot start a thread of the simulator: %s", strerror(error));
        return 1;
    }
    kfd_machine_run();
    return 0;
}
