/* Host memory whose contents do not matter: for sources, pages that were never written; for
 * targets, one block that is mapped again and again. */
#define _GNU_SOURCE /* memfd_create */
#include "play_instructions.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 4 << 20 };

struct area {
    char *start;
    uint64_t size;
};

static char *reserve(uint64_t size)
{
    void *start = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        play_fail(0, "no host addresses for a copy of %llu bytes: %s", (unsigned long long)size,
                  strerror(errno));
    return start;
}

/* Areas that are too small stay, since copies may still use them. Each is at least twice as large
 * as the one before, so that there are few. */
static bool grow(struct area *area, uint64_t size)
{
    uint64_t wanted = area->size ? area->size : BLOCK;
    if (size <= area->size)
        return false;
    while (wanted < size)
        wanted *= 2;
    *area = (struct area){reserve(wanted), wanted};
    return true;
}

const void *play_source(uint64_t size)
{
    static struct area source;
    grow(&source, size);
    return source.start;
}

void *play_drain(uint64_t size)
{
    static struct area drain;
    static int block = -1;
    if (!grow(&drain, size))
        return drain.start;
    if (block < 0
        && ((block = memfd_create("heddle-play-instructions", MFD_CLOEXEC)) < 0
            || ftruncate(block, BLOCK) != 0))
        play_fail(0, "no host memory for copies: %s", strerror(errno));
    for (uint64_t at = 0; at < drain.size; at += BLOCK)
        if (mmap(drain.start + at, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, block, 0)
            == MAP_FAILED)
            play_fail(0, "no host memory for copies: %s", strerror(errno));
    return drain.start;
}
