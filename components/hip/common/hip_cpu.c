/* See hip_cpu.h. No lock: exit() in a signal handler may ask in the middle of anything. A thread
 * leaves the table before its time is added, so a stay that ends at the very moment of the question
 * may be missed, and none counts twice. */
#include "hip_cpu.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libamdhip64.so.5"

enum { STAYS = 256, NO_STAY = -1 }; /* more threads at once are missed until they leave */

struct stay {
    int owner; /* 0: free; else what the thread's clock is made of, which is never 0 */
    uint64_t since_ns;
};

static struct {
    pid_t process;     /* that was measured from its beginning; 0: none */
    uint64_t start_ns; /* before this library */
    uint64_t left_ns;  /* stays that have ended */
    bool off;
    struct stay stays[STAYS];
} cpu;

static _Thread_local struct {
    uint64_t since_ns; /* 0: not inside */
    int stay;
} own __attribute__((tls_model("initial-exec"))) = {.stay = NO_STAY};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0; /* of a thread that has ended */
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Before constructors of the program, unless that opens this library itself, later. */
__attribute__((constructor)) static void note_start(void)
{
    const struct link_map *program = _r_debug.r_map;
    const char *names = NULL;
    for (const ElfW(Dyn) *d = program ? program->l_ld : NULL; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            names = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = names ? program->l_ld : NULL; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_NEEDED && strcmp(names + d->d_un.d_val, LIBRARY) == 0) {
            cpu.start_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
            cpu.process = getpid();
        }
    }
}

static int take_stay(uint64_t since_ns)
{
    clockid_t clock;
    if (pthread_getcpuclockid(pthread_self(), &clock) != 0)
        return NO_STAY;
    for (int i = 0; i < STAYS; i++) {
        int free = 0;
        if (__atomic_load_n(&cpu.stays[i].owner, __ATOMIC_RELAXED) == 0
            && __atomic_compare_exchange_n(&cpu.stays[i].owner, &free, clock, false,
                                           __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            __atomic_store_n(&cpu.stays[i].since_ns, since_ns, __ATOMIC_RELEASE);
            return i;
        }
    }
    return NO_STAY;
}

void hip_cpu_enter(void)
{
    if (__atomic_load_n(&cpu.off, __ATOMIC_RELAXED))
        return;
    own.since_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    own.stay = take_stay(own.since_ns);
}

void hip_cpu_leave(void)
{
    if (own.since_ns == 0)
        return;
    uint64_t stayed_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - own.since_ns;
    own.since_ns = 0;
    if (own.stay != NO_STAY) {
        __atomic_store_n(&cpu.stays[own.stay].since_ns, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&cpu.stays[own.stay].owner, 0, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&cpu.left_ns, stayed_ns, __ATOMIC_RELAXED);
}

void hip_cpu_open(bool wanted)
{
    __atomic_store_n(&cpu.off, !wanted, __ATOMIC_RELAXED);
    if (cpu.process == 0 || cpu.process == getpid())
        return;
    /* A child of the process that was measured, with clocks of its own. */
    cpu.process = 0;
    cpu.start_ns = 0;
    cpu.left_ns = 0;
}

uint64_t hip_cpu_program_ns(void)
{
    uint64_t all_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t inside_ns = cpu.start_ns + __atomic_load_n(&cpu.left_ns, __ATOMIC_RELAXED);
    for (int i = 0; i < STAYS; i++) {
        int owner = __atomic_load_n(&cpu.stays[i].owner, __ATOMIC_ACQUIRE);
        uint64_t since_ns = __atomic_load_n(&cpu.stays[i].since_ns, __ATOMIC_ACQUIRE);
        uint64_t now_ns = owner && since_ns ? read_clock(owner) : 0;
        inside_ns += now_ns > since_ns ? now_ns - since_ns : 0;
    }
    return all_ns > inside_ns ? all_ns - inside_ns : 0;
}
