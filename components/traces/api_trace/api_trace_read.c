/* Lines into calls. A line is a head and keys in a fixed order, so a value may contain whatever
 * does not look like the next key: names of kernels have commas in them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"

#include "api_trace_internal.h"

static const struct api_trace_form *find_form(const char *line)
{
    size_t size = strcspn(line, ":");
    while (size > 0 && line[size - 1] == ' ')
        size--;
    for (size_t i = 0; i < api_trace_form_count; i++)
        if (strlen(api_trace_forms[i].head) == size
            && memcmp(api_trace_forms[i].head, line, size) == 0)
            return &api_trace_forms[i];
    return NULL;
}

/* Finds ", KEY: " of one of the next keys: of the first, or of one behind optional keys. */
static char *find_next(char *text, const struct api_trace_key *keys)
{
    for (const struct api_trace_key *key = keys; key->name; key++) {
        size_t size = strlen(key->name);
        for (char *at = strstr(text, ", "); at; at = strstr(at + 1, ", "))
            if (strncmp(at + 2, key->name, size) == 0 && at[2 + size] == ':')
                return at;
        if (!key->is_optional)
            return NULL;
    }
    return NULL;
}

/* "KEY: value"; `text` then points after the value and the comma. */
static bool read_key(struct api_trace_reader *r, const struct api_trace_key *key, char **text,
                     struct api_trace_call *call)
{
    size_t size = strlen(key->name);
    char *value = *text + size + 1;
    if (strncmp(*text, key->name, size) != 0 || value[-1] != ':')
        return (key->is_optional && **text == 0)
               || api_trace_fail(r, "expected '%s: ', found '%.40s'", key->name,
                                 **text != 0 ? *text : "the end of the line");
    value += *value == ' ';
    char *next = find_next(value, key + 1);
    if (next) {
        *next = 0;
        *text = next + 2;
    } else {
        *text = value + strlen(value);
    }
    return api_trace_read_value(r, key, value, call);
}

static bool read_call(struct api_trace_reader *r, char *line, struct api_trace_call *call)
{
    const struct api_trace_form *form = find_form(line);
    if (!form)
        return api_trace_fail(r, "'%.60s' is no call of a trace", line);
    if (form->since > r->trace->version)
        return api_trace_fail(r, "'%s' is not in %s: begin the trace with '%s%" PRIu32 "'",
                              form->head,
                              r->trace->version == 0 ? "the original grammar" : "version 1",
                              API_TRACE_HEADER, form->since);
    *call =
        (struct api_trace_call){.kind = form->kind, .is_async = form->is_async, .line = r->line};
    char *text = line + strlen(form->head);
    text += strspn(text, " ");
    text += *text == ':';
    text += strspn(text, " ");
    for (const struct api_trace_key *key = form->keys; key->name; key++)
        if (!read_key(r, key, &text, call))
            return false;
    return *text == 0 || api_trace_fail(r, "'%.40s' stands behind the call", text);
}

/* The first line may announce our extension. */
static bool read_header(struct api_trace_reader *r, const char *line)
{
    uint64_t version = 0;
    size_t size = strlen(API_TRACE_HEADER);
    if (strncmp(line, API_TRACE_HEADER, size) != 0)
        return false;
    if (!api_trace_number(line + size, strlen(line + size), UINT32_MAX, &version) || version == 0)
        api_trace_fail(r, "'%.40s' is no version", line + size);
    else if (version > API_TRACE_VERSION)
        api_trace_fail(r, "the trace has version %" PRIu64 ", this reader knows up to %d", version,
                       API_TRACE_VERSION);
    bool is_known = version > 0 && version < API_TRACE_VERSION;
    r->trace->version =
        is_known ? (uint32_t)version : API_TRACE_VERSION; /* continue after mistakes */
    return true;
}

struct call_list {
    struct api_trace_call *items;
    uint32_t count, capacity;
};

static void read_line(struct api_trace_reader *r, char *line, struct call_list *list,
                      bool *is_first)
{
    struct api_trace_call call;
    if (*line == 0 || *line == '#')
        return;
    bool first = *is_first;
    *is_first = false;
    if (first && read_header(r, line))
        return;
    if (!read_call(r, line, &call) || !api_trace_follow(r, &call))
        return;
    list->items = region_grow(&r->trace->memory, list->items, list->count, &list->capacity,
                              sizeof *list->items);
    list->items[list->count++] = call;
}

bool api_trace_parse(struct api_trace *trace, const char *text, size_t size,
                     const struct api_trace_sink *sink)
{
    *trace = (struct api_trace){.folder = "", .memory = {.contents = "an API trace"}};
    struct api_trace_reader r = {.trace = trace, .sink = sink};
    struct call_list list = {0};
    bool is_first = true;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;
        size_t used = length;
        while (used > 0 && (text[at + used - 1] == '\r' || text[at + used - 1] == ' '))
            used--;
        r.line++;
        if (memchr(text + at, 0, used)) {
            api_trace_fail(&r, "there is a zero byte in the line: this is no text");
        } else {
            /* the values of a call stay where they are, each ended by a zero in place of its comma
             */
            char *line = region_take(&trace->memory, used + 1);
            memcpy(line, text + at, used);
            read_line(&r, line, &list, &is_first);
        }
        at += length + 1;
    }
    trace->calls = list.items;
    trace->call_count = list.count;
    return !r.failed;
}

static const char *join_path(struct region *memory, const char *folder, const char *file)
{
    size_t head = strlen(folder), tail = strlen(file);
    bool slash = head > 0 && folder[head - 1] != '/';
    char *path = region_take(memory, head + tail + 2);
    memcpy(path, folder, head);
    if (slash)
        path[head] = '/';
    memcpy(path + head + slash, file, tail);
    return path;
}

/* Code objects have no size in the trace. */
static bool has_size(const struct api_trace_call *call)
{
    return call->kind != API_TRACE_CODE_OBJECT && call->kind != API_TRACE_MODULE_LOAD;
}

/* Each file of a call is there and long enough. */
static void check_file(struct api_trace_reader *r, const struct api_trace_call *call)
{
    struct stat status;
    r->line = call->line;
    const char *path = join_path(&r->trace->memory, r->trace->folder, call->file);
    if (stat(path, &status) != 0)
        api_trace_fail(r, "cannot read the file '%.200s': %s", call->file, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        api_trace_fail(r, "'%.200s' is not a file", call->file);
    else if (has_size(call) && (uint64_t)status.st_size < api_trace_bytes(call))
        api_trace_fail(r, "the file '%.200s' has %lld bytes, the copy %" PRIu64, call->file,
                       (long long)status.st_size, api_trace_bytes(call));
}

static bool read_text(struct api_trace_reader *r, const char *path, const char **text, size_t *size)
{
    struct stat status;
    bool is_pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    FILE *file = is_pipe ? NULL : fopen(path, "rb");
    if (is_pipe)
        return api_trace_fail(r, "'%.300s' is not a file", path);
    if (!file || fstat(fileno(file), &status) != 0) {
        if (file)
            fclose(file);
        return api_trace_fail(r, "cannot read '%.300s': %s", path, strerror(errno));
    }
    bool good = S_ISREG(status.st_mode);
    if (!good)
        api_trace_fail(r, "'%.300s' is not a file", path);
    *size = good ? (size_t)status.st_size : 0;
    char *bytes = region_take(&r->trace->memory, *size + 1);
    if (good && fread(bytes, 1, *size, file) != *size)
        good = api_trace_fail(r, "cannot read '%.300s' whole", path);
    fclose(file);
    *text = bytes;
    return good;
}

bool api_trace_read(struct api_trace *trace, const char *path, const struct api_trace_sink *sink)
{
    struct api_trace holder = {.memory = {.contents = "an API trace"}};
    struct api_trace_reader r = {.trace = &holder, .sink = sink};
    struct stat status;
    const char *text = "", *folder;
    size_t size = 0;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const char *name = is_folder ? join_path(&holder.memory, path, API_TRACE_FILE) : path;
    const char *slash = strrchr(path, '/');
    folder = is_folder
                 ? path
                 : region_strndup(&holder.memory, path, slash ? (size_t)(slash - path) + 1 : 0);
    if (!read_text(&r, name, &text, &size)) {
        *trace = holder;
        trace->folder = "";
        return false;
    }
    bool good = api_trace_parse(trace, text, size, sink);
    trace->folder = region_strndup(&trace->memory, folder, strlen(folder));
    region_release(&holder.memory);
    r = (struct api_trace_reader){.trace = trace, .sink = sink};
    for (uint32_t i = 0; i < trace->call_count; i++)
        if (trace->calls[i].file)
            check_file(&r, &trace->calls[i]);
    return good && !r.failed;
}

/* A parameter of so many bytes and more may be a structure with padding, of which nothing is
 * given. */
#define PADDED_BYTES 9

/* The number of bytes of [offset, offset + size) that the call's arguments give. */
static uint32_t bytes_given(const struct api_trace_call *call, uint32_t offset, uint32_t size)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct api_trace_argument *a = &call->arguments[i];
        uint32_t from = max(a->offset, offset);
        uint32_t end = min(a->offset + a->size, offset + size);
        given += end > from ? end - from : 0;
    }
    return given;
}

static void check_arguments(struct api_trace_reader *r, const struct api_trace_call *call,
                            const struct api_trace_parameter *parameters, uint32_t count)
{
    uint32_t end = count ? parameters[count - 1].offset + parameters[count - 1].size : 0;
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct api_trace_argument *a = &call->arguments[i];
        if (a->offset + a->size <= end)
            continue;
        api_trace_fail(r,
                       "argument %" PRIu32 " reaches byte %" PRIu32 " of the arguments, but kernel "
                       "'%.200s' has %" PRIu32 " argument%s of %" PRIu32 " bytes together",
                       i + 1, a->offset + a->size - 1, call->name, count, count == 1 ? "" : "s",
                       end);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = parameters[i].size, given = bytes_given(call, parameters[i].offset, size);
        if (given == size || (given && size >= PADDED_BYTES))
            continue;
        api_trace_fail(r,
                       "argument %" PRIu32 " of kernel '%.200s' has %" PRIu32
                       " bytes from byte %" PRIu32 " on; the trace gives %" PRIu32 " of them",
                       i + 1, call->name, size, parameters[i].offset, given);
        return;
    }
}

bool api_trace_check_names(const struct api_trace *trace, const struct api_trace_names *names,
                           const struct api_trace_sink *sink)
{
    struct api_trace holder = *trace;
    struct api_trace_reader r = {.trace = &holder, .sink = sink};
    for (uint32_t i = 0; i < trace->call_count; i++) {
        const struct api_trace_call *call = &trace->calls[i];
        bool is_symbol =
            call->kind == API_TRACE_SYMBOL_TO_DEVICE || call->kind == API_TRACE_SYMBOL_FROM_DEVICE;
        r.line = call->line;
        if (call->kind == API_TRACE_LAUNCH && !names->has_kernel(names->context, call->name)) {
            api_trace_fail(&r, "no code object has a kernel '%.300s'", call->name);
        } else if (call->kind == API_TRACE_LAUNCH && names->parameters) {
            uint32_t count;
            const struct api_trace_parameter *parameters =
                names->parameters(names->context, call->name, &count);
            check_arguments(&r, call, parameters, count);
        }
        if (is_symbol && !names->has_symbol(names->context, call->name))
            api_trace_fail(&r, "no code object has a variable '%.300s'", call->name);
    }
    return !r.failed;
}

void api_trace_release(struct api_trace *trace)
{
    region_release(&trace->memory);
    *trace = (struct api_trace){.folder = ""};
}
