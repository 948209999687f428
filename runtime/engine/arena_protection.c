/* See arena_protection.h. The old place stays mapped all the time, as otherwise the system might
 * give it to another thread. The refuge is reserved again when it has been left. */
#define _GNU_SOURCE /* mremap, keys */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena_protection.h"
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

static char *refuge; /* NULL: none yet */
static bool never;   /* the system cannot do it */
static int key;      /* for good; 0: none yet, which is the key of all other memory */

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
static unsigned move_pieces(char *from, char *to, const struct arena_pieces *p, unsigned count,
                            int flags)
{
    for (unsigned i = 0; i < count; i++) {
        const struct arena_piece *m = &p->piece[i];
        if (!move(from + m->begin, m->end - m->begin, to + m->begin, flags))
            return i;
    }
    return count;
}

static void leave(char *base, size_t bytes, const struct arena_pieces *p, unsigned moved)
{
    if (mprotect(base, bytes, PROT_READ | PROT_WRITE) != 0
        || move_pieces(refuge, base, p, moved, 0) != moved)
        die("the system does not give back what lay at %p", (void *)base);
    for (unsigned i = 0; i < moved; i++) {
        const struct arena_piece *m = &p->piece[i];
        if (refuge && !reserve(refuge + m->begin, m->end - m->begin))
            refuge = NULL; /* another thread has taken the place in the meantime */
    }
}

void arena_protection_leave(char *base, size_t bytes, const struct arena_pieces *p)
{
    leave(base, bytes, p, p->count);
}

bool arena_protection_enter(char *base, size_t bytes, const struct arena_pieces *p)
{
    if (never)
        return false;
    if (!refuge)
        refuge = find(base, bytes);
    unsigned moved = refuge ? move_pieces(base, refuge, p, p->count, MREMAP_DONTUNMAP) : 0;
    if (refuge && moved == p->count && mprotect(base, bytes, PROT_NONE) == 0)
        return true;
    if (refuge)
        leave(base, bytes, p, moved);
    never = true;
    return false;
}

bool arena_protection_give_key(char *base, size_t bytes)
{
    if (key == 0)
        key = pkey_alloc(0, 0);
    if (key <= 0)
        return false;
    arena_protection_permit(true);
    return pkey_mprotect(base, bytes, PROT_READ | PROT_WRITE, key) == 0;
}

void arena_protection_permit(bool allowed)
{
    pkey_set(key, allowed ? 0 : PKEY_DISABLE_ACCESS);
}
