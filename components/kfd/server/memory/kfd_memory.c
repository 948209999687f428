/* Memory that the program and GPUs both see, at the same address.
 *
 * Each allocation has pages of simulated memory at the address that the runtime has chosen. The
 * program's view of them is a mapping of the same bytes, which kfd_client.c makes when it calls
 * mmap() of a render node. Memory that the program gives to GPUs becomes such a view with the same
 * contents, and is the program's own again when the allocation is freed. The machine has a view,
 * too, so that no call of the program can take its bytes away. Memory of the host lies in the
 * platform's host memory, which GPUs reach over their links. On a platform without host memory, or
 * whose GPU shares it, memory of the host lies in memory of the GPU that it is allocated for. Only
 * GPUs to which an allocation is mapped reach it. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_ioctl.h"
#include "components/kfd/server/kfd_machine.h"

struct kfd_memory {
    struct kfd_allocation **list; /* by address */
    size_t count, capacity;
    uint64_t serial;
    uint64_t next_offset;
};

enum {
    AT_HOST = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_USERPTR,
    IN_DEVICE = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | AT_HOST,
    KINDS = IN_DEVICE | KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP,
    UNCACHED = KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED,
    TYPED = KFD_IOC_ALLOC_MEM_FLAGS_COHERENT | UNCACHED
};

#define ADDRESSES_END ((uint64_t)1 << 47)

/* ---- the list ---- */

/* The number of allocations that begin at or below the address. */
static size_t count_below(const struct kfd_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->list[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct kfd_allocation *kfd_find_allocation(const struct kfd_process *p, uint64_t address)
{
    size_t below = count_below(p->memory, address);
    struct kfd_allocation *a = below ? p->memory->list[below - 1] : NULL;
    return a && address - a->address < a->span ? a : NULL;
}

struct kfd_allocation *kfd_find_handle(const struct kfd_process *p, uint64_t handle)
{
    const struct kfd_memory *memory = p->memory;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->list[i]->handle == handle)
            return memory->list[i];
    return NULL;
}

static struct kfd_allocation *find_offset(const struct kfd_memory *memory, uint64_t offset)
{
    for (size_t i = 0; i < memory->count; i++) {
        struct kfd_allocation *a = memory->list[i];
        if (a->is_in_device && offset - a->offset < a->size)
            return a;
    }
    return NULL;
}

void *kfd_bytes(const struct kfd_process *p, uint32_t gpu, uint64_t address, uint64_t size)
{
    const struct kfd_allocation *a = kfd_find_allocation(p, address);
    if (!a || !a->bytes || !(a->mapped >> gpu & 1) || size > a->span - (address - a->address))
        return NULL;
    return a->bytes + (address - a->address);
}

static bool is_free(const struct kfd_memory *memory, uint64_t address, uint64_t size)
{
    size_t below = count_below(memory, address + size - 1);
    const struct kfd_allocation *a = below ? memory->list[below - 1] : NULL;
    return !a || a->address + a->span <= address;
}

static void add_allocation(struct kfd_memory *memory, struct kfd_allocation *a)
{
    grow_list(memory->list, memory->count + 1, memory->capacity, KFD_SERVER);
    size_t at = count_below(memory, a->address);
    memmove(memory->list + at + 1, memory->list + at,
            (memory->count - at) * sizeof(struct kfd_allocation *));
    memory->list[at] = a;
    memory->count++;
}

static void drop_allocation(struct kfd_memory *memory, struct kfd_allocation *a)
{
    size_t at = 0;
    while (memory->list[at] != a)
        at++;
    memory->count--;
    memmove(memory->list + at, memory->list + at + 1,
            (memory->count - at) * sizeof(struct kfd_allocation *));
    free(a);
}

/* ---- views ---- */

static void *reserve_addresses(size_t size)
{
    return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int show_allocation(const struct kfd_process *p, const struct kfd_allocation *a, void *at)
{
    return kfd_status(kfd.api->alias(kfd_name(p, a->address), a->size, at), "mapping memory");
}

static int open_view(const struct kfd_process *p, struct kfd_allocation *a)
{
    char *at = reserve_addresses(a->span);
    if (at == MAP_FAILED)
        return -ENOMEM;
    a->bytes = at;
    int result = show_allocation(p, a, at);
    return result == 0 && a->span > a->size ? show_allocation(p, a, at + a->size) : result;
}

/* The length of a run of pages of the program's memory, from an offset on. *other is another
 * allocation that has the whole run, too; NULL: none has any of its pages. */
static uint64_t run_at(const struct kfd_memory *memory, const struct kfd_allocation *a,
                       uint64_t offset, const struct kfd_allocation **other)
{
    uint64_t host = a->host + offset, end = a->host + a->size;
    *other = NULL;
    for (size_t i = 0; i < memory->count && !*other; i++) {
        const struct kfd_allocation *o = memory->list[i];
        if (o == a || !o->host || o->host + o->size <= host)
            continue;
        if (o->host <= host)
            *other = o;
        if (o->host > host && o->host < end)
            end = o->host;
    }
    if (*other && (*other)->host + (*other)->size < end)
        end = (*other)->host + (*other)->size;
    return end - host;
}

/* Pages that others have, too, are one memory at all their addresses, and those others own it. */
static int join_host(const struct kfd_process *p, const struct kfd_allocation *a)
{
    const struct kfd_allocation *other;
    int result = 0;
    for (uint64_t at = 0, run; at < a->size && result == 0; at += run) {
        run = run_at(p->memory, a, at, &other);
        if (other)
            result = kfd_status(
                kfd.api->join(kfd_name(p, a->address + at), run,
                              kfd_name(p, other->address + (a->host + at - other->host))),
                "registering memory");
    }
    return result;
}

/* Memory that was imported is one memory at all its addresses. */
static int join_origin(const struct kfd_process *p, const struct kfd_allocation *a)
{
    const struct kfd_memory *memory = p->memory;
    for (size_t i = 0; i < memory->count; i++) {
        const struct kfd_allocation *o = memory->list[i];
        if (o != a && o->origin == a->origin)
            return kfd_status(
                kfd.api->join(kfd_name(p, a->address), a->size, kfd_name(p, o->address)),
                "importing memory");
    }
    return 0;
}

/* Copies pages of the program. The allocation is all zeros: pages that are, too, need not be made.
 */
static int take_run(const struct kfd_process *p, const struct kfd_allocation *a, uint64_t at,
                    uint64_t end)
{
    enum { PIECE = 64 * KFD_PAGE };
    static char piece[PIECE]; /* used by the machine's thread only */
    for (uint64_t size; at < end; at += size) {
        size = min(end - at, PIECE);
        if (!program_read(p->pid, piece, a->host + at, size))
            return -EFAULT;
        for (uint64_t page = 0; page < size; page += KFD_PAGE)
            if (piece[page] || memcmp(piece + page, piece + page + 1, KFD_PAGE - 1) != 0)
                memcpy(a->bytes + at + page, piece + page, KFD_PAGE);
    }
    return 0;
}

/* The allocation holds what the program's memory holds, which becomes a view of it (kfd_client.c).
 */
static int take_host(const struct kfd_process *p, const struct kfd_allocation *a)
{
    const struct kfd_allocation *other;
    int result = 0;
    for (uint64_t at = 0, run; at < a->size && result == 0; at += run) {
        run = run_at(p->memory, a, at, &other);
        if (!other)
            result = take_run(p, a, at, at + run);
    }
    return result;
}

/* ---- calls ---- */

void kfd_memory_release(struct kfd_process *p, struct kfd_allocation *a)
{
    if (a->has_code)
        kfd_kernel_name_release(p, a);
    if (a->is_in_device && !kfd.has_ended) { /* copies that use it come to their end */
        if (a->host)
            join_host(p, a);
        if (a->origin)
            join_origin(p, a);
        kfd_status(kfd.api->release(kfd_name(p, a->address)), "freeing memory");
    }
    if (a->bytes)
        munmap(a->bytes, a->span);
    drop_allocation(p->memory, a);
}

/* Takes pages at the allocation's address, all zeros, which no GPU reaches. */
static int take_pages(struct kfd_process *p, struct kfd_allocation *a)
{
    bool apart = a->is_at_host && kfd.gpu[a->gpu].info.reaches_host;
    enum driver_place place = a->moves ? DRIVER_PLACE_MANAGED
                              : apart  ? DRIVER_PLACE_HOST
                                       : DRIVER_PLACE_DEVICE;
    int result = kfd_status(kfd.api->allocate_at(p->device[a->gpu], a->address, a->size, place),
                            "allocating memory");
    if (result != 0)
        return result;
    a->is_in_device = true;
    result = kfd_memory_map_to_gpus(p, a, 0);
    if (result == 0 && !a->moves && a->flags & TYPED)
        result =
            kfd_status(kfd.api->advise(
                           kfd_name(p, a->address), a->size,
                           a->flags & UNCACHED ? DRIVER_ADVICE_UNCACHED : DRIVER_ADVICE_FINE, true),
                       "typing memory");
    if (result == 0)
        result = kfd_status(kfd.api->clear(kfd_name(p, a->address), a->size), "allocating memory");
    if (result == 0 && a->host)
        result = join_host(p, a);
    if (result == 0 && a->origin)
        result = join_origin(p, a);
    if (result == 0)
        result = open_view(p, a);
    if (result == 0 && a->host)
        result = take_host(p, a);
    return result;
}

static int check_request(const struct kfd_process *p,
                         const struct kfd_ioctl_alloc_memory_of_gpu_args *call)
{
    uint32_t kind = call->flags & KINDS;
    if (kfd_find_gpu(call->gpu_id) < 0)
        return -ENODEV;
    if (!call->size || call->size % KFD_PAGE || call->va_addr % KFD_PAGE || !call->va_addr
        || call->va_addr >= ADDRESSES_END || call->size > ADDRESSES_END - call->va_addr)
        return -EINVAL;
    if (!kind || kind & (kind - 1)
        || (call->flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM && call->size % (2 * KFD_PAGE)))
        return -EINVAL;
    if (kind == KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
        && (call->mmap_offset % KFD_PAGE || call->mmap_offset >= ADDRESSES_END
            || call->size > ADDRESSES_END - call->mmap_offset))
        return -EINVAL;
    if (kind == KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP && call->size != KFD_PAGE)
        return -EINVAL;
    return is_free(p->memory, call->va_addr, call->size) ? 0 : -EADDRINUSE;
}

static int allocate_memory(struct kfd_process *p, struct kfd_ioctl_alloc_memory_of_gpu_args *call,
                           uint64_t origin, bool at_host, bool moves)
{
    struct kfd_memory *memory = p->memory;
    int result = check_request(p, call);
    bool user = (call->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) != 0;
    if (result != 0)
        return result;
    /* A ring of packets is mapped twice, one after the other. Only the machine's view has both. */
    bool twice = (call->flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM) != 0;
    uint32_t gpu = (uint32_t)kfd_find_gpu(call->gpu_id);
    struct kfd_allocation *a = grow_zeroed(sizeof *a, KFD_SERVER);
    *a = (struct kfd_allocation){.handle = (uint64_t)call->gpu_id << 32 | ++memory->serial,
                                 .address = call->va_addr,
                                 .size = call->size >> twice,
                                 .span = call->size,
                                 .host = user ? call->mmap_offset : 0,
                                 .origin = origin,
                                 .gpu = gpu,
                                 .is_at_host = at_host,
                                 .moves = moves,
                                 .flags = call->flags};
    /* Behind all that was there, so that none of its pages is another's. */
    a->offset = memory->next_offset;
    memory->next_offset += round_up(a->size, KFD_PAGE);
    add_allocation(memory, a);
    if (call->flags & IN_DEVICE)
        result = take_pages(p, a);
    if (result != 0) {
        kfd_memory_release(p, a);
        return result;
    }
    call->handle = a->handle;
    if (call->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
        call->mmap_offset = kfd_map_offset(KFD_MAP_DOORBELL, call->gpu_id);
    else if (call->flags & KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP)
        call->mmap_offset = kfd_map_offset(KFD_MAP_MMIO, call->gpu_id);
    else if (!user)
        call->mmap_offset = a->offset;
    return 0;
}

int kfd_memory_allocate(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args *call = request->argument;
    return allocate_memory(p, call, 0, (call->flags & AT_HOST) != 0, false);
}

int kfd_memory_give_to_gpu(struct kfd_process *p, uint64_t start, uint64_t end, uint32_t gpu,
                           bool at_host)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args call = {.va_addr = start,
                                                      .size = end - start,
                                                      .mmap_offset = start,
                                                      .gpu_id = kfd_gpu_id(gpu),
                                                      .flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
                                                               | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE};
    return allocate_memory(p, &call, 0, at_host, p->retries);
}

int kfd_memory_import(struct kfd_process *p, struct kfd_allocation *original, uint64_t address,
                      uint64_t *handle, uint64_t *offset)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args call = {.va_addr = address,
                                                      .size = original->size,
                                                      .gpu_id = kfd_gpu_id(original->gpu),
                                                      .flags = original->flags};
    if (!original->origin)
        original->origin = original->handle;
    int result = allocate_memory(p, &call, original->origin, original->is_at_host, false);
    if (result != 0)
        return result;
    *handle = call.handle;
    *offset = call.mmap_offset;
    return 0;
}

struct kfd_allocation *kfd_find_origin(const struct kfd_process *p, uint64_t handle)
{
    const struct kfd_memory *memory = p->memory;
    struct kfd_allocation *a = kfd_find_handle(p, handle);
    for (size_t i = 0; i < memory->count && !a; i++)
        if (memory->list[i]->origin == handle)
            a = memory->list[i];
    return a;
}

int kfd_memory_free(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_free_memory_of_gpu_args *call = request->argument;
    struct kfd_allocation *a = kfd_find_handle(p, call->handle);
    if (!a)
        return -EINVAL;
    kfd_memory_release(p, a);
    return 0;
}

int kfd_memory_map_to_gpus(const struct kfd_process *p, struct kfd_allocation *a, uint64_t gpus)
{
    a->mapped = gpus;
    return a->is_in_device && !kfd.has_ended
               ? kfd_status(kfd.api->limit_to(kfd_name(p, a->address), gpus), "mapping memory")
               : 0;
}

/* Sets or clears the bits of the GPUs that a call names, as far as it comes. Both calls have the
 * same arguments. */
static int change_mapped(const struct kfd_process *p, struct kfd_request *request, bool on)
{
    struct kfd_ioctl_map_memory_to_gpu_args *call = request->argument;
    struct kfd_allocation *a = kfd_find_handle(p, call->handle);
    if (!a || !call->n_devices || call->n_success > call->n_devices)
        return -EINVAL;
    for (; call->n_success < call->n_devices; call->n_success++) {
        uint32_t id;
        if (!program_read(p->pid, &id, call->device_ids_array_ptr + call->n_success * sizeof id,
                          sizeof id))
            return -EFAULT;
        int gpu = kfd_find_gpu(id);
        if (gpu < 0)
            return -EINVAL;
        uint64_t bit = (uint64_t)1 << gpu;
        int result = kfd_memory_map_to_gpus(p, a, on ? a->mapped | bit : a->mapped & ~bit);
        if (result != 0)
            return result;
    }
    return 0;
}

int kfd_memory_map(struct kfd_process *p, struct kfd_request *request)
{
    return change_mapped(p, request, true);
}

int kfd_memory_unmap(struct kfd_process *p, struct kfd_request *request)
{
    return change_mapped(p, request, false);
}

void kfd_memory_open(struct kfd_process *p)
{
    p->memory = grow_zeroed(sizeof *p->memory, KFD_SERVER);
    p->memory->next_offset = (uint64_t)1 << 32;
}

void kfd_memory_close(struct kfd_process *p)
{
    struct kfd_memory *memory = p->memory;
    while (memory->count)
        kfd_memory_release(p, memory->list[memory->count - 1]);
    free(memory->list);
    free(memory);
    p->memory = NULL;
}

/* ---- mmap() ---- */

int kfd_memory_find(const struct kfd_process *p, uint64_t offset, uint64_t length, uint64_t *handle)
{
    const struct kfd_allocation *a = find_offset(p->memory, offset);
    if (!a || offset != a->offset || length > a->size)
        return -EINVAL;
    *handle = a->handle;
    return 0;
}

const struct kfd_allocation *kfd_memory_find_given(const struct kfd_process *p, uint64_t start,
                                                   uint64_t end)
{
    const struct kfd_memory *memory = p->memory;
    for (size_t i = 0; i < memory->count && memory->list[i]->address < end; i++) {
        const struct kfd_allocation *a = memory->list[i];
        if (a->host == a->address && a->address + a->size > start)
            return a;
    }
    return NULL;
}

int kfd_memory_extent_at(const struct kfd_process *p, uint64_t handle, uint64_t first, uint64_t end,
                         struct kfd_extent *part, size_t capacity, size_t *count)
{
    const struct kfd_allocation *a = kfd_find_handle(p, handle);
    if (!a || !a->is_in_device || end > a->size || first >= end || first % KFD_PAGE)
        return -EINVAL;
    int result = a->moves && !first ? show_allocation(p, a, a->bytes) : 0;
    for (*count = 0; *count < capacity && first < end && result == 0;
         first += part[(*count)++].bytes)
        result = kfd_status(kfd.api->extent(kfd_name(p, a->address) + first, end - first,
                                            &part[*count].offset, &part[*count].bytes),
                            "mapping memory");
    return result;
}
