/* See view_picture.h. */
#define _GNU_SOURCE /* memfd_create, posix_spawnattr_setschedpolicy */
#include "codegen/command/view_picture.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PICTURE_BYTES ((size_t)64 << 20)
#define FIXED_WORDS   12

static size_t add(struct view_picture *p, const char *word)
{
    p->words.items[p->words.count] = word;
    return p->words.count++;
}

void view_picture_open(struct view_picture *p, struct command *c)
{
    const struct options *o = c->options;
    size_t most = FIXED_WORDS + 2 * (o->set.count + o->include.count);
    *p = (struct view_picture){0};
    p->words.items = arena_alloc(c->arena, most * sizeof *p->words.items);
    add(p, "heddle");
    add(p, "dot");
    add(p, o->arguments.items[0]);
    if (o->platform) {
        add(p, "--platform");
        add(p, o->platform);
    }
    for (size_t i = 0; i < o->set.count; i++) {
        add(p, "--set");
        add(p, o->set.items[i]);
    }
    for (size_t i = 0; i < o->include.count; i++) {
        add(p, "-I");
        add(p, o->include.items[i]);
    }
    if (o->allow_incoherent)
        add(p, "--allow-incoherent");
    add(p, "--svg");
    add(p, "--stats");
    p->statistics = add(p, NULL);
    add(p, "--measure");
    p->measure = add(p, NULL);
}

static char *read_all(int fd, size_t *size)
{
    size_t room = 1 << 16;
    char *text = malloc(room);
    *size = 0;
    for (ssize_t got; text && (got = read(fd, text + *size, room - *size)) > 0;) {
        *size += (size_t)got;
        if (*size < room)
            continue;
        char *more = room < PICTURE_BYTES ? realloc(text, 2 * room) : NULL;
        if (!more)
            free(text);
        text = more;
        room *= 2;
    }
    return text;
}

/* With signals as they are for a new process, and idle scheduling. */
static bool start(char *const *words, int to, pid_t *child)
{
    const struct sched_param parameter = {0};
    sigset_t none;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setschedpolicy(&attributes, SCHED_IDLE);
    posix_spawnattr_setschedparam(&attributes, &parameter);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSCHEDULER);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool good = posix_spawn(child, "/proc/self/exe", &actions, &attributes, words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

static char *run(char *const *words, size_t *size)
{
    int ends[2], status = -1;
    pid_t child;
    char *text = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    bool started = start(words, ends[1], &child);
    close(ends[1]);
    if (started) {
        text = read_all(ends[0], size);
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    if (status == 0 && text && *size)
        return text;
    free(text);
    return NULL;
}

/* From the document on, without what is for files. */
static char *strip(char *text, size_t *size)
{
    char *svg = text ? memmem(text, *size, "<svg", 4) : NULL;
    if (!svg)
        return text;
    *size -= (size_t)(svg - text);
    memmove(text, svg, *size);
    return text;
}

char *view_picture_draw(const struct view_picture *p, json_t *statistics, const char *measure,
                        size_t *size)
{
    char path[64], *svg = NULL;
    int file = memfd_create("heddle statistics", MFD_CLOEXEC);
    char **words = calloc(p->words.count + 1, sizeof *words);
    if (file >= 0 && words && json_dumpfd(statistics, file, JSON_COMPACT) == 0) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), file);
        memcpy(words, p->words.items, p->words.count * sizeof *words);
        words[p->statistics] = path;
        words[p->measure] = (char *)(uintptr_t)measure;
        svg = strip(run(words, size), size);
    }
    free(words);
    if (file >= 0)
        close(file);
    return svg;
}
