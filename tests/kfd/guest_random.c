/* A hostile guest that is none of heddle's library: it speaks to the machine's socket itself, which
 * HEDDLE_PLATFORM names. `guest_random SEED`: 2,000 calls of the driver with words that may be
 * numbers of devices, queues and tickets, addresses of its own and of others, or anything else;
 * before them, it tries to find and free what others have.
 * PASS: the machine has answered all of them, and a good call at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "components/host/driver/driver_api.h"
#include "components/kfd/channel/guest_channel.h"
#include "components/kfd/channel/kfd_channel.h"

static uint64_t state;
static struct driver_launch launch;
static char bytes[8192];
static uint64_t given[16]; /* by earlier calls */

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
    snprintf(to.sun_path, sizeof to.sun_path, "%s", getenv("HEDDLE_PLATFORM"));
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0)
        exit(1);
    return fd;
}

static int ask(int fd, const struct kfd_call *call, struct kfd_reply *reply)
{
    if (send(fd, call, offsetof(struct kfd_call, bytes) + call->size, MSG_NOSIGNAL) < 0
        || recv(fd, reply, sizeof *reply, 0) <= 0)
        return -1;
    return reply->result;
}

static int call(int fd, const struct guest_call *c, struct kfd_reply *reply)
{
    struct kfd_call message = {.kind = KFD_MESSAGE_DRIVER, .size = sizeof *c};
    memcpy(message.bytes, c, sizeof *c);
    return ask(fd, &message, reply);
}

static uint64_t word(void)
{
    switch (number() % 8) {
    case 0:
        return number();
    case 1:
        return (uintptr_t)bytes + number() % sizeof bytes;
    case 2:
        return (uintptr_t)&launch;
    case 3:
        return ((uint64_t)2 << 44) + number() % 256 * 4096;
    case 4:
        return number() % 65536;
    case 5:
        return given[number() % 16];
    default:
        return number() % 8;
    }
}

static void send_random(int fd)
{
    struct kfd_reply reply;
    struct guest_call c = {.name = (uint32_t)(number() % GUEST_CALLS)};
    for (int i = 0; i < GUEST_WORDS; i++)
        c.word[i] = word();
    for (size_t i = 0; i < sizeof launch / 8; i++)
        ((uint64_t *)&launch)[i] = number() % 4 ? number() % 64 : word();
    if (call(fd, &c, &reply) == 0)
        given[number() % 16] = reply.word[0];
}

/* Is anything of [2^45, 2^45 + 4096 pages) this guest's, which has allocated nothing? */
static bool owns_any(int fd)
{
    struct kfd_reply reply;
    for (uint64_t page = 0; page < 4096; page++) {
        const uint64_t address = ((uint64_t)2 << 44) + page * 4096;
        const struct guest_call find = {.name = GUEST_find, .word = {address}};
        const struct guest_call release = {.name = GUEST_release, .word = {address}};
        if (call(fd, &find, &reply) == 0 || call(fd, &release, &reply) == 0) {
            printf("FAIL guest_random: 0x%llx is another's\n", (unsigned long long)address);
            return true;
        }
    }
    return false;
}

int main(int count, char **words)
{
    const struct kfd_call hello = {.kind = KFD_MESSAGE_GUEST,
                                   .word = {KFD_CHANNEL_VERSION, DRIVER_API_VERSION}};
    const struct kfd_call thread = {.kind = KFD_MESSAGE_THREAD, .word = {(uint64_t)getpid()}};
    const struct guest_call good = {.name = GUEST_memory_info};
    struct kfd_reply reply;
    int life = open_socket(), fd = -1;
    state = count > 1 ? strtoull(words[1], NULL, 10) : 0;
    if (ask(life, &hello, &reply) != 0)
        return 1;
    prctl(PR_SET_PTRACER, reply.word[1]);
    fd = open_socket();
    if (ask(fd, &thread, &reply) != 0)
        return 1;
    if (owns_any(fd))
        return 1;
    for (int i = 0; i < 2000; i++)
        send_random(fd);
    int status = call(fd, &good, &reply);
    printf("%s guest_random: %d\n", status >= 0 ? "PASS" : "FAIL", status);
    return status < 0;
}
