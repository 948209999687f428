/* Processes that wait for each other before the first of them runs (`--shared N`), in the order
 * in which they were started. When no others can come, all are refused: each process that the
 * command has started waits here, or for one that it has started itself. */
#include "kfd_start_barrier.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "components/kfd/server/kfd_ioctl.h"
#include "runtime/session/run_ledger.h"

#include "kfd_guest.h"

static struct {
    uint32_t awaited, come; /* processes that are to come, and those that have */
    struct kfd_connection *gathered;
    bool serves;      /* programs come from elsewhere */
    bool was_stuck;   /* no others could come at the last look */
    bool has_refused; /* too few have come */
} barrier;

void kfd_start_barrier_await(uint32_t processes, bool serves)
{
    barrier.awaited = processes;
    barrier.serves = serves;
}

static void go_on(struct kfd_connection *c)
{
    char text[128];
    snprintf(text, sizeof text, "%u of %u processes have come, and the others cannot (--shared %u)",
             barrier.come, barrier.awaited, barrier.awaited);
    if (barrier.has_refused && c->process)
        kfd_guest_refuse(c, text);
    else if (barrier.has_refused)
        kfd_answer(&c->request, -ENODEV);
    else if (c->process)
        kfd_guest_enter(c);
    else
        kfd_answer(&c->request, kfd_connection_open(c));
}

static void end_wait(void)
{
    while (barrier.gathered) {
        struct kfd_connection *c = barrier.gathered;
        barrier.gathered = c->after;
        go_on(c);
    }
}

/* Numbers of processes order those of one tick. They begin anew when the last one was given away:
 * two of one tick that lie far apart do so on its two sides. */
static bool is_before(const struct kfd_connection *a, const struct kfd_connection *b)
{
    enum { FAR = 1 << 14 };
    bool anew = abs(a->pid - b->pid) > FAR;
    return a->started != b->started ? a->started < b->started : (a->pid < b->pid) != anew;
}

void kfd_start_barrier_enter(struct kfd_connection *c)
{
    struct kfd_connection **link = &barrier.gathered;
    struct proc_stat stat;
    if (barrier.has_refused || barrier.come >= barrier.awaited) {
        if (!barrier.has_refused && c->process && kfd_any_process(kfd_guest_lives))
            kfd.api->note_unordered(); /* it comes at a time that depends on the host */
        go_on(c);
        return;
    }
    proc_stat_read(c->pid, 0, &stat);
    c->started = stat.start;
    while (*link && is_before(*link, c))
        link = &(*link)->after;
    c->after = *link;
    *link = c;
    if (++barrier.come < barrier.awaited)
        kfd_say("%u of %u processes have come (--shared %u)", barrier.come, barrier.awaited,
                barrier.awaited);
    else
        end_wait();
}

void kfd_start_barrier_drop(const struct kfd_connection *c)
{
    struct kfd_connection **link = &barrier.gathered;
    while (*link && *link != c)
        link = &(*link)->after;
    if (*link) {
        *link = c->after;
        barrier.come--;
    }
}

/* ---- can anybody else come? ---- */

/* The process that has started this one; 0: it has ended. */
static pid_t find_parent(pid_t pid)
{
    struct proc_stat stat;
    proc_stat_read(pid, 0, &stat);
    return stat.parent;
}

/* True if the process has been started by the one that has started this server. */
static bool is_of_command(pid_t pid)
{
    while (pid > 1 && pid != getppid())
        pid = find_parent(pid);
    return pid == getppid();
}

static bool is_gathered(pid_t pid)
{
    for (const struct kfd_connection *c = barrier.gathered; c; c = c->after)
        if (c->pid == pid)
            return true;
    return false;
}

/* Finds the place in the system at which a process sleeps; "": that is not shown, or it does not
 * sleep. */
static void find_sleep(pid_t pid, char where[64])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/wchan", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(where, 64, file) || strcmp(where, "0") == 0)
        where[0] = '\0';
    if (file)
        fclose(file);
}

/* True if it waits for the end of a process that it has started. A shell's `wait` may suspend it
 * until a signal says so. */
static bool waits_for_child(pid_t pid)
{
    char where[64];
    find_sleep(pid, where);
    return strcmp(where, "do_wait") == 0 || strncmp(where, "sigsuspend", 10) == 0;
}

/* Some systems show it of no process. The command that has started this one sleeps. */
static void warn_unseen(void)
{
    static bool looked;
    char where[64];
    find_sleep(getppid(), where);
    if (!looked && !where[0])
        kfd_say("this system does not show what processes wait for (/proc/PID/wchan), so those "
                "that have come go on waiting when no others can come (--shared %u)",
                barrier.awaited);
    looked = true;
}

static bool may_come(pid_t pid)
{
    struct proc_stat stat;
    return pid != getpid() && pid != getppid() && is_of_command(pid) && !is_gathered(pid)
           && proc_stat_read(pid, 0, &stat) && stat.parent && stat.state != 'Z'
           && !waits_for_child(pid);
}

static bool any_may_come(void)
{
    DIR *folder = opendir("/proc");
    bool can_come = !folder;
    if (folder)
        for (const struct dirent *entry; !can_come && (entry = readdir(folder));) {
            pid_t pid = atoi(entry->d_name);
            can_come = pid && may_come(pid);
        }
    if (folder)
        closedir(folder);
    return can_come;
}

bool kfd_start_barrier_is_short(void)
{
    return barrier.gathered && !barrier.serves;
}

void kfd_start_barrier_look(void)
{
    bool before = barrier.was_stuck;
    warn_unseen();
    barrier.was_stuck = kfd_start_barrier_is_short() && !any_may_come();
    barrier.has_refused = barrier.was_stuck && before;
    if (!barrier.has_refused)
        return;
    kfd_say("%u of %u processes have come, and all others of the command wait for them or have "
            "ended (--shared %u)",
            barrier.come, barrier.awaited, barrier.awaited);
    run_ledger_report(EXIT_MISSED);
    end_wait();
}
