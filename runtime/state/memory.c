/* Simulated DRAM; see memory.h. The reservation belongs to the process: it is released only to make
 * another. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"

struct memory memory;
static int file_fd = -1; /* the file; -1: none */

void memory_outside(uint64_t physical, uint64_t bytes)
{
    bug("access to %llu bytes at physical address 0x%llx; the platform maps 0x%llx .. 0x%llx",
        (unsigned long long)bytes, (unsigned long long)physical, (unsigned long long)memory.first,
        (unsigned long long)(memory.first + memory.size));
}

int memory_make_file(void)
{
    int fd = memfd_create("heddle memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)memory.size) != 0
        || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0
        || mmap(memory.bytes, memory.size, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0)
               == MAP_FAILED) {
        close(fd);
        return -1;
    }
    return file_fd = fd;
}

uint64_t memory_file_offset(uint64_t physical)
{
    return physical - memory.first;
}

bool memory_alias(uint64_t physical, uint64_t bytes, void *host)
{
    char *from = memory_span(physical, bytes);
    if (file_fd < 0) {
        errno = ENODEV;
        return false;
    }
    return mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                file_fd, from - memory.bytes)
           != MAP_FAILED;
}

bool memory_clear(uint64_t physical, uint64_t bytes)
{
    char *from = memory_span(physical, bytes);
    if (file_fd >= 0)
        return fallocate(file_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from - memory.bytes,
                         (off_t)bytes)
               == 0;
    memset(from, 0, bytes);
    return true;
}

void memory_expect(uint64_t physical, uint64_t bytes)
{
    if (bytes)
        arena_expect(memory_span(physical, bytes), bytes);
}

void memory_reserve(uint64_t first, uint64_t size)
{
    arena_release(memory.bytes, memory.size);
    if (file_fd >= 0)
        close(file_fd);
    file_fd = -1;
    memory.first = first;
    memory.size = size;
    memory.bytes = size ? arena_reserve(size) : NULL;
}
