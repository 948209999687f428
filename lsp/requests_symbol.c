/* Requests about the locations of names: definition, references, highlights, the outline of a
 * file. */
#include <string.h>

#include "codegen/views/json_from_text.h"

#include "server.h"

/* SymbolKind and CompletionItemKind of the protocol, which number things differently. */
static const int symbol_kinds[SERVICE_KINDS] = {
    [SERVICE_FILE] = 1,       [SERVICE_PLATFORM] = 4,  [SERVICE_COMPONENT] = 5,
    [SERVICE_PART] = 23,      [SERVICE_PROTOCOL] = 11, [SERVICE_LINK] = 19,
    [SERVICE_INTERFACE] = 11, [SERVICE_ENUM] = 10,     [SERVICE_CHOICE] = 22,
    [SERVICE_PARAM] = 7,      [SERVICE_LET] = 14,      [SERVICE_PORT] = 9,
    [SERVICE_STAT] = 16,      [SERVICE_SLOT] = 8,      [SERVICE_SUBPART] = 8,
    [SERVICE_STORE] = 8,      [SERVICE_CLOCK] = 24,    [SERVICE_INSTANCE] = 19,
    [SERVICE_SPACE] = 18,     [SERVICE_VARIABLE] = 13, [SERVICE_MESSAGE] = 6,
    [SERVICE_FIELD] = 8,      [SERVICE_KEYWORD] = 13,  [SERVICE_FUNCTION] = 12,
    [SERVICE_TYPE] = 26,
};

json_t *request_definition(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct service *service;
    const struct service_symbol *symbol =
        server_symbol(s, params, &document, &service, NULL, failure);
    if (!symbol)
        return NULL;
    return server_location(s, &symbol->place);
}

static void places_to_json(struct server *s, const struct found_places *found, bool declarations,
                           json_t *list)
{
    struct position_lines lines = {0};
    for (uint32_t i = 0; i < found->v.count; i++) {
        const struct found_place *place = &found->v.items[i];
        if (i == 0 || place->text != found->v.items[i - 1].text) {
            position_lines_release(&lines);
            position_lines_make(&lines, place->text, place->size);
        }
        const struct document *document = documents_at(&s->documents, place->path);
        lines.lead = document && document->has_mark;
        if (place->is_declaration && !declarations)
            continue;
        json_array_append_new(list, json_pack("{s:o, s:o}", "uri",
                                              json_from_text(server_uri(s, place->path)), "range",
                                              server_range(&lines, place->begin, place->end)));
    }
    position_lines_release(&lines);
}

json_t *request_references(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct found_places found = {0};
    struct service *service;
    const struct service_symbol *symbol =
        server_symbol(s, params, &document, &service, NULL, failure);
    if (!symbol)
        return NULL;
    const json_t *wanted =
        json_object_get(json_object_get(params, "context"), "includeDeclaration");
    json_t *list = json_array();
    workspace_find(s, service, symbol, &found);
    places_to_json(s, &found, !json_is_false(wanted), list);
    return list;
}

json_t *request_highlight(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct service *service;
    uint32_t size;
    size_t count;
    const struct service_symbol *symbol =
        server_symbol(s, params, &document, &service, NULL, failure);
    if (!symbol)
        return NULL;
    const struct service_occurrence *list = service_occurrences(service, symbol, &count);
    const char *text = service_text(service, &size);
    struct position_lines lines;
    position_lines_make(&lines, text, size);
    lines.lead = document->has_mark;
    json_t *made = json_array();
    for (size_t i = 0; i < count; i++)
        if (list[i].place.text == text)
            json_array_append_new(
                made, json_pack("{s:o}", "range",
                                server_range(&lines, list[i].place.begin, list[i].place.end)));
    position_lines_release(&lines);
    return made;
}

static json_t *outline_json(const struct service_outline *outline, struct position_lines *lines)
{
    return json_pack("{s:o, s:o, s:i, s:o, s:o, s:[]}", "name", json_from_text(outline->name),
                     "detail", json_from_text(outline->detail), "kind", symbol_kinds[outline->kind],
                     "range", server_range(lines, outline->begin, outline->end), "selectionRange",
                     server_range(lines, outline->name_begin, outline->name_end), "children");
}

/* Braces nest no deeper in an outline: declaration, message, field, case. */
#define OUTLINE_DEPTH 8

json_t *request_symbols(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document = server_document(s, params, failure);
    struct service *service = document ? documents_service(&s->documents, document) : NULL;
    if (!service)
        return NULL;
    json_t *levels[OUTLINE_DEPTH + 1] = {json_array()};
    struct position_lines lines;
    uint32_t size;
    size_t count;
    const char *text = service_text(service, &size);
    position_lines_make(&lines, text, size);
    lines.lead = document->has_mark;
    const struct service_outline *list = service_outline(service, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t depth = list[i].depth < OUTLINE_DEPTH ? list[i].depth : OUTLINE_DEPTH - 1;
        json_t *one = outline_json(&list[i], &lines);
        levels[depth + 1] = json_object_get(one, "children");
        json_array_append_new(levels[depth], one);
    }
    position_lines_release(&lines);
    return levels[0];
}
