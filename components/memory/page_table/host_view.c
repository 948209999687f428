/* The memory of a process as it is seen in the host; see host_view.h. Called by functional
 * executors. */
#include "host_view.h"

#include <string.h>

#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/state/memory.h"

/* Physical address of the page that holds `address`; UINT64_MAX: it is not mapped in the process
 * (an allocation of another one, or a page that was removed). */
static uint64_t page_of(const struct host_view *t, uint64_t address)
{
    uint64_t physical;
    bool writable;
    bool mapped = page_table_find(t->pages, t->pid, address, &physical, &writable);
    return mapped ? physical : UINT64_MAX;
}

/* The longest run of pages around `address` that follow each other in physical memory. */
static struct host_span make_span(const struct host_view *t, const struct program_allocation *a,
                                  uint64_t address)
{
    uint64_t page = (uint64_t)1 << t->pages->page_bits, here = address & ~(page - 1);
    uint64_t a_start = page_table_address(a->start), a_end = page_table_address(a->end);
    uint64_t physical = page_of(t, here), first = here, last = here;
    while (first > a_start && page_of(t, first - page) == physical - (here - first) - page)
        first -= page;
    while (a_end - last > page && page_of(t, last + page) == physical + (last - here) + page)
        last += page;
    uint64_t start = max(first, a_start);
    uint64_t end = a_end - last < page ? a_end : last + page;
    uint64_t from = physical - (here - first) + (start - first);
    uint64_t at, flags = 0;
    page_table_look_up(t->pages, t->pid, here, &at, &flags);
    bool fragments = t->pages->fragment_bits > t->pages->page_bits
                     && !(flags & (PAGE_TABLE_UNIFIED | PAGE_TABLE_COPIED));
    return (struct host_span){start, end - start, memory_span(from, end - start), fragments};
}

unsigned host_view_fragment(const struct host_view *t, const struct host_span *w, uint64_t address,
                            uint64_t physical)
{
    uint64_t page = (uint64_t)1 << t->pages->page_bits, start = w->start & ~(page - 1),
             end = (w->start + w->size + page - 1) & ~(page - 1);
    for (unsigned bits = t->pages->fragment_bits; bits > t->pages->page_bits; bits--) {
        uint64_t size = (uint64_t)1 << bits, first = address & ~(size - 1);
        if (first >= start && first + size <= end && !((physical ^ address) & (size - 1)))
            return bits;
    }
    return t->pages->page_bits;
}

const struct host_span *host_view_find(struct host_view *t, uint64_t address)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (host_span_holds(&t->span[i], address, 1))
            return &t->span[i];
    const struct program_allocation *a = program_find_in(t->program, t->pid, address);
    if (!a || !program_reaches(t->program, t->gpu, a) || page_of(t, address) == UINT64_MAX)
        return NULL;
    uint32_t place = t->next;
    t->next = (t->next + 1) % HOST_VIEW_SPANS;
    t->count = place < t->count ? t->count : place + 1;
    t->span[place] = make_span(t, a, address);
    return &t->span[place];
}

bool host_view_is_allocated(const struct host_view *t, uint64_t address, uint64_t bytes)
{
    const struct program_allocation *a = program_find_in(t->program, t->pid, address);
    bool mapped = a && bytes <= page_table_address(a->end) - address
                  && program_reaches(t->program, t->gpu, a);
    uint64_t page = (uint64_t)1 << t->pages->page_bits;
    for (uint64_t at = address & ~(page - 1); mapped && at < address + bytes; at += page)
        mapped = page_of(t, at) != UINT64_MAX;
    return mapped;
}

/* Bytes of the host at `address`, of which *bytes follow each other. */
static char *piece(struct host_view *t, uint64_t address, uint64_t *bytes)
{
    const struct host_span *w = host_view_find(t, address);
    if (!w)
        bug("access to 0x%" PRIx64 ", which was not checked", address);
    uint64_t offset = address - w->start;
    *bytes = min(*bytes, w->size - offset);
    return w->host + offset;
}

void host_view_read(struct host_view *t, uint64_t address, void *to, uint64_t bytes)
{
    for (uint64_t done = 0, part; done < bytes; done += part) {
        part = bytes - done;
        const char *from = piece(t, address + done, &part);
        memcpy((char *)to + done, from, part);
    }
}

void host_view_write(struct host_view *t, uint64_t address, const void *from, uint64_t bytes)
{
    for (uint64_t done = 0, part; done < bytes; done += part) {
        part = bytes - done;
        char *to = piece(t, address + done, &part);
        memcpy(to, (const char *)from + done, part);
    }
}

void host_view_refresh(struct host_view *t, const struct program_table *program,
                       const struct page_table *pages, uint32_t pid)
{
    if (t->program == program && t->pages == pages && t->pid == pid
        && t->version == program->version)
        return;
    *t = (struct host_view){
        .program = program, .pages = pages, .pid = pid, .version = program->version};
}
