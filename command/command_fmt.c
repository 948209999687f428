/* `heddle fmt`. */
#include <stdlib.h>
#include <string.h>

#include "codegen/emit/emit.h"

#include "command.h"

int command_fmt(struct command *c)
{
    const struct options *o = c->options;
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < o->arguments.count; i++) {
        const char *path = o->arguments.items[i];
        struct compilation *compilation = command_open(c);
        size_t size, before = 0;
        const char *text = compile_format(compilation, path, &size);
        command_print_diagnostics(compilation);
        const char *old = text ? compile_file_text(compilation, 0, &before) : NULL;
        if (!text) {
            status = EXIT_ERRORS;
        } else if (o->check && (!old || before != size || memcmp(old, text, size) != 0)) {
            printf("%s\n", path);
            status = EXIT_ERRORS;
        } else if (!o->check && emit_write_bytes(path, text, size) == EMIT_FAILED) {
            status = EXIT_ERRORS;
        }
        compile_close(compilation);
    }
    return status;
}
