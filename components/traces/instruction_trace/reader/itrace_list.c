/* A line is the name of a trace, or a word and fields with commas between them: a table says what
 * fields each word has. */
#include "components/traces/instruction_trace/reader/itrace_list.h"

#include <stdio.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/reader/itrace_text.h"

#define FIELDS_MOST 5
/* Wrong lines that are named: what has more is no list. */
#define MOST_WRONG  8

enum field { NONE, ADDRESS, SOURCE, BYTES, QUEUE, GPU, PEER, ON, AWAITED, MANAGED };

static const struct word {
    const char *word;
    enum itrace_command_kind kind;
    bool is_numbered;
    unsigned least; /* fields that must be there */
    enum field fields[FIELDS_MOST];
} words[] = {
    {"MemcpyHtoD", ITRACE_COMMAND_WRITE, true, 2, {ADDRESS, BYTES, QUEUE}},
    {"MemcpyDtoH", ITRACE_COMMAND_READ, true, 2, {ADDRESS, BYTES, QUEUE}},
    {"MemcpyDtoD", ITRACE_COMMAND_COPY, true, 3, {ADDRESS, SOURCE, BYTES, QUEUE}},
    {"Memset", ITRACE_COMMAND_FILL, true, 2, {ADDRESS, BYTES, QUEUE}},
    {"Malloc", ITRACE_COMMAND_MALLOC, false, 2, {ADDRESS, BYTES, GPU, MANAGED}},
    {"Free", ITRACE_COMMAND_FREE, false, 1, {ADDRESS}},
    {"Stream", ITRACE_COMMAND_STREAM, false, 2, {QUEUE, GPU}},
    {"StreamEnd", ITRACE_COMMAND_STREAM_END, false, 1, {QUEUE}},
    {"Peer", ITRACE_COMMAND_PEER, false, 3, {GPU, PEER, ON}},
    {"Mark", ITRACE_COMMAND_MARK, true, 1, {QUEUE}},
    {"After", ITRACE_COMMAND_AFTER, true, 2, {QUEUE, AWAITED}},
    {"Wait", ITRACE_COMMAND_WAIT, false, 1, {AWAITED}},
    {"Query", ITRACE_COMMAND_QUERY, false, 1, {AWAITED}},
    {"Poll", ITRACE_COMMAND_POLL, false, 0, {NONE}},
};

static struct itrace_command *add(struct itrace_list *list, const struct itrace_command *command)
{
    list->commands =
        itrace_reserve(list->commands, list->count + 1, &list->capacity, sizeof *list->commands);
    list->commands[list->count] = *command;
    return &list->commands[list->count++];
}

static bool take_small(const char **at, uint32_t *to)
{
    uint64_t value;
    if (!itrace_take_decimal(at, &value) || value > UINT32_MAX)
        return false;
    *to = (uint32_t)value;
    return true;
}

static bool take_field(enum field field, const char *at, struct itrace_command *c)
{
    uint32_t flag = 2;
    switch (field) {
    case ADDRESS:
        return itrace_take_address(&at, &c->address) && !*at;
    case SOURCE:
        return itrace_take_address(&at, &c->source) && !*at;
    case BYTES:
        return itrace_take_decimal(&at, &c->bytes) && !*at;
    case AWAITED:
        return itrace_take_decimal(&at, &c->awaited) && !*at;
    case QUEUE:
        return take_small(&at, &c->queue) && !*at;
    case GPU:
        return take_small(&at, &c->gpu) && !*at;
    case PEER:
        return take_small(&at, &c->peer) && !*at;
    case ON:
        if (!take_small(&at, &flag) || *at || flag > 1)
            return false;
        c->on = flag;
        return true;
    case MANAGED:
        c->managed = strcmp(at, "managed") == 0;
        return c->managed;
    default:
        return false;
    }
}

/* The fields behind the word, from the first comma on. */
static bool take_fields(const struct word *w, const char *at, struct itrace_command *c)
{
    char field[32];
    unsigned count = 0;
    while (*at == ',') {
        size_t size = strcspn(++at, ",");
        if (count == FIELDS_MOST || size >= sizeof field)
            return false;
        snprintf(field, sizeof field, "%.*s", (int)size, at);
        if (!take_field(w->fields[count++], field, c))
            return false;
        at += size;
    }
    return !*at && count >= w->least;
}

/* No card has so much memory, and no address lies behind the last. */
static bool has_possible_size(const struct itrace_command *c)
{
    uint64_t last = UINT64_MAX - (c->address > c->source ? c->address : c->source);
    return c->bytes <= ITRACE_MOST_BYTES && c->bytes <= last;
}

/* A command that waits, waits for commands before it. */
static bool is_awaitable(const struct itrace_list *list, const struct itrace_command *c)
{
    return (c->kind != ITRACE_COMMAND_AFTER && c->kind != ITRACE_COMMAND_WAIT
            && c->kind != ITRACE_COMMAND_QUERY)
           || (c->awaited > 0 && c->awaited <= list->numbers);
}

/* A line that is no command leaves *wrong as it is; a command that cannot be sets it. */
static bool take_command(struct itrace_list *list, const char *text, uint64_t line,
                         const char **wrong)
{
    size_t size = strcspn(text, ",");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct itrace_command c = {.kind = words[i].kind, .line = line};
        if (strlen(words[i].word) != size || strncmp(words[i].word, text, size) != 0)
            continue;
        if (!take_fields(&words[i], text + size, &c) || !is_awaitable(list, &c))
            return false;
        if (!has_possible_size(&c)) {
            *wrong = "more than 1 TiB, or behind the last address: no card has that";
            return false;
        }
        c.number = words[i].is_numbered ? ++list->numbers : 0;
        c.text = itrace_copy_text(text, strlen(text));
        add(list, &c);
        return true;
    }
    return false;
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
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
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
        add(list, &(struct itrace_command){.kind = ITRACE_COMMAND_KERNEL, .line = line});
    command->number = ++list->numbers;
    command->name = itrace_copy_text(name, strlen(name));
    command->path = itrace_allocate(folder + strlen(name) + 1, 1);
    memcpy(command->path, list_path, folder);
    memcpy(command->path + folder, name, strlen(name));
}

/* Calls that tracers note beside copies and kernels: of NCCL, whose kernels stand in lists of their
 * own, and copies between cards. They take no time. */
static bool is_foreign_call(const char *line)
{
    size_t size = strcspn(line, ",");
    if (strncmp(line, "nccl", 4) == 0)
        return true;
    if (strncmp(line, "Memcpy", 6) != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].word) == size && strncmp(words[i].word, line, size) == 0)
            return false;
    return true;
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

/* One line that is not empty. false: it is neither a command nor the name of a trace, or a command
 * that cannot be, which is always an error. */
static bool take_line(struct itrace_list *list, const struct itrace_list_reader *reader, char *line,
                      uint64_t number)
{
    const char *wrong = NULL;
    char text[240];
    if (take_command(list, line, number, &wrong))
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
    list->left_out++;
    snprintf(text, sizeof text, "%s%s: '%.80s'%s",
             wrong ? wrong : "neither 'MemcpyHtoD,0xADDRESS,BYTES' nor the name of a trace",
             is_error ? "" : ", left out", line,
             is_error && !wrong && reader->remedy ? reader->remedy : "");
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
        if (++wrong == MOST_WRONG)
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
