/* The program's side of the channel (kfd_client_connection.c) before a server of the test: answers,
 * time limits, servers that go or lie, and children of fork(). */
#define _GNU_SOURCE /* memfd_create, accept4 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "components/kfd/program/interpose.h"
#include "components/kfd/program/kfd_client.h"

enum { GPUS = 2 };

static char folder[] = "/tmp/heddle-test-XXXXXX";
static int listener, forgotten;
/* What the server does with a call of a thread. */
static enum manner { ANSWERS, CLOSES, WAITS_FOR_GIVE_UP, SAYS_WRONG_SIZE } manner;

/* ---- what kfd_client_connection.c needs ---- */

void *interpose_next(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

void kfd_doorbells_reset(void)
{
    forgotten++;
}

void kfd_views_reset(void)
{
    forgotten++;
}

void kfd_views_renew(void)
{
}

void kfd_close_reset(void)
{
}

void kfd_spans_reset(void)
{
    forgotten++;
}

/* ---- the server ---- */

static void put(int fd, struct kfd_reply *reply, bool files)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec part = {reply, offsetof(struct kfd_reply, bytes) + reply->size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (files) {
        int passed[2] = {memfd_create("memory", 0), memfd_create("shared", 0)};
        cr_assert(ftruncate(passed[KFD_PASS_SHARED], KFD_PAGE) == 0);
        message.msg_control = room;
        message.msg_controllen = sizeof room;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){CMSG_LEN(sizeof passed), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(head), passed, sizeof passed);
    }
    if (manner == SAYS_WRONG_SIZE && !files)
        reply->size += 8;
    sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* One connection, until it closes or the manner says so. */
static void *serve(void *argument)
{
    int fd = (int)(intptr_t)argument;
    struct kfd_call call;
    while (recv(fd, &call, sizeof call, 0) > 0) {
        struct kfd_reply reply = {.result = 0};
        if (call.kind == KFD_MESSAGE_HELLO) {
            reply.word[0] = GPUS;
            reply.size = GPUS * sizeof(uint32_t);
            put(fd, &reply, true);
        } else if (call.kind == KFD_MESSAGE_THREAD) {
            enum manner now = manner;
            manner = ANSWERS;
            put(fd, &reply, false);
            manner = now;
        } else if (manner == CLOSES) {
            break;
        } else if (manner != WAITS_FOR_GIVE_UP || call.kind == KFD_MESSAGE_GIVE_UP) {
            reply.result = -(int)call.word[0];
            reply.word[0] = call.word[1] + 1;
            put(fd, &reply, false);
        }
    }
    close(fd);
    return NULL;
}

static void *accept_all(void *unused)
{
    pthread_t thread;
    int fd;
    while ((fd = accept(listener, NULL, NULL)) >= 0)
        pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd);
    return unused;
}

static void begin(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    pthread_t thread;
    cr_assert(mkdtemp(folder));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/" KFD_SOCKET, folder);
    listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    cr_assert(bind(listener, (const struct sockaddr *)&at, sizeof at) == 0);
    cr_assert(listen(listener, 8) == 0);
    setenv("HEDDLE_TOPOLOGY", folder, 1);
    pthread_create(&thread, NULL, accept_all, NULL);
}

static void end(void)
{
    char path[sizeof folder + sizeof KFD_SOCKET];
    snprintf(path, sizeof path, "%s/" KFD_SOCKET, folder);
    unlink(path);
    rmdir(folder);
}

TestSuite(kfd_connect, .init = begin, .fini = end);

static int ask(uint64_t error, uint32_t limit_ms, struct kfd_reply *reply)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_FIND, .word = {error, 6}};
    return kfd_send(&call, reply, limit_ms);
}

/* ---- tests ---- */

Test(kfd_connect, a_process_learns_what_there_is_and_gets_answers)
{
    struct kfd_reply reply;
    cr_assert(kfd_connect() && kfd_is_open());
    cr_expect_eq(kfd_client.gpu_count, GPUS);
    cr_expect(kfd_client.memory >= 0 && kfd_client.page);
    cr_expect_eq(ask(0, UINT32_MAX, &reply), 0);
    cr_expect_eq(reply.word[0], 7);
    cr_expect_eq(ask(EINVAL, UINT32_MAX, &reply), -EINVAL);
}

Test(kfd_connect, readings_of_the_clock_differ)
{
    cr_assert(kfd_connect());
    kfd_client.page->time_ns = 5;
    uint64_t first = kfd_read_clock();
    cr_expect_eq(first, kfd_clock_ns(5) + 1);
    cr_expect_gt(kfd_read_clock(), first);
}

Test(kfd_connect, a_thread_that_has_rung_is_known)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_RUNG};
    struct kfd_reply reply;
    cr_assert(kfd_connect() && !kfd_is_submitter());
    kfd_send(&call, &reply, UINT32_MAX);
    cr_expect(kfd_is_submitter());
}

Test(kfd_connect, a_wait_is_given_up_in_time)
{
    struct kfd_reply reply;
    cr_assert(kfd_connect());
    manner = WAITS_FOR_GIVE_UP;
    cr_expect_eq(ask(0, 10, &reply), 0);
    manner = ANSWERS; /* the process says that it ends */
}

Test(kfd_connect, a_server_that_goes_is_an_error)
{
    struct kfd_reply reply;
    cr_assert(kfd_connect());
    errno = EDOM;
    manner = CLOSES;
    cr_expect_eq(ask(0, UINT32_MAX, &reply), -ENODEV);
    cr_expect_eq(errno, EDOM, "errno is the program's");
}

Test(kfd_connect, an_answer_whose_size_lies_is_an_error)
{
    struct kfd_reply reply;
    cr_assert(kfd_connect());
    manner = SAYS_WRONG_SIZE;
    cr_expect_eq(ask(0, UINT32_MAX, &reply), -ENODEV);
}

Test(kfd_connect, without_a_server_nothing_opens)
{
    setenv("HEDDLE_TOPOLOGY", "/nowhere", 1);
    cr_expect(!kfd_connect());
    setenv("HEDDLE_TOPOLOGY", folder, 1);
    cr_expect(!kfd_connect(), "it is tried once");
}

Test(kfd_connect, a_child_begins_anew)
{
    struct kfd_reply reply;
    int status;
    cr_assert(kfd_connect());
    ask(0, UINT32_MAX, &reply);
    pid_t child = fork();
    if (child == 0) {
        bool good = !kfd_is_open() && !kfd_is_submitter() && forgotten == 3 && kfd_connect()
                    && ask(0, UINT32_MAX, &reply) == 0;
        _exit(good ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_eq(ask(0, UINT32_MAX, &reply), 0, "the parent goes on");
}
