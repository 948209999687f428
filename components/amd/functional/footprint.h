/* The memory that the threads of a shared launch read and write, which shows whether work-groups
 * depend on each other. Private to components/amd/functional.
 *
 * Each thread marks the dwords of the simulated memory that its work-groups read, write and update.
 * An update is an atomic whose order does not matter and whose old value goes nowhere. A page is
 * copied before the first thread changes it, and has updates of one operation only. When all
 * threads have ended, footprint_end() compares the marks. If no thread has written a dword that
 * another accessed, and none has read a dword that another updated, the threads could have run in
 * any order, so memory is as one thread leaves it. Otherwise, and when a thread met an access that
 * it cannot mark, memory is put back as it was.
 *
 * Marks are bits of one reservation of address space for each thread, a thirty-second of the
 * memory for each kind; copies lie in another one, where their pages lie in memory. Neither is
 * state. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FOOTPRINT_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "runtime/state/memory.h"

enum {
    FOOTPRINT_THREADS = 32,
    FOOTPRINT_BLOCK_BITS = 14, /* log2 of bytes; a flag a block, so that few marks are read */
    FOOTPRINT_PAGE_BITS = 12,
};

enum footprint_kind { FOOTPRINT_READ, FOOTPRINT_WRITTEN, FOOTPRINT_UPDATED, FOOTPRINT_KINDS };

/* Accesses that one thread has marked. */
struct footprint {
    uint64_t *mark[FOOTPRINT_KINDS]; /* a bit a dword */
    uint8_t *blocks;                 /* bit k: something is marked in mark[k] */
    uint64_t low, high;              /* blocks with marks: from low to below high */
};

/* Nothing is marked; `threads` at most FOOTPRINT_THREADS. */
void footprint_begin(uint32_t threads);
struct footprint *footprint_of(uint32_t thread);

/* The launch cannot be shared: the threads should end. */
void footprint_lose(void);
bool footprint_is_lost(void);

/* Compares the marks when all threads have ended. False: memory is as it was at
 * footprint_begin(). */
bool footprint_end(uint32_t threads);

/* Rare cases of the functions below. */
void footprint_new_blocks(struct footprint *f, uint64_t from, uint64_t to,
                          enum footprint_kind kind);
void footprint_keep(uint64_t from, uint64_t to);

/* State of each page; above FOOTPRINT_KEPT: kept, and the operation of its updates. */
enum { FOOTPRINT_FREE, FOOTPRINT_COPYING, FOOTPRINT_KEPT };
extern uint8_t *footprint_pages __attribute__((visibility("hidden")));

static inline bool footprint_is_kept(const uint8_t *page)
{
    return __atomic_load_n(page, __ATOMIC_ACQUIRE) >= FOOTPRINT_KEPT;
}

/* `bytes` from `host` on, 1 to 1 << FOOTPRINT_PAGE_BITS, are about to be read or changed by the
 * thread. */
static inline void footprint_mark(struct footprint *f, const char *host, uint64_t bytes,
                                  enum footprint_kind kind)
{
    uint64_t from = (uint64_t)(host - memory.bytes), to = from + bytes - 1;
    const uint8_t *blocks = f->blocks, *pages = footprint_pages;
    if (unlikely(
            !((blocks[from >> FOOTPRINT_BLOCK_BITS] & blocks[to >> FOOTPRINT_BLOCK_BITS]) >> kind
              & 1)))
        footprint_new_blocks(f, from, to, kind);
    if (kind != FOOTPRINT_READ
        && unlikely(!footprint_is_kept(&pages[from >> FOOTPRINT_PAGE_BITS])
                    || !footprint_is_kept(&pages[to >> FOOTPRINT_PAGE_BITS])))
        footprint_keep(from, to);
    uint64_t first = from >> 2, *word = f->mark[kind] + (first >> 6);
    uint64_t left = (to >> 2) - (first & ~UINT64_C(63)); /* number of the last bit in *word */
    uint64_t bits = UINT64_MAX << (first & 63);
    for (; left > 63; left -= 64, bits = UINT64_MAX)
        *word++ |= bits;
    *word |= bits & UINT64_MAX >> (63 - left);
}

/* The thread is about to update `bytes` of one page by an operation, 1 to 253. False: the page has
 * updates of another one. */
static inline bool footprint_mark_update(struct footprint *f, const char *host, uint64_t bytes,
                                         uint8_t operation)
{
    footprint_mark(f, host, bytes, FOOTPRINT_UPDATED);
    uint8_t *page = &footprint_pages[(uint64_t)(host - memory.bytes) >> FOOTPRINT_PAGE_BITS];
    uint8_t wanted = FOOTPRINT_KEPT + operation, current = FOOTPRINT_KEPT;
    return __atomic_load_n(page, __ATOMIC_RELAXED) == wanted
           || __atomic_compare_exchange_n(page, &current, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)
           || current == wanted; /* another thread was faster */
}

#endif
