/* The ledger of a run's processes. Lines: "open PID NAME"; of process NUMBER: "status NUMBER
 * STATUS", "done NUMBER", "part NUMBER". A line that is none of these is passed over. */
#define _GNU_SOURCE /* memfd_create */
#include "run_ledger.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/number.h"

enum { LINE_BYTES = 128 };

static unsigned number; /* this process's; 0: it has not opened the platform */

static int open_ledger(void)
{
    const char *path = getenv(RUN_LEDGER_ENV);
    return path && *path ? open(path, O_RDWR | O_APPEND | O_CLOEXEC) : -1;
}

static void add_line(int file, const char *line)
{
    size_t size = strlen(line);
    /* A failure here could be reported to no one. */
    ssize_t written = write(file, line, size);
    (void)written;
}

static void say(const char *line)
{
    int file = open_ledger();
    if (file < 0)
        return;
    add_line(file, line);
    close(file);
}

/* ---- lines ---- */

static bool parse(char *text, struct run_ledger_place *place, struct run_ledger_line *line)
{
    int name = 0;
    *line = (struct run_ledger_line){0};
    if (sscanf(text, "open %ld %n", &line->pid, &name) == 1 && name) {
        line->kind = RUN_LEDGER_OPENED;
        line->process = ++place->opened;
        snprintf(line->name, sizeof line->name, "%s", text + name);
        return true;
    }
    if (sscanf(text, "status %u %d", &line->process, &line->status) == 2)
        line->kind = RUN_LEDGER_STATUS;
    else if (sscanf(text, "done %u", &line->process) == 1)
        line->kind = RUN_LEDGER_DONE;
    else if (sscanf(text, "part %u", &line->process) == 1)
        line->kind = RUN_LEDGER_PARTIAL;
    else
        return false;
    return true;
}

bool run_ledger_next(int fd, struct run_ledger_place *place, struct run_ledger_line *line)
{
    char text[LINE_BYTES + 1], *end;
    ssize_t got;
    while ((got = pread(fd, text, LINE_BYTES, place->offset)) > 0) {
        text[got] = '\0';
        end = strchr(text, '\n');
        if (!end && got < LINE_BYTES)
            return false; /* its end is not written yet */
        place->offset += end ? end - text + 1 : got;
        if (end) {
            *end = '\0';
            if (parse(text, place, line))
                return true;
        }
    }
    return false;
}

/* ---- for processes ---- */

/* The name of the program's file, in one line. */
static void find_name(char name[RUN_LEDGER_NAME])
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[max(size, 0)] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(name, RUN_LEDGER_NAME, "%.*s", RUN_LEDGER_NAME - 1, slash ? slash + 1 : path);
    for (char *c = name; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
}

/* Lines "open" before `end`. */
static unsigned count_opened(int file, off_t end)
{
    struct run_ledger_place place = {0};
    struct run_ledger_line line;
    while (place.offset < end && run_ledger_next(file, &place, &line))
        continue;
    return place.opened;
}

unsigned run_ledger_open(void)
{
    char line[RUN_LEDGER_NAME + 32], name[RUN_LEDGER_NAME];
    int file = open_ledger();
    number = 1;
    if (file < 0)
        return number;
    find_name(name);
    snprintf(line, sizeof line, "open %ld %s\n", (long)getpid(), name);
    add_line(file, line);
    number = count_opened(file, lseek(file, 0, SEEK_CUR));
    close(file);
    return number;
}

void run_ledger_report(enum exit_status status)
{
    char line[48];
    if (status == EXIT_CLEAN)
        return;
    snprintf(line, sizeof line, "status %u %d\n", number, (int)status);
    say(line);
}

void run_ledger_close(bool is_partial)
{
    char line[32];
    snprintf(line, sizeof line, "%s %u\n", is_partial ? "part" : "done", number);
    say(line);
}

long run_ledger_owner(void)
{
    const char *path = getenv(RUN_LEDGER_ENV);
    long owner = 0;
    if (!path || sscanf(path, "/proc/%ld/", &owner) != 1 || access(path, F_OK) != 0)
        return 0;
    return owner;
}

/* ---- for `heddle run` ---- */

int run_ledger_begin(void)
{
    char path[64];
    int file = memfd_create("heddle run", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), file);
    if (setenv(RUN_LEDGER_ENV, path, 1) == 0)
        return file;
    close(file);
    return -1;
}
