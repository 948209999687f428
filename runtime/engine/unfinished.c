/* Files that a signal removes. Paths are in a static table, which a handler of signals may read: a
 * slot is in use before its file exists, until it is gone. */
#include "unfinished.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

enum { FILES_MAX = 8 };

static struct {
    volatile sig_atomic_t used;
    char path[PATH_MAX];
} slots[FILES_MAX];

static void remove_all(int signal_number)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (slots[i].used)
            unlink(slots[i].path);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void unfinished_guard(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGQUIT};
    struct sigaction before, action = {.sa_handler = remove_all};
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

int unfinished_add(const char *path)
{
    for (int i = 0; i < FILES_MAX && strlen(path) < PATH_MAX; i++) {
        if (slots[i].used)
            continue;
        snprintf(slots[i].path, sizeof slots[i].path, "%s", path);
        slots[i].used = 1;
        return i;
    }
    return -1;
}

void unfinished_forget(int number)
{
    if (number >= 0)
        slots[number].used = 0;
}
