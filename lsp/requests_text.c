/* Requests about text: hover, completion, formatting. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "codegen/views/json_from_text.h"

#include "server.h"

static const int completion_kinds[SERVICE_KINDS] = {
    [SERVICE_FILE] = 17,    [SERVICE_PLATFORM] = 9, [SERVICE_COMPONENT] = 7, [SERVICE_PART] = 22,
    [SERVICE_PROTOCOL] = 8, [SERVICE_LINK] = 18,    [SERVICE_INTERFACE] = 8, [SERVICE_ENUM] = 13,
    [SERVICE_CHOICE] = 20,  [SERVICE_PARAM] = 10,   [SERVICE_LET] = 21,      [SERVICE_PORT] = 4,
    [SERVICE_STAT] = 12,    [SERVICE_SLOT] = 5,     [SERVICE_SUBPART] = 5,   [SERVICE_STORE] = 5,
    [SERVICE_CLOCK] = 23,   [SERVICE_INSTANCE] = 6, [SERVICE_SPACE] = 18,    [SERVICE_VARIABLE] = 6,
    [SERVICE_MESSAGE] = 2,  [SERVICE_FIELD] = 5,    [SERVICE_KEYWORD] = 14,  [SERVICE_FUNCTION] = 3,
    [SERVICE_TYPE] = 25,
};

static json_t *markdown(const char *text)
{
    return json_pack("{s:s, s:o}", "kind", "markdown", "value", json_from_text(text));
}

json_t *request_hover(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct service_hover hover;
    uint32_t at, size;
    struct service *service = server_place(s, params, &document, &at, failure);
    if (!service || !service_hover_at(service, at, &hover))
        return NULL;
    const char *values = document->is_old ? "" : service_values(service, document->model, at);
    const char *text = region_printf(&s->scratch, "```heddle\n%s\n```%s%s%s%s", hover.code,
                                     hover.text[0] != '\0' ? "\n\n" : "", hover.text,
                                     values[0] != '\0' ? "\n\nHere: " : "", values);
    struct position_lines lines;
    const char *whole = service_text(service, &size);
    position_lines_make(&lines, whole, size);
    lines.lead = document->has_mark;
    json_t *range = server_range(&lines, hover.begin, hover.end);
    position_lines_release(&lines);
    return json_pack("{s:o, s:o}", "contents", markdown(text), "range", range);
}

/* ---- completion ---- */

static bool is_word(char ch)
{
    return (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z')
           || ch == '_';
}

/* True if nothing but a comment or '}' follows on the line, so that the statement ends there. */
static bool ends_statement(const char *text, size_t size, size_t at)
{
    while (at < size && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at == size || text[at] == '\n' || text[at] == '\r' || text[at] == '}'
           || (text[at] == '/' && at + 1 < size && text[at + 1] == '/');
}

/* A statement in the making would swallow the next one: completion looks at a text in which it ends
 * behind the cursor. NULL: the document's own text will do. */
static char *with_end(const struct service *service, uint32_t at, size_t *size)
{
    uint32_t plain_size;
    const char *text = service_text(service, &plain_size);
    while (at < plain_size && is_word(text[at]))
        at++;
    if (!ends_statement(text, plain_size, at))
        return NULL;
    char *made = grow_memory(NULL, (size_t)plain_size + 2, "a document");
    memcpy(made, text, at);
    made[at] = ';';
    memcpy(made + at + 1, text + at, plain_size - at);
    *size = (size_t)plain_size + 1;
    made[*size] = '\0';
    return made;
}

static json_t *completion_json(const struct service_completion *completion, size_t index,
                               struct position_lines *lines)
{
    char order[24];
    snprintf(order, sizeof order, "%06zu", index);
    json_t *made =
        json_pack("{s:o, s:i, s:s, s:{s:o, s:o}}", "label", json_from_text(completion->label),
                  "kind", completion_kinds[completion->kind], "sortText", order, "textEdit",
                  "range", server_range(lines, completion->begin, completion->end), "newText",
                  json_from_text(completion->label));
    if (completion->detail && completion->detail[0] != '\0')
        json_object_set_new(made, "detail", json_from_text(completion->detail));
    if (completion->doc && completion->doc[0] != '\0')
        json_object_set_new(made, "documentation", markdown(completion->doc));
    return made;
}

json_t *request_completion(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document;
    struct documents *documents = &s->documents;
    uint32_t at, size;
    struct service *service = server_place(s, params, &document, &at, failure);
    if (!service)
        return NULL;
    const char *text = service_text(service, &size);
    struct position_lines lines;
    position_lines_make(&lines, text, size);
    lines.lead = document->has_mark;
    struct service *patched = NULL;
    char *replacement = with_end(service, at, &documents->replacement_size);
    if (replacement) {
        documents->replaced = document;
        documents->replacement = replacement;
        patched = service_open(&documents->options, document->path);
        documents->replaced = NULL;
    }
    size_t count;
    json_t *list = json_array();
    const struct service_completion *items =
        service_complete(patched ? patched : service, at, &count);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, completion_json(&items[i], i, &lines));
    service_close(patched);
    free(replacement);
    position_lines_release(&lines);
    return list;
}

/* ---- formatting ---- */

/* The lines that differ: what is alike at the begin and at the end stays, and the cursor with it.
 */
static json_t *edit_json(const struct document *document, const char *text, size_t size)
{
    struct position_lines lines;
    size_t begin = 0, end = 0, most = min(size, document->size);
    bool is_plain = !memchr(document->text, '\r', document->size);
    while (is_plain && begin < most && text[begin] == document->text[begin])
        begin++;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    while (is_plain && end < most - begin
           && text[size - end - 1] == document->text[document->size - end - 1])
        end++;
    while (end > 0 && (text[size - end - 1] != '\n' || size - end == begin))
        end--;
    position_lines_make(&lines, document->text, document->size);
    lines.lead = document->has_mark;
    json_t *range = server_range(&lines, begin, document->size - end);
    position_lines_release(&lines);
    return json_pack("{s:o, s:o}", "range", range, "newText",
                     json_from_bytes(text + begin, size - end - begin));
}

json_t *request_format(struct server *s, const json_t *params, struct failure *failure)
{
    const struct document *document = server_document(s, params, failure);
    if (!document)
        return NULL;
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *text =
        compile_format_text(c, document->path, document->text, document->size, &size);
    json_t *edits = NULL;
    if (!text) {
        const struct compile_diagnostic *first = compile_diagnostic_at(c, 0);
        const char *reason = first ? first->message : "it cannot be read";
        server_fail(failure, RPC_REQUEST_FAILED,
                    region_printf(&s->scratch, "the text is not laid out: line %u: %s",
                                  first ? first->place.line : 0, reason));
    } else {
        edits = json_array();
        if (size != document->size || memcmp(text, document->text, size) != 0)
            json_array_append_new(edits, edit_json(document, text, size));
    }
    compile_close(c);
    return edits;
}
