/* The machine's thread. It takes requests in the order in which they were handed over, lets the
 * queues begin what they can, and runs the engine while a thread of the program waits for what it
 * has rung for: in a wait for events, or at a doorbell whose packets no thread can wait for
 * otherwise. So the program never runs beside the engine, packets of several queues begin at the
 * same moment, and the same program finds the same simulated time at each of its steps.
 *
 * A thread may also wait in ways that the machine does not see. When all threads that have rung
 * sleep, or one computes for SPIN_NS, the engine runs until there is a request. Then the run is
 * repeatable only if the program does nothing but look.
 *
 * Handing over is a list without locks and two futexes, which handlers of signals may use. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "components/host/start/heddle_start.h"
#include "kfd_calls.h"
#include "kfd_packet.h"
#include "runtime/session/run_ledger.h"

#define SLICE_PS    UINT64_C(20000000)  /* between two looks at requests and mailboxes */
#define EXCHANGE_PS UINT64_C(100000000) /* most kernels are over by then */
#define LOOK_NS     5000000             /* between two looks at threads */
#define SPIN_NS     UINT64_C(50000000)
#define HELD_NS     1000000 /* between two looks at signals that packets wait for */

struct kfd_machine kfd;
struct kfd_process *kfd_now;

static struct {
    struct kfd_request *list;    /* atomic: handed over, the youngest first */
    uint32_t handed;             /* futex: counts them */
    struct kfd_request *waiting; /* taken from it, the oldest first */
    struct kfd_request *held;    /* answers that wait until the machine is idle */
    uint64_t exchange_ps;        /* when kernels and the program see each other's writes next */
    uint64_t between_ps;
    bool pushed;       /* the engine runs though no thread is known to wait */
    uint64_t spent_ns; /* processor time of the program when it asked last */
    uint64_t readings; /* of the clock */
    struct kfd_process *processes;
    pthread_once_t once;
    bool open; /* atomic */
    pid_t pid;
} own = {.once = PTHREAD_ONCE_INIT};

void kfd_say(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "heddle: %s\n", text);
}

void *kfd_grow(void *old, size_t bytes)
{
    void *grown = realloc(old, bytes);
    if (!grown) {
        kfd_say("out of memory for %zu bytes", bytes);
        abort();
    }
    return grown;
}

void *kfd_new(size_t bytes)
{
    return memset(kfd_grow(NULL, bytes), 0, bytes);
}

/* ---- requests ---- */

static void futex_wait(uint32_t *word, uint32_t value, const struct timespec *limit)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void hand_over(struct kfd_request *request)
{
    request->answered = 0;
    request->process = own.processes;
    struct kfd_request *first = __atomic_load_n(&own.list, __ATOMIC_RELAXED);
    do
        request->next = first;
    while (!__atomic_compare_exchange_n(&own.list, &first, request, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
    __atomic_add_fetch(&own.handed, 1, __ATOMIC_SEQ_CST);
    kfd.api->nudge();
    futex_wake(&own.handed);
}

int kfd_ask(struct kfd_request *request)
{
    int error = errno;
    hand_over(request);
    while (!__atomic_load_n(&request->answered, __ATOMIC_ACQUIRE))
        futex_wait(&request->answered, 0, NULL);
    errno = error;
    return request->result;
}

bool kfd_ask_for(struct kfd_request *request, uint64_t limit_ms)
{
    struct timespec now, end, left;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(limit_ms / 1000);
    end.tv_nsec += (long)(limit_ms % 1000) * 1000000;
    hand_over(request);
    while (!__atomic_load_n(&request->answered, __ATOMIC_ACQUIRE)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t ns = (end.tv_sec - now.tv_sec) * INT64_C(1000000000) + end.tv_nsec - now.tv_nsec;
        if (ns <= 0)
            return false;
        left = (struct timespec){ns / 1000000000, ns % 1000000000};
        futex_wait(&request->answered, 0, &left);
    }
    return true;
}

void kfd_answer(struct kfd_request *request, int result)
{
    request->result = result;
    uint32_t *answered = &request->answered; /* the request is gone when its thread goes on */
    __atomic_store_n(answered, 1, __ATOMIC_RELEASE);
    futex_wake(answered);
}

/* ---- all processes ---- */

/* Is it so for any process? It is called for each. */
static bool any_process(bool (*is)(void))
{
    bool any = false;
    for (kfd_now = own.processes; kfd_now; kfd_now = kfd_now->next)
        any |= is();
    return any;
}

static bool is_unsettled(void)
{
    return !kfd_queues_settle();
}

/* An address space of its own on all GPUs, and empty tables. */
static int open_process(struct kfd_process *p)
{
    struct kfd_process **end = &own.processes;
    int result = 0;
    for (uint32_t i = 0; i < kfd.gpu_count && result == 0; i++)
        result = kfd_status(kfd.api->context_create(i, i ? p->device[0] : 0, &p->device[i]),
                            "a process");
    if (result == 0)
        result = kfd_status(kfd.api->queue_create(p->device[0], &p->fences), "a process");
    if (result != 0)
        return result;
    kfd_now = p;
    p->caches = kfd_new(sizeof *p->caches);
    kfd_memory_open();
    kfd_queues_open();
    kfd_events_open();
    kfd_svm_open();
    while (*end)
        end = &(*end)->next;
    *end = p;
    return 0;
}

/* ---- taking requests ---- */

/* What other threads ask for does not say that those that have rung go on. */
static void take_request(struct kfd_request *request)
{
    if (request->drives) {
        own.pushed = false;
        own.spent_ns = kfd_spent_ns();
    }
    kfd_now = request->process;
    int result = request->run(request);
    if (result == KFD_LATER)
        return;
    if (!request->until_idle) {
        kfd_answer(request, result);
        return;
    }
    request->result = result;
    request->next = own.held;
    own.held = request;
}

/* Puts what was handed over behind what waits to be run, the oldest first. */
static void collect_requests(void)
{
    struct kfd_request *list = __atomic_exchange_n(&own.list, NULL, __ATOMIC_ACQUIRE), *next;
    struct kfd_request *oldest = NULL, **end = &own.waiting;
    for (; list; list = next) {
        next = list->next;
        list->next = oldest;
        oldest = list;
    }
    while (*end)
        end = &(*end)->next;
    *end = oldest;
}

/* Runs what was handed over; `aside`: as far as that can be done in the middle of a kernel. */
static bool take_requests(bool aside)
{
    bool any = false;
    collect_requests();
    for (struct kfd_request **link = &own.waiting; *link;) {
        struct kfd_request *request = *link;
        if (aside && !request->aside) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        take_request(request);
        any = true;
    }
    return any;
}

static void let_go(void)
{
    struct kfd_request *request = own.held, *next;
    own.held = NULL;
    for (; request; request = next) {
        next = request->next;
        kfd_answer(request, request->result);
    }
}

/* ---- the loop ---- */

/* Waits for requests, and looks after the threads meanwhile. */
static void look_after_threads(uint32_t handed)
{
    const struct timespec look = {0, LOOK_NS};
    bool slept = kfd_ringers_sleep();
    futex_wait(&own.handed, handed, &look);
    if (__atomic_load_n(&own.handed, __ATOMIC_SEQ_CST) != handed)
        return;
    own.pushed = (slept && kfd_ringers_sleep()) || kfd_spent_ns() - own.spent_ns > SPIN_NS;
}

static void begin_exchanges(void)
{
    own.between_ps = EXCHANGE_PS;
    own.exchange_ps = kfd.api->now() + EXCHANGE_PS;
}

/* Kernels and the program may wait for each other's writes, which caches hold. The longer nothing
 * comes of it, the less often they are exchanged. */
static void exchange(void)
{
    if (any_process(kfd_events_look)) {
        begin_exchanges();
    } else if (kfd.api->now() >= own.exchange_ps) {
        for (kfd_now = own.processes; kfd_now; kfd_now = kfd_now->next)
            kfd_queues_exchange();
        own.between_ps *= 2;
        own.exchange_ps = kfd.api->now() + own.between_ps;
    }
}

static void run_engine(void)
{
    bool polls = false;
    kfd_waits_any(&polls);
    kfd_status(kfd.api->step(polls ? KFD_POLL_PS : SLICE_PS), "the simulation");
    exchange();
}

/* Kernels that are executed without timing wait. What they have written is in memory. */
static void attend(const struct driver_attention *now)
{
    const struct timespec moment = {0, 50000};
    (void)now;
    bool any = take_requests(true);
    if (!any_process(kfd_events_look) && !any)
        nanosleep(&moment, NULL);
}

static bool is_wanted(void)
{
    bool polls = false;
    return own.pushed || own.held || any_process(kfd_events_awaited) || kfd_waits_any(&polls);
}

/* Nothing is left that the machine could do by itself. A packet may wait for a signal which the
 * program changes without any call. */
static void rest(uint32_t handed)
{
    const struct timespec moment = {0, HELD_NS};
    own.pushed = false;
    kfd_waits_look(true);
    let_go();
    futex_wait(&own.handed, handed, any_process(kfd_queues_held) ? &moment : NULL);
}

__attribute__((noreturn)) static void run_machine(void)
{
    kfd.api->set_attendant(attend);
    for (;;) {
        uint32_t handed = __atomic_load_n(&own.handed, __ATOMIC_SEQ_CST);
        bool progress = take_requests(false), works = !kfd.lost && !kfd.finished;
        if (works && any_process(kfd_queues_step)) {
            progress = true;
            begin_exchanges();
        }
        kfd_waits_look(!works);
        if (progress)
            continue;
        bool busy = works && any_process(kfd_queues_busy);
        if (busy && is_wanted())
            run_engine();
        else if (busy)
            look_after_threads(handed);
        else if (!works || !any_process(is_unsettled))
            rest(handed);
    }
}

/* ---- opening ---- */

/* Does the program see all memory of the GPUs, and may each use that of the others? */
static bool open_memory(void)
{
    if (kfd_status(kfd.api->share_memory(), "opening the platform") != 0)
        return false;
    for (uint32_t i = 0; i < kfd.gpu_count; i++) {
        for (uint32_t k = 0; k < kfd.gpu_count; k++) {
            if (i != k && kfd.gpu[i].info.has_fabric && kfd.gpu[k].info.has_fabric)
                kfd_status(kfd.api->set_peer(i, k, true), "opening the platform");
        }
    }
    return true;
}

static bool open_gpus(void)
{
    kfd.gpu_count = kfd.api->device_count();
    if (kfd.gpu_count == 0 || kfd.gpu_count > KFD_GPUS_MAX) {
        kfd_say("the platform has %u GPUs; 1 to %d can be used by --stack rocm", kfd.gpu_count,
                KFD_GPUS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < kfd.gpu_count; i++) {
        struct kfd_gpu *gpu = &kfd.gpu[i];
        if (kfd_status(kfd.api->device_info(i, &gpu->info), "opening the platform") != 0)
            return false;
        gpu->traits = isa_traits_of(gpu->info.isa);
        if (!gpu->traits) {
            kfd_say("GPU %u of the platform has the instruction set '%s', which ROCm does not know",
                    i, gpu->info.isa);
            return false;
        }
        gpu->doorbell_bytes = gpu->traits->encoding == ISA_ENCODING_GFX8 ? 4 : 8;
        if (gpu->info.page_bytes > KFD_PAGE) {
            kfd_say("GPU %u has pages of %u bytes, and --stack rocm needs pages of %d: "
                    "--set driver.page_size=4KiB",
                    i, gpu->info.page_bytes, KFD_PAGE);
            return false;
        }
    }
    return open_memory() && open_process(kfd_new(sizeof(struct kfd_process))) == 0;
}

static void *start_machine(void *ready)
{
    kfd.api = heddle_start();
    bool good = kfd.api && open_gpus();
    if (!good) {
        kfd.api = NULL;
        run_ledger_report(EXIT_NOT_STARTED);
    }
    __atomic_store_n((uint32_t *)ready, good ? 1 : 2, __ATOMIC_RELEASE);
    futex_wake(ready);
    if (!good)
        return NULL;
    run_machine();
}

static int finish_machine(struct kfd_request *request)
{
    (void)request;
    return 0;
}

static int close_machine(struct kfd_request *request)
{
    (void)request;
    kfd.finished = true;
    return 0;
}

/* Work that is still queued is done, as a program may end without waiting for its last kernel. The
 * platform's own end follows, which heddle_start() has registered before. */
static void finish(void)
{
    struct kfd_request work = {.run = finish_machine, .until_idle = true},
                       end = {.run = close_machine};
    if (!kfd.api || getpid() != own.pid)
        return;
    kfd_ask(&work);
    kfd_ask(&end);
}

static void open_once(void)
{
    uint32_t ready = 0;
    sigset_t all, before;
    pthread_t thread;
    own.pid = getpid();
    sigfillset(&all); /* signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, start_machine, &ready);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        kfd_say("cannot start the thread of the simulator: %s", strerror(error));
        return;
    }
    pthread_detach(thread);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        futex_wait(&ready, 0, NULL);
    if (kfd.api)
        atexit(finish);
    __atomic_store_n(&own.open, kfd.api != NULL, __ATOMIC_RELEASE);
}

bool kfd_machine_is_open(void)
{
    return __atomic_load_n(&own.open, __ATOMIC_ACQUIRE);
}

bool kfd_machine_open(void)
{
    pthread_once(&own.once, open_once);
    return kfd.api != NULL && getpid() == own.pid;
}

/* ---- what other files ask ---- */

static enum exit_status outcome_of(enum driver_status status)
{
    return status == DRIVER_LIMIT      ? EXIT_LIMIT
           : status == DRIVER_STALL    ? EXIT_STALL
           : status == DRIVER_DEADLOCK ? EXIT_DEADLOCK
                                       : EXIT_GAVE_UP;
}

/* Tells the program that the GPU is lost: by an address that it could not reach, or else as a hang.
 */
static void tell_end(void)
{
    uint64_t address;
    bool by_access = kfd.api->fault_address(&address);
    struct kfd_process *now = kfd_now;
    for (kfd_now = own.processes; kfd_now; kfd_now = kfd_now->next) {
        kfd_events_fail(0, address & ~(uint64_t)(KFD_PAGE - 1), by_access);
        if (!by_access)
            kfd_queues_fail();
    }
    kfd_now = now;
}

int kfd_status(enum driver_status status, const char *what)
{
    static const int errors[] = {
        [DRIVER_OK] = 0,
        [DRIVER_NOT_READY] = -EAGAIN,
        [DRIVER_OUT_OF_MEMORY] = -ENOMEM,
        [DRIVER_INVALID_DEVICE] = -ENODEV,
        [DRIVER_INVALID_ADDRESS] = -EFAULT,
        [DRIVER_INVALID_VALUE] = -EINVAL,
        [DRIVER_TOO_LARGE] = -EINVAL,
        [DRIVER_FAULT] = -EIO,
        [DRIVER_DEADLOCK] = -EIO,
        [DRIVER_STALL] = -EIO,
        [DRIVER_LIMIT] = -EIO,
    };
    if (status == DRIVER_OK || kfd.lost)
        return status == DRIVER_OK ? 0 : -EIO;
    kfd_say("%s: %s", what, kfd.api->error_text());
    if (errors[status] == -EIO) {
        kfd.lost = true;
        run_ledger_report(outcome_of(status));
        tell_end();
    }
    return errors[status];
}

int kfd_find_gpu(uint32_t gpu_id)
{
    uint32_t gpu = gpu_id - KFD_FIRST_GPU_ID;
    return gpu < kfd.gpu_count ? (int)gpu : -ENODEV;
}

uint64_t kfd_clock_at(uint64_t time_ps)
{
    return UINT64_C(1000000000) + time_ps / 1000 + __atomic_load_n(&own.readings, __ATOMIC_RELAXED);
}

uint64_t kfd_read_clock(void)
{
    __atomic_add_fetch(&own.readings, 1, __ATOMIC_RELAXED);
    return kfd_clock_at(kfd.api->now());
}
