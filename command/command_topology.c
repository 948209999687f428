/* `heddle topology`: prints or writes what the kernel driver would show. */
#include <string.h>

#include "codegen/emit/emit.h"
#include "codegen/views/view.h"

#include "command.h"
#include "command_say.h"

static const char *inside(const char *path)
{
    return path + strlen(VIEW_TOPOLOGY_FOLDER);
}

/* As head and tail print several files. */
static bool print_file(void *context, const char *path, const char *text)
{
    fprintf(context, "==> %s <==\n%s\n", inside(path), text);
    return true;
}

struct folder {
    struct region *region;
    const char *path;
};

static bool write_file(void *context, const char *path, const char *text)
{
    const struct folder *to = context;
    return emit_write_below(to->region, region_printf(to->region, "%s/%s", to->path, inside(path)),
                            text);
}

static int put_all(struct command *c, const struct model *model, FILE *out)
{
    struct view_error error = {""};
    struct folder folder = {c->region, c->options->output};
    const struct view_files files = folder.path ? (struct view_files){write_file, &folder}
                                                : (struct view_files){print_file, out};
    if (view_topology(model, &files, false, &error))
        return EXIT_CLEAN;
    if (error.text[0])
        command_say("%s", error.text);
    return EXIT_ERRORS;
}

int command_topology(struct command *c)
{
    struct command_output out;
    if (c->options->sources) {
        view_topology_sources(stdout);
        return EXIT_CLEAN;
    }
    struct compilation *compilation = command_open(c);
    const struct model *model = command_platform(c, compilation, c->options->arguments.items[0]);
    int status = EXIT_ERRORS;
    if (model && command_output_open(&out)) {
        status = put_all(c, model, out.file);
        status = command_output_close(&out, NULL, status == EXIT_CLEAN);
    }
    compile_close(compilation);
    return status;
}
