/* Reads and writes memory of another process, or of this one where it may not be mapped. */
#define _GNU_SOURCE /* process_vm_readv */
#include "program_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where a process may not look at itself so, it is copied. */
static bool was_moved(pid_t of, ssize_t done, void *to, const void *from, size_t size)
{
    if (!of && done < 0 && (errno == ENOSYS || errno == EPERM)) {
        memcpy(to, from, size);
        return true;
    }
    if (done == (ssize_t)size)
        return true;
    errno = EFAULT;
    return false;
}

bool program_read(pid_t of, void *to, uint64_t address, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return was_moved(of, process_vm_readv(of ? of : getpid(), &here, 1, &there, 1, 0), to,
                     there.iov_base, size);
}

bool program_write(pid_t of, uint64_t address, const void *from, size_t size)
{
    const struct iovec here = {(void *)(uintptr_t)from, size},
                       there = {(void *)(uintptr_t)address, size};
    return was_moved(of, process_vm_writev(of ? of : getpid(), &here, 1, &there, 1, 0),
                     there.iov_base, from, size);
}

bool program_has(pid_t of, uint64_t start, uint64_t end)
{
    char path[64], line[512];
    unsigned long first, last;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)(of ? of : getpid()));
    FILE *file = fopen(path, "re");
    while (file && start < end && fgets(line, sizeof line, file))
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2 && first <= start && last > start)
            start = last; /* they are in the order of addresses */
    if (file)
        fclose(file);
    return start >= end;
}
