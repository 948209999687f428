/* The state of processes and threads of the host, as Linux shows it below /proc. */
#ifndef HEDDLE_BASE_PROC_STAT_H
#define HEDDLE_BASE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Fields of /proc/PID/stat, proc(5). */
struct proc_stat {
    char state; /* 'R' runs, 'D' waits for the disk, 'S' sleeps, 'Z' has ended, ... */
    pid_t parent;
    uint64_t start; /* since the system was started, in ticks of 10 ms */
};

/* Reads the state of a process or, unless `thread` is 0, of one of its threads. False: it does not
 * exist any more, and *stat is 0. */
bool proc_stat_read(pid_t pid, pid_t thread, struct proc_stat *stat);

/* True if the thread sleeps or has ended; false if it runs or waits for the disk. */
bool proc_thread_sleeps(pid_t pid, pid_t thread);

#endif
