/* Copies are "MemcpyHtoD,0xADDRESS,BYTES"; kernels are names of trace files. */
#include "components/sass_trace/sass_list.h"

#include <stdio.h>
#include <string.h>

#include "components/sass_trace/sass_memory.h"
#include "components/sass_trace/sass_text.h"

static struct sass_command *add(struct sass_list *list, uint64_t line)
{
    list->commands =
        sass_reserve(list->commands, list->count + 1, &list->capacity, sizeof *list->commands);
    struct sass_command *command = &list->commands[list->count++];
    *command = (struct sass_command){.line = line};
    return command;
}

static bool take_copy(struct sass_list *list, const char *text, uint64_t line)
{
    char address[32];
    const char *comma = strchr(text, ','), *at = address;
    uint64_t from, bytes;
    if (!comma || (size_t)(comma - text) >= sizeof address)
        return false;
    snprintf(address, sizeof address, "%.*s", (int)(comma - text), text);
    if (!sass_take_address(&at, &from) || *at)
        return false;
    at = comma + 1;
    if (!sass_take_decimal(&at, &bytes) || *at)
        return false;
    struct sass_command *command = add(list, line);
    command->address = from;
    command->bytes = bytes;
    return true;
}

/* kernel-1.traceg, kernel-1-ctx_0x55dfecb31820.trace.xz, kernel-mem-1.traceg.zst */
static bool is_trace_name(const char *text)
{
    const char *dot = strstr(text, ".trace");
    if (strncmp(text, "kernel-", 7) != 0 || !dot || strpbrk(text, " \t,"))
        return false;
    dot += strlen(".trace");
    dot += *dot == 'g';
    return *dot == '\0' || strcmp(dot, ".xz") == 0 || strcmp(dot, ".zst") == 0;
}

static void add_kernel(struct sass_list *list, const char *list_path, const char *name,
                       uint64_t line)
{
    const char *slash = strrchr(list_path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - list_path) + 1 : 0;
    struct sass_command *command = add(list, line);
    command->name = sass_copy_text(name, strlen(name));
    command->path = sass_allocate(folder + strlen(name) + 1, 1);
    memcpy(command->path, list_path, folder);
    memcpy(command->path + folder, name, strlen(name));
}

bool sass_list_read(struct sass_list *list, const char *path, sass_report *report, void *context)
{
    struct sass_input input;
    char *line, text[200];
    size_t size;
    int got = -1;
    *list = (struct sass_list){0};
    if (sass_input_open(&input, path))
        while ((got = sass_input_line(&input, &line, &size)) > 0) {
            while (size > 0 && sass_is_blank(line[size - 1]))
                line[--size] = '\0';
            if (size == 0)
                continue;
            if (list->count == 0 && line[0] == '-') {
                const char *slash = strrchr(path, '/');
                add_kernel(list, path, slash ? slash + 1 : path, 0);
                got = 0;
                break;
            }
            if (strncmp(line, "MemcpyHtoD,", 11) == 0 && take_copy(list, line + 11, input.line))
                continue;
            if (is_trace_name(line)) {
                add_kernel(list, path, line, input.line);
                continue;
            }
            snprintf(text, sizeof text,
                     "neither 'MemcpyHtoD,0xADDRESS,BYTES' nor the name of a trace, left out: "
                     "'%.80s'",
                     line);
            report(context, false, path, input.line, text);
        }
    if (got < 0) {
        snprintf(text, sizeof text, "cannot be read: %s", input.error);
        report(context, true, path, 0, text);
    } else if (list->count == 0) {
        report(context, true, path, 0, "names no kernel: this is neither a list nor a trace");
        got = -1;
    }
    sass_input_close(&input);
    return got >= 0;
}

void sass_list_release(struct sass_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sass_free(list->commands[i].name);
        sass_free(list->commands[i].path);
    }
    sass_free(list->commands);
    *list = (struct sass_list){0};
}
