/* The files of a trace player, outside of the simulation's state: the list, and a reader for each
 * kernel under way. State is only how many events of which command were taken; a reader that is
 * elsewhere (after a state file was loaded) is opened again and reads up to there.
 *
 * One list a process, as there is one --play sass. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace_player_state.h"

static struct trace_files trace_files;

static struct trace_files *trace_files_get(void)
{
    return &trace_files;
}

static bool player_has_host(const struct trace_player *p)
{
    return trace_player_host_is_connected(p) && !trace_files.path;
}

static const char allow_remedy[] = "; '--allow-incomplete' plays what is there";

static void trace_files_report(void *context, bool is_error, const char *path, uint64_t line,
                               const char *text)
{
    char place[24] = "";
    if (context && !is_error) /* the file is opened again, and warns then */
        return;
    if (line)
        snprintf(place, sizeof place, ":%llu", (unsigned long long)line);
    if (!is_error)
        fprintf(stderr, "%s%s: warning: %s\n", path, place, text);
    else if (!*trace_files.error)
        snprintf(trace_files.error, sizeof trace_files.error, "%s%s: %s", path, place, text);
}

static void trace_file_close(struct trace_file *f)
{
    if (f->is_open)
        itrace_close(&f->trace);
    f->is_open = false;
}

static void trace_files_open(void)
{
    trace_files.path = option_text("play sass");
    trace_files.skips_cache = option_flag("no-cache");
    trace_files.allows_incomplete = option_flag("allow-incomplete");
}

/* Before a platform begins: forgets the one before. */
static void trace_files_close(void)
{
    for (unsigned i = 0; i < TRACE_FILES; i++)
        trace_file_close(&trace_files.file[i]);
    if (trace_files.has_list)
        itrace_list_release(&trace_files.list);
    trace_files.has_list = false;
    trace_files.reported = 0;
    trace_files.error[0] = '\0';
}

/* Kernels whose files cannot be read: an error, or they are left out. */
static bool trace_files_all_there(const char *path)
{
    struct itrace_list *list = &trace_files.list;
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < list->count; i++) {
        struct itrace_command *c = &list->commands[i];
        char text[300];
        if (!c->name || access(c->path, R_OK) == 0) {
            list->commands[kept++] = *c;
            continue;
        }
        bool allowed = trace_files.allows_incomplete;
        snprintf(text, sizeof text, "'%.160s' cannot be read: %s%s", c->name, strerror(errno),
                 allowed ? "; left out, and the kernels behind it are numbered without it"
                         : allow_remedy);
        trace_files_report(NULL, !allowed, path, c->line, text);
        good = good && allowed;
        list->left_out++;
        itrace_command_release(c);
    }
    list->count = kept;
    if (!good || itrace_list_kernels(list))
        return good;
    trace_files_report(NULL, true, path, 0,
                       "none of its kernels can be read: nothing is left to be played");
    return false;
}

/* False: trace_files.error has the reason. */
static bool trace_files_list(const char *path)
{
    const struct itrace_list_reader reader = {.path = path,
                                              .report = trace_files_report,
                                              .tolerant = trace_files.allows_incomplete,
                                              .remedy = allow_remedy};
    if (trace_files.has_list)
        return true;
    trace_files.has_list =
        itrace_list_read(&trace_files.list, &reader) && trace_files_all_there(path);
    if (!trace_files.has_list)
        itrace_list_release(&trace_files.list);
    return trace_files.has_list;
}

/* The reader of command `command` at its beginning; NULL: trace_files.error. `plainly`: without a
 * look for a binary copy, for which all of the text is read, and without warnings. */
static struct itrace *trace_file_open(uint32_t slot, uint32_t command, bool plainly)
{
    struct trace_file *f = &trace_files.file[slot];
    trace_file_close(f);
    struct itrace_options options = {.report = trace_files_report,
                                     .context = plainly ? f : NULL,
                                     .use_cache = !plainly && !trace_files.skips_cache,
                                     .remedy = allow_remedy,
                                     .said = &trace_files.reported,
                                     .demand = trace_files.allows_incomplete ? ITRACE_GAPS_ALLOWED
                                                                             : ITRACE_GAPS_REFUSED};
    f->is_open = true;
    f->command = command;
    f->events = 0;
    f->span = NULL;
    if (itrace_open(&f->trace, trace_files.list.commands[command].path, &options))
        return &f->trace;
    trace_file_close(f);
    return NULL;
}

/* The reader of command `command`, `events` events on from its beginning; NULL: trace_files.error.
 */
static struct itrace *trace_file_at(uint32_t slot, uint32_t command, uint64_t events)
{
    struct trace_file *f = &trace_files.file[slot];
    if (f->is_open && f->command == command && f->events == events)
        return &f->trace;
    if (!trace_file_open(slot, command, false))
        return NULL;
    for (; f->events < events; f->events++)
        itrace_next(&f->trace);
    return &f->trace;
}

/* The next event of an open reader. */
static enum itrace_event trace_file_next(uint32_t slot)
{
    trace_files.file[slot].events++;
    return itrace_next(&trace_files.file[slot].trace);
}
