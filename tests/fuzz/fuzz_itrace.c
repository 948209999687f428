/* libFuzzer target of the trace reader: any bytes are read or refused, as text (plain, xz, zstd),
 * as a list, and as the payload of a cache; what a step holds lies within its limits. */
#include "components/traces/instruction_trace/cache/itrace_cache.h"
#include "components/traces/instruction_trace/tools/itrace_stats.h"
#include "components/traces/instruction_trace/reader/itrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    (void)path;
    (void)line;
    *(unsigned *)context += is_error;
    if (text[0] == '\0')
        abort(); /* a complaint says something */
}

static void look(const struct sass_trace *t)
{
    const struct sass_step *step = &t->step;
    if (step->count != 0 && step->count != (unsigned)__builtin_popcountll(step->mask))
        abort();
    if (step->inst->source_count > SASS_MAX_SOURCES || step->inst->id >= t->program.count)
        abort();
}

static void follow(struct sass_trace *t, const unsigned *errors)
{
    enum sass_event event;
    unsigned before = *errors;
    while ((event = sass_trace_next(t)) != SASS_END) {
        if (event == SASS_STEP)
            look(t);
        if (event == SASS_ERROR && *errors == before)
            abort(); /* an error is reported */
        before = *errors;
    }
    sass_trace_report_unknown(t);
}

static void read_text(const uint8_t *bytes, size_t size)
{
    struct sass_trace t;
    unsigned errors = 0;
    struct sass_trace_options options = {.report = hear, .context = &errors};
    if (sass_trace_open_memory(&t, "fuzz", bytes, size, &options))
        follow(&t, &errors);
    else if (errors == 0)
        abort(); /* a refusal says why */
    sass_trace_close(&t);
    if (sass_trace_open_memory(&t, "fuzz", bytes, size, &options)) {
        struct sass_stats_run run = {.line_bytes = 128};
        sass_stats_add(&run, &t);
        sass_stats_release(&run);
    }
    sass_trace_close(&t);
}

static void read_cache(const uint8_t *bytes, size_t size)
{
    struct sass_trace t;
    unsigned errors = 0;
    struct sass_trace_options options = {.report = hear, .context = &errors};
    if (sass_trace_open_cache(&t, "fuzz", bytes, size, &options))
        follow(&t, &errors);
    sass_trace_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size && bytes[0] == 'C')
        read_cache(bytes + 1, size - 1);
    else
        read_text(bytes, size);
    return 0;
}
