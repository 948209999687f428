/* The server of `heddle run --stack rocm`: a process with the machine, to which processes of the
 * program connect (kfd_channel.h). One thread receives their calls and hands them over; the
 * machine's answers. The platform is opened for the first of them, so that programs without GPUs
 * cost nothing.
 *
 * A connection belongs to the thread that receives calls until it is handed over as `gone`; it does
 * one call at a time. A wrong message is reported, and cuts its process off. */
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

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/server/guests/kfd_guest.h"
#include "components/kfd/server/guests/kfd_start_barrier.h"
#include "runtime/engine/options.h"

#include "kfd_ioctl.h"

static struct {
    int poll, listener, control;
    bool is_receiving; /* atomic: the thread that receives calls does not wait for one */
} server;

static int run_end(struct kfd_request *request)
{
    (void)request;
    kfd_machine_end();
    return KFD_LATER;
}

bool kfd_is_receiving(void)
{
    return __atomic_load_n(&server.is_receiving, __ATOMIC_SEQ_CST);
}

static void watch_descriptor(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    epoll_ctl(server.poll, EPOLL_CTL_ADD, fd, &event);
}

static void end_connection(struct kfd_connection *c)
{
    epoll_ctl(server.poll, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->watch >= 0)
        epoll_ctl(server.poll, EPOLL_CTL_DEL, c->watch, NULL);
    kfd_hand_over(&c->gone);
}

/* Said once for a process. */
static void cut_off(struct kfd_connection *c, const char *reason)
{
    static pid_t last;
    shutdown(c->fd, SHUT_RDWR);
    if (last != c->pid)
        kfd_say("process %d is cut off: %s", (int)c->pid, reason);
    last = c->pid;
    end_connection(c);
}

static void accept_connection(void)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0
        || peer.uid != geteuid()) {
        kfd_say("a connection of another user, or of a process that cannot be seen, is refused");
        close(fd);
        return;
    }
    struct kfd_connection *c = grow_zeroed(sizeof *c, KFD_SERVER);
    c->fd = fd;
    c->passed = -1;
    c->pid = peer.pid;
    c->watch = (int)syscall(SYS_pidfd_open, peer.pid, 0);
    c->request = (struct kfd_request){.connection = c, .run = kfd_connection_call};
    c->gone =
        (struct kfd_request){.connection = c, .run = kfd_connection_gone, .runs_mid_kernel = true};
    watch_descriptor(c->fd, c);
    if (c->watch >= 0)
        watch_descriptor(c->watch, c);
}

/* Behind the call itself, and once for each. */
static void give_up_call(struct kfd_connection *c)
{
    if (!__atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE) || c->given_up == c->calls)
        return;
    struct kfd_give_up *g = grow_zeroed(sizeof *g, KFD_SERVER);
    *g = (struct kfd_give_up){{.connection = c,
                               .run = kfd_connection_give_up,
                               .runs_mid_kernel = c->request.runs_mid_kernel},
                              c->calls};
    c->given_up = c->calls;
    kfd_hand_over(&g->request);
}

/* A message, and the descriptor beside it; what else is passed is closed. */
static ssize_t receive_message(const struct kfd_connection *c, struct kfd_call *call, int *passed)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {call, sizeof *call};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t got = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *passed = -1;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len >= CMSG_LEN(sizeof *passed))
        memcpy(passed, CMSG_DATA(head), sizeof *passed);
    return got;
}

/* The mistake of a message, or NULL. */
static const char *check_message(const struct kfd_connection *c, const struct kfd_call *call,
                                 ssize_t got)
{
    const size_t head = offsetof(struct kfd_call, bytes);
    if ((size_t)got < head || (size_t)got > sizeof *call || call->size != (size_t)got - head
        || call->kind >= KFD_MESSAGES)
        return "it has sent what is no message of this version of heddle";
    if (call->size && !kfd_kind_has_bytes(call->kind) && call->kind != KFD_MESSAGE_GIVE_UP)
        return "its message has bytes that do not belong there";
    if (call->kind == KFD_MESSAGE_IOCTL && call->size > _IOC_SIZE(call->word[0]))
        return "its call has more bytes than its number says";
    if (call->kind != KFD_MESSAGE_GIVE_UP && __atomic_load_n(&c->is_pending, __ATOMIC_ACQUIRE))
        return "it makes a call before the last one of the thread was answered";
    return NULL;
}

static void begin_call(struct kfd_connection *c, const struct kfd_call *call, int passed)
{
    c->call = *call;
    memset(c->call.bytes + call->size, 0, sizeof call->bytes - call->size);
    c->passed = passed;
    c->request.waits_until_idle = c->request.waits_until_done = false;
    c->request.argument = c->call.bytes;
    c->request.runs_mid_kernel =
        call->kind == KFD_MESSAGE_IOCTL    ? kfd_ioctl_runs_mid_kernel(call->word[0])
        : call->kind == KFD_MESSAGE_DRIVER ? kfd_guest_call_runs_mid_kernel(call)
                                           : kfd_kind_runs_mid_kernel(call->kind);
    __atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&c->is_pending, true, __ATOMIC_RELEASE);
    kfd_hand_over(&c->request);
}

static void receive_call(struct kfd_connection *c)
{
    struct kfd_call call;
    int passed;
    ssize_t got = receive_message(c, &call, &passed);
    const char *wrong = got > 0 ? check_message(c, &call, got) : NULL;
    if (got > 0 && !wrong && call.kind != KFD_MESSAGE_GIVE_UP) {
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
        give_up_call(c);
}

/* The program has ended, or the user asks for it. A second signal ends the server at once. */
static void receive_end(void)
{
    static struct kfd_request end = {.run = run_end, .runs_mid_kernel = true};
    static bool has_ended;
    struct signalfd_siginfo signal;
    ssize_t got = read(server.control, &signal, sizeof signal);
    if (has_ended && got == (ssize_t)sizeof signal)
        _exit(128 + (int)signal.ssi_signo);
    if (got != (ssize_t)sizeof signal)
        epoll_ctl(server.poll, EPOLL_CTL_DEL, server.control, NULL);
    if (!has_ended)
        kfd_hand_over(&end);
    has_ended = true;
}

static void *receive_calls(void *unused)
{
    (void)unused;
    for (;;) {
        struct epoll_event event;
        /* One at a time: a connection may be gone after its first event. */
        __atomic_store_n(&server.is_receiving, false, __ATOMIC_SEQ_CST);
        int count = epoll_wait(server.poll, &event, 1, -1);
        __atomic_store_n(&server.is_receiving, true, __ATOMIC_SEQ_CST);
        if (count != 1)
            continue;
        if (event.data.ptr == &server.listener)
            accept_connection();
        else if (event.data.ptr == &server.control)
            receive_end();
        else
            receive_call(event.data.ptr);
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
    if (strcmp(text, "serve") == 0) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC);
    }
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        signal(numbers[i], SIG_IGN);
    return atoi(text);
}

static bool read_options(void)
{
    if (!options_open(getenv(OPTIONS_ENV_OPTIONS)))
        return false;
    const char *version = option_text("kfd-version");
    if (version)
        kfd.minor_version = (uint32_t)strtoul(version + strlen("1."), NULL, 10);
    return true;
}

/* heddle-kfd LISTENER CONTROL PROCESSES: descriptors, the program has ended when the latter does;
 * and how many processes have to come before the first runs. */
int main(int count, char **words)
{
    pthread_t thread;
    if (count != 4) {
        fprintf(stderr, "heddle-kfd: `heddle run --stack rocm` starts this\n");
        return 2;
    }
    if (!read_options())
        return 1;
    server.listener = atoi(words[1]);
    server.control = open_control(words[2]);
    kfd_start_barrier_await((uint32_t)atoi(words[3]), strcmp(words[2], "serve") == 0);
    server.poll = epoll_create1(EPOLL_CLOEXEC);
    watch_descriptor(server.listener, &server.listener);
    watch_descriptor(server.control, &server.control);
    int error = pthread_create(&thread, NULL, receive_calls, NULL);
    if (error) {
        kfd_say("cannot start a thread of the simulator: %s", strerror(error));
        return 1;
    }
    kfd_machine_run();
    return 0;
}
