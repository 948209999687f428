/* Rename, in all files of the workspace. The new texts are checked before the editor gets them: a
 * name that is taken, or that a file outside the workspace uses, is refused with the reason. */
#include <string.h>

#include "codegen/views/json_from_text.h"

#include "server.h"

struct renaming {
    struct server *server;
    const char *before, *after;
    struct found_places found;
};

static bool is_name(const char *text)
{
    if (!text
        || !((text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z')
             || text[0] == '_'))
        return false;
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
           == strlen(text);
}

static bool can_be_renamed(const struct service_symbol *symbol)
{
    return symbol && symbol->kind != SERVICE_FILE && symbol->kind != SERVICE_KEYWORD;
}

json_t *request_prepare_rename(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct service_place place;
    struct service *service;
    const struct service_symbol *symbol =
        server_symbol(s, params, &document, &service, &place, failure);
    if (!can_be_renamed(symbol))
        return NULL;
    struct position_lines lines;
    position_lines_make(&lines, place.text, place.size);
    lines.lead = document->has_mark;
    json_t *range = server_range(&lines, place.begin, place.end);
    position_lines_release(&lines);
    return json_pack("{s:o, s:o}", "range", range, "placeholder", json_from_text(symbol->name));
}

/* The places of one file, from `from` to before the result. */
static uint32_t end_of_file(const struct renaming *r, uint32_t from)
{
    uint32_t end = from;
    while (end < r->found.v.count
           && strcmp(r->found.v.items[end].path, r->found.v.items[from].path) == 0)
        end++;
    return end;
}

static const char *new_text(const struct renaming *r, uint32_t from, uint32_t end, size_t *size)
{
    const struct found_place *places = r->found.v.items;
    size_t length = strlen(r->after);
    char *made = region_take(&r->server->scratch, places[from].size + (end - from) * length + 1);
    uint32_t at = 0;
    *size = 0;
    for (uint32_t i = from; i < end; i++) {
        memcpy(made + *size, places[from].text + at, places[i].begin - at);
        *size += places[i].begin - at;
        memcpy(made + *size, r->after, length);
        *size += length;
        at = places[i].end;
    }
    memcpy(made + *size, places[from].text + at, places[from].size - at);
    *size += places[from].size - at;
    return made;
}

struct renamed_text {
    const char *path, *text;
    size_t size;
};

struct renamed_texts {
    const struct documents *documents;
    VECTOR(struct renamed_text) v;
};

static const char *renamed_text(void *context, const char *name, size_t *size)
{
    const struct renamed_texts *texts = context;
    for (uint32_t i = 0; i < texts->v.count; i++)
        if (strcmp(texts->v.items[i].path, name) == 0) {
            *size = texts->v.items[i].size;
            return texts->v.items[i].text;
        }
    const struct compile_options *options = &texts->documents->options;
    return options->open_text(options->open_context, name, size);
}

static size_t errors_of(const struct compile_options *options, const char *path)
{
    struct compilation *c = compile_open(options);
    compile_check(c, path, NULL);
    size_t errors = compile_error_count(c);
    compile_close(c);
    return errors;
}

/* The mistake that the new texts would bring; NULL: none that is not there now. */
static const char *try_texts(struct renaming *r)
{
    struct server *s = r->server;
    struct renamed_texts texts = {.documents = &s->documents};
    for (uint32_t i = 0, end; i < r->found.v.count; i = end) {
        struct renamed_text text = {.path = r->found.v.items[i].path};
        end = end_of_file(r, i);
        text.text = new_text(r, i, end, &text.size);
        vector_push(&s->scratch, &texts.v, text);
    }
    struct compile_options options = s->documents.options;
    options.open_text = renamed_text;
    options.open_context = &texts;
    const char *wrong = NULL;
    for (uint32_t i = 0; i < texts.v.count && !wrong; i++) {
        const char *path = texts.v.items[i].path;
        struct compilation *c = compile_open(&options);
        compile_check(c, path, NULL);
        if (compile_error_count(c) > 0
            && compile_error_count(c) > errors_of(&s->documents.options, path)) {
            const struct compile_diagnostic *d = compile_diagnostic_at(c, 0);
            wrong = region_printf(&s->scratch, "'%s' cannot be renamed to '%s': %s:%u: %s",
                                  r->before, r->after, d->place.file ? d->place.file : path,
                                  d->place.line, d->message);
        }
        compile_close(c);
    }
    return wrong;
}

static const char *outside(struct renaming *r)
{
    for (uint32_t i = 0; i < r->found.v.count; i++)
        if (!workspace_has(r->server, r->found.v.items[i].path))
            return region_printf(&r->server->scratch,
                                 "'%s' also stands in %s, which is not in the workspace", r->before,
                                 r->found.v.items[i].path);
    return NULL;
}

static json_t *edits_json(struct renaming *r)
{
    struct server *s = r->server;
    json_t *changes = json_object();
    for (uint32_t i = 0, end; i < r->found.v.count; i = end) {
        const struct found_place *first = &r->found.v.items[i];
        const struct document *document = documents_at(&s->documents, first->path);
        struct position_lines lines;
        json_t *edits = json_array();
        position_lines_make(&lines, first->text, first->size);
        lines.lead = document && document->has_mark;
        end = end_of_file(r, i);
        for (uint32_t k = i; k < end; k++) {
            const struct found_place *place = &r->found.v.items[k];
            json_array_append_new(edits, json_pack("{s:o, s:s}", "range",
                                                   server_range(&lines, place->begin, place->end),
                                                   "newText", r->after));
        }
        position_lines_release(&lines);
        json_object_set_new(changes, server_uri(s, first->path), edits);
    }
    return json_pack("{s:o}", "changes", changes);
}

/* Generated C has the names of parameters, ports and statistics; that of behaviour uses them. */
static void warn_of_behaviour(struct renaming *r, const struct service_symbol *symbol)
{
    bool is_in_c = symbol->kind == SERVICE_COMPONENT || symbol->kind == SERVICE_PART
                   || symbol->kind == SERVICE_PARAM || symbol->kind == SERVICE_LET
                   || symbol->kind == SERVICE_PORT || symbol->kind == SERVICE_STAT
                   || symbol->kind == SERVICE_SLOT || symbol->kind == SERVICE_SUBPART
                   || symbol->kind == SERVICE_PROTOCOL || symbol->kind == SERVICE_MESSAGE
                   || symbol->kind == SERVICE_FIELD || symbol->kind == SERVICE_CHOICE
                   || symbol->kind == SERVICE_INTERFACE;
    if (is_in_c)
        server_show(r->server, region_printf(&r->server->scratch,
                                             "'%s' is now '%s' in descriptions. C code that uses "
                                             "the name is not changed",
                                             r->before, r->after));
}

json_t *request_rename(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct service *service;
    const struct service_symbol *symbol =
        server_symbol(s, params, &document, &service, NULL, failure);
    if (!service)
        return NULL;
    struct renaming r = {.server = s,
                         .after = json_string_value(json_object_get(params, "newName"))};
    if (!can_be_renamed(symbol))
        return server_fail(failure, RPC_REQUEST_FAILED, "no name that can be changed stands here");
    if (!is_name(r.after))
        return server_fail(failure, RPC_INVALID_PARAMS,
                           "a name has letters, digits and '_', and does not begin with a digit");
    r.before = symbol->name;
    workspace_find(s, service, symbol, &r.found);
    const char *wrong = outside(&r);
    if (!wrong)
        wrong = try_texts(&r);
    if (wrong)
        return server_fail(failure, RPC_REQUEST_FAILED, wrong);
    warn_of_behaviour(&r, symbol);
    return edits_json(&r);
}
