/* From virtual addresses to bytes of the host, allocation and translation in one look.
 *
 * A span is a range of virtual addresses that lies in one allocation and whose pages follow each
 * other in physical memory, and so in the host's. Most allocations are one span. An address in a
 * span needs neither the table of allocations nor the page table. Spans are kept while the
 * table of allocations stays as it is. Called by functional executors. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_HOST_VIEW_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_HOST_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "page_table.h"
#include "program_table.h"

enum { HOST_VIEW_SPANS = 64 };
#define HOST_VIEW_UNIT_NONE UINT32_MAX

struct host_span {
    uint64_t start; /* virtual */
    uint64_t size;
    char *host;     /* the host's address of `start` */
    bool fragments; /* the driver marks fragments in it (page_table_fragment()) */
};

struct host_view {
    const struct program_table *program;
    const struct page_table *pages;
    uint32_t pid;
    uint32_t gpu;
    uint32_t version; /* version of the program table */
    uint32_t unit;    /* compute unit that accesses are touched for, or HOST_VIEW_UNIT_NONE */
    uint32_t count, next;
    struct footprint *footprint; /* where the executor marks accesses, or NULL */
    bool refused;                /* an access, to an address that is not there */
    uint64_t refused_address;
    struct host_span span[HOST_VIEW_SPANS];
};

static inline bool host_span_holds(const struct host_span *w, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - w->start;
    return offset < w->size && w->size - offset >= bytes;
}

/* The span of an allocated address, made when there is none yet; NULL: nothing is mapped
 * there. Valid until the next call. */
const struct host_span *host_view_find(struct host_view *t, uint64_t address);

/* log2 of the fragment that holds an address of a span with fragments, which lies at `physical`, as
 * far as it lies in the span. */
unsigned host_view_fragment(const struct host_view *t, const struct host_span *w, uint64_t address,
                            uint64_t physical);

/* True if [address, address + bytes) is inside one allocation, and mapped. */
bool host_view_is_allocated(const struct host_view *t, uint64_t address, uint64_t bytes);

/* Copies of bytes inside one allocation, across spans. */
void host_view_read(struct host_view *t, uint64_t address, void *to, uint64_t bytes);
void host_view_write(struct host_view *t, uint64_t address, const void *from, uint64_t bytes);

/* Forgets what is no longer so. Before each launch. */
void host_view_refresh(struct host_view *t, const struct program_table *program,
                       const struct page_table *pages, uint32_t pid);

#endif
