/* Doorbells: pages that the program may read and not write. A store to one faults; the handler
 * opens the page, lets the processor execute that one instruction, and closes the page again. Then
 * the machine's thread looks which doorbells have changed, and the thread that has rung waits until
 * the machine cannot go on by itself (kfd_machine.c).
 *
 * A store of another thread that finds the page open is not lost, since the machine looks at all
 * doorbells of the GPU after the page was closed. Invariant: pages are added before the program
 * knows them, and handlers read the table without locks. */
#define _GNU_SOURCE /* REG_EFL, memfd_create */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose.h"
#include "kfd_calls.h"
#include "kfd_machine.h"

enum {
    PAGES_MAX = 256,
    TRAP_FLAG = 1 << 8, /* of EFLAGS: a trap behind the next instruction */
    WRITE_FAULT = 2     /* of the processor's page-fault error code */
};

struct watched_page {
    uintptr_t start, end; /* end atomic; 0: free */
    uint32_t gpu;
};

static struct {
    struct watched_page page[PAGES_MAX];
    size_t count; /* atomic */
    char *view[KFD_GPUS_MAX];
    int file[KFD_GPUS_MAX]; /* 1 + descriptor */
    bool installed;
    struct sigaction before[2]; /* of SIGSEGV and SIGTRAP: the program's */
} own;

/* The page that this thread lets an instruction write to. */
static _Thread_local struct watched_page *stepping __attribute__((tls_model("initial-exec")));

static size_t doorbell_bytes(uint32_t gpu)
{
    return (size_t)kfd.gpu[gpu].doorbell_bytes * KFD_DOORBELLS;
}

/* ---- handlers ---- */

static struct watched_page *find_page(uintptr_t address)
{
    size_t count = __atomic_load_n(&own.count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        struct watched_page *p = &own.page[i];
        if (address >= p->start && address < __atomic_load_n(&p->end, __ATOMIC_ACQUIRE))
            return p;
    }
    return NULL;
}

static int run_rung(struct kfd_request *request)
{
    request->until_idle = kfd_queues_rung(*(const uint32_t *)request->argument);
    return 0;
}

/* The C library's sigaction(), which the program's calls do not reach directly. */
static void set_handler(int number, const struct sigaction *action, struct sigaction *before)
{
    INTERPOSE_NEXT(sigaction, "sigaction")(number, action, before);
}

/* Calls what the program has set for the signal. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction *before = &own.before[number == SIGTRAP];
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    } else { /* the instruction faults again, and then nothing catches it */
        struct sigaction die = {.sa_handler = SIG_DFL};
        set_handler(number, &die, NULL);
        if (number == SIGTRAP || info->si_code <= 0)
            raise(number);
    }
}

static void handle_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *where = context;
    struct watched_page *p = find_page((uintptr_t)info->si_addr);
    if (!p || !(where->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT)
        || mprotect((void *)p->start, p->end - p->start, PROT_READ | PROT_WRITE) != 0) {
        pass_on(number, info, context);
        return;
    }
    stepping = p;
    where->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void handle_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *where = context;
    struct watched_page *p = stepping;
    if (!p) {
        pass_on(number, info, context);
        return;
    }
    stepping = NULL;
    where->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    mprotect((void *)p->start, p->end - p->start, PROT_READ);
    kfd_note_ringer();
    struct kfd_request request = {
        .run = run_rung, .argument = &p->gpu, .aside = true, .drives = true};
    kfd_ask(&request);
}

static void install(void)
{
    struct sigaction fault = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
                     trap = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    fault.sa_sigaction = handle_fault;
    trap.sa_sigaction = handle_trap;
    sigemptyset(&fault.sa_mask);
    sigemptyset(&trap.sa_mask);
    set_handler(SIGSEGV, &fault, &own.before[0]);
    set_handler(SIGTRAP, &trap, &own.before[1]);
    __atomic_store_n(&own.installed, true, __ATOMIC_RELEASE);
}

bool kfd_sigaction(int number, const struct sigaction *action, struct sigaction *before,
                   int *result)
{
    if ((number != SIGSEGV && number != SIGTRAP)
        || !__atomic_load_n(&own.installed, __ATOMIC_ACQUIRE))
        return false;
    struct sigaction *kept = &own.before[number == SIGTRAP], old = *kept;
    if (action)
        *kept = *action;
    if (before)
        *before = old;
    *result = 0;
    return true;
}

/* ---- the machine's side ---- */

static int open_doorbells(uint32_t gpu)
{
    if (own.view[gpu])
        return 0;
    int fd = memfd_create("heddle doorbells", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)doorbell_bytes(gpu)) != 0) {
        if (fd >= 0)
            close(fd);
        return -ENOMEM;
    }
    void *view = mmap(NULL, doorbell_bytes(gpu), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (view == MAP_FAILED) {
        close(fd);
        return -ENOMEM;
    }
    own.view[gpu] = view;
    own.file[gpu] = fd + 1;
    return 0;
}

static struct watched_page *new_page(uintptr_t start)
{
    for (size_t i = 0; i < own.count; i++) { /* what the program has mapped anew, or unmapped */
        if (own.page[i].start == start || !__atomic_load_n(&own.page[i].end, __ATOMIC_ACQUIRE))
            return &own.page[i];
    }
    return own.count < PAGES_MAX ? &own.page[own.count] : NULL;
}

int kfd_doorbell_map(uint32_t gpu, struct kfd_mapping *m)
{
    int result = open_doorbells(gpu);
    if (result != 0 || m->length > doorbell_bytes(gpu))
        return result != 0 ? result : -EINVAL;
    int flags = MAP_SHARED | (m->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE));
    void *at = mmap(m->address, m->length, PROT_READ, flags, own.file[gpu] - 1, 0);
    if (at == MAP_FAILED)
        return -errno;
    struct watched_page *p = new_page((uintptr_t)at);
    if (!p) {
        munmap(at, m->length);
        return -ENOMEM;
    }
    p->start = (uintptr_t)at;
    p->gpu = gpu;
    __atomic_store_n(&p->end, (uintptr_t)at + m->length, __ATOMIC_RELEASE);
    if (p == &own.page[own.count])
        __atomic_store_n(&own.count, own.count + 1, __ATOMIC_RELEASE);
    if (!own.installed)
        install();
    m->address = at;
    return 0;
}

void kfd_doorbell_unmap(uintptr_t start, uintptr_t end)
{
    size_t count = __atomic_load_n(&own.count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        struct watched_page *p = &own.page[i];
        if (p->start >= start && p->start < end
            && __atomic_load_n(&p->end, __ATOMIC_ACQUIRE) <= end)
            __atomic_store_n(&p->end, 0, __ATOMIC_RELEASE);
    }
}

static void *doorbell_at(uint32_t gpu, uint32_t slot)
{
    return own.view[gpu] ? own.view[gpu] + (size_t)slot * kfd.gpu[gpu].doorbell_bytes : NULL;
}

uint64_t kfd_doorbell_value(uint32_t gpu, uint32_t slot)
{
    const void *at = doorbell_at(gpu, slot);
    if (!at)
        return 0;
    return kfd.gpu[gpu].doorbell_bytes == 4
               ? __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE)
               : __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

/* No store of a runtime looks like this: packets are numbered from 0. */
void kfd_doorbell_clear(uint32_t gpu, uint32_t slot)
{
    open_doorbells(gpu);
    void *at = doorbell_at(gpu, slot);
    if (at)
        memset(at, 0xff, kfd.gpu[gpu].doorbell_bytes);
}
