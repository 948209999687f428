/* Diagnostics of an open document and of what it imports, sent when they have changed. One file may
 * be read for several documents, so the editor is sent, for each file, what all checks found in it.
 */
#include <string.h>

#include "codegen/views/json_from_text.h"

#include "server.h"

enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2 };

/* A place of the compiler, which counts lines and characters from one. */
static json_t *position_json(struct server *s, const struct compilation *c, const char *file,
                             uint32_t line, uint32_t column)
{
    uint32_t size;
    const char *text = compile_line_text(c, file, line, &size);
    uint32_t unit = text && column > 0 ? position_units_of(text, size, column - 1) : 0;
    const struct document *document = line == 1 ? documents_at(&s->documents, file) : NULL;
    unit += document && document->has_mark;
    return json_pack("{s:i, s:i}", "line", line > 0 ? (int)line - 1 : 0, "character", (int)unit);
}

static json_t *range_json(struct server *s, const struct compilation *c, struct model_place place,
                          uint32_t end_line, uint32_t end_column)
{
    if (!place.file)
        return json_pack("{s:{s:i, s:i}, s:{s:i, s:i}}", "start", "line", 0, "character", 0, "end",
                         "line", 0, "character", 0);
    return json_pack("{s:o, s:o}", "start",
                     position_json(s, c, place.file, place.line, place.column), "end",
                     position_json(s, c, place.file, end_line, end_column));
}

/* Helps are in the message, other places beside it. */
static json_t *diagnostic_json(struct server *s, const struct compilation *c,
                               const struct compile_diagnostic *d)
{
    const char *message = d->message;
    json_t *related = json_array();
    for (size_t i = 0; i < d->note_count; i++) {
        const struct compile_note *note = &d->notes[i];
        if (note->is_help || !note->place.file) {
            message = region_printf(&s->scratch, "%s\n%s: %s", message,
                                    note->is_help ? "help" : "note", note->message);
            continue;
        }
        json_t *range = range_json(s, c, note->place, note->end_line, note->end_column);
        json_array_append_new(related,
                              json_pack("{s:{s:o, s:o}, s:o}", "location", "uri",
                                        json_from_text(server_uri(s, note->place.file)), "range",
                                        range, "message", json_from_text(note->message)));
    }
    json_t *made =
        json_pack("{s:o, s:i, s:s, s:s, s:o}", "range",
                  range_json(s, c, d->place, d->end_line, d->end_column), "severity",
                  d->severity == COMPILE_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING, "code", d->code,
                  "source", "heddle", "message", json_from_text(message));
    if (json_array_size(related) > 0)
        json_object_set(made, "relatedInformation", related);
    json_decref(related);
    return made;
}

static bool has_diagnostic(const json_t *array, const json_t *wanted)
{
    const json_t *one;
    size_t index;
    json_array_foreach(array, index, one) if (json_equal(one, wanted)) return true;
    return false;
}

/* Sends what all documents have found in the file, if that is news or `always`. */
static void send_found(struct server *s, const char *uri, bool always)
{
    json_t *all = json_array(), *one;
    size_t index;
    for (const struct document *d = s->documents.first; d; d = d->next)
        json_array_foreach(json_object_get(d->found, uri), index,
                           one) if (!has_diagnostic(all, one)) json_array_append(all, one);
    const json_t *before = json_object_get(s->published, uri);
    if (!always && before && json_equal(before, all)) {
        json_decref(all);
        return;
    }
    json_object_set(s->published, uri, all);
    json_t *params = json_pack("{s:s, s:o}", "uri", uri, "diagnostics", all);
    const struct document *document = documents_find(&s->documents, uri);
    if (document)
        json_object_set_new(params, "version", json_integer(document->version));
    s->is_broken |= !rpc_send_notification(s->out, "textDocument/publishDiagnostics", params);
}

static json_t *found_of(struct server *s, const struct document *document)
{
    const struct compilation *c = document->checked;
    json_t *found = json_object();
    json_object_set_new(found, document->uri, json_array()); /* also when nothing is wrong */
    for (size_t i = 0; i < compile_diagnostic_count(c); i++) {
        const struct compile_diagnostic *d = compile_diagnostic_at(c, i);
        const char *uri = d->place.file ? server_uri(s, d->place.file) : document->uri;
        if (!json_object_get(found, uri))
            json_object_set_new(found, uri, json_array());
        json_array_append_new(json_object_get(found, uri), diagnostic_json(s, c, d));
    }
    return found;
}

/* `checked` is the document that was, whose editor waits for news of this version. */
static void send_all(struct server *s, json_t *found, const struct document *checked)
{
    const char *uri;
    json_t *ignored;
    json_object_foreach(found, uri, ignored)
        send_found(s, uri, checked && strcmp(uri, checked->uri) == 0);
}

static void replace_found(struct server *s, struct document *document, json_t *found)
{
    json_t *old = document->found;
    document->found = found;
    send_all(s, document->found, document);
    if (old)
        send_all(s, old, NULL); /* files in which nothing is wrong any more */
    json_decref(old);
}

/* Forgets the last check; the new one is still empty. */
static void begin_check(struct server *s, struct document *document)
{
    compile_close(document->checked);
    document->is_old = false;
    document->checked = compile_open(&s->documents.options);
    document->model = NULL;
}

void publish_check(struct server *s, struct document *document)
{
    begin_check(s, document);
    document->model = compile_check(document->checked, document->path, NULL);
    replace_found(s, document, found_of(s, document));
}

void publish_failure(struct server *s, struct document *document, const char *why)
{
    begin_check(s, document);
    const char *message = region_printf(
        &s->scratch, "this text could not be checked: %s. Please report it with the text", why);
    json_t *found = json_object();
    json_object_set_new(found, document->uri,
                        json_pack("[{s:o, s:i, s:s, s:o}]", "range",
                                  range_json(s, document->checked, (struct model_place){0}, 0, 0),
                                  "severity", SEVERITY_ERROR, "source", "heddle", "message",
                                  json_from_text(message)));
    replace_found(s, document, found);
}

void publish_forget(struct server *s, struct document *document)
{
    json_t *old = document->found;
    document->found = NULL;
    if (old)
        send_all(s, old, NULL);
    json_object_del(s->published, document->uri);
    json_decref(old);
}
