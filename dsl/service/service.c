/* The entry points of language_service.h that are not in a file of their own. A service owns one
 * compilation, which it only loads. */
#include "service.h"

#include <string.h>

struct service *service_open(const struct compile_options *options, const char *file)
{
    struct compilation *compilation = compile_open(options);
    const struct program *program = compilation_load(compilation, file);
    if (!program) {
        compile_close(compilation);
        return NULL;
    }
    struct service *s = region_take(&compilation->region, sizeof *s);
    s->compilation = compilation;
    s->region = &compilation->region;
    s->program = program;
    s->file = program->files.items[0]->source;
    return s;
}

void service_close(struct service *s)
{
    if (s)
        compile_close(s->compilation); /* the service lies in it */
}

struct names *service_names(struct service *s)
{
    if (!s->has_names)
        names_build(&s->names, s->region, s->program);
    s->has_names = true;
    return &s->names;
}

const char *service_text(const struct service *s, uint32_t *size)
{
    *size = s->file->size;
    return s->file->text;
}

const struct service_symbol *service_symbol_at(struct service *s, uint32_t at,
                                               struct service_place *place)
{
    if (at > s->file->size)
        return NULL;
    const struct name_occurrence *occurrence = names_at(service_names(s), s->file->base + at);
    if (!occurrence)
        return NULL;
    if (place)
        *place = names_place(&s->names, occurrence->span);
    return &occurrence->symbol->shown;
}

const struct service_symbol *service_symbol_declared(struct service *s, const char *file,
                                                     uint32_t begin)
{
    const struct source_file *source = source_find(s->program->sources, file);
    if (!source || begin > source->size)
        return NULL;
    const struct name_symbol *symbol = names_declared(service_names(s), source->base + begin);
    return symbol ? &symbol->shown : NULL;
}

const struct service_occurrence *
service_occurrences(struct service *s, const struct service_symbol *symbol, size_t *count)
{
    const struct names *names = service_names(s);
    VECTOR(struct service_occurrence) list = {0};
    for (uint32_t i = 0; i < names->occurrences.count; i++) {
        const struct name_occurrence *one = &names->occurrences.items[i];
        struct service_occurrence occurrence = {names_place(names, one->span), one->is_declaration};
        if (&one->symbol->shown == symbol)
            vector_push(s->region, &list, occurrence);
    }
    *count = list.count;
    return list.items;
}
