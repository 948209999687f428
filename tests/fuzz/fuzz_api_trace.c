/* libFuzzer target of the reader of API traces (components/traces/api_trace): any text is read or
 * refused with messages, and what was read without any writes to a text that reads and writes the
 * same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/traces/api_trace/api_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_api_trace: %s\n", what);
    abort();
}

static void count(void *context, uint32_t line, const char *text)
{
    uint32_t *messages = context;
    must(line > 0 && text[0] != '\0', "a message says nothing");
    ++*messages;
}

static char *write_text(const struct api_trace *trace, const struct api_trace_sink *sink,
                        size_t *size)
{
    char *text;
    FILE *out = open_memstream(&text, size);
    must(api_trace_write(trace, out, sink), "what was read cannot be written");
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint32_t messages = 0;
    struct api_trace_sink sink = {count, &messages};
    struct api_trace trace, again;
    char *exact = malloc(size); /* so that a byte too many is seen */
    memcpy(exact, bytes, size);
    bool good = api_trace_parse(&trace, exact, size, &sink);
    must(good == (messages == 0), "the result does not fit the messages");
    if (good) {
        size_t once_size, twice_size;
        char *once = write_text(&trace, &sink, &once_size);
        must(api_trace_parse(&again, once, once_size, &sink), "what was written cannot be read");
        char *twice = write_text(&again, &sink, &twice_size);
        must(once_size == twice_size && memcmp(once, twice, once_size) == 0,
             "it is written differently the second time");
        free(once);
        free(twice);
        api_trace_release(&again);
    }
    free(exact);
    api_trace_release(&trace);
    return 0;
}
