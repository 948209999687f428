/* A line is the name of a trace, or a copy to the device: a word and fields with commas between
 * them. */
#include "itrace_list.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"

#include "itrace_memory.h"
#include "itrace_text.h"

/* Wrong lines that are named: what has more is no list. */
#define WRONG_MAX 8
#define COPY      "MemcpyHtoD,"

static struct itrace_command *add_command(struct itrace_list *list,
                                          const struct itrace_command *command)
{
    grow_list(list->commands, list->count + 1, list->capacity, ITRACE_MEMORY);
    list->commands[list->count] = *command;
    return &list->commands[list->count++];
}

/* "MemcpyHtoD,0xADDRESS,BYTES". A line of another form leaves *wrong as it is. A copy that cannot
 * be sets *wrong: no card has so much memory, and no address lies after the last one. */
static bool take_copy(struct itrace_list *list, const char *text, uint64_t line, const char **wrong)
{
    struct itrace_command c = {.kind = ITRACE_COMMAND_WRITE, .line = line};
    char address[24];
    size_t size = strlen(COPY);
    if (strncmp(text, COPY, size) != 0)
        return false;
    const char *at = text + size, *p = address;
    size = strcspn(at, ",");
    if (size >= sizeof address || at[size] != ',')
        return false;
    snprintf(address, sizeof address, "%.*s", (int)size, at);
    at += size + 1;
    if (!itrace_parse_address(&p, &c.address) || *p || !itrace_parse_decimal(&at, &c.bytes) || *at)
        return false;
    if (c.bytes > ITRACE_BYTES_MAX || c.bytes > UINT64_MAX - c.address) {
        *wrong = "more than 1 TiB, or behind the last address: no card has that";
        return false;
    }
    c.text = itrace_copy_text(text, strlen(text));
    add_command(list, &c);
    return true;
}

/* kernel-1.traceg, kernel-1.tracez, kernel-1-ctx_0x55dfecb31820.trace.xz, kernel-mem-1.traceg.zst
 */
static bool is_trace_name(const char *text)
{
    const char *dot = strstr(text, ".trace");
    if (strncmp(text, "kernel-", 7) != 0 || !dot || strpbrk(text, " \t,"))
        return false;
    dot += strlen(".trace");
    dot += *dot == 'g' || *dot == 'z';
    static const char *const packed[] = {"", ".xz", ".zst", ".gz", ".bz2"}; /* not all are read */
    for (size_t i = 0; i < ARRAY_COUNT(packed); i++)
        if (strcmp(dot, packed[i]) == 0)
            return true;
    return false;
}

static void add_kernel(struct itrace_list *list, const char *list_path, const char *name,
                       uint64_t line)
{
    const char *slash = strrchr(list_path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - list_path) + 1 : 0;
    struct itrace_command *command =
        add_command(list, &(struct itrace_command){.kind = ITRACE_COMMAND_KERNEL, .line = line});
    command->name = itrace_copy_text(name, strlen(name));
    command->path = itrace_allocate(folder + strlen(name) + 1, 1);
    memcpy(command->path, list_path, folder);
    memcpy(command->path + folder, name, strlen(name));
}

/* Calls that tracers note in addition to copies and kernels: of NCCL, whose kernels are in lists of
 * their own, and copies between cards. They take no time. */
static bool is_foreign_call(const char *line)
{
    return strncmp(line, "nccl", 4) == 0
           || (strncmp(line, "Memcpy", 6) == 0 && strncmp(line, COPY, strlen(COPY)) != 0);
}

static void leave_call_out(struct itrace_list *list, const struct itrace_list_reader *reader,
                           const char *line, uint64_t number)
{
    char text[240];
    snprintf(text, sizeof text,
             "'%.80s' is neither a copy of one card and the host nor a kernel; such calls are left "
             "out, and take no time",
             line);
    if (!list->calls++)
        reader->report(reader->context, false, reader->path, number, text);
    list->left_out++;
}

/* One line that is not empty. False: it is neither a command nor the name of a trace, or a command
 * that cannot be, which is always an error. */
static bool take_line(struct itrace_list *list, const struct itrace_list_reader *reader, char *line,
                      uint64_t number)
{
    const char *wrong = NULL;
    char text[240];
    if (take_copy(list, line, number, &wrong))
        return true;
    if (!wrong && is_trace_name(line)) {
        add_kernel(list, reader->path, line, number);
        return true;
    }
    if (!wrong && is_foreign_call(line)) {
        leave_call_out(list, reader, line, number);
        return true;
    }
    bool is_error = wrong || !reader->tolerant;
    bool can_be_mended = is_error && !wrong && reader->remedy;
    if (!wrong)
        wrong = "neither 'MemcpyHtoD,0xADDRESS,BYTES' nor the name of a trace";
    list->left_out++;
    snprintf(text, sizeof text, "%s%s: '%.80s'%s", wrong, is_error ? "" : ", left out", line,
             can_be_mended ? reader->remedy : "");
    reader->report(reader->context, is_error, reader->path, number, text);
    return !is_error;
}

/* All lines, or up to the last wrong one that is named. 1: the file is a trace; 0: at its end; -1:
 * it cannot be read, input->error. *good: no line was wrong. */
static int take_lines(struct itrace_list *list, const struct itrace_list_reader *reader,
                      struct itrace_input *input, bool *good)
{
    char *line;
    size_t size;
    unsigned wrong = 0;
    int got;
    while ((got = itrace_input_line(input, &line, &size)) > 0) {
        while (size > 0 && itrace_is_blank(line[size - 1]))
            line[--size] = '\0';
        if (list->count == 0 && line[0] == '-')
            return 1;
        if (size == 0 || take_line(list, reader, line, input->line))
            continue;
        *good = false;
        if (++wrong == WRONG_MAX)
            return 0;
    }
    return got;
}

size_t itrace_list_kernels(const struct itrace_list *list)
{
    size_t kernels = 0;
    for (size_t i = 0; i < list->count; i++)
        kernels += list->commands[i].kind == ITRACE_COMMAND_KERNEL;
    return kernels;
}

bool itrace_list_read(struct itrace_list *list, const struct itrace_list_reader *reader)
{
    struct itrace_input input;
    char text[200];
    bool good = true;
    const char *slash = strrchr(reader->path, '/');
    *list = (struct itrace_list){0};
    int got =
        itrace_input_open(&input, reader->path) ? take_lines(list, reader, &input, &good) : -1;
    if (got > 0)
        add_kernel(list, reader->path, slash ? slash + 1 : reader->path, 0);
    if (got < 0) {
        snprintf(text, sizeof text, "cannot be read: %s", input.error);
        reader->report(reader->context, true, reader->path, 0, text);
    } else if (good && (list->count == 0 || (list->left_out && !itrace_list_kernels(list)))) {
        reader->report(reader->context, true, reader->path, 0,
                       list->count ? "names no kernel that can be read: what is left are copies"
                                   : "names no kernel: this is neither a list nor a trace");
        good = false;
    }
    itrace_input_close(&input);
    return got >= 0 && good;
}

void itrace_command_release(struct itrace_command *command)
{
    itrace_free(command->name);
    itrace_free(command->path);
    itrace_free(command->text);
}

void itrace_list_release(struct itrace_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        itrace_command_release(&list->commands[i]);
    itrace_free(list->commands);
    *list = (struct itrace_list){0};
}
