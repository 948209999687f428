/* libFuzzer target of the trace reader: any bytes are read or refused, as text (plain, xz, zstd, in
 * a container), as a list, and as the payload of a cache; what a step holds lies within its limits.
 */
#include <stdlib.h>
#include <string.h>

#include "components/traces/instruction_trace/cache/itrace_cache.h"
#include "components/traces/instruction_trace/reader/itrace.h"
#include "components/traces/instruction_trace/tools/itrace_stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    (void)path;
    (void)line;
    *(unsigned *)context += is_error;
    if (text[0] == '\0')
        abort(); /* a complaint says something */
}

static void look(const struct itrace *t)
{
    const struct itrace_step *step = &t->step;
    if (step->count != 0 && step->count != (unsigned)__builtin_popcountll(step->mask))
        abort();
    if (step->inst->source_count > ITRACE_SOURCES_MAX || step->inst->id >= t->program.count)
        abort();
}

static void follow(struct itrace *t, const unsigned *errors)
{
    enum itrace_event event;
    unsigned before = *errors;
    while ((event = itrace_next(t)) != ITRACE_END) {
        if (event == ITRACE_STEP)
            look(t);
        if (event == ITRACE_ERROR && *errors == before)
            abort(); /* an error is reported */
        before = *errors;
    }
    itrace_report_unknown(t);
}

static void read_text(const uint8_t *bytes, size_t size)
{
    struct itrace t;
    unsigned errors = 0;
    struct itrace_options options = {.report = hear, .context = &errors};
    if (itrace_open_memory(&t, "fuzz", bytes, size, &options))
        follow(&t, &errors);
    else if (errors == 0)
        abort(); /* a refusal says why */
    itrace_close(&t);
    if (itrace_open_memory(&t, "fuzz", bytes, size, &options)) {
        struct itrace_stats_run run = {.line_bytes = 128};
        itrace_stats_add(&run, &t);
        itrace_stats_release(&run);
    }
    itrace_close(&t);
}

static void read_cache(const uint8_t *bytes, size_t size)
{
    struct itrace t;
    unsigned errors = 0;
    struct itrace_options options = {.report = hear, .context = &errors};
    if (itrace_open_cache(&t, "fuzz", bytes, size, &options))
        follow(&t, &errors);
    itrace_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size && bytes[0] == 'C')
        read_cache(bytes + 1, size - 1);
    else
        read_text(bytes, size);
    return 0;
}
