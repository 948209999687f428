/* libFuzzer target of the language: any bytes are compiled as a platform file, with the library to
 * import from, and formatted. Whatever comes, there is a model or at least one error, every
 * diagnostic has a code and a place that exists, and what was formatted formats to itself.
 * FUZZ_LIBRARY is the library to import from, set by the build. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/compile.h"

#ifndef FUZZ_LIBRARY
#define FUZZ_LIBRARY "components"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void compile_bytes(const char *text, size_t size)
{
    struct compile_options options = {.library_root = FUZZ_LIBRARY, .max_instances = 2000};
    struct compilation *c = compile_open(&options);
    const struct model *model =
        compile_text(c, FUZZ_LIBRARY "/../tests/dsl/good/fuzz.heddle", text, size, NULL);
    require((model != NULL) == (compile_error_count(c) == 0));
    for (size_t i = 0; i < compile_diagnostic_count(c); i++) {
        const struct compile_diagnostic *d = compile_diagnostic_at(c, i);
        require(compile_explain(d->code) && d->message[0] != '\0');
        require(!d->place.file || (d->place.line > 0 && d->place.column > 0));
    }
    FILE *sink = fopen("/dev/null", "w");
    if (sink) {
        compile_print_diagnostics(c, sink, true);
        fclose(sink);
    }
    compile_close(c);
}

static void format_bytes(const char *text, size_t size)
{
    struct compilation *c = compile_open(NULL);
    size_t once_size, twice_size;
    const char *once = compile_format_text(c, "fuzz.heddle", text, size, &once_size);
    if (once) {
        struct compilation *again = compile_open(NULL);
        const char *twice = compile_format_text(again, "fuzz.heddle", once, once_size, &twice_size);
        require(twice && twice_size == once_size && memcmp(once, twice, once_size) == 0);
        compile_close(again);
    }
    compile_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    compile_bytes((const char *)bytes, size);
    format_bytes((const char *)bytes, size);
    return 0;
}
