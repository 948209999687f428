/* Connects a program with the server, and sends descriptors beside messages. */
#define _GNU_SOURCE /* O_PATH */
#include "kfd_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

void kfd_socket_close(int fd)
{
    syscall(SYS_close, fd);
}

/* Beyond the descriptors that programs close without looking. */
int kfd_socket_move_up(int fd)
{
    enum { FIRST = 512 };
    int moved = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST);
    if (moved < 0)
        return fd;
    kfd_socket_close(fd);
    return moved;
}

/* The folder is named by a descriptor, as paths of sockets are short. */
int kfd_socket_connect(const char *path)
{
    int folder = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    int fd = folder < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/" KFD_SOCKET, folder);
    bool is_valid = fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
    int error = errno;
    if (folder >= 0)
        kfd_socket_close(folder);
    if (!is_valid && fd >= 0)
        kfd_socket_close(fd);
    errno = error;
    return is_valid ? kfd_socket_move_up(fd) : -1;
}

/* `file`: a descriptor that goes with it; -1: none. */
bool kfd_socket_put(int fd, const struct kfd_call *call, int file)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)call, offsetof(struct kfd_call, bytes) + call->size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;
    if (file >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &file, sizeof file);
    }
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)part.iov_len;
}

/* `files`: where `count` descriptors go that may come with the answer, or NULL. */
bool kfd_socket_take(int fd, struct kfd_reply *reply, int *files, size_t count)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(KFD_PASS_FILES * sizeof(int))];
    struct iovec part = {reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = files ? control : NULL,
                             .msg_controllen = files ? sizeof control : 0};
    ssize_t got;
    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const struct cmsghdr *passed = got > 0 && files ? CMSG_FIRSTHDR(&message) : NULL;
    if (passed && passed->cmsg_type == SCM_RIGHTS
        && passed->cmsg_len == CMSG_LEN(count * sizeof(int)))
        memcpy(files, CMSG_DATA(passed), count * sizeof(int));
    size_t head = offsetof(struct kfd_reply, bytes);
    return got >= (ssize_t)head && reply->size == (size_t)got - head;
}
