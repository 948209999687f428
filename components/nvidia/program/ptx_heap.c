/* The heap that kernels allocate from: first fit in a list of pieces by address, the same in every
 * run. The list is kept in host memory, so a kernel that writes past its piece breaks no other. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

#include "ptx_internal.h"

enum { HEAP_ALIGN = 16 };

struct heap_piece {
    struct heap_piece *next; /* the next higher addresses */
    uint64_t address, bytes;
    bool is_used;
};

struct ptx_heap {
    struct ptx_heap *next;
    uint32_t gpu, pid;
    struct heap_piece *first;
};

static struct ptx_heap *heaps;

static struct ptx_heap *heap_find(uint32_t gpu, uint32_t pid)
{
    struct ptx_heap *h = heaps;
    while (h && (h->gpu != gpu || h->pid != pid))
        h = h->next;
    return h;
}

static struct heap_piece *piece_new(uint64_t address, uint64_t bytes, struct heap_piece *next)
{
    struct heap_piece *p = grow_memory(NULL, sizeof *p, PTX_PROGRAM);
    *p = (struct heap_piece){.next = next, .address = address, .bytes = bytes};
    return p;
}

void ptx_heap_set(uint32_t gpu, uint32_t pid, uint64_t address, uint64_t bytes)
{
    struct ptx_heap *h = grow_memory(NULL, sizeof *h, PTX_PROGRAM);
    *h = (struct ptx_heap){
        .next = heaps, .gpu = gpu, .pid = pid, .first = piece_new(address, bytes, NULL)};
    heaps = h;
}

bool ptx_heap_has(uint32_t gpu, uint32_t pid)
{
    return heap_find(gpu, pid) != NULL;
}

bool ptx_heap_exists(void)
{
    return heaps;
}

void ptx_heap_drop(uint32_t pid)
{
    for (struct ptx_heap **link = &heaps; *link;) {
        struct ptx_heap *h = *link;
        if (pid && h->pid != pid) {
            link = &h->next;
            continue;
        }
        for (struct heap_piece *p = h->first, *next; p; p = next) {
            next = p->next;
            free(p);
        }
        *link = h->next;
        free(h);
    }
}

uint64_t ptx_heap_allocate(uint32_t gpu, uint32_t pid, uint64_t bytes)
{
    const struct ptx_heap *h = heap_find(gpu, pid);
    if (!h || !bytes || bytes > UINT64_MAX / 2)
        return 0;
    bytes = round_up(bytes, HEAP_ALIGN);
    for (struct heap_piece *p = h->first; p; p = p->next) {
        if (p->is_used || p->bytes < bytes)
            continue;
        if (p->bytes > bytes)
            p->next = piece_new(p->address + bytes, p->bytes - bytes, p->next);
        p->bytes = bytes;
        p->is_used = true;
        return p->address;
    }
    return 0;
}

void ptx_heap_release(uint32_t gpu, uint32_t pid, uint64_t address)
{
    const struct ptx_heap *h = heap_find(gpu, pid);
    struct heap_piece *before = NULL, *p = h ? h->first : NULL;
    while (p && p->address != address) {
        before = p;
        p = p->next;
    }
    if (!p || !p->is_used)
        return;
    p->is_used = false;
    if (before && !before->is_used)
        p = before;
    while (p->next && !p->next->is_used) {
        struct heap_piece *next = p->next;
        p->bytes += next->bytes;
        p->next = next->next;
        free(next);
    }
}
