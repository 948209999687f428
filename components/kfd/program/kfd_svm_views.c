/* Memory by attributes (AMDKFD_IOC_SVM) as the program has it: where the server gives a range to
 * GPUs, a view of it takes the place of the program's memory. Before anything changes in a range,
 * the views in the range become the program's own memory again, with the same contents. Then the
 * server does the call, and the ranges that it has given to GPUs are shown as views. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/channel/kfd_new_ioctls.h"

#include "kfd_client.h"

struct span {
    uint64_t start, end;
};

/* Ranges where this process has memory by attributes: what lies there must be asked for before it
 * goes. */
static struct {
    pthread_mutex_t lock;
    struct span *list;
    size_t count; /* atomic */
    size_t capacity;
} views = {.lock = PTHREAD_MUTEX_INITIALIZER};

void kfd_spans_reset(void)
{
    pthread_mutex_init(&views.lock, NULL);
    views.count = 0;
}

static void note_span(struct span added)
{
    size_t kept = 0;
    pthread_mutex_lock(&views.lock);
    grow_list(views.list, views.count + 1, views.capacity, "memory by attributes");
    for (size_t i = 0; i < views.count; i++) {
        struct span old = views.list[i];
        if (old.end < added.start || added.end < old.start) {
            views.list[kept++] = old;
        } else {
            added.start = min(old.start, added.start);
            added.end = max(old.end, added.end);
        }
    }
    views.list[kept] = added;
    __atomic_store_n(&views.count, kept + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&views.lock);
}

static bool touches_views(uint64_t start, uint64_t end)
{
    bool touches = false;
    if (!__atomic_load_n(&views.count, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&views.lock);
    for (size_t i = 0; i < views.count; i++)
        touches |= views.list[i].start < end && start < views.list[i].end;
    pthread_mutex_unlock(&views.lock);
    return touches;
}

/* Shows what the server has given of the range. */
static int show_range(const struct span *range)
{
    struct kfd_reply reply;
    int result = 0;
    for (uint64_t at = range->start; at < range->end && result == 0;) {
        struct kfd_call call = {.kind = KFD_MESSAGE_GIVEN, .word = {at, range->end}};
        result = kfd_send(&call, &reply, UINT32_MAX);
        if (result != 0 || !reply.word[0])
            break;
        at = reply.word[1] + reply.word[2];
        result = kfd_view_add(reply.word[0], reply.word[1], reply.word[2], true);
    }
    return result;
}

int kfd_spans_change(struct kfd_call *call, struct kfd_reply *reply)
{
    struct kfd_ioctl_svm_args svm;
    memcpy(&svm, call->bytes, sizeof svm);
    struct span range = {svm.start_addr, svm.start_addr + svm.size};
    if (call->size < sizeof svm || svm.op != KFD_IOCTL_SVM_OP_SET_ATTR || range.end < range.start)
        return kfd_send(call, reply, UINT32_MAX);
    kfd_views_take_back(&range.start, &range.end);
    struct kfd_closed *closed = kfd_close_range(range.start, range.end - range.start);
    int result = kfd_send(call, reply, UINT32_MAX);
    int shown = show_range(&range);
    kfd_open_range(closed, false);
    if (result != -EINVAL)
        note_span((struct span){svm.start_addr, svm.start_addr + svm.size});
    return result ? result : shown;
}

void kfd_unmap(const void *address, size_t length)
{
    const uint64_t start = (uintptr_t)address;
    const uint64_t end = round_up(start + length, KFD_PAGE);
    struct span range = {start, end};
    struct kfd_call call = {.kind = KFD_MESSAGE_UNMAPS, .word = {start, end}};
    struct kfd_reply reply;
    kfd_doorbell_unmap(start, end);
    if (!kfd_is_open() || end <= start || !touches_views(start, end))
        return;
    kfd_views_take_back(&range.start, &range.end);
    kfd_send(&call, &reply, UINT32_MAX);
    show_range(&range);
}
