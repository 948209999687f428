/* See sample_list.h. Only headers are read. */
#include "codegen/command/sample_list.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "components/traces/instruction_trace/reader/sass_list.h"

/* Of launches of one kernel and shape, so many are simulated before any is left out: the cold one,
 * two that tell how much they differ, and one behind a gap. */
#define SIMULATED_FIRST 4
/* Less than this share left out is no gain: it still has to be read, and to warm up. */
#define LEAST_LEFT_OUT  0.25

/* A list of so many bytes of text, unpacked, is simulated in less than half a second. */
#define LEAST_BYTES (UINT64_C(32) << 20)
#define UNPACKED    8 /* times as large as packed, about */

struct shape {
    const char *name;
    uint32_t grid[3], block[3];
    uint64_t launches;
};

struct shapes {
    struct arena *arena;
    VECTOR(struct shape) items;
    uint64_t stream, bytes;
    bool any, several_streams;
};

static void complain(void *context, bool is_error, const char *path, uint64_t line,
                     const char *text)
{
    (void)context;
    if (is_error && line)
        fprintf(stderr, "%s:%" PRIu64 ": error: %s\n", path, line, text);
    else if (is_error)
        fprintf(stderr, "%s: error: %s\n", path, text);
}

static void add(struct shapes *shapes, const struct sass_header *h)
{
    size_t i = 0;
    shapes->several_streams |= shapes->any && h->stream != shapes->stream;
    shapes->any = true;
    shapes->stream = h->stream;
    while (i < shapes->items.count
           && (strcmp(shapes->items.items[i].name, h->kernel_name) != 0
               || memcmp(shapes->items.items[i].grid, h->grid, sizeof h->grid) != 0
               || memcmp(shapes->items.items[i].block, h->block, sizeof h->block) != 0))
        i++;
    if (i == shapes->items.count) {
        struct shape shape = {.name = arena_strdup(shapes->arena, h->kernel_name)};
        memcpy(shape.grid, h->grid, sizeof shape.grid);
        memcpy(shape.block, h->block, sizeof shape.block);
        vector_push(shapes->arena, &shapes->items, shape);
    }
    shapes->items.items[i].launches++;
}

static void add_size(struct shapes *shapes, const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    bool is_plain = length > 0 && path[length - 1] != 'z' && path[length - 1] != 't';
    if (stat(path, &status) == 0)
        shapes->bytes += (uint64_t)status.st_size * (is_plain ? 1 : UNPACKED);
}

static const char *judge(const struct shapes *shapes)
{
    double launches = 0, simulated = 0;
    for (size_t i = 0; i < shapes->items.count; i++) {
        uint64_t n = shapes->items.items[i].launches;
        launches += (double)n;
        simulated += (double)(n < SIMULATED_FIRST ? n : SIMULATED_FIRST);
    }
    if (shapes->bytes < LEAST_BYTES)
        return "its traces are so small that a sample would take as long";
    if (shapes->several_streams)
        return "its kernels are of several streams, which run side by side";
    if (simulated > (1 - LEAST_LEFT_OUT) * launches)
        return "it has too few launches of one kernel and shape for a sample to pay";
    return NULL;
}

const char *sample_list_why_not(struct command *c, bool *good)
{
    const struct sass_list_reader reader = {c->options->play_sass, complain, NULL,
                                            c->options->allow_incomplete};
    const struct sass_trace_options options = {.report = complain};
    struct shapes shapes = {.arena = c->arena};
    struct sass_list list;
    *good = sass_list_read(&list, &reader);
    for (size_t i = 0; *good && i < list.count; i++) {
        struct sass_trace trace;
        if (!list.commands[i].name)
            continue;
        add_size(&shapes, list.commands[i].path);
        if (sass_trace_open(&trace, list.commands[i].path, &options))
            add(&shapes, &trace.header);
        else
            *good = c->options->allow_incomplete;
        sass_trace_close(&trace);
    }
    sass_list_release(&list);
    return *good ? judge(&shapes) : NULL;
}
