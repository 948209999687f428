/* `heddle gen`. */
#include "codegen/emit/gen.h"

#include "command.h"
#include "command_say.h"

int command_gen(struct command *c)
{
    const struct options *o = c->options;
    if (!o->output) {
        command_say("say where to write: -o DIR");
        return EXIT_USAGE;
    }
    struct compilation *compilation = command_open(c);
    const struct model *model = compile_check(compilation, o->arguments.items[0], o->platform);
    command_print_diagnostics(compilation);
    struct gen_files files = {0};
    bool ok = model && gen_headers(c->region, model, o->output, &files);
    if (ok && model->root)
        ok = gen_platform(c->region, layout_make(c->region, model, o->generic), o->output, &files);
    if (ok && o->verbose)
        for (uint32_t i = 0; i < files.names.count; i++)
            fprintf(stderr, "%s/%s\n", o->output, files.names.items[i]);
    compile_close(compilation);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}
