/* Checksums at the end of files in the cache. */
#include "seal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

struct trailer {
    char magic[8];
    uint64_t size, sum; /* the number and the sum of the bytes before the seal */
};

static const char magic[8] = "heddle1";

/* The bytes of a file, to be unmapped; NULL: it cannot be read, or is empty. */
static void *map(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *bytes = MAP_FAILED;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        *size = (size_t)status.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0)
        close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

bool seal_sum_file(const char *path, uint64_t *size, uint64_t *sum)
{
    size_t bytes = 0;
    void *text = map(path, &bytes);
    if (!text)
        return false;
    *size = bytes;
    *sum = hash_bytes(0, text, bytes);
    munmap(text, bytes);
    return true;
}

bool seal_put(const char *path)
{
    struct trailer trailer = {.size = 0};
    memcpy(trailer.magic, magic, sizeof magic);
    if (!seal_sum_file(path, &trailer.size, &trailer.sum))
        return false;
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0)
        return false;
    errno = ENOSPC; /* the reason why a write is cut short */
    bool ok = write(file, &trailer, sizeof trailer) == (ssize_t)sizeof trailer;
    return close(file) == 0 && ok;
}

bool seal_holds(const char *path)
{
    size_t size = 0;
    char *bytes = map(path, &size);
    struct trailer trailer;
    bool holds = bytes && size > sizeof trailer;
    if (holds) {
        size_t inside = size - sizeof trailer;
        memcpy(&trailer, bytes + inside, sizeof trailer);
        holds = memcmp(trailer.magic, magic, sizeof magic) == 0 && trailer.size == inside
                && trailer.sum == hash_bytes(0, bytes, inside);
    }
    if (bytes)
        munmap(bytes, size);
    return holds;
}
