/* See hideout.h. The old place stays mapped all the time, as otherwise the system might give it to
 * another thread. The hideout's own hole does not: it is looked at before it is used again. */
#define _GNU_SOURCE /* mremap */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hideout.h"
#include "runtime/engine/bug.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define GIB ((uint64_t)1 << 30)

/* Where Linux on x86-64 puts nothing by itself, and below the addresses of devices. */
#define LOWEST  ((uint64_t)1 << 40)
#define HIGHEST ((uint64_t)31 << 40)

#define GUARD_BYTES GIB
#define ATTEMPTS    16

static char *hideout; /* NULL: none yet */
static bool never;    /* the system cannot do it */

static bool reserve(char *wish, size_t bytes)
{
    void *got = mmap(wish, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED && got != wish)
        munmap(got, bytes);
    return got == wish;
}

/* A free range that lies in its first gibibyte as `base` does. */
static char *find(const char *base, size_t bytes)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t chance;
        if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
            return NULL;
        uint64_t place = LOWEST + chance % ((HIGHEST - LOWEST) / GIB) * GIB;
        char *wish = (char *)(uintptr_t)(place + (uintptr_t)base % GIB);
        if (reserve(wish - GUARD_BYTES, bytes + 2 * GUARD_BYTES))
            return wish;
    }
    return NULL;
}

/* Not by mremap(): UCX, a library that MPI may use, puts a function of its own in its place, which
 * loses the last argument. */
static bool move(char *from, size_t bytes, char *to, int flags)
{
    long got = syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | flags, to);
    return (char *)got == to;
}

/* The first `count` pieces. Returns how many were moved. */
static unsigned move_pieces(char *from, char *to, const struct hideout_pieces *p, unsigned count,
                            int flags)
{
    for (unsigned i = 0; i < count; i++) {
        size_t start = i ? p->end[i - 1] : 0;
        if (!move(from + start, p->end[i] - start, to + start, flags))
            return i;
    }
    return count;
}

static void move_back(char *base, const struct hideout_pieces *p, unsigned count)
{
    if (move_pieces(hideout, base, p, count, 0) != count)
        die("the system does not give back what lay at %p", (void *)base);
}

void hideout_leave(char *base, const struct hideout_pieces *p)
{
    move_back(base, p, p->count);
}

bool hideout_enter(char *base, const struct hideout_pieces *p)
{
    size_t bytes = p->end[p->count - 1];
    if (never)
        return false;
    if (!hideout || !reserve(hideout, bytes))
        hideout = find(base, bytes);
    unsigned moved = hideout ? move_pieces(base, hideout, p, p->count, MREMAP_DONTUNMAP) : 0;
    if (moved == p->count && mprotect(base, bytes, PROT_NONE) == 0)
        return true;
    if (moved)
        move_back(base, p, moved);
    never = true;
    return false;
}
