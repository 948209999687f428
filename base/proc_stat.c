/* Reads lines of /proc/PID/stat. The name of a process may hold spaces and parentheses, so fields
 * are counted from its last parenthesis on. */
#include "proc_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARENT_FIELD = 4, START_FIELD = 22 };

/* A field of the text that follows field 2, as a number. */
static uint64_t number_of_field(const char *text, int number)
{
    for (int field = 2; text && field < number; field++)
        text = strchr(text + 1, ' ');
    return text ? strtoull(text, NULL, 10) : 0;
}

bool proc_stat_read(pid_t pid, pid_t thread, struct proc_stat *stat)
{
    char path[64], line[1024];
    int length = snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (thread)
        length += snprintf(path + length, sizeof path - (size_t)length, "/task/%d", (int)thread);
    snprintf(path + length, sizeof path - (size_t)length, "/stat");
    FILE *file = fopen(path, "re");
    const char *text = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    *stat = (struct proc_stat){0};
    if (!text || text[1] != ' ')
        return false;
    *stat = (struct proc_stat){.state = text[2],
                               .parent = (pid_t)number_of_field(text, PARENT_FIELD),
                               .start = number_of_field(text, START_FIELD)};
    return true;
}

bool proc_thread_sleeps(pid_t pid, pid_t thread)
{
    struct proc_stat stat;
    return !proc_stat_read(pid, thread, &stat) || (stat.state != 'R' && stat.state != 'D');
}
