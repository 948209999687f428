/* Calls on descriptors of the devices. See interpose.h. */
#define _GNU_SOURCE /* fcntl: F_DUPFD_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose.h"
#include "kfd_devices.h"

/* A call that takes one argument more, or none, which is passed on as it is. */
#define EXTRA(last)                                                                                \
    __extension__({                                                                                \
        va_list extra_arguments;                                                                   \
        va_start(extra_arguments, last);                                                           \
        void *extra_first = va_arg(extra_arguments, void *);                                       \
        va_end(extra_arguments);                                                                   \
        extra_first;                                                                               \
    })

/* The kernel, too, refuses descriptors that belong to the parent process. */
static int refuse_foreign(void)
{
    errno = EBADF;
    return -1;
}

int interpose_ioctl(int fd, unsigned long request, ...) INTERPOSE(ioctl);
int interpose_ioctl(int fd, unsigned long request, ...)
{
    void *argument = EXTRA(request);
    enum interpose_kind kind;
    int minor, result;
    if (!interpose_is_device(fd, &kind, &minor))
        return INTERPOSE_NEXT(interpose_ioctl, "ioctl")(fd, request, argument);
    if (interpose_is_parents(fd))
        return refuse_foreign();
    if (kind == INTERPOSE_RENDER && interpose_drm(minor, request, argument, &result))
        return result;
    return kfd_ioctl(kind == INTERPOSE_RENDER, request, argument);
}

void *interpose_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
    INTERPOSE(mmap);
void *interpose_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    enum interpose_kind kind;
    int minor;
    if (flags & MAP_ANONYMOUS || !interpose_is_device(fd, &kind, &minor))
        return INTERPOSE_NEXT(interpose_mmap, "mmap")(address, length, protection, flags, fd,
                                                      offset);
    if (interpose_is_parents(fd)) {
        refuse_foreign();
        return MAP_FAILED;
    }
    return kfd_map(kind == INTERPOSE_RENDER, address, length, protection, flags, offset);
}
void *interpose_mmap64(void *address, size_t length, int protection, int flags, int fd,
                       off_t offset) INTERPOSE_AS(mmap64, mmap);

int interpose_munmap(void *address, size_t length) INTERPOSE(munmap);
int interpose_munmap(void *address, size_t length)
{
    kfd_unmap(address, length);
    return INTERPOSE_NEXT(interpose_munmap, "munmap")(address, length);
}

int interpose_close(int fd) INTERPOSE(close);
int interpose_close(int fd)
{
    enum interpose_kind kind;
    int minor;
    if (interpose_is_device(fd, &kind, &minor))
        interpose_copied(-1, fd);
    return INTERPOSE_NEXT(interpose_close, "close")(fd);
}

/* ---- copies of descriptors ---- */

static int note_copy(int fd, int copy)
{
    enum interpose_kind kind;
    int minor;
    if (copy >= 0 && copy != fd
        && (interpose_is_device(fd, &kind, &minor) || interpose_is_device(copy, &kind, &minor)))
        interpose_copied(fd, copy);
    return copy;
}

int interpose_dup(int fd) INTERPOSE(dup);
int interpose_dup(int fd)
{
    return note_copy(fd, INTERPOSE_NEXT(interpose_dup, "dup")(fd));
}

int interpose_dup2(int fd, int copy) INTERPOSE(dup2);
int interpose_dup2(int fd, int copy)
{
    return note_copy(fd, INTERPOSE_NEXT(interpose_dup2, "dup2")(fd, copy));
}

int interpose_dup3(int fd, int copy, int flags) INTERPOSE(dup3);
int interpose_dup3(int fd, int copy, int flags)
{
    return note_copy(fd, INTERPOSE_NEXT(interpose_dup3, "dup3")(fd, copy, flags));
}

int interpose_fcntl(int fd, int command, ...) INTERPOSE(fcntl);
int interpose_fcntl(int fd, int command, ...)
{
    int result = INTERPOSE_NEXT(interpose_fcntl, "fcntl")(fd, command, EXTRA(command));
    bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    return copies ? note_copy(fd, result) : result;
}
int interpose_fcntl64(int fd, int command, ...) INTERPOSE_AS(fcntl64, fcntl);

/* ---- signals by which the machine sees doorbells ---- */

int interpose_sigaction(int number, const struct sigaction *action, struct sigaction *before)
    INTERPOSE(sigaction);
int interpose_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    int result;
    if (kfd_sigaction(number, action, before, &result))
        return result;
    return INTERPOSE_NEXT(interpose_sigaction, "sigaction")(number, action, before);
}

typedef void (*handler)(int);

handler interpose_signal(int number, handler action) INTERPOSE(signal);
handler interpose_signal(int number, handler action)
{
    struct sigaction now = {.sa_flags = SA_RESTART}, before = {.sa_flags = 0};
    int result;
    now.sa_handler = action;
    sigemptyset(&now.sa_mask);
    if (!kfd_sigaction(number, &now, &before, &result))
        return INTERPOSE_NEXT(interpose_signal, "signal")(number, action);
    return result == 0 ? before.sa_handler : SIG_ERR;
}
