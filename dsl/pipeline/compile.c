/* The public functions: a compilation owns the region, the sources, the diagnostics and the
 * program.
 */
#include "dsl/compile.h"

#include <stdlib.h>
#include <string.h>

#include "dsl/compiler_bug.h"
#include "dsl/syntax/format.h"

#include "compilation.h"
#include "pipeline.h"

struct compilation *compile_open(const struct compile_options *options)
{
    struct region region;
    region_init(&region, "a description");
    struct compilation *c = region_take(&region, sizeof *c);
    c->region = region;
    if (options)
        c->options = *options;
    source_set_init(&c->sources, &c->region);
    c->sources.open_text = c->options.open_text;
    c->sources.open_context = c->options.open_context;
    diagnostics_init(&c->diagnostics, &c->region, &c->sources);
    c->program.region = &c->region;
    c->program.diagnostics = &c->diagnostics;
    c->program.sources = &c->sources;
    c->program.options = &c->options;
    return c;
}

void compile_close(struct compilation *c)
{
    if (!c)
        return;
    struct region region = c->region; /* the compilation itself lies in it */
    region_release(&region);
}

static struct source_file *read_main(struct compilation *c, const char *file)
{
    const char *reason = "";
    struct source_file *source = source_read(&c->sources, file, &reason);
    if (!source)
        diagnostic_add(&c->diagnostics, E0102, (struct span){0, 0}, "cannot read '%s': %s", file,
                       reason);
    return source;
}

static void load_source(struct compilation *c, struct source_file *source)
{
    if (c->is_used)
        compiler_bug("a compilation is used once");
    c->is_used = true;
    program_load(&c->program, source);
    for (uint32_t i = 0; i < c->program.types.count; i++) {
        const struct type_info *type = c->program.types.items[i];
        if (type->model.is_platform && type->is_main)
            vector_push(&c->region, &c->platforms, type->model.name);
    }
}

/* True if the protocols of all ports are known, as they are of a type of which the chosen platform
 * has an instance. */
static bool has_protocols(const struct type_info *type)
{
    for (uint32_t i = 0; i < type->model.port_count; i++)
        if (!type->port_decls[i].is_any && !type->port_decls[i].protocol)
            return false;
    return true;
}

/* Types of which the chosen platform has no instance, each by itself. Mistakes in the library are
 * not this user's, and those in another platform's types have been said. */
static void check_other_types(struct compilation *c)
{
    for (uint32_t i = 0; i < c->program.types.count && !c->elaboration.must_stop; i++) {
        struct type_info *type = c->program.types.items[i];
        if (type->model.is_platform || (type->instances > 0 && has_protocols(type)))
            continue;
        bool is_quiet = (type->model.is_library && !type->is_main) || type->instances > 0;
        struct elaboration alone;
        c->diagnostics.muted += is_quiet;
        pipeline_component(&alone, &c->program, type, &c->elaboration);
        c->diagnostics.muted -= is_quiet;
        c->elaboration.must_stop |= alone.must_stop && !is_quiet;
        for (uint32_t k = c->elaboration.protocols.count; k < alone.protocols.count; k++)
            vector_push(&c->region, &c->elaboration.protocols, alone.protocols.items[k]);
    }
}

static bool has_platform(const struct ast_file *file)
{
    for (uint32_t i = 0; i < file->items->v.count; i++)
        if (file->items->v.items[i]->kind == AST_PLATFORM)
            return true;
    return false;
}

static struct type_info *choose_platform(struct compilation *c, const struct source_file *source,
                                         const char *name)
{
    struct type_info *last = NULL;
    for (uint32_t i = 0; i < c->program.types.count; i++) {
        struct type_info *type = c->program.types.items[i];
        if (!type->model.is_platform || !type->is_main)
            continue;
        last = type;
        if (name && strcmp(type->model.name, name) == 0)
            return type;
    }
    if (last && !name)
        return last;
    struct span span = {source->base, source->base};
    if (!last && has_platform(c->program.files.items[0]))
        return NULL; /* its name is declared twice, which was said */
    if (!last) {
        diagnostic_add(&c->diagnostics, E0103, span, "there is no platform in this file");
        return NULL;
    }
    struct diagnostic *d =
        diagnostic_add(&c->diagnostics, E0103, span, "no platform is called '%s'", name);
    diagnostic_suggest(&c->diagnostics, d,
                       compile_suggest(name, c->platforms.items, c->platforms.count));
    for (uint32_t i = 0; i < c->platforms.count; i++)
        diagnostic_help(&c->diagnostics, d, "the file has '%s'", c->platforms.items[i]);
    return NULL;
}

static bool has_errors(const struct compilation *c)
{
    return c->diagnostics.error_count > 0;
}

/* A model that has declarations only. */
static const struct model *declarations(struct compilation *c)
{
    struct elaboration *e = &c->elaboration;
    e->program = &c->program;
    e->region = &c->region;
    e->diagnostics = &c->diagnostics;
    struct model *model = region_take(&c->region, sizeof *model);
    model->name = model->doc = "";
    check_other_types(c);
    links_make(e);
    protocols_check(e);
    model_declarations(e, model);
    return has_errors(c) ? NULL : model;
}

static const struct model *compile_source(struct compilation *c, struct source_file *source,
                                          const char *platform, bool all_platforms)
{
    load_source(c, source);
    if (!c->program.is_damaged && elaborate_fits(&c->program)) {
        struct type_info *chosen = choose_platform(c, source, platform);
        for (uint32_t i = 0; chosen && all_platforms && i < c->program.types.count; i++) {
            struct type_info *other = c->program.types.items[i];
            struct elaboration unused;
            if (other != chosen && other->model.is_platform && other->is_main)
                pipeline_platform(&unused, &c->program, other, false);
        }
        const struct model *model = NULL;
        if (chosen) {
            model = pipeline_platform(&c->elaboration, &c->program, chosen, true);
            check_other_types(c);
        }
        diagnostics_finish(&c->diagnostics);
        return has_errors(c) ? NULL : model;
    }
    diagnostics_finish(&c->diagnostics);
    return NULL;
}

const struct program *compilation_load(struct compilation *c, const char *file)
{
    struct source_file *source = read_main(c, file);
    c->diagnostics.muted++;
    c->program.knows_elsewhere = true; /* no message says which file would have declared a name */
    if (source)
        load_source(c, source);
    c->diagnostics.muted--;
    return source ? &c->program : NULL;
}

const struct model *compile_platform(struct compilation *c, const char *file, const char *platform)
{
    struct source_file *source = read_main(c, file);
    if (source)
        return compile_source(c, source, platform, false);
    diagnostics_finish(&c->diagnostics);
    return NULL;
}

const struct model *compile_text(struct compilation *c, const char *name, const char *text,
                                 size_t size, const char *platform)
{
    struct source_file *source = source_add(&c->sources, name, text, size);
    if (source)
        return compile_source(c, source, platform, false);
    diagnostic_add(&c->diagnostics, E0102, (struct span){0, 0},
                   "cannot read '%s': " SOURCE_TOO_LARGE, name);
    diagnostics_finish(&c->diagnostics);
    return NULL;
}

static const struct model *declarations_of(struct compilation *c, struct source_file *source)
{
    if (!source)
        return NULL;
    load_source(c, source);
    return c->program.is_damaged || !elaborate_fits(&c->program) ? NULL : declarations(c);
}

const struct model *compile_components(struct compilation *c, const char *file)
{
    const struct model *model = declarations_of(c, read_main(c, file));
    diagnostics_finish(&c->diagnostics);
    return has_errors(c) ? NULL : model;
}

/* True if a file declares a platform, judged by its text alone. */
static bool declares_platform(struct compilation *c, const struct source_file *source)
{
    struct diagnostics ignored;
    diagnostics_init(&ignored, &c->region, &c->sources);
    ignored.muted = 1;
    return has_platform(ast_parse(&c->region, &ignored, source));
}

const struct model *compile_check(struct compilation *c, const char *file, const char *platform)
{
    struct source_file *source = read_main(c, file);
    if (source && (platform || declares_platform(c, source)))
        return compile_source(c, source, platform, !platform);
    const struct model *model = declarations_of(c, source);
    diagnostics_finish(&c->diagnostics);
    return has_errors(c) ? NULL : model;
}

size_t compile_error_count(const struct compilation *c)
{
    return c->diagnostics.error_count;
}

size_t compile_diagnostic_count(const struct compilation *c)
{
    return c->diagnostics.list.count;
}

const struct compile_diagnostic *compile_diagnostic_at(const struct compilation *c, size_t index)
{
    return index < c->diagnostics.list.count && c->diagnostics.published
               ? &c->diagnostics.published[index]
               : NULL;
}

void compile_print_diagnostics(const struct compilation *c, FILE *out, bool colour)
{
    diagnostics_print(&c->diagnostics, out, colour);
}

/* Files on disk only, without the texts of --set. */
static const struct source_file *file_at(const struct compilation *c, size_t index)
{
    for (uint32_t i = 0; i < c->sources.files.count; i++) {
        if (c->sources.files.items[i]->is_virtual)
            continue;
        if (index-- == 0)
            return c->sources.files.items[i];
    }
    return NULL;
}

size_t compile_file_count(const struct compilation *c)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c->sources.files.count; i++)
        count += !c->sources.files.items[i]->is_virtual;
    return count;
}

const char *compile_file_name(const struct compilation *c, size_t index)
{
    const struct source_file *file = file_at(c, index);
    return file ? file->name : NULL;
}

const char *compile_missed(const struct compilation *c, size_t index)
{
    return index < c->program.missed.count ? c->program.missed.items[index] : NULL;
}

const char *compile_file_text(const struct compilation *c, size_t index, size_t *size)
{
    const struct source_file *file = file_at(c, index);
    bool is_plain = file && file->is_plain;
    *size = is_plain ? file->size : 0;
    return is_plain ? file->text : NULL;
}

const char *compile_line_text(const struct compilation *c, const char *file, uint32_t line,
                              uint32_t *size)
{
    *size = 0;
    struct source_file *source = source_find(&c->sources, file);
    if (!source || line == 0)
        return NULL;
    source_locate(&c->sources, source->base); /* finds its lines */
    return line <= source->line_count ? source_line(&c->sources, source, line, size) : NULL;
}

const char *compile_format_text(struct compilation *c, const char *name, const char *text,
                                size_t size, size_t *formatted_size)
{
    struct source_file *source = source_add(&c->sources, name, text, size);
    const char *formatted = NULL;
    *formatted_size = 0;
    if (!source)
        diagnostic_add(&c->diagnostics, E0102, (struct span){0, 0},
                       "cannot read '%s': " SOURCE_TOO_LARGE, name);
    else
        formatted = format_source(&c->region, &c->diagnostics, source, formatted_size);
    diagnostics_finish(&c->diagnostics);
    return formatted;
}

const char *compile_format(struct compilation *c, const char *file, size_t *size)
{
    struct source_file *source = read_main(c, file);
    const char *formatted = NULL;
    *size = 0;
    if (source)
        formatted = format_source(&c->region, &c->diagnostics, source, size);
    diagnostics_finish(&c->diagnostics);
    return formatted;
}
