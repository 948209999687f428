/* Descriptors of the devices, and what a call on one does in the process that makes it: arguments
 * go to the server, views of memory are made here. Memory of the program that it gives to GPUs is
 * replaced by a view of theirs, which holds the same; freed, it is the program's own again. */
#define _GNU_SOURCE /* memfd_create, mremap */
#include "kfd_client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/number.h"
#include "components/kfd/channel/kfd_new_ioctls.h"
#include "components/kfd/channel/program_memory.h"

/* Memory that the program has given away. */
struct given_memory {
    struct given_memory *next;
    uint64_t handle, host, size;
    bool has_attributes; /* kfd_svm_views.c */
};

/* Calls are made with the lock held, and their answers may ask for views to be made anew. */
#define UNLOCKED PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP

static pthread_mutex_t mutex = UNLOCKED;
static struct given_memory *given_list, *spare_list;

int kfd_open(bool render, int minor)
{
    if (!kfd_connect()) {
        errno = ENODEV;
        return -1;
    }
    if (render
        && (minor < KFD_RENDER_MINOR || minor >= KFD_RENDER_MINOR + (int)kfd_client.gpu_count)) {
        errno = ENOENT;
        return -1;
    }
    return memfd_create(render ? "heddle render node" : "heddle kfd", MFD_CLOEXEC);
}

/* ---- views ---- */

static int ask_server(enum kfd_message kind, uint64_t first, uint64_t second, uint64_t third,
                      struct kfd_reply *reply)
{
    struct kfd_call call = {.kind = kind, .word = {first, second, third}};
    return kfd_send(&call, reply, UINT32_MAX);
}

/* Whole pages at `at` become a view of the first bytes of an allocation. */
static int show(uint64_t handle, char *at, uint64_t size, int protection)
{
    struct kfd_reply reply;
    for (uint64_t done = 0; done < size;) {
        int result = ask_server(KFD_MESSAGE_SHOW, handle, done, size, &reply);
        uint64_t before = done;
        for (size_t i = 0; result == 0 && i < reply.size / sizeof(struct kfd_extent); i++) {
            struct kfd_extent part;
            memcpy(&part, reply.bytes + i * sizeof part, sizeof part);
            if (mmap(at + done, part.bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                     kfd_client.memory, (off_t)part.offset)
                == MAP_FAILED)
                result = -errno;
            done += part.bytes;
        }
        if (result != 0 || done == before)
            return result ? result : -EIO;
    }
    return 0;
}

/* The length of a run of bytes from `host` on that all are given a second time, or all not. */
static uint64_t run_at(uint64_t host, uint64_t end, bool *is_given_twice)
{
    *is_given_twice = false;
    for (const struct given_memory *g = given_list; g; g = g->next) {
        uint64_t last = g->host + g->size;
        if (g->host > host && g->host < end) {
            end = g->host;
        } else if (g->host <= host && host < last) {
            *is_given_twice = true;
            end = min(last, end);
        }
    }
    return end - host;
}

/* The heap is no place for a record: the server has taken what memory held, which may be the
 * heap's, and a change from there on until the view is in its place would be lost. With the lock
 * held. */
static struct given_memory *new_given_memory(void)
{
    enum { ROOM = 16 * KFD_PAGE };
    if (!spare_list) {
        struct given_memory *records =
            mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (records == MAP_FAILED)
            return NULL;
        for (size_t i = 0; i < ROOM / sizeof *records; i++) {
            records[i].next = spare_list;
            spare_list = &records[i];
        }
    }
    struct given_memory *g = spare_list;
    spare_list = g ? g->next : NULL;
    return g;
}

static void drop_given_memory(struct given_memory *g)
{
    g->next = spare_list;
    spare_list = g;
}

/* Copies pages of a view that lie in a part of the file. Those that were never written are holes of
 * the file, which reading would fill. The program may have put something else there, whose pages
 * are resident. False: nothing is there. */
static bool take_part(char *to, uint64_t host, const struct kfd_extent *part)
{
    enum { PAGES = 512 };
    unsigned char resident[PAGES];
    off_t first = (off_t)part->offset, end = first + (off_t)part->bytes;
    bool is_valid = true;
    for (off_t at = first, next; at < end && is_valid; at = next) {
        off_t data = lseek(kfd_client.memory, at, SEEK_DATA);
        bool hole = data != at;
        next = hole ? data : lseek(kfd_client.memory, at, SEEK_HOLE);
        next = next < 0 || next > end ? end : next;
        next = hole && next - at > PAGES * KFD_PAGE ? at + PAGES * KFD_PAGE : next;
        uint64_t offset = (uint64_t)(at - first), bytes = (uint64_t)(next - at);
        is_valid = !hole || mincore((void *)(uintptr_t)(host + offset), bytes, resident) == 0;
        if (is_valid && (!hole || memchr(resident, 1, bytes / KFD_PAGE)))
            is_valid = program_read(0, to + offset, host + offset, bytes);
    }
    return is_valid;
}

/* Copies `run` bytes of a view from `at` on into memory that is all zeros. */
static bool take_copy(char *to, const struct given_memory *g, uint64_t at, uint64_t run)
{
    struct kfd_reply reply;
    uint64_t done = 0, before = 1;
    while (done < run && done != before) {
        uint64_t first = at - g->host + done;
        if (ask_server(KFD_MESSAGE_SHOW, g->handle, first, at - g->host + run, &reply) != 0)
            return program_read(0, to, at, run);
        before = done;
        for (size_t i = 0; i < reply.size / sizeof(struct kfd_extent); i++) {
            struct kfd_extent part;
            memcpy(&part, reply.bytes + i * sizeof part, sizeof part);
            if (!take_part(to + done, at + done, &part))
                return false;
            done += part.bytes;
        }
    }
    return done == run;
}

/* Memory of the program that a view has shown becomes its own is_given_twice, but for pages that it
 * has given a second time. With the lock held, and out of the list. */
static void give_back(const struct given_memory *g)
{
    bool is_given_twice;
    for (uint64_t at = g->host, end = g->host + g->size, run; at < end; at += run) {
        run = run_at(at, end, &is_given_twice);
        void *host = (void *)(uintptr_t)at;
        struct kfd_closed *closed = is_given_twice ? NULL : kfd_close_range(at, run);
        void *copy = is_given_twice ? MAP_FAILED
                                    : mmap(NULL, run, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        /* Without a copy it remains a view, whose bytes may become others'. */
        bool moved = copy != MAP_FAILED
                     && take_copy(copy, g, at, run) /* or the program has unmapped it */
                     && mremap(copy, run, run, MREMAP_MAYMOVE | MREMAP_FIXED, host) != MAP_FAILED;
        if (!moved && copy != MAP_FAILED)
            munmap(copy, run);
        kfd_open_range(closed, moved);
    }
}

void kfd_views_reset(void)
{
    mutex = (pthread_mutex_t)UNLOCKED;
    given_list = spare_list = NULL;
}

/* Memory that a handle stands for is the program's own is_given_twice, if it was. */
static void take_back(uint64_t handle)
{
    pthread_mutex_lock(&mutex);
    struct given_memory **link = &given_list;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct given_memory *found = *link;
    if (found) {
        *link = found->next;
        give_back(found);
        drop_given_memory(found);
    }
    pthread_mutex_unlock(&mutex);
}

static void free_memory(uint64_t handle)
{
    struct kfd_ioctl_free_memory_of_gpu_args memory = {.handle = handle};
    struct kfd_call call = {
        .kind = KFD_MESSAGE_IOCTL, .size = sizeof memory, .word = {AMDKFD_IOC_FREE_MEMORY_OF_GPU}};
    struct kfd_reply reply;
    memcpy(call.bytes, &memory, sizeof memory);
    kfd_send(&call, &reply, UINT32_MAX);
}

int kfd_view_add(uint64_t handle, uint64_t host, uint64_t size, bool by_attributes)
{
    int result = show(handle, (char *)(uintptr_t)host, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (result != 0)
        return result;
    pthread_mutex_lock(&mutex);
    struct given_memory *g = new_given_memory();
    if (g) {
        *g = (struct given_memory){given_list, handle, host, size, by_attributes};
        given_list = g;
    }
    pthread_mutex_unlock(&mutex);
    return g ? 0 : -ENOMEM;
}

void kfd_views_take_back(uint64_t *start, uint64_t *end)
{
    uint64_t first = *start, last = *end;
    pthread_mutex_lock(&mutex);
    for (struct given_memory **link = &given_list; *link;) {
        struct given_memory *g = *link;
        if (!g->has_attributes || g->host >= last || first >= g->host + g->size) {
            link = &g->next;
            continue;
        }
        *start = min(g->host, *start);
        *end = max(g->host + g->size, *end);
        *link = g->next;
        give_back(g);
        drop_given_memory(g);
    }
    pthread_mutex_unlock(&mutex);
}

void kfd_views_renew(void)
{
    static uint64_t seen; /* atomic */
    uint64_t moves = __atomic_load_n(&kfd_client.page->moves, __ATOMIC_RELAXED);
    if (__atomic_load_n(&seen, __ATOMIC_RELAXED) == moves || pthread_mutex_lock(&mutex) != 0)
        return; /* the lock is this thread's: its next call makes them */
    bool is_new = __atomic_exchange_n(&seen, moves, __ATOMIC_RELAXED) != moves;
    for (const struct given_memory *g = is_new ? given_list : NULL; g; g = g->next) {
        char *host = (char *)(uintptr_t)g->host;
        if (g->has_attributes && show(g->handle, host, g->size, PROT_READ | PROT_WRITE | PROT_EXEC))
            kfd_say("memory at %p whose pages have moved cannot be shown: %s", (void *)host,
                    strerror(errno));
    }
    pthread_mutex_unlock(&mutex);
}

/* The server has taken memory of the program, with what it held. */
static int show_given(const struct kfd_ioctl_alloc_memory_of_gpu_args *memory)
{
    /* A ring of packets is mapped twice, one after the other. Only the server's view has both. */
    uint64_t size = memory->size >> !!(memory->flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
    int result = kfd_view_add(memory->handle, memory->mmap_offset, size, false);
    if (result != 0)
        free_memory(memory->handle);
    return result;
}

/* ---- calls ---- */

static uint32_t limit_of(unsigned long number, const uint8_t *argument)
{
    struct kfd_ioctl_wait_events_args wait;
    if (_IOC_NR(number) != _IOC_NR(AMDKFD_IOC_WAIT_EVENTS))
        return UINT32_MAX;
    memcpy(&wait, argument, sizeof wait);
    return wait.timeout; /* UINT32_MAX is KFD_EVENT_TIMEOUT_INFINITE */
}

/* Steps of a call before the server receives it, and after its answer. */
static struct kfd_closed *prepare_call(unsigned long number, const uint8_t *argument)
{
    struct kfd_ioctl_free_memory_of_gpu_args gone;
    struct kfd_ioctl_alloc_memory_of_gpu_args memory;
    if (_IOC_NR(number) == _IOC_NR(AMDKFD_IOC_FREE_MEMORY_OF_GPU)) {
        memcpy(&gone, argument, sizeof gone);
        take_back(gone.handle);
    }
    if (_IOC_NR(number) != _IOC_NR(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU))
        return NULL;
    memcpy(&memory, argument, sizeof memory);
    return memory.flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
               ? kfd_close_range(memory.mmap_offset, memory.size)
               : NULL;
}

static int complete_call(unsigned long number, const uint8_t *argument)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args memory;
    if (_IOC_NR(number) != _IOC_NR(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU))
        return 0;
    memcpy(&memory, argument, sizeof memory);
    return memory.flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR ? show_given(&memory) : 0;
}

/* Descriptors go beside the call, as the server has others. */
static int send_call(struct kfd_call *call, struct kfd_reply *reply)
{
    unsigned long number = call->word[0];
    bool makes;
    int at = kfd_descriptor_at(number, &makes), file = -1, named = -1;
    if (_IOC_NR(number) == _IOC_NR(AMDKFD_IOC_SVM))
        return kfd_spans_change(call, reply);
    if (at < 0 || call->size < (size_t)at + sizeof named)
        return kfd_send(call, reply, limit_of(number, call->bytes));
    memcpy(&named, call->bytes + at, sizeof named);
    file = makes || fcntl(named, F_GETFD) < 0 ? -1 : named;
    int result = kfd_send_with(call, reply, UINT32_MAX, &file);
    if (makes && result == 0 && file < 0)
        result = -EMFILE;
    if (reply->size >= (size_t)at + sizeof named)
        memcpy(reply->bytes + at, makes ? &file : &named, sizeof named);
    return result;
}

int kfd_ioctl(bool render, unsigned long number, void *argument)
{
    size_t size = min(_IOC_SIZE(number), KFD_CHANNEL_BYTES);
    struct kfd_call call = {.kind = KFD_MESSAGE_IOCTL, .word = {(uint32_t)number}};
    struct kfd_reply reply = {.size = 0};
    int result;
    if (render)
        call.word[1] = KFD_IOCTL_OTHER;
    else if (!program_read(0, call.bytes, (uintptr_t)argument, size))
        call.word[1] = KFD_IOCTL_UNREADABLE;
    else
        call.size = (uint32_t)size;
    struct kfd_closed *closed = call.size ? prepare_call(number, call.bytes) : NULL;
    result = render ? kfd_send(&call, &reply, UINT32_MAX) : send_call(&call, &reply);
    if (reply.size && !program_write(0, (uintptr_t)argument, reply.bytes, reply.size)
        && result == 0)
        result = -EFAULT;
    if (result == 0 && call.size)
        result = complete_call(number, reply.bytes);
    kfd_open_range(closed, result == 0);
    if (result == 0)
        return 0;
    errno = -result;
    return -1;
}

/* ---- mmap() ---- */

/* Maps fresh memory of the process at the place that the program asks for. */
static int map_plain(void **address, size_t length, int protection, int flags)
{
    flags &= MAP_FIXED | MAP_FIXED_NOREPLACE;
    *address = mmap(*address, length, protection,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return *address == MAP_FAILED ? -errno : 0;
}

static int map_memory(void **address, size_t length, int protection, int flags, uint64_t offset)
{
    struct kfd_reply reply;
    int result = ask_server(KFD_MESSAGE_FIND, offset, length, 0, &reply);
    if (result == 0)
        result = map_plain(address, length, PROT_NONE, flags);
    return result == 0 ? show(reply.word[0], *address, length, protection) : result;
}

static int map_events(void **address, size_t length, int protection, int flags)
{
    if (length > KFD_EVENT_BYTES)
        return -EINVAL;
    flags &= MAP_FIXED | MAP_FIXED_NOREPLACE;
    *address =
        mmap(*address, length, protection, MAP_SHARED | flags, kfd_client.file, KFD_SHARED_EVENTS);
    return *address == MAP_FAILED ? -errno : 0;
}

static int map_device(void **address, size_t length, int protection, int flags, uint64_t offset)
{
    uint32_t gpu = ((uint32_t)(offset >> KFD_MAP_GPU_SHIFT) & 0xffff) - KFD_FIRST_GPU_ID;
    bool known = gpu < kfd_client.gpu_count;
    switch ((enum kfd_map_type)(offset >> KFD_MAP_TYPE_SHIFT)) {
    case KFD_MAP_DOORBELL:
        return known ? kfd_doorbell_map(gpu, address, length, flags) : -EINVAL;
    case KFD_MAP_EVENTS:
        return map_events(address, length, protection, flags);
    case KFD_MAP_MMIO: /* registers that flush what the host has written: it is there already */
        return known && length == KFD_PAGE ? map_plain(address, length, protection, flags)
                                           : -EINVAL;
    case KFD_MAP_RESERVED:
        break;
    }
    return -EINVAL;
}

void *kfd_map(bool render, void *address, size_t length, int protection, int flags, off_t offset)
{
    int result = -EINVAL;
    length = round_up(length, KFD_PAGE);
    if (length && offset % KFD_PAGE == 0)
        result = render ? map_memory(&address, length, protection, flags, (uint64_t)offset)
                        : map_device(&address, length, protection, flags, (uint64_t)offset);
    if (result == 0)
        return address;
    errno = -result;
    return MAP_FAILED;
}
