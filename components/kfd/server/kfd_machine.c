/* The machine's thread. It runs requests in the order in which they were handed over. Then the
 * queues of all processes begin what they can, in the order of processes. The engine runs while a
 * thread of the program waits for the work that it has submitted: in a wait for events, or at a
 * doorbell whose packets no thread can wait for otherwise. So no program runs beside the engine,
 * packets of several queues begin at the same moment, and the same program finds the same simulated
 * time at each of its steps.
 *
 * Between requests the machine sleeps if no process is busy: the driver has no work of any process,
 * and no thread waits that may run only at rest. Otherwise the last state of any process (enum
 * kfd_state) decides, by the table `state_rules`.
 *
 * With several processes the engine waits until each that has submitted work waits, too. A process
 * may also wait in ways that the machine does not see: when all its submitters sleep, or it
 * computes for long (turn_limits.h), the engine runs until its next request. What it asks for then
 * is not ordered with what the engine does, so the run is repeatable only if it does nothing but
 * look. */
#define _GNU_SOURCE
#include "kfd_machine.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "components/host/driver/turn_limits.h"
#include "components/host/start/heddle_start.h"
#include "components/host/start/open_platform.h"
#include "components/kfd/server/guests/kfd_guest.h"
#include "components/kfd/server/guests/kfd_start_barrier.h"
#include "runtime/session/run_ledger.h"

#include "kfd_ioctl.h"

#define NS_OF_MS        UINT64_C(1000000)
/* Between two looks at requests and mailboxes. */
#define SLICE_PS        UINT64_C(20000000)
/* Most kernels are over by then. */
#define EXCHANGE_PS     UINT64_C(100000000)
/* Between two looks at processes, and at threads beside one that waits. */
#define PROCESS_LOOK_NS (TURN_PROCESS_LOOK_MS * (long)NS_OF_MS)
#define THREAD_LOOK_NS  50000
/* Between two looks at signals that packets wait for, and whether processes that are waited for can
 * come. */
#define SIGNAL_LOOK_NS  1000000
#define BARRIER_LOOK_NS 300000000
/* Looks, THREAD_LOOK_NS apart, at a kernel and a program that both wait. */
#define STUCK_MAX       20000

struct kfd_machine kfd = {.minor_version = KFD_MINOR_VERSION};

static struct {
    struct kfd_request *list;    /* atomic: handed over, the youngest first */
    uint32_t handed_count;       /* futex: counts them */
    bool is_open;                /* atomic: the platform is open, so that the engine may run */
    struct kfd_request *waiting; /* moved from the list, the oldest first */
    uint64_t exchange_ps;        /* when kernels and programs see each other's writes next */
    uint64_t between_ps;
    uint32_t stuck; /* looks so far at a kernel and a program that wait for each other */
    uint32_t over;  /* looks so far at a kernel whose program has ended */
    bool was_tried, is_ending, is_mid_kernel;
} machine_loop;

/* ---- requests ---- */

void kfd_hand_over(struct kfd_request *request)
{
    struct kfd_request *first = __atomic_load_n(&machine_loop.list, __ATOMIC_RELAXED);
    do
        request->next = first;
    while (!__atomic_compare_exchange_n(&machine_loop.list, &first, request, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_add_fetch(&machine_loop.handed_count, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&machine_loop.is_open, __ATOMIC_ACQUIRE))
        kfd.api->nudge();
    syscall(SYS_futex, &machine_loop.handed_count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void wait_for_requests(uint32_t handed, const struct timespec *limit)
{
    syscall(SYS_futex, &machine_loop.handed_count, FUTEX_WAIT_PRIVATE, handed, limit, NULL, 0);
}

/* A request of another thread does not mean that the submitters run. */
static void run_request(struct kfd_request *request)
{
    struct kfd_process *p = kfd_process_of(request);
    bool had_lost_turn = p && kfd_is_submitter(request) && p->has_lost_turn;
    if (p && kfd_is_submitter(request))
        kfd_process_asked(p);
    int result = request->run(request);
    if (kfd.api)
        kfd_publish_time();
    /* The engine has run until a moment that was the host's, unless it continues from there. */
    if (had_lost_turn && result != KFD_LATER)
        kfd.api->note_unordered();
    if (result == KFD_LATER)
        return;
    if (!p || !(request->waits_until_idle || request->waits_until_done)) {
        kfd_answer(request, result);
        return;
    }
    request->result = result;
    request->next = p->delayed_answers;
    p->delayed_answers = request;
}

/* Appends requests that were handed over to those that wait, the oldest first. */
static void collect_requests(void)
{
    struct kfd_request *list = __atomic_exchange_n(&machine_loop.list, NULL, __ATOMIC_ACQUIRE),
                       *next;
    struct kfd_request *oldest = NULL, **end = &machine_loop.waiting;
    for (; list; list = next) {
        next = list->next;
        list->next = oldest;
        oldest = list;
    }
    while (*end)
        end = &(*end)->next;
    *end = oldest;
}

/* Runs what was handed over, in the middle of a kernel only what can run there. */
static bool run_requests(bool is_mid_kernel)
{
    bool has_run = false;
    collect_requests();
    for (struct kfd_request **link = &machine_loop.waiting; *link;) {
        struct kfd_request *request = *link;
        if (is_mid_kernel && !request->runs_mid_kernel) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        run_request(request);
        has_run = true;
        link = &machine_loop.waiting; /* the request may have taken others out */
    }
    return has_run;
}

static void take_out(struct kfd_request **link, const struct kfd_request *request)
{
    while (*link && *link != request)
        link = &(*link)->next;
    if (*link)
        *link = request->next;
}

void kfd_drop(const struct kfd_request *request)
{
    struct kfd_process *p = kfd_process_of(request);
    collect_requests();
    take_out(&machine_loop.waiting, request);
    take_out(&p->delayed_answers, request);
    kfd_event_give_up(p, request);
    kfd_signal_wait_give_up(p, request);
    kfd_guest_drop(request);
}

/* Ends all waits of a process that has no work, as nothing more comes of them. False: other threads
 * have to run first. */
static bool end_waits(struct kfd_process *p)
{
    struct kfd_request *request = p->delayed_answers, *next;
    if ((request || p->waits) && !p->kind->may_resume(p))
        return false;
    p->delayed_answers = NULL;
    for (; request; request = next) {
        next = request->next;
        kfd_answer(request, request->result);
    }
    kfd_signal_waits_end(p, true);
    return true;
}

/* ---- the loop ---- */

/* Answers threads that wait for a queue which is done. */
static void send_delayed_answers(struct kfd_process *p)
{
    for (struct kfd_request **link = &p->delayed_answers; *link;) {
        struct kfd_request *request = *link;
        if (request->waits_until_idle || !kfd_queue_is_done(p, request->queue)
            || !p->kind->may_resume(p)) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        kfd_answer(request, request->result);
    }
}

static void look_at_waits(struct kfd_process *p)
{
    send_delayed_answers(p);
    bool has_failed = kfd.has_ended || p->has_faulted;
    if (has_failed || (kfd_signal_waits_are_over(p) && p->kind->may_resume(p)))
        kfd_signal_waits_end(p, has_failed);
}

/* True if this process has work. Before it runs, its kernels' writes must be in memory. */
static bool is_busy(struct kfd_process *p)
{
    bool has_work = p->kind->has_work(p) || (!kfd.has_ended && !kfd_queues_release_caches(p));
    return has_work || !end_waits(p);
}

static void lose_turn(struct kfd_process *p)
{
    p->has_lost_turn = true;
    if (p->kind->takes_turns)
        kfd.api->note_unordered();
}

static void free_threads(struct kfd_process *p)
{
    p->has_free_threads = true;
    kfd.api->note_unordered();
    kfd_say("threads of process %d compute while another one waits for a GPU, which does not wait "
            "for them any more: cycles may differ from run to run",
            (int)p->pid);
}

/* The action of the loop when this is the last state of any process, and how a process leaves it
 * that stays there for long. */
static const struct state_rule {
    bool runs_engine;
    long look_ns;                             /* between two looks at threads */
    uint64_t limit_ns;                        /* processor time of a process since it asked last */
    bool ends_in_sleep;                       /* also if its submitters sleep at two looks */
    void (*end_state)(struct kfd_process *p); /* at the limit; NULL: there is none */
} state_rules[] = {
    [KFD_IDLE] = {.look_ns = PROCESS_LOOK_NS},
    [KFD_WAITS] = {.runs_engine = true, .look_ns = PROCESS_LOOK_NS},
    [KFD_COMPUTES] = {.look_ns = PROCESS_LOOK_NS,
                      .limit_ns = TURN_PROCESS_SPENT_MS * NS_OF_MS,
                      .ends_in_sleep = true,
                      .end_state = lose_turn},
    [KFD_COMPUTES_BESIDE] = {.look_ns = THREAD_LOOK_NS,
                             .limit_ns = TURN_PROCESS_SPENT_BESIDE_MS * NS_OF_MS,
                             .end_state = free_threads},
};

static enum kfd_state find_last_state(void)
{
    enum kfd_state last = KFD_IDLE;
    for (struct kfd_process *p = kfd.processes; p; p = p->next)
        last = max(p->kind->state(p), last);
    return last;
}

static bool process_sleeps(struct kfd_process *p)
{
    return state_rules[p->kind->state(p)].ends_in_sleep && p->kind->is_asleep(p);
}

static bool has_new_requests(uint32_t handed)
{
    return __atomic_load_n(&machine_loop.handed_count, __ATOMIC_SEQ_CST) != handed;
}

/* Looks after the threads of all processes, unless requests come: `handed` were there before. */
static void look_after_threads(enum kfd_state last, uint32_t handed)
{
    const struct timespec look = {0, state_rules[last].look_ns};
    bool slept = kfd_any_process(process_sleeps);
    wait_for_requests(handed, &look);
    for (struct kfd_process *p = kfd.processes; p && !has_new_requests(handed); p = p->next) {
        const struct state_rule *rule = &state_rules[p->kind->state(p)];
        bool is_over =
            rule->end_state
            && ((slept && process_sleeps(p)) || kfd_spent_ns(p) - p->spent_ns > rule->limit_ns);
        if (is_over && !has_new_requests(handed))
            rule->end_state(p);
    }
}

static void begin_exchanges(void)
{
    machine_loop.between_ps = EXCHANGE_PS;
    machine_loop.exchange_ps = kfd.api->now() + EXCHANGE_PS;
}

static void exchange_writes(struct kfd_process *p)
{
    if (p->kind->exchange_writes)
        p->kind->exchange_writes(p);
}

/* Kernels and the program may wait for each other's writes, which caches hold. The longer nothing
 * comes of it, the less often they are exchanged. */
static void exchange_memory(void)
{
    if (kfd_any_process(kfd_events_read_mailboxes)) {
        begin_exchanges();
    } else if (kfd.api->now() >= machine_loop.exchange_ps) {
        kfd_each_process(exchange_writes);
        machine_loop.between_ps *= 2;
        machine_loop.exchange_ps = kfd.api->now() + machine_loop.between_ps;
    }
}

/* True if the process may still set the value that a kernel waits for. */
static bool process_lives(struct kfd_process *p)
{
    return p->life == KFD_LIVES;
}

static void report_program_end(void)
{
    kfd.api->program_ends(!kfd_any_process(process_lives));
}

static void run_engine(void)
{
    report_program_end();
    enum driver_status status =
        kfd.api->step(kfd_any_process(kfd_signal_waits_poll) ? KFD_POLL_PS : SLICE_PS);
    if (status != DRIVER_NOT_READY)
        kfd_status(status, "the simulation");
    if (status == DRIVER_OK)
        kfd_guests_advanced();
    kfd_publish_time();
    exchange_memory();
}

/* Nothing can be done for anyone at the end but to finish what the living have begun. */
static bool is_over(void)
{
    bool has_living = false;
    for (const struct kfd_process *p = kfd.processes; p; p = p->next)
        has_living |= p->life != KFD_ENDED;
    return machine_loop.is_ending && !has_living;
}

/* A kernel waits for the program, and the program for a call that has to wait for the kernel, as
 * when device code allocates memory: refused, one of them runs. */
static void refuse_oldest(void)
{
    struct kfd_request *request = machine_loop.waiting;
    kfd_say("a call of the driver waits for a kernel that waits for the program, and is refused; "
            "with --mode timing it need not wait");
    machine_loop.waiting = request->next;
    machine_loop.stuck = 0;
    kfd_answer(request, -EBUSY);
}

/* True if a process waits for a call that cannot be done before its kernel ends. */
static bool is_stuck(void)
{
    if (!machine_loop.waiting)
        return false;
    return kfd_submitters_sleep(kfd_process_of(machine_loop.waiting));
}

static void pause_moment(void)
{
    nanosleep(&(struct timespec){0, THREAD_LOOK_NS}, NULL);
}

/* Kernels that are executed without timing wait. What they have written is in memory. The driver
 * calls this in the middle of its calls. */
static void attend_kernel(const struct driver_attention *attention)
{
    machine_loop.is_mid_kernel = true;
    bool has_run = run_requests(true);
    kfd_guests_attend(attention);
    report_program_end();
    bool has_progress = kfd_any_process(kfd_events_read_mailboxes) || has_run;
    machine_loop.stuck = has_progress || !is_stuck() ? 0 : machine_loop.stuck + 1;
    if (machine_loop.stuck > STUCK_MAX)
        refuse_oldest();
    else if (!has_progress)
        pause_moment();
    if (is_over() && ++machine_loop.over > STUCK_MAX) {
        kfd_say("a kernel waits for its process, which has ended; nothing is written");
        run_ledger_report(EXIT_GAVE_UP);
        _exit(EXIT_GAVE_UP);
    }
    machine_loop.is_mid_kernel = false;
}

bool kfd_is_mid_kernel(void)
{
    return machine_loop.is_mid_kernel;
}

void kfd_serve_mid_kernel(void)
{
    if (!run_requests(true))
        pause_moment();
}

/* Processes that have ended, and whose work is over. */
static void close_processes(void)
{
    struct kfd_process *next;
    for (struct kfd_process *p = kfd.processes; p; p = next) {
        next = p->next;
        if (p->life == KFD_ENDED && !kfd_process_stays(p)
            && (kfd.has_ended || !p->kind->has_work(p)))
            kfd_process_close(p);
    }
}

void kfd_machine_end(void)
{
    machine_loop.is_ending = true;
}

/* A packet may wait for a signal which the program changes without any call. */
static void rest(uint32_t handed)
{
    const struct timespec moment = {0, SIGNAL_LOOK_NS}, look = {0, BARRIER_LOOK_NS};
    bool lacks = kfd_start_barrier_is_short();
    wait_for_requests(handed, kfd_any_process(kfd_queues_have_packets) ? &moment
                              : lacks                                  ? &look
                                                                       : NULL);
    if (lacks && !has_new_requests(handed))
        kfd_start_barrier_look();
}

void kfd_machine_run(void)
{
    while (!is_over()) {
        uint32_t handed = __atomic_load_n(&machine_loop.handed_count, __ATOMIC_SEQ_CST);
        bool progress = run_requests(false) | (!kfd.has_ended && kfd_any_process(kfd_has_faulted));
        if (kfd.processes && !kfd.has_ended && kfd_any_process(kfd_queues_step)) {
            progress = true;
            begin_exchanges();
        }
        progress |= kfd_guests_step();
        kfd_each_process(look_at_waits);
        close_processes();
        if (progress)
            continue;
        if (!kfd_any_process(is_busy)) {
            rest(handed);
            continue;
        }
        enum kfd_state last = find_last_state();
        if (state_rules[last].runs_engine && !has_new_requests(handed))
            run_engine();
        else
            look_after_threads(last, handed);
    }
    kfd_processes_report();
}

/* ---- opening ---- */

/* Programs see all memory of the GPUs, and each GPU may use that of the others. */
static bool open_memory(void)
{
    if (kfd_status(kfd.api->share_memory(&kfd.memory), "opening the platform") != 0)
        return false;
    for (uint32_t i = 0; i < kfd.gpu_count; i++) {
        for (uint32_t k = 0; k < kfd.gpu_count; k++)
            if (i != k && kfd.gpu[i].info.has_fabric && kfd.gpu[k].info.has_fabric)
                kfd_status(kfd.api->set_peer(i, k, true), "opening the platform");
        if (i > 0 && !kfd.gpu[0].info.reaches_host
            && (!kfd.gpu[i].info.has_fabric || !kfd.gpu[0].info.has_fabric))
            kfd_say(
                "GPU %u has no link to GPU 0, in whose memory AMD's runtime keeps memory of the "
                "host: kernels fail on it; give both GPUs links (links = 1), or run the program "
                "with --stack hip",
                i);
    }
    return true;
}

static bool open_gpus(bool for_kernel_driver)
{
    kfd.gpu_count = kfd.api->device_count();
    if (kfd.gpu_count == 0 || kfd.gpu_count > KFD_GPUS_MAX) {
        kfd_say("the platform has %u GPUs; %s can use 1 to %d", kfd.gpu_count,
                for_kernel_driver ? "AMD's runtime" : "several processes", KFD_GPUS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < kfd.gpu_count; i++) {
        struct kfd_gpu *gpu = &kfd.gpu[i];
        if (kfd_status(kfd.api->device_info(i, &gpu->info), "opening the platform") != 0)
            return false;
        if (!for_kernel_driver)
            continue;
        gpu->traits = isa_traits_of(gpu->info.isa);
        if (!gpu->traits) {
            kfd_say("GPU %u of the platform has the instruction set '%s', which ROCm does not know",
                    i, gpu->info.isa);
            return false;
        }
        gpu->retries = gpu->traits->xnack && gpu->info.pages_move;
        gpu->doorbell_bytes = gpu->traits->encoding == ISA_ENCODING_GFX8 ? 4 : 8;
        if (gpu->info.page_bytes > KFD_PAGE) {
            kfd_say("GPU %u has pages of %u bytes, and --stack rocm needs pages of %d: "
                    "--set driver.page_size=4KiB",
                    i, gpu->info.page_bytes, KFD_PAGE);
            return false;
        }
    }
    return !for_kernel_driver || open_memory();
}

bool kfd_machine_open(bool for_kernel_driver)
{
    if (machine_loop.was_tried && for_kernel_driver && !kfd.memory)
        kfd_say("the machine was started for programs with heddle's HIP library, not AMD's");
    if (machine_loop.was_tried)
        return kfd.api && (kfd.memory || !for_kernel_driver);
    machine_loop.was_tried = true;
    kfd.api = heddle_start();
    if (!kfd.api || !open_gpus(for_kernel_driver)) {
        kfd.api = NULL;
        run_ledger_report(EXIT_UNABLE);
        return false;
    }
    kfd.api->set_attendant(attend_kernel);
    kfd_guest_calls_open();
    __atomic_store_n(&machine_loop.is_open, true, __ATOMIC_RELEASE);
    return true;
}

/* ---- what other files ask ---- */

/* Pops the first fault of the process, or of a context that a guest has made. */
static bool pop_fault(const struct kfd_process *p, struct driver_fault *fault)
{
    bool has_fault = kfd.api->take_fault(p->device[0], fault);
    for (uint32_t i = 0; i < p->context_count && !has_fault; i++)
        has_fault = kfd.api->take_fault(p->contexts[i], fault);
    return has_fault;
}

bool kfd_has_faulted(struct kfd_process *p)
{
    struct driver_fault fault;
    if (p->has_faulted || p->life == KFD_ENDED || !pop_fault(p, &fault))
        return false;
    p->has_faulted = true;
    run_ledger_report(EXIT_GAVE_UP);
    p->kind->report_fault(p, &fault);
    return true;
}

static void report_end(struct kfd_process *p)
{
    if (p->kind->report_end)
        p->kind->report_end(p);
}

void kfd_note_end_of_simulation(enum driver_status status)
{
    if (kfd.has_ended || kfd.api->wait(0) == DRIVER_OK)
        return;
    snprintf(kfd.end_reason, sizeof kfd.end_reason, "the machine has ended: %s",
             kfd.api->error_text());
    __atomic_store_n(&kfd.has_ended, true, __ATOMIC_RELAXED);
    run_ledger_report(exit_status_of(status));
    kfd_each_process(report_end);
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
    if (status == DRIVER_OK || kfd.has_ended)
        return status == DRIVER_OK ? 0 : -EIO;
    kfd_say("%s: %s", what, kfd.api->error_text());
    if (errors[status] == -EIO)
        kfd_note_end_of_simulation(status);
    return errors[status];
}

int kfd_find_gpu(uint32_t gpu_id)
{
    uint32_t gpu = gpu_id - KFD_FIRST_GPU_ID;
    return gpu < kfd.gpu_count ? (int)gpu : -ENODEV;
}
