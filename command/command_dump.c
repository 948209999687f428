/* `heddle dump` and `heddle params`: what a platform is when all is elaborated. */
#include <string.h>

#include "codegen/emit/layout.h"
#include "codegen/views/view.h"

#include "command.h"
#include "command_say.h"
#include "python.h"

static int report(const struct view_error *error, int status)
{
    if (error->text[0])
        command_say("%s", error->text);
    return status;
}

static int print_dump(struct command *c, const struct model *model)
{
    struct view_error error = {""};
    struct command_output out;
    const char *only = c->options->part, *hashes[2] = {NULL, NULL};
    if (!command_output_open(&out))
        return EXIT_ERRORS;
    for (int generic = 0; generic < 2 && (!only || strcmp(only, "measures") == 0); generic++)
        hashes[generic] = layout_make(c->region, model, generic)->model_hash;
    bool ok = view_json(model, only, hashes, out.file, &error);
    return report(&error, command_output_close(&out, c->options->output, ok));
}

static int print_params(struct command *c, const struct model *model)
{
    struct view_error error = {""};
    struct command_output out;
    if (!command_output_open(&out))
        return EXIT_ERRORS;
    bool ok = view_params(model, out.file, &error);
    return report(&error, command_output_close(&out, c->options->output, ok));
}

static int with_platform(struct command *c, int (*print)(struct command *, const struct model *))
{
    const struct options *o = c->options;
    struct compilation *compilation = command_open(c);
    bool any = o->command == COMMAND_DUMP && o->part && strcmp(o->part, "reference") == 0;
    const struct model *model =
        (any ? compile_check : compile_platform)(compilation, o->arguments.items[0], o->platform);
    command_print_diagnostics(compilation);
    int status = model ? print(c, model) : EXIT_ERRORS;
    compile_close(compilation);
    return status;
}

int command_dump(struct command *c)
{
    return with_platform(c, print_dump);
}

int command_params(struct command *c)
{
    return c->options->json ? with_platform(c, print_params) : command_python(c);
}
