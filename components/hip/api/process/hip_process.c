/* Files and number of the process, its signals, and its children.
 *
 * Signals. SIGINT, SIGTERM, SIGHUP and SIGXCPU end a process at once by default, and what it has
 * simulated is lost. Where files are to be written and the program leaves these signals alone, the
 * first one interrupts the simulation instead. A thread of ours, which exists for this, then waits
 * until the engine is between two windows, has the files written, and ends the process by the
 * same signal; nothing is done in the handler, which may have come in the middle of anything. A
 * signal that comes when all work is done and the files are being written lets them become whole,
 * and ends the process then. A second signal ends the process at once. `heddle run` passes signals
 * on with their number, since often the same one reaches the process directly, too (timeout(1)
 * signals the whole group).
 *
 * Children. fork() copies the simulation, but not its threads, and files that two processes write
 * are no files: a child has no GPU, as HIP leaves undefined what one does. It may exec. */
#include "hip_process.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/sha256.h"
#include "components/hip/turns/hip_clock.h"
#include "components/hip/turns/hip_turns.h"
#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"

enum {
    SAME_MS = 200, /* signals that come so soon after one another are one: they went to a group */
    LOOK_MS = 500  /* between two looks after `heddle run` */
};

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { END_SIGNALS = ARRAY_COUNT(end_signals) };

/* The thread that leaves the first state writes the files. */
enum process_end {
    END_OPEN,
    END_CUT,       /* a signal came first: our thread writes what is known */
    END_FINISHING, /* the program came to its end first: all is written */
    END_FINISHED
};

static struct {
    pid_t pid;       /* the process that has opened the platform; 0: none */
    unsigned number; /* its number among the processes of the run */
    bool is_exiting; /* exit() was called */
    bool is_child;   /* forked from the process that has opened the platform */
    const struct heddle_platform *platform;
    const char *stats_path; /* or NULL */
    pid_t runner;           /* `heddle run`, if it is to be looked after */
    bool has_thread;        /* the thread for signals is there */
    sem_t wake;             /* wakes that thread */
    int signal;             /* the signal that has interrupted; 0: none */
    enum process_end end;
    int direct, passed_on; /* signals that the handler got, and that it passed on */
    int64_t last_ms;
} process;

/* ---- files ---- */

static char *numbered_path(const char *path, bool is_folder)
{
    size_t size = options_number_path(path, process.number, is_folder, NULL, 0) + 1;
    char *text = hip_allocate(size);
    options_number_path(path, process.number, is_folder, text, size);
    return text;
}

const char *hip_process_folder(const char *folder)
{
    if (process.number <= 1)
        return folder;
    char *path = numbered_path(folder, true);
    if (mkdir(path, 0755) == 0)
        return path;
    hip_release(path);
    return NULL;
}

/* The program of this process, which a script may have started. */
static char *hash_program(void)
{
    struct sha256 hash;
    sha256_init(&hash);
    if (!sha256_add_file(&hash, "/proc/self/exe"))
        return NULL;
    char *digest = hip_allocate(65);
    sha256_finish(&hash, digest);
    return digest;
}

const char *hip_process_open(void)
{
    const char *user_options = getenv(OPTIONS_ENV_OPTIONS);
    if (!options_open(user_options))
        return NULL;
    process.number = run_ledger_open();
    char number[16], *program = option_text("stats") ? hash_program() : NULL;
    snprintf(number, sizeof number, "%u", process.number);
    size_t length = user_options ? strlen(user_options) : 0, size = length + 128;
    char *text = hip_allocate(size);
    memcpy(text, user_options ? user_options : "", length + 1);
    length = options_put(text, size, length, "process", ':', number);
    if (program)
        options_put(text, size, length, "program", ':', program);
    options_open(text);
    return text;
}

/* ---- interruption ---- */

static void end_by_signal(int number)
{
    sigset_t only;
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

static int64_t now_ms(void)
{
    struct timespec time;
    hip_clock_host(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* The number of signals that have been sent, as far as can be seen. */
static int count_signal(const siginfo_t *info)
{
    int64_t time_ms = now_ms();
    if (info->si_code == SI_QUEUE) {
        process.passed_on = max(info->si_value.sival_int, process.passed_on);
    } else {
        process.direct += process.direct == 0 || time_ms - process.last_ms > SAME_MS;
        process.last_ms = time_ms;
    }
    return max(process.direct, process.passed_on);
}

static bool leave_open(enum process_end end)
{
    enum process_end open = END_OPEN;
    return __atomic_compare_exchange_n(&process.end, &open, end, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static void handle_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    if (getpid() != process.pid || (count_signal(info) > 1 && number != SIGXCPU)) {
        end_by_signal(number);
    } else if (process.signal == 0) {
        __atomic_store_n(&process.signal, number, __ATOMIC_SEQ_CST);
        if (leave_open(END_CUT)) {
            process.platform->interrupt();
            sem_post(&process.wake);
        } else if (__atomic_load_n(&process.end, __ATOMIC_SEQ_CST) == END_FINISHED) {
            end_by_signal(number);
        }
    }
    errno = error;
}

static void report_interrupt(int number, const char *outcome, bool is_written)
{
    /* hip_say() may have had its last word. */
    if (is_written && process.stats_path)
        fprintf(stderr, "heddle: interrupted by signal %d (%s); %s%s'\n", number, strsignal(number),
                outcome, process.stats_path);
    else
        fprintf(stderr, "heddle: interrupted by signal %d (%s)\n", number, strsignal(number));
}

static void end_interrupted(int number)
{
    int status = hip.api->finish();
    if (status == EXIT_CLEAN)
        run_ledger_close(true);
    report_interrupt(number, "what had been simulated is in '", status == EXIT_CLEAN);
    end_by_signal(number);
}

static void *watch_signals(void *unused)
{
    (void)unused;
    hip_turns_inside(1);
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if ((process.runner ? sem_timedwait(&process.wake, &until) : sem_wait(&process.wake)) == 0)
            end_interrupted(__atomic_load_n(&process.signal, __ATOMIC_ACQUIRE));
        if (process.runner && !run_ledger_owner())
            raise(SIGKILL); /* as `heddle run` has it for the process that it started itself */
    }
    return NULL;
}

static void start_watch(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's threads */
    int error = hip_turns_real_create(&thread, &attributes, watch_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    process.has_thread = !error;
    if (error) {
        hip_say("cannot start a thread: %s; a signal ends this run without its files",
                strerror(error));
    }
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART}, before;
    action.sa_sigaction = handle_signal;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < END_SIGNALS; i++)
        if (sigaction(end_signals[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO)
            && before.sa_handler == SIG_DFL)
            sigaction(end_signals[i], &action, NULL);
}

/* ---- children and the end ---- */

static void after_fork(void)
{
    struct sigaction installed;
    process.is_child = process.pid != 0;
    if (process.pid == 0 || hip.state == HIP_FAILED || hip.state == HIP_FINISHED)
        return;
    hip.state = HIP_FORKED;
    hip.device_error =
        hipErrorNotInitialized;          /* managed memory that lies on a device stays there */
    pthread_mutex_init(&hip.lock, NULL); /* a thread that is not here may have held it */
    for (size_t i = 0; i < END_SIGNALS; i++)
        if (sigaction(end_signals[i], NULL, &installed) == 0 && (installed.sa_flags & SA_SIGINFO)
            && installed.sa_sigaction == handle_signal)
            signal(end_signals[i], SIG_DFL);
}

static void end_inside_call(void)
{
    pthread_mutex_init(&hip.lock,
                       NULL); /* this thread may hold it, and others are not waited for */
    hip.state = HIP_FINISHED;
    if (process.platform)
        process.platform->interrupt();
    int status = process.platform ? hip.api->finish() : EXIT_CLEAN;
    hip_say("the program ended in the middle of a call of HIP; nothing more is simulated");
    if (!process.platform)
        return; /* the machine notices that this process ends */
    if (status == EXIT_CLEAN)
        run_ledger_close(true);
    else
        run_ledger_report((enum exit_status)status);
}

/* exit() was called, and its other handlers run after this one. Objects of the program may free
 * memory then; in a child that is no use of the GPU. A signal handler of the program may have
 * called it in the middle of a call: then nothing more can be simulated. */
static void mark_exiting(void)
{
    process.is_exiting = true;
    if (!process.is_child && hip.state == HIP_OPEN
        && (hip_is_inside() || __atomic_load_n(&hip_turns_depth, __ATOMIC_RELAXED) > 0))
        end_inside_call();
    else if (!process.is_child && hip.state == HIP_OPEN)
        hip.api->program_ends(true);
}

bool hip_process_is_child(void)
{
    return process.is_child;
}

hipError_t hip_fail_forked(void)
{
    static bool has_warned;
    if (!has_warned && !process.is_exiting) {
        has_warned = true;
        hip_say(
            "process %ld was forked after process %ld had used HIP, and has no GPU: fork before "
            "the first call of HIP, or exec a program",
            (long)getpid(), (long)process.pid);
        run_ledger_report(EXIT_UNABLE);
    }
    return hipErrorNotInitialized;
}

static bool is_alone(void)
{
    return hip_turns_others_wait(process.has_thread);
}

void hip_process_guard(const struct heddle_platform *platform)
{
    const char *record = getenv(OPTIONS_ENV_RECORD);
    bool writes = options_have_output() || (record && *record);
    long runner = run_ledger_owner();
    process.pid = getpid();
    process.platform = platform;
    pthread_atfork(NULL, NULL, after_fork);
    atexit(mark_exiting);
    if (!platform)
        return; /* files and signals are the machine's */
    hip.api->set_alone(is_alone);
    process.stats_path = option_file("stats");
    process.runner = runner && runner != getppid() ? (pid_t)runner : 0;
    if (!writes && !process.runner)
        return;
    sem_init(&process.wake, 0, 0);
    start_watch();
    if (writes && platform->interrupt)
        handle_signals();
}

void hip_process_park(void)
{
    while (!process.is_child && __atomic_load_n(&process.end, __ATOMIC_SEQ_CST) == END_CUT)
        pause();
}

void hip_process_close(void)
{
    if (!leave_open(END_FINISHING))
        hip_process_park();
    int status = hip.api->finish();
    if (!process.platform)
        return;
    if (status == EXIT_CLEAN)
        run_ledger_close(false);
    else
        run_ledger_report((enum exit_status)status);
    __atomic_store_n(&process.end, END_FINISHED, __ATOMIC_SEQ_CST);
    int number = __atomic_load_n(&process.signal, __ATOMIC_SEQ_CST);
    if (number == 0)
        return;
    report_interrupt(number, "everything had been simulated, and is in '", status == EXIT_CLEAN);
    end_by_signal(number);
}
