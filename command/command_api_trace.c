/* `heddle api-trace check`: a trace of API calls, its data files, and its kernels in the code
 * objects and the PTX that the trace or --module names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/emit/input.h"
#include "components/amd/isa/object/bundle.h"
#include "components/amd/isa/object/code_object.h"
#include "components/nvidia/ptx/ptx.h"
#include "components/nvidia/ptx/ptx_object.h"
#include "components/traces/api_trace/api_trace.h"

#include "command.h"
#include "command_say.h"

struct known_kernel {
    const char *name;
    struct api_trace_parameter *parameters;
    uint32_t count;
};

struct checker {
    struct region *region;
    const char *file; /* as messages name it */
    uint32_t mistakes;
    VECTOR(struct known_kernel) kernels;
    VECTOR(const char *) variables;
};

static void say(void *context, uint32_t line, const char *text)
{
    struct checker *checker = context;
    checker->mistakes++;
    fprintf(stderr, "%s:", checker->file);
    if (line > 0)
        fprintf(stderr, "%" PRIu32 ":", line);
    fprintf(stderr, " error: %s\n", text);
}

static const char *keep_message(struct checker *checker, const char *text)
{
    return region_strdup(checker->region, text);
}

static void add_kernel(struct checker *checker, const struct code_object_kernel *kernel)
{
    struct known_kernel known = {.name = keep_message(checker, kernel->name),
                                 .count = kernel->explicit_argument_count};
    known.parameters = region_take(checker->region, (known.count + 1) * sizeof *known.parameters);
    for (uint32_t i = 0; i < known.count; i++)
        known.parameters[i] =
            (struct api_trace_parameter){kernel->arguments[i].offset, kernel->arguments[i].size};
    vector_push(checker->region, &checker->kernels, known);
}

/* Releases the code object. */
static void add_names(struct checker *checker, struct code_object *object)
{
    for (size_t i = 0; i < object->kernel_count; i++)
        add_kernel(checker, &object->kernels[i]);
    for (size_t i = 0; i < object->symbol_count; i++)
        if (object->symbols[i].is_variable)
            vector_push(checker->region, &checker->variables,
                        keep_message(checker, object->symbols[i].name));
    code_object_release(object);
}

static void add_code_object(struct checker *checker, const uint8_t *bytes, size_t size,
                            uint32_t line, const char *name)
{
    struct code_object object;
    if (!code_object_read(&object, bytes, size))
        say(checker, line, region_printf(checker->region, "'%s': %s", name, object.error));
    add_names(checker, &object);
}

static void add_ptx(struct checker *checker, const uint8_t *bytes, size_t size, uint32_t line,
                    const char *name)
{
    struct ptx_error mistakes;
    struct ptx_module *ptx = ptx_parse(name, (const char *)bytes, size, &mistakes);
    struct code_object object = {0};
    if (!ptx) {
        say(checker, line, region_strdup(checker->region, mistakes.text));
        return;
    }
    ptx_layout(ptx);
    ptx_object_describe(ptx, &object);
    ptx_free(ptx);
    add_names(checker, &object);
}

static void add_bundle(struct checker *checker, const uint8_t *bytes, size_t size, uint32_t line,
                       const char *name)
{
    struct bundle bundle;
    if (!bundle_read(&bundle, bytes, size))
        say(checker, line, region_printf(checker->region, "'%s': %s", name, bundle.error));
    for (size_t i = 0; i < bundle.entry_count; i++)
        if (bundle.entries[i].is_device && bundle.entries[i].size > 0)
            add_code_object(checker, bundle.entries[i].code, bundle.entries[i].size, line, name);
    bundle_release(&bundle);
}

/* Whole, in the region; NULL after a message. */
static const uint8_t *read_whole(struct checker *checker, const char *path, uint32_t line,
                                 const char *name, size_t *size)
{
    const char *mistake = input_mistake(path, INPUT_BYTES);
    FILE *file = !mistake ? fopen(path, "rb") : NULL;
    const char *bytes = file ? region_read(checker->region, file, SIZE_MAX, size) : NULL;
    bool ok = file && ferror(file) == 0;
    if (!ok)
        say(checker, line,
            region_printf(checker->region, "cannot read '%s': %s", name, strerror(errno)));
    if (file)
        fclose(file);
    return ok ? (const uint8_t *)bytes : NULL;
}

static void add_module(struct checker *checker, const char *path, uint32_t line, const char *name)
{
    size_t size;
    const uint8_t *bytes = read_whole(checker, path, line, name, &size);
    if (!bytes)
        return;
    if (bundle_recognise(bytes, size))
        add_bundle(checker, bytes, size, line, name);
    else if (code_object_recognise(bytes, size))
        add_code_object(checker, bytes, size, line, name);
    else if (ptx_object_recognise(bytes, size))
        add_ptx(checker, bytes, size, line, name);
    else
        say(checker, line,
            region_printf(checker->region, "'%s' is not a code object, a bundle or PTX", name));
}

static const struct known_kernel *find_kernel(const struct checker *checker, const char *name)
{
    for (uint32_t i = 0; i < checker->kernels.count; i++)
        if (strcmp(checker->kernels.items[i].name, name) == 0)
            return &checker->kernels.items[i];
    return NULL;
}

static bool has_kernel(void *context, const char *name)
{
    return find_kernel(context, name) != NULL;
}

/* The kernel of that name, the first of several; there must be one. */
static const struct api_trace_parameter *parameters_of(void *context, const char *name,
                                                       uint32_t *count)
{
    const struct known_kernel *kernel = find_kernel(context, name);
    *count = kernel->count;
    return kernel->parameters;
}

static bool has_variable(void *context, const char *name)
{
    const struct checker *checker = context;
    for (uint32_t i = 0; i < checker->variables.count; i++)
        if (strcmp(checker->variables.items[i], name) == 0)
            return true;
    return false;
}

/* `name` as seen from `folder`. */
static const char *inside(struct region *region, const char *folder, const char *name)
{
    return name[0] == '/' || !folder[0] ? name : region_printf(region, "%s/%s", folder, name);
}

/* Only with code objects: balar's traces do not say where the kernels are. */
static void check_names(struct checker *checker, const struct api_trace *trace,
                        const struct options_list *modules, const struct api_trace_sink *sink)
{
    uint32_t before = checker->mistakes;
    size_t files = modules->count;
    for (size_t i = 0; i < modules->count; i++)
        add_module(checker, modules->items[i], 0, modules->items[i]);
    for (uint32_t i = 0; i < trace->call_count; i++) {
        const struct api_trace_call *call = &trace->calls[i];
        if (call->kind != API_TRACE_CODE_OBJECT && call->kind != API_TRACE_MODULE_LOAD)
            continue;
        files++;
        add_module(checker, inside(checker->region, trace->folder, call->file), call->line,
                   call->file);
    }
    struct api_trace_names names = {has_kernel, has_variable, checker, parameters_of};
    if (files > 0 && checker->mistakes == before)
        api_trace_check_names(trace, &names, sink);
}

/* `*calls`: how many were read. */
static bool check_trace(struct command *c, const char **path, uint32_t *calls)
{
    struct stat status;
    if (stat(*path, &status) == 0 && S_ISDIR(status.st_mode))
        *path = inside(c->region, *path, API_TRACE_FILE);
    struct checker checker = {.region = c->region, .file = *path};
    struct api_trace_sink sink = {say, &checker};
    struct api_trace trace;
    if (api_trace_read(&trace, *path, &sink))
        check_names(&checker, &trace, &c->options->module, &sink);
    if (checker.mistakes > 0)
        fprintf(stderr, "%" PRIu32 " error%s\n", checker.mistakes,
                checker.mistakes == 1 ? "" : "s");
    *calls = trace.call_count;
    api_trace_release(&trace);
    return checker.mistakes == 0;
}

bool command_api_trace_check(struct command *c, const char *path)
{
    uint32_t calls;
    return check_trace(c, &path, &calls);
}

int command_api_trace(struct command *c)
{
    const struct options *o = c->options;
    const char *path = o->arguments.items[1];
    uint32_t calls;
    if (strcmp(o->arguments.items[0], "check") != 0) {
        command_say("there is no '%s'; there is 'check'", o->arguments.items[0]);
        return EXIT_USAGE;
    }
    if (!check_trace(c, &path, &calls))
        return EXIT_ERRORS;
    printf("%s: %" PRIu32 " calls, no errors\n", path, calls);
    return EXIT_CLEAN;
}
