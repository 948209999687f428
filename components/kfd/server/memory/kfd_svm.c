/* Memory of the program by attributes of its addresses, as HMM of Linux has it (AMDKFD_IOC_SVM):
 * ranges of pages with a preferred and a prefetched location, flags, and what each GPU may do.
 *
 * What a GPU may access has to be there before kernels run, as with XNACK off, when GPUs cannot
 * retry an access. So a range is given to the GPUs that get access to it as a registered buffer at
 * its own address (kfd_memory.c), until the program unmaps the range or no GPU may access it any
 * more. With XNACK all GPUs have access to a range at first, and the driver manages its pages: an
 * access waits for a page and is retried. Invariant: ranges are ordered, do not overlap, and those
 * with access are covered by such buffers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/channel/kfd_new_ioctls.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_ioctl.h"
#include "components/kfd/server/kfd_machine.h"

enum { GRANULARITY = 9 /* log2 of pages: 2 MiB, as Linux begins with */ };
enum { FLAGS = KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT };

struct traits {
    uint32_t preferred, prefetched, flags, granularity;
    uint64_t access, in_place; /* a bit for each GPU */
};

struct range {
    uint64_t start, end;
    struct traits traits;
};

static struct traits at_first(const struct kfd_process *p)
{
    uint64_t all = kfd.gpu_count == 64 ? UINT64_MAX : ((uint64_t)1 << kfd.gpu_count) - 1;
    return (struct traits){.preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
                           .prefetched = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
                           .flags = FLAGS,
                           .granularity = GRANULARITY,
                           .access = p->retries ? all : 0};
}

struct kfd_ranges {
    struct range *list;
    size_t count, capacity;
};

bool kfd_svm_any(const struct kfd_process *p)
{
    return p->ranges->count != 0;
}

void kfd_svm_open(struct kfd_process *p)
{
    p->ranges = grow_zeroed(sizeof *p->ranges, KFD_SERVER);
}

void kfd_svm_close(struct kfd_process *p)
{
    struct kfd_ranges *ranges = p->ranges;
    free(ranges->list);
    free(ranges);
    p->ranges = NULL;
}

/* ---- ranges ---- */

static void insert_range(struct kfd_ranges *ranges, size_t at, struct range added)
{
    grow_list(ranges->list, ranges->count + 1, ranges->capacity, KFD_SERVER);
    memmove(ranges->list + at + 1, ranges->list + at, (ranges->count - at) * sizeof *ranges->list);
    ranges->list[at] = added;
    ranges->count++;
}

static void drop_range(struct kfd_ranges *ranges, size_t at)
{
    ranges->count--;
    memmove(ranges->list + at, ranges->list + at + 1, (ranges->count - at) * sizeof *ranges->list);
}

/* The first range that ends after the address. */
static size_t find_range(const struct kfd_ranges *ranges, uint64_t address)
{
    size_t at = 0;
    while (at < ranges->count && ranges->list[at].end <= address)
        at++;
    return at;
}

/* The range of this number; NULL: it does not begin below `end`. */
static struct range *range_below(const struct kfd_ranges *ranges, size_t at, uint64_t end)
{
    return at < ranges->count && ranges->list[at].start < end ? &ranges->list[at] : NULL;
}

/* No range crosses the address any more. */
static void split_range(struct kfd_ranges *ranges, uint64_t address)
{
    size_t at = find_range(ranges, address);
    struct range *crossing = range_below(ranges, at, address);
    if (!crossing)
        return;
    struct range behind = *crossing;
    behind.start = crossing->end = address;
    insert_range(ranges, at + 1, behind);
}

/* All of [start, end) lies in ranges afterwards, none of which crosses its ends. */
static void cover_addresses(struct kfd_process *p, uint64_t start, uint64_t end)
{
    struct kfd_ranges *ranges = p->ranges;
    split_range(ranges, start);
    split_range(ranges, end);
    for (size_t at = find_range(ranges, start); start < end; at++) {
        const struct range *next = range_below(ranges, at, end);
        if (!next || next->start > start)
            insert_range(ranges, at, (struct range){start, next ? next->start : end, at_first(p)});
        start = ranges->list[at].end;
    }
}

/* Neighbours with the same attributes become one. */
static void join_ranges(struct kfd_ranges *ranges, uint64_t start, uint64_t end)
{
    size_t at = find_range(ranges, start);
    for (at = at ? at - 1 : 0; at + 1 < ranges->count && ranges->list[at].start < end;) {
        struct range *one = &ranges->list[at], *next = one + 1;
        if (one->end == next->start && !memcmp(&one->traits, &next->traits, sizeof one->traits)) {
            one->end = next->end;
            drop_range(ranges, at + 1);
        } else {
            at++;
        }
    }
}

/* ---- the memory ---- */

/* A buffer that this file has given to GPUs: at its own address. */
static struct kfd_allocation *find_given(const struct kfd_process *p, uint64_t address)
{
    struct kfd_allocation *a = kfd_find_allocation(p, address);
    return a && a->host == a->address ? a : NULL;
}

/* The GPU in whose memory a range is to lie: the GPU of the last prefetch, or the preferred one. A
 * range with neither lies at the host, for the first GPU that may access the range. */
static uint32_t home_of(const struct traits *traits, bool *at_host)
{
    int gpu = kfd_find_gpu(traits->prefetched);
    if (gpu < 0)
        gpu = kfd_find_gpu(traits->preferred);
    *at_host = gpu < 0;
    return gpu < 0 ? (uint32_t)__builtin_ctzll(traits->access) : (uint32_t)gpu;
}

/* The driver's word for a location. */
static uint32_t device_of(const struct kfd_process *p, uint32_t location)
{
    int gpu = kfd_find_gpu(location);
    return gpu < 0 ? DRIVER_HOST_DEVICE : p->device[gpu];
}

/* Pages that are preferred at the host, or accessed in place, stay where they are. Coherent ones
 * are fine-grained. */
static int advise_driver(const struct kfd_process *p, const struct kfd_allocation *a,
                         const struct range *range)
{
    const struct traits *traits = &range->traits;
    uint64_t end = a->address + a->size, first, last;
    bool stay = traits->preferred == KFD_IOCTL_SVM_LOCATION_SYSMEM || traits->in_place;
    first = max(a->address, range->start);
    last = min(end, range->end);
    enum driver_status status =
        kfd.api->advise(kfd_name(p, first), last - first, DRIVER_ADVICE_FINE,
                        (traits->flags & KFD_IOCTL_SVM_FLAG_COHERENT) != 0);
    if (status == DRIVER_OK && a->moves)
        status = kfd.api->advise(kfd_name(p, first), last - first, DRIVER_ADVICE_REMOTE, stay);
    return kfd_status(status, "attributes of memory");
}

/* With XNACK a prefetch moves pages, as an access would. */
static int prefetch_pages(const struct kfd_process *p, uint64_t start, uint64_t end,
                          uint32_t location)
{
    int result = 0;
    for (uint64_t at = start; at < end && result == 0;) {
        const struct kfd_allocation *a = find_given(p, at);
        if (!a)
            return 0;
        uint64_t last = min(a->address + a->size, end);
        if (a->moves)
            result =
                kfd_status(kfd.api->prefetch(device_of(p, location), kfd_name(p, at), last - at),
                           "prefetching memory");
        at = last;
    }
    return result;
}

/* Gives what of the range is not given yet, and lets the GPUs reach it. */
static int give_range(struct kfd_process *p, const struct range *range)
{
    const struct traits *traits = &range->traits;
    bool at_host;
    uint32_t home = home_of(traits, &at_host);
    for (uint64_t at = range->start; at < range->end;) {
        struct kfd_allocation *a = find_given(p, at);
        if (a && !a->moves && (a->is_at_host != at_host || (!at_host && a->gpu != home))
            && a->address >= range->start && a->address + a->size <= range->end) {
            kfd_memory_release(p, a);
            a = NULL;
        }
        if (!a) {
            uint64_t end = at + KFD_PAGE;
            while (end < range->end && !kfd_find_allocation(p, end))
                end += KFD_PAGE;
            int result = kfd_memory_give_to_gpu(p, at, end, home, at_host);
            a = find_given(p, at);
            if (result != 0 || !a)
                return result ? result : -EFAULT;
        }
        int result = kfd_memory_map_to_gpus(p, a, a->mapped | traits->access);
        if (result == 0)
            result = advise_driver(p, a, range);
        if (result != 0)
            return result;
        at = a->address + a->size;
    }
    return 0;
}

/* Takes back the buffers that touch [start, end) and that no GPU may access any more. */
static void take_back_unused(struct kfd_process *p, uint64_t start, uint64_t end)
{
    const struct range *r;
    for (uint64_t at = start; at < end;) {
        struct kfd_allocation *a = find_given(p, at);
        if (!a) {
            at += KFD_PAGE;
            continue;
        }
        bool used = false;
        uint64_t behind = a->address + a->size;
        for (size_t i = find_range(p->ranges, a->address); (r = range_below(p->ranges, i, behind));
             i++)
            used |= r->traits.access != 0;
        if (!used)
            kfd_memory_release(p, a);
        at = behind;
    }
}

/* ---- the call ---- */

static bool has_svm(int gpu)
{
    return gpu >= 0 && kfd.gpu[gpu].traits->encoding != ISA_ENCODING_GFX8;
}

static int check_attributes(const struct kfd_ioctl_svm_attribute *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = list[i].value;
        switch ((enum kfd_ioctl_svm_attr_type)list[i].type) {
        case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
            if (value == KFD_IOCTL_SVM_LOCATION_UNDEFINED)
                break;
            __attribute__((fallthrough));
        case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
            if (value != KFD_IOCTL_SVM_LOCATION_SYSMEM && !has_svm(kfd_find_gpu(value)))
                return -EINVAL;
            break;
        case KFD_IOCTL_SVM_ATTR_ACCESS:
        case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
        case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
            if (!has_svm(kfd_find_gpu(value)))
                return -EINVAL;
            break;
        case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        case KFD_IOCTL_SVM_ATTR_GRANULARITY:
            break;
        default:
            return -EINVAL;
        }
    }
    return 0;
}

static void apply_attribute(struct traits *traits, const struct kfd_ioctl_svm_attribute *a)
{
    uint64_t bit = (uint64_t)1 << (kfd_find_gpu(a->value) & 63);
    switch ((enum kfd_ioctl_svm_attr_type)a->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        traits->preferred = a->value;
        break;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        traits->prefetched = a->value;
        break;
    case KFD_IOCTL_SVM_ATTR_ACCESS:
        traits->access |= bit;
        traits->in_place &= ~bit;
        break;
    case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
        traits->access |= bit;
        traits->in_place |= bit;
        break;
    case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
        traits->access &= ~bit;
        traits->in_place &= ~bit;
        break;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        traits->flags |= a->value;
        break;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        traits->flags &= ~a->value;
        break;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        traits->granularity = min(a->value, 0x3f);
        break;
    }
}

/* Memory from `start` to `end` has to be the program's: -EFAULT if the program does not have all of
 * it, -EADDRINUSE if the runtime has allocated some of it, otherwise 0. */
static int check_memory(const struct kfd_process *p, uint64_t start, uint64_t end)
{
    if (!program_has(p->pid, start, end))
        return -EFAULT;
    for (uint64_t at = start; at < end; at += KFD_PAGE)
        if (kfd_find_allocation(p, at) && !find_given(p, at))
            return -EADDRINUSE;
    return 0;
}

static int set_attributes(struct kfd_process *p, const struct kfd_ioctl_svm_args *call)
{
    struct range *r;
    uint64_t start = call->start_addr, end = start + call->size;
    int result = check_memory(p, start, end);
    if (result != 0)
        return result;
    cover_addresses(p, start, end);
    size_t first = find_range(p->ranges, start);
    for (size_t i = first; (r = range_below(p->ranges, i, end)); i++)
        for (uint32_t k = 0; k < call->nattr; k++)
            apply_attribute(&r->traits, &call->attrs[k]);
    for (size_t i = first; result == 0 && (r = range_below(p->ranges, i, end)); i++)
        if (r->traits.access)
            result = give_range(p, r);
    for (uint32_t k = 0; k < call->nattr && result == 0; k++)
        if (call->attrs[k].type == KFD_IOCTL_SVM_ATTR_PREFETCH_LOC)
            result = prefetch_pages(p, start, end, call->attrs[k].value);
    take_back_unused(p, start, end);
    join_ranges(p->ranges, start, end);
    return result;
}

static struct traits common_of(struct traits sum, const struct traits *t, uint32_t *any_flags)
{
    if (sum.preferred != t->preferred)
        sum.preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    if (sum.prefetched != t->prefetched)
        sum.prefetched = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    sum.flags &= t->flags;
    *any_flags |= t->flags;
    sum.access &= t->access;
    sum.in_place &= t->in_place;
    if (t->granularity < sum.granularity)
        sum.granularity = t->granularity;
    return sum;
}

/* The attributes that all pages of the addresses have in common. */
static struct traits sum_up(const struct kfd_process *p, uint64_t start, uint64_t end,
                            uint32_t *any_flags)
{
    size_t i = find_range(p->ranges, start);
    const struct range *r = range_below(p->ranges, i, start + 1);
    const struct traits other = at_first(p);
    struct traits sum = r ? r->traits : other;
    *any_flags = sum.flags;
    for (; start < end; i++) {
        r = range_below(p->ranges, i, end);
        if (!r || r->start > start)
            sum = common_of(sum, &other, any_flags);
        if (!r)
            break;
        sum = common_of(sum, &r->traits, any_flags);
        start = r->end;
    }
    return sum;
}

static int answer_attribute(struct kfd_ioctl_svm_attribute *a, const struct traits *sum,
                            uint32_t any_flags)
{
    uint64_t bit = (uint64_t)1 << (kfd_find_gpu(a->value) & 63);
    switch ((enum kfd_ioctl_svm_attr_type)a->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        a->value = sum->preferred;
        return 0;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        a->value = sum->prefetched;
        return 0;
    case KFD_IOCTL_SVM_ATTR_ACCESS:
        a->type = sum->in_place & bit ? KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE
                  : sum->access & bit ? KFD_IOCTL_SVM_ATTR_ACCESS
                                      : KFD_IOCTL_SVM_ATTR_NO_ACCESS;
        return 0;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        a->value = sum->flags;
        return 0;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        a->value = ~any_flags;
        return 0;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        a->value = sum->granularity;
        return 0;
    case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
    case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
        break;
    }
    return -EINVAL;
}

static int get_attributes(const struct kfd_process *p, struct kfd_ioctl_svm_args *call)
{
    uint32_t any_flags;
    int result = check_memory(p, call->start_addr, call->start_addr + call->size);
    const struct traits sum =
        sum_up(p, call->start_addr, call->start_addr + call->size, &any_flags);
    for (uint32_t i = 0; i < call->nattr && result == 0; i++) {
        struct kfd_ioctl_svm_attribute *a = &call->attrs[i];
        bool is_valid = a->type != KFD_IOCTL_SVM_ATTR_ACCESS || has_svm(kfd_find_gpu(a->value));
        result = is_valid ? answer_attribute(a, &sum, any_flags) : -EINVAL;
    }
    return result;
}

int kfd_svm_call(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_svm_args *call = request->argument;
    bool is_possible = false;
    for (uint32_t i = 0; i < kfd.gpu_count; i++)
        is_possible |= has_svm((int)i);
    if (!is_possible || call->start_addr % KFD_PAGE || call->size % KFD_PAGE || !call->start_addr
        || !call->size || call->start_addr > KFD_ADDRESSES_END
        || call->size > KFD_ADDRESSES_END - call->start_addr)
        return -EINVAL;
    if (call->op == KFD_IOCTL_SVM_OP_GET_ATTR)
        return get_attributes(p, call);
    if (call->op != KFD_IOCTL_SVM_OP_SET_ATTR)
        return -EINVAL;
    int result = check_attributes(call->attrs, call->nattr);
    return result ? result : set_attributes(p, call);
}

/* ---- memory that the program unmaps ---- */

/* Buffers that are cut are taken back, and what is left of them is given anew. */
void kfd_svm_unmap(struct kfd_process *p, const struct kfd_span *gone)
{
    struct kfd_ranges *ranges = p->ranges;
    struct kfd_span touched = *gone;
    const struct range *r;
    for (size_t i = find_range(ranges, gone->start); (r = range_below(ranges, i, gone->end)); i++) {
        uint64_t at = max(r->start, gone->start);
        for (; at < r->end && at < gone->end; at += KFD_PAGE) {
            struct kfd_allocation *a = find_given(p, at);
            if (!a)
                continue;
            uint64_t end = a->address + a->size;
            touched.start = min(a->address, touched.start);
            touched.end = max(end, touched.end);
            kfd_memory_release(p, a);
        }
    }
    split_range(ranges, gone->start);
    split_range(ranges, gone->end);
    for (size_t i = find_range(ranges, gone->start); range_below(ranges, i, gone->end);)
        drop_range(ranges, i);
    for (size_t i = find_range(ranges, touched.start); (r = range_below(ranges, i, touched.end));
         i++)
        if (r->traits.access)
            give_range(p, r);
}
