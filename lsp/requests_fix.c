/* Fixes: where the help of a diagnostic names what should be there, an edit that writes it. */
#include <string.h>

#include "codegen/views/json_from_text.h"

#include "server.h"

struct fix {
    const char *title;
    const char *text;
    bool in_place; /* the fix replaces what the diagnostic marks; otherwise it goes to the file's
                      begin */
};

/* The text between `from` and the next `quote` in a message; NULL: none. */
static const char *quoted(struct region *region, const char *message, const char *from, char quote)
{
    const char *begin = strstr(message, from);
    const char *end = begin ? strchr(begin + strlen(from), quote) : NULL;
    return end ? region_strndup(region, begin + strlen(from), (size_t)(end - begin) - strlen(from))
               : NULL;
}

static bool fix_of(struct region *region, const struct compile_diagnostic *d, struct fix *fix)
{
    *fix = (struct fix){.in_place = true};
    if (strcmp(d->message, "expected ';'") == 0) {
        *fix = (struct fix){"insert ';'", ";", true};
        return true;
    }
    for (size_t i = 0; i < d->note_count && !fix->text; i++) {
        const char *message = d->notes[i].is_help ? d->notes[i].message : "";
        fix->text = quoted(region, message, "did you mean '", '\'');
        const char *import = quoted(region, message, "did you mean \"", '"');
        if (import)
            fix->text = region_printf(region, "\"%s\"", import);
        const char *with_unit = quoted(region, message, "a unit is missing: write '", '\'');
        if (with_unit && d->end_line == d->place.line
            && d->end_column - d->place.column < strlen(with_unit))
            fix->text = with_unit;
        const char *file = quoted(region, message, "it is declared elsewhere: import \"", '"');
        if (file) {
            fix->text = region_printf(region, "import \"%s\";\n", file);
            fix->in_place = false;
        }
    }
    if (!fix->text)
        return false;
    fix->title = fix->in_place ? region_printf(region, "write %s", fix->text)
                               : region_strndup(region, fix->text, strlen(fix->text) - 1);
    return true;
}

static bool overlaps(const json_t *range, struct position from, struct position to)
{
    struct position begin, end;
    if (!server_position(json_object_get(range, "start"), &begin)
        || !server_position(json_object_get(range, "end"), &end))
        return false;
    bool before = end.line < from.line || (end.line == from.line && end.unit < from.unit);
    bool behind = begin.line > to.line || (begin.line == to.line && begin.unit > to.unit);
    return !before && !behind;
}

static json_t *action_json(const struct document *document, const struct fix *fix,
                           const json_t *diagnostic)
{
    json_t *range = fix->in_place ? json_deep_copy(json_object_get(diagnostic, "range"))
                                  : json_pack("{s:{s:i, s:i}, s:{s:i, s:i}}", "start", "line", 0,
                                              "character", 0, "end", "line", 0, "character", 0);
    json_t *edit = json_pack("{s:o, s:o}", "range", range, "newText", json_from_text(fix->text));
    json_t *changes = json_object();
    json_object_set_new(changes, document->uri, json_pack("[o]", edit));
    return json_pack("{s:o, s:s, s:[O], s:{s:o}, s:b}", "title", json_from_text(fix->title), "kind",
                     "quickfix", "diagnostics", diagnostic, "edit", "changes", changes,
                     "isPreferred", 1);
}

json_t *request_actions(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document = server_document(s, params, failure);
    struct position from, to;
    const json_t *range = json_object_get(params, "range");
    if (!document)
        return NULL;
    if (!server_position(json_object_get(range, "start"), &from)
        || !server_position(json_object_get(range, "end"), &to))
        return server_fail(failure, RPC_INVALID_PARAMS, "'range' is missing or malformed");
    if (document->is_old)
        publish_check(s, document);
    json_t *actions = json_array();
    const json_t *diagnostics = json_object_get(document->found, document->uri);
    size_t at = 0;
    for (size_t i = 0; i < compile_diagnostic_count(document->checked); i++) {
        const struct compile_diagnostic *d = compile_diagnostic_at(document->checked, i);
        bool is_here = !d->place.file || documents_at(&s->documents, d->place.file) == document;
        const json_t *shown = is_here ? json_array_get(diagnostics, at++) : NULL;
        struct fix fix;
        if (shown && overlaps(json_object_get(shown, "range"), from, to)
            && fix_of(&s->scratch, d, &fix))
            json_array_append_new(actions, action_json(document, &fix, shown));
    }
    return actions;
}
