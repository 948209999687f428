/* Processes of the program. Each has an address space of the driver's on all GPUs, and a page that
 * it shares with the server. One that has ended stays until what it has begun is over: then its
 * queues, memory and addresses are free. Others notice nothing of it. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "components/kfd/server/guests/kfd_guest.h"
#include "components/kfd/server/queues/kfd_aql_packet.h"

#include "kfd_ioctl.h"
#include "kfd_machine.h"

static struct {
    uint32_t opened, killed; /* the latter had work that was not done */
} process_counts;

void kfd_each_process(void (*look)(struct kfd_process *p))
{
    for (struct kfd_process *p = kfd.processes; p; p = p->next)
        look(p);
}

bool kfd_any_process(bool (*is)(struct kfd_process *p))
{
    bool holds = false;
    for (struct kfd_process *p = kfd.processes; p; p = p->next)
        holds |= is(p);
    return holds;
}

/* ---- the page ---- */

static size_t shared_bytes(void)
{
    return kfd_doorbells_at(kfd.gpu_count);
}

/* The size of the file is sealed: a program that cuts it off would end the server. */
static bool open_shared(struct kfd_process *p)
{
    p->file = memfd_create("heddle process", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (p->file < 0 || ftruncate(p->file, (off_t)shared_bytes()) != 0
        || fcntl(p->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return false;
    void *at = mmap(NULL, shared_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, p->file, 0);
    p->page = at == MAP_FAILED ? NULL : at;
    return p->page != NULL;
}

static void close_shared(struct kfd_process *p)
{
    if (p->page)
        munmap(p->page, shared_bytes());
    if (p->file >= 0)
        close(p->file);
}

static void *doorbell_at(const struct kfd_process *p, uint32_t gpu, uint32_t slot)
{
    return (char *)p->page + kfd_doorbells_at(gpu) + (size_t)slot * kfd.gpu[gpu].doorbell_bytes;
}

uint64_t kfd_doorbell_value(const struct kfd_process *p, uint32_t gpu, uint32_t slot)
{
    const void *at = doorbell_at(p, gpu, slot);
    return kfd.gpu[gpu].doorbell_bytes == 4
               ? __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE)
               : __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

/* No store of a runtime looks like this: packets are numbered from 0. */
void kfd_doorbell_clear(struct kfd_process *p, uint32_t gpu, uint32_t slot)
{
    memset(doorbell_at(p, gpu, slot), 0xff, kfd.gpu[gpu].doorbell_bytes);
}

/* ---- time ---- */

void kfd_publish_time(void)
{
    uint64_t now_ns = kfd.api->now() / 1000;
    for (struct kfd_process *p = kfd.processes; p; p = p->next) {
        __atomic_store_n(&p->page->time_ns, now_ns, __ATOMIC_RELAXED);
        if (p->retries)
            __atomic_store_n(&p->page->moves, kfd.api->pages_moved(), __ATOMIC_RELAXED);
    }
}

uint64_t kfd_clock_at(const struct kfd_process *p, uint64_t time_ps)
{
    return kfd_clock_ns(time_ps / 1000) + __atomic_load_n(&p->page->readings, __ATOMIC_RELAXED);
}

uint64_t kfd_read_clock(struct kfd_process *p)
{
    __atomic_add_fetch(&p->page->readings, 1, __ATOMIC_RELAXED);
    return kfd_clock_at(p, kfd.api->now());
}

uint64_t kfd_spent_ns(const struct kfd_process *p)
{
    struct timespec all;
    clockid_t clock;
    if (clock_getcpuclockid(p->pid, &clock) != 0 || clock_gettime(clock, &all) != 0)
        return UINT64_MAX; /* it has ended */
    return (uint64_t)all.tv_sec * 1000000000 + (uint64_t)all.tv_nsec;
}

void kfd_process_asked(struct kfd_process *p)
{
    p->has_lost_turn = false;
    p->spent_ns = kfd_spent_ns(p);
}

/* ---- opening and closing ---- */

static int open_space(struct kfd_process *p)
{
    int result = 0;
    for (uint32_t i = 0; i < kfd.gpu_count && result == 0; i++)
        result = kfd_status(kfd.api->context_create(i, i ? p->device[0] : 0, &p->device[i]),
                            "another process");
    if (result == 0)
        result = kfd_status(kfd.api->contain(p->device[0]), "another process");
    return result == 0 && !p->guest
               ? kfd_status(kfd.api->queue_create(p->device[0], 0, &p->fences), "another process")
               : result;
}

static void close_space(const struct kfd_process *p)
{
    for (uint32_t i = 0; i < kfd.gpu_count && p->device[i] && !kfd.has_ended; i++)
        kfd_status(kfd.api->context_destroy(p->device[i]), "the end of a process");
}

static void put_last(struct kfd_process *p)
{
    struct kfd_process **end = &kfd.processes;
    while (*end)
        end = &(*end)->next;
    *end = p;
    p->next = NULL;
}

static void take_out(const struct kfd_process *p)
{
    struct kfd_process **link = &kfd.processes;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
}

struct kfd_process *kfd_process_open(pid_t pid, uint64_t code, bool is_guest)
{
    struct kfd_process *p = grow_zeroed(sizeof *p, KFD_SERVER);
    *p = (struct kfd_process){.pid = pid, .code = code, .file = -1};
    p->kind = is_guest ? &kfd_guest_process : &kfd_rocm_process;
    p->guest = is_guest ? grow_zeroed(sizeof *p->guest, KFD_SERVER) : NULL;
    bool shared = open_shared(p);
    if (!shared)
        kfd_say("a process cannot be taken: %s", strerror(errno));
    if (!shared || (!is_guest && open_space(p) != 0)) {
        close_space(p);
        close_shared(p);
        free(p->guest);
        free(p);
        return NULL;
    }
    p->number = is_guest ? 0 : ++process_counts.opened;
    p->caches = grow_zeroed(sizeof *p->caches, KFD_SERVER);
    kfd_memory_open(p);
    kfd_queues_open(p);
    kfd_events_open(p);
    kfd_svm_open(p);
    put_last(p);
    kfd_publish_time();
    return p;
}

bool kfd_process_enter(struct kfd_process *p)
{
    take_out(p);
    put_last(p);
    p->number = ++process_counts.opened;
    return open_space(p) == 0;
}

/* Kernels that it has begun end at their next access of memory, as a killed program's waves do. */
static void abandon(const struct kfd_process *p)
{
    kfd_status(kfd.api->abandon(p->device[0]), "the end of a process");
    for (uint32_t i = 0; i < p->context_count; i++)
        kfd_status(kfd.api->abandon(p->contexts[i]), "the end of a process");
}

void kfd_process_leave(struct kfd_process *p)
{
    p->life = KFD_ENDED;
    bool is_executing = p->kind->is_executing(p);
    process_counts.killed += is_executing;
    if (is_executing && !kfd.has_ended)
        abandon(p);
    kfd_queues_process_ended(p);
    kfd_events_end_waits(p);
    kfd_signal_waits_end(p, true);
}

/* The process leaves the list first: the simulation may end in what is freed here, and the end is
 * told to the processes of the list. */
void kfd_process_close(struct kfd_process *p)
{
    take_out(p);
    kfd_queues_close(p);
    kfd_svm_close(p);
    kfd_share_close(p);
    kfd_smi_events_close(p);
    kfd_memory_close(p);
    kfd_events_close(p);
    kfd_guest_close(p);
    close_space(p);
    close_shared(p);
    free(p->caches);
    kfd_connections_detach(p);
    free(p);
}

/* A single program leaves the machine as it does when the machine is in its process. */
bool kfd_process_stays(const struct kfd_process *p)
{
    return p->guest && p->guest->has_entered && process_counts.opened == 1;
}

void kfd_processes_report(void)
{
    uint32_t left = 0;
    for (const struct kfd_process *p = kfd.processes; p; p = p->next)
        left += !kfd_process_stays(p);
    if (process_counts.opened > 1 || process_counts.killed || left)
        kfd_say("%u processes have used GPUs, %u of them ended while their kernels ran; %u are "
                "left with queues and memory",
                process_counts.opened, process_counts.killed, left);
}
