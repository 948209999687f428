/* A hostile client of the simulator that is none of heddle's library: it speaks to the socket of
 * HEDDLE_TOPOLOGY itself. `kfd_peer CASE [SEED]`:
 *   random   2,000 messages of random bytes, each on a connection of its own or behind a hello
 *   close    ends in the middle of calls
 *   twice    makes a call before the last one was answered
 *   version  says hello as another version
 *   foreign  asks for queues, memory and events of other processes by their numbers
 *   memory   prints the free memory of the first GPU
 * PASS: nothing but errors came of it, and a hello is answered at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "components/kfd/channel/kfd_channel.h"

static uint64_t state;

static uint64_t number(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static int open_socket(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s/" KFD_SOCKET, getenv("HEDDLE_TOPOLOGY"));
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) {
        printf("FAIL kfd_peer: %s\n", strerror(errno));
        exit(1);
    }
    return fd;
}

/* The answer's result; -EPIPE: the server has cut the connection off. */
static int ask(int fd, const struct kfd_call *call, struct kfd_reply *reply)
{
    if (send(fd, call, offsetof(struct kfd_call, bytes) + call->size, MSG_NOSIGNAL) < 0)
        return -EPIPE;
    return recv(fd, reply, sizeof *reply, 0) <= 0 ? -EPIPE : reply->result;
}

static int say_hello(int fd)
{
    const struct kfd_call call = {.kind = KFD_MESSAGE_HELLO, .word = {KFD_CHANNEL_VERSION}};
    struct kfd_reply reply;
    return ask(fd, &call, &reply);
}

static int open_thread(void)
{
    const struct kfd_call call = {.kind = KFD_MESSAGE_THREAD, .word = {(uint64_t)getpid()}};
    struct kfd_reply reply;
    int fd = open_socket();
    return ask(fd, &call, &reply) == 0 ? fd : -1;
}

static void send_random(void)
{
    struct kfd_call call;
    int fd = open_socket();
    if (number() % 2)
        say_hello(fd);
    for (int i = 0; i < 8; i++) {
        uint64_t *word = (uint64_t *)&call;
        for (size_t k = 0; k < sizeof call / 8; k++)
            word[k] = number() % 3 ? number() % 16 : number();
        call.kind = number() % 4 ? (uint32_t)(number() % KFD_MESSAGES) : (uint32_t)number();
        size_t size = offsetof(struct kfd_call, bytes) + number() % 64;
        if (number() % 2)
            call.size = (uint32_t)(size - offsetof(struct kfd_call, bytes));
        if (call.kind == KFD_MESSAGE_WAIT) /* nothing ends a wait for what nobody does */
            call.kind = KFD_MESSAGE_SHOW;
        send(fd, &call, number() % 8 ? size : number() % sizeof call, MSG_NOSIGNAL);
    }
    close(fd);
}

static int be_random(void)
{
    for (int i = 0; i < 250; i++)
        send_random();
    return 0;
}

/* Waits for events that never come, and closes. */
static int be_closing(void)
{
    const struct kfd_call bye = {.kind = KFD_MESSAGE_BYE};
    for (int i = 0; i < 50; i++) {
        int life = open_socket();
        if (say_hello(life) != 0)
            return 1;
        int thread = open_thread();
        if (thread < 0 || send(thread, &bye, offsetof(struct kfd_call, bytes), MSG_NOSIGNAL) < 0)
            return 1;
        close(number() % 2 ? life : thread);
        close(number() % 2 ? thread : life);
    }
    return 0;
}

static int ask_twice(void)
{
    struct kfd_call wait = {.kind = KFD_MESSAGE_IOCTL, .word = {AMDKFD_IOC_WAIT_EVENTS}};
    struct kfd_ioctl_create_event_args event = {.event_type = KFD_IOC_EVENT_SIGNAL};
    struct kfd_call make = {
        .kind = KFD_MESSAGE_IOCTL, .size = sizeof event, .word = {AMDKFD_IOC_CREATE_EVENT}};
    struct kfd_reply reply;
    int life = open_socket(), fd = say_hello(life) == 0 ? open_thread() : -1;
    memcpy(make.bytes, &event, sizeof event);
    if (fd < 0 || ask(fd, &make, &reply) != 0)
        return 1;
    memcpy(&event, reply.bytes, sizeof event);
    struct kfd_event_data data = {.event_id = event.event_id};
    const struct kfd_ioctl_wait_events_args events = {
        .events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = UINT32_MAX};
    wait.size = sizeof events;
    memcpy(wait.bytes, &events, sizeof events);
    send(fd, &wait, offsetof(struct kfd_call, bytes) + wait.size, MSG_NOSIGNAL);
    return ask(fd, &make, &reply) != -EPIPE;
}

static int be_another_version(void)
{
    const struct kfd_call call = {.kind = KFD_MESSAGE_HELLO, .word = {KFD_CHANNEL_VERSION + 1}};
    struct kfd_reply reply;
    return ask(open_socket(), &call, &reply) >= 0;
}

static int ioctl_by(int fd, unsigned long request, const void *argument, size_t size)
{
    struct kfd_call call = {.kind = KFD_MESSAGE_IOCTL, .size = (uint32_t)size, .word = {request}};
    struct kfd_reply reply;
    memcpy(call.bytes, argument, size);
    return ask(fd, &call, &reply);
}

static int ask_for_others(void)
{
    struct kfd_reply reply;
    int life = open_socket(), fd = say_hello(life) == 0 ? open_thread() : -1, good = 0;
    for (uint32_t i = 0; i < 64 && fd >= 0; i++) {
        const struct kfd_ioctl_destroy_queue_args queue = {.queue_id = i};
        const struct kfd_ioctl_set_event_args event = {.event_id = i};
        const struct kfd_ioctl_free_memory_of_gpu_args memory = {.handle = 4096ull << 32 | i};
        const struct kfd_call show = {.kind = KFD_MESSAGE_SHOW,
                                      .word = {memory.handle, 0, KFD_PAGE}};
        const struct kfd_call find = {.kind = KFD_MESSAGE_FIND,
                                      .word = {(1ull << 32) + i * KFD_PAGE, KFD_PAGE}};
        good += ioctl_by(fd, AMDKFD_IOC_DESTROY_QUEUE, &queue, sizeof queue) == 0;
        good += ioctl_by(fd, AMDKFD_IOC_SET_EVENT, &event, sizeof event) == 0;
        good += ioctl_by(fd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &memory, sizeof memory) == 0;
        good += ask(fd, &show, &reply) == 0;
        good += ask(fd, &find, &reply) == 0;
    }
    const struct kfd_call rung = {.kind = KFD_MESSAGE_RUNG};
    return fd < 0 || good || ask(fd, &rung, &reply) != 0; /* its own doorbells: nothing is there */
}

static int print_memory(void)
{
    struct kfd_ioctl_get_available_memory_args memory = {.gpu_id = KFD_FIRST_GPU_ID};
    struct kfd_call call = {
        .kind = KFD_MESSAGE_IOCTL, .size = sizeof memory, .word = {AMDKFD_IOC_AVAILABLE_MEMORY}};
    struct kfd_reply reply;
    int life = open_socket(), fd = say_hello(life) == 0 ? open_thread() : -1;
    memcpy(call.bytes, &memory, sizeof memory);
    if (fd < 0 || ask(fd, &call, &reply) != 0)
        return 1;
    memcpy(&memory, reply.bytes, sizeof memory);
    printf("free: %llu\n", (unsigned long long)memory.available);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {{"random", be_random},       {"close", be_closing},
             {"twice", ask_twice},        {"version", be_another_version},
             {"foreign", ask_for_others}, {"memory", print_memory}};

int main(int count, char **words)
{
    int result = 2;
    state = count > 2 ? strtoull(words[2], NULL, 0) : 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && count > 1; i++)
        if (strcmp(cases[i].name, words[1]) == 0)
            result = cases[i].run();
    if (result == 0 && say_hello(open_socket()) != 0)
        result = 1;
    printf("%s kfd_peer %s\n", result ? "FAIL" : "PASS", count > 1 ? words[1] : "");
    return result;
}
