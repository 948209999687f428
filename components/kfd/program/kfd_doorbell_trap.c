/* Doorbells: pages that the program may read and not write. A store to one faults; the handler
 * opens the page, lets the processor execute that one instruction, and closes the page again. Then
 * the server looks which doorbells of the process have changed, and the thread that has rung waits
 * for its answer (kfd_machine.c).
 *
 * A store of another thread that finds the page open is not lost, since the server looks at all
 * doorbells of the GPU after the page was closed. Invariant: pages are added before the program
 * knows them, and handlers read the table without locks. */
#define _GNU_SOURCE /* REG_EFL */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "interpose.h"
#include "kfd_client.h"

enum {
    PAGES_MAX = 256,
    TRAP_FLAG = 1 << 8, /* bit of EFLAGS: a trap after the next instruction */
    WRITE_FAULT = 2     /* bit of the processor's page-fault error code */
};

struct watched_page {
    uintptr_t start, end; /* end atomic; 0: free */
    uint32_t gpu;
};

static struct {
    struct watched_page page[PAGES_MAX];
    size_t count; /* atomic */
    bool is_installed;
    struct sigaction before[2]; /* the program's actions on SIGSEGV and SIGTRAP */
    pthread_mutex_t mutex;
} doorbells = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The page that this thread lets an instruction write to. */
static _Thread_local struct watched_page *stepping __attribute__((tls_model("initial-exec")));

/* ---- handlers ---- */

static struct watched_page *find_page(uintptr_t address)
{
    size_t count = __atomic_load_n(&doorbells.count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        struct watched_page *p = &doorbells.page[i];
        if (address >= p->start && address < __atomic_load_n(&p->end, __ATOMIC_ACQUIRE))
            return p;
    }
    return NULL;
}

/* The C library's sigaction(), which the program's calls do not reach directly. */
static void set_handler(int number, const struct sigaction *action, struct sigaction *before)
{
    INTERPOSE_NEXT(sigaction, "sigaction")(number, action, before);
}

/* Calls what the program has set for the signal. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction *before = &doorbells.before[number == SIGTRAP];
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
    bool writes = (where->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) != 0;
    if (!p && writes && info->si_code > 0 && kfd_close_waits((uintptr_t)info->si_addr))
        return;
    if (!p || !writes
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
    struct kfd_call call = {.kind = KFD_MESSAGE_RUNG, .word = {p->gpu, kfd_runtime_waits()}};
    struct kfd_reply reply;
    kfd_send(&call, &reply, UINT32_MAX);
}

static void install(void)
{
    struct sigaction fault = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
                     trap = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    fault.sa_sigaction = handle_fault;
    trap.sa_sigaction = handle_trap;
    sigemptyset(&fault.sa_mask);
    sigemptyset(&trap.sa_mask);
    set_handler(SIGSEGV, &fault, &doorbells.before[0]);
    set_handler(SIGTRAP, &trap, &doorbells.before[1]);
    __atomic_store_n(&doorbells.is_installed, true, __ATOMIC_RELEASE);
}

void kfd_faults_watch(void)
{
    pthread_mutex_lock(&doorbells.mutex);
    if (!doorbells.is_installed)
        install();
    pthread_mutex_unlock(&doorbells.mutex);
}

bool kfd_sigaction(int number, const struct sigaction *action, struct sigaction *before,
                   int *result)
{
    if ((number != SIGSEGV && number != SIGTRAP)
        || !__atomic_load_n(&doorbells.is_installed, __ATOMIC_ACQUIRE))
        return false;
    struct sigaction *kept = &doorbells.before[number == SIGTRAP], old = *kept;
    if (action)
        *kept = *action;
    if (before)
        *before = old;
    *result = 0;
    return true;
}

/* ---- mapping ---- */

static struct watched_page *new_page(uintptr_t start)
{
    for (size_t i = 0; i < doorbells.count; i++) /* what the program has mapped anew, or unmapped */
        if (doorbells.page[i].start == start
            || !__atomic_load_n(&doorbells.page[i].end, __ATOMIC_ACQUIRE))
            return &doorbells.page[i];
    return doorbells.count < PAGES_MAX ? &doorbells.page[doorbells.count] : NULL;
}

static int watch_page(uint32_t gpu, void *at, size_t length)
{
    pthread_mutex_lock(&doorbells.mutex);
    struct watched_page *p = new_page((uintptr_t)at);
    if (p) {
        p->start = (uintptr_t)at;
        p->gpu = gpu;
        __atomic_store_n(&p->end, (uintptr_t)at + length, __ATOMIC_RELEASE);
        if (p == &doorbells.page[doorbells.count])
            __atomic_store_n(&doorbells.count, doorbells.count + 1, __ATOMIC_RELEASE);
        if (!doorbells.is_installed)
            install();
    }
    pthread_mutex_unlock(&doorbells.mutex);
    return p ? 0 : -ENOMEM;
}

int kfd_doorbell_map(uint32_t gpu, void **address, size_t length, int flags)
{
    if (length > (size_t)kfd_client.doorbell_bytes[gpu] * KFD_DOORBELLS)
        return -EINVAL;
    flags &= MAP_FIXED | MAP_FIXED_NOREPLACE;
    void *at = mmap(*address, length, PROT_READ, MAP_SHARED | flags, kfd_client.file,
                    (off_t)kfd_doorbells_at(gpu));
    if (at == MAP_FAILED)
        return -errno;
    madvise(at, length, MADV_DONTFORK);
    int result = watch_page(gpu, at, length);
    if (result != 0)
        munmap(at, length);
    *address = at;
    return result;
}

void kfd_doorbell_unmap(uintptr_t start, uintptr_t end)
{
    size_t count = __atomic_load_n(&doorbells.count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        struct watched_page *p = &doorbells.page[i];
        if (p->start >= start && p->start < end
            && __atomic_load_n(&p->end, __ATOMIC_ACQUIRE) <= end)
            __atomic_store_n(&p->end, 0, __ATOMIC_RELEASE);
    }
}

void kfd_doorbells_reset(void)
{
    pthread_mutex_init(&doorbells.mutex, NULL);
    doorbells.count = 0;
}
