/* See program_memory.h. */
#define _GNU_SOURCE /* process_vm_readv */
#include "program_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where a process may not look at itself so, it is copied. */
static bool was_moved(ssize_t done, void *to, const void *from, size_t size)
{
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
        memcpy(to, from, size);
        return true;
    }
    if (done == (ssize_t)size)
        return true;
    errno = EFAULT;
    return false;
}

bool program_read(void *to, uint64_t address, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return was_moved(process_vm_readv(getpid(), &here, 1, &there, 1, 0), to, there.iov_base, size);
}

bool program_write(uint64_t address, const void *from, size_t size)
{
    const struct iovec here = {(void *)(uintptr_t)from, size},
                       there = {(void *)(uintptr_t)address, size};
    return was_moved(process_vm_writev(getpid(), &here, 1, &there, 1, 0), there.iov_base, from,
                     size);
}
