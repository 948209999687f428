/* From virtual addresses to bytes of the host, allocation and translation in one look.
 *
 * A window is a range of virtual addresses that lies in one allocation and whose pages follow each
 * other in physical memory, and so in the host's. Most allocations are one window. An address in a
 * window needs neither the table of allocations nor the page table. Windows are kept while the
 * table of allocations stays as it is. Private to components/amd/functional. */
#ifndef HEDDLE_FUNCTIONAL_WINDOW_H
#define HEDDLE_FUNCTIONAL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/page_table/page_table.h"
#include "components/protocols/page_table/program_table.h"

enum { WINDOW_COUNT = 64 };
#define WINDOW_NO_UNIT UINT32_MAX

struct window {
    uint64_t start; /* virtual */
    uint64_t size;
    char *host; /* of start */
};

struct window_table {
    const struct program_table *program;
    const struct page_table *pages;
    uint32_t pid;
    uint32_t gpu;
    uint32_t version; /* of the program table */
    uint32_t unit;    /* compute unit that accesses are touched for, or WINDOW_NO_UNIT */
    uint32_t count, next;
    struct window window[WINDOW_COUNT];
};

static inline bool window_holds(const struct window *w, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - w->start;
    return offset < w->size && w->size - offset >= bytes;
}

/* The window of an allocated address, made when there is none yet; NULL: nothing is mapped
 * there. Valid until the next call. */
const struct window *window_find(struct window_table *t, uint64_t address);

/* Is [address, address + bytes) inside one allocation, and mapped? */
bool window_is_allocated(const struct window_table *t, uint64_t address, uint64_t bytes);

/* Copies of bytes inside one allocation, across windows. */
void window_read(struct window_table *t, uint64_t address, void *to, uint64_t bytes);
void window_write(struct window_table *t, uint64_t address, const void *from, uint64_t bytes);

/* Forgets what is no longer so. Before each launch. */
void window_refresh(struct window_table *t, const struct program_table *program,
                    const struct page_table *pages, uint32_t pid);

#endif
