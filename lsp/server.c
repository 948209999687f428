/* Messages to functions, and the loop; see server.h. */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "codegen/views/json_from_text.h"
#include "runtime/engine/version.h"

#include "uri.h"

/* The time for which the editor has to be silent before a document is checked. */
#define QUIET_MS 80

json_t *server_fail(struct failure *failure, enum rpc_error code, const char *text)
{
    *failure = (struct failure){code, text};
    return NULL;
}

/* ---- parameters ---- */

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

struct document *server_document(struct server *s, const json_t *params, struct failure *failure)
{
    const char *uri = text_at(json_object_get(params, "textDocument"), "uri");
    struct document *document = uri ? documents_find(&s->documents, uri) : NULL;
    if (!uri)
        server_fail(failure, RPC_INVALID_PARAMS, "'textDocument.uri' is missing");
    else if (!document)
        server_fail(failure, RPC_INVALID_PARAMS,
                    region_printf(&s->scratch, "'%s' is not open", uri));
    return document;
}

bool server_position(const json_t *json, struct position *position)
{
    const json_t *line = json_object_get(json, "line"), *unit = json_object_get(json, "character");
    if (!json_is_integer(line) || !json_is_integer(unit) || json_integer_value(line) < 0
        || json_integer_value(unit) < 0)
        return false;
    json_int_t line_value = json_integer_value(line), unit_value = json_integer_value(unit);
    position->line = line_value < UINT32_MAX ? (uint32_t)line_value : UINT32_MAX;
    position->unit = unit_value < UINT32_MAX ? (uint32_t)unit_value : UINT32_MAX;
    return true;
}

struct service *server_place(struct server *s, const json_t *params, struct document **document,
                             uint32_t *at, struct failure *failure)
{
    struct position position;
    *document = server_document(s, params, failure);
    if (!*document)
        return NULL;
    if (!server_position(json_object_get(params, "position"), &position)) {
        server_fail(failure, RPC_INVALID_PARAMS, "'position' is missing or malformed");
        return NULL;
    }
    struct service *service = documents_service(&s->documents, *document);
    if (!service) {
        server_fail(failure, RPC_REQUEST_FAILED, "the text cannot be read");
        return NULL;
    }
    uint32_t size;
    const char *text = service_text(service, &size);
    struct position_lines lines;
    position_lines_make(&lines, text, size);
    lines.lead = (*document)->has_mark;
    *at = (uint32_t)position_offset(&lines, position);
    position_lines_release(&lines);
    return service;
}

const struct service_symbol *server_symbol(struct server *s, const json_t *params,
                                           struct document **document, struct service **service,
                                           struct service_place *place, struct failure *failure)
{
    uint32_t at;
    *service = server_place(s, params, document, &at, failure);
    return *service ? service_symbol_at(*service, at, place) : NULL;
}

/* ---- places ---- */

json_t *server_range(struct position_lines *lines, size_t begin, size_t end)
{
    struct position from = position_of(lines, begin), to = position_of(lines, end);
    return json_pack("{s:{s:i, s:i}, s:{s:i, s:i}}", "start", "line", (int)from.line, "character",
                     (int)from.unit, "end", "line", (int)to.line, "character", (int)to.unit);
}

const char *server_uri(struct server *s, const char *path)
{
    const struct document *document = documents_at(&s->documents, path);
    return document ? document->uri : uri_of_path(&s->scratch, path);
}

json_t *server_location(struct server *s, const struct service_place *place)
{
    const struct document *document = documents_at(&s->documents, place->file);
    struct position_lines lines;
    position_lines_make(&lines, place->text, place->size);
    lines.lead = document && document->has_mark;
    json_t *range = server_range(&lines, place->begin, place->end);
    position_lines_release(&lines);
    return json_pack("{s:o, s:o}", "uri", json_from_text(server_uri(s, place->file)), "range",
                     range);
}

void server_show(struct server *s, const char *text)
{
    s->is_broken |=
        !rpc_send_notification(s->out, "window/showMessage",
                               json_pack("{s:i, s:o}", "type", 2, "message", json_from_text(text)));
}

/* ---- life of the server ---- */

static void add_root(struct server *s, const char *uri)
{
    if (!uri || strncmp(uri, "file:", 5) != 0)
        return;
    char *real = documents_real_path(uri_path(&s->scratch, uri));
    vector_push(&s->lasting, &s->roots, region_strdup(&s->lasting, real));
    free(real);
}

static json_t *capabilities(void)
{
    static const char *const plain[] = {"hoverProvider",
                                        "definitionProvider",
                                        "declarationProvider",
                                        "referencesProvider",
                                        "documentHighlightProvider",
                                        "documentSymbolProvider",
                                        "documentFormattingProvider"};
    json_t *all = json_pack("{s:s, s:{s:b, s:i, s:b}}", "positionEncoding", "utf-16",
                            "textDocumentSync", "openClose", 1, "change", 2, "save", 1);
    for (size_t i = 0; i < ARRAY_COUNT(plain); i++)
        json_object_set_new(all, plain[i], json_true());
    json_object_set_new(all, "renameProvider", json_pack("{s:b}", "prepareProvider", 1));
    json_object_set_new(all, "codeActionProvider",
                        json_pack("{s:[s]}", "codeActionKinds", "quickfix"));
    json_object_set_new(all, "completionProvider",
                        json_pack("{s:[s, s, s]}", "triggerCharacters", ".", "\"", ":"));
    return all;
}

static json_t *request_initialize(struct server *s, const json_t *params, struct failure *failure)
{
    if (s->is_initialized)
        return server_fail(failure, RPC_INVALID_REQUEST, "'initialize' comes once");
    s->is_initialized = true;
    const json_t *folders = json_object_get(params, "workspaceFolders"), *folder;
    size_t index;
    json_array_foreach(folders, index, folder) add_root(s, text_at(folder, "uri"));
    if (s->roots.count == 0)
        add_root(s, text_at(params, "rootUri"));
    return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities(), "serverInfo", "name",
                     "heddle", "version", HEDDLE_VERSION);
}

static json_t *request_shutdown(struct server *s, const json_t *params, struct failure *failure)
{
    (void)params;
    (void)failure;
    s->is_shut_down = true;
    return json_null();
}

static json_t *notice_exit(struct server *s, const json_t *params, struct failure *failure)
{
    (void)params;
    (void)failure;
    s->has_ended = true;
    return NULL;
}

static json_t *notice_nothing(struct server *s, const json_t *params, struct failure *failure)
{
    (void)s;
    (void)params;
    (void)failure;
    return NULL;
}

/* ---- documents ---- */

static json_t *notice_open(struct server *s, const json_t *params, struct failure *failure)
{
    const json_t *item = json_object_get(params, "textDocument");
    const json_t *text = json_object_get(item, "text");
    const char *uri = text_at(item, "uri");
    if (!uri || !json_is_string(text))
        return server_fail(failure, RPC_INVALID_PARAMS, "a document needs 'uri' and 'text'");
    struct document *document =
        documents_open(&s->documents, uri, json_string_value(text), json_string_length(text));
    document->version = json_integer_value(json_object_get(item, "version"));
    return NULL;
}

static bool change(struct server *s, struct document *document, const json_t *one)
{
    const json_t *text = json_object_get(one, "text"), *range = json_object_get(one, "range");
    struct position from, to;
    if (!json_is_string(text))
        return false;
    const char *bytes = json_string_value(text);
    size_t size = json_string_length(text);
    if (!range || json_is_null(range)) {
        documents_set_text(&s->documents, document, bytes, size);
        return true;
    }
    if (!server_position(json_object_get(range, "start"), &from)
        || !server_position(json_object_get(range, "end"), &to))
        return false;
    documents_edit(&s->documents, document, from, to, bytes, size);
    return true;
}

static json_t *notice_change(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document = server_document(s, params, failure);
    const json_t *changes = json_object_get(params, "contentChanges"), *one;
    size_t index;
    if (!document)
        return NULL;
    const json_t *version = json_object_get(json_object_get(params, "textDocument"), "version");
    document->version = json_integer_value(version);
    json_array_foreach(changes, index, one) if (!change(s, document, one)) return server_fail(
        failure, RPC_INVALID_PARAMS, "a change is malformed");
    return NULL;
}

static json_t *notice_close(struct server *s, const json_t *params, struct failure *failure)
{
    struct document *document = server_document(s, params, failure);
    if (!document)
        return NULL;
    publish_forget(s, document);
    documents_close(&s->documents, document);
    return NULL;
}

static json_t *notice_files(struct server *s, const json_t *params, struct failure *failure)
{
    (void)params;
    (void)failure;
    documents_outdate(&s->documents);
    return NULL;
}

/* ---- methods ---- */

static const struct method {
    const char *name;
    server_request *call;
} methods[] = {
    {"initialize", request_initialize},
    {"initialized", notice_nothing},
    {"shutdown", request_shutdown},
    {"exit", notice_exit},
    {"textDocument/didOpen", notice_open},
    {"textDocument/didChange", notice_change},
    {"textDocument/didClose", notice_close},
    {"textDocument/didSave", notice_files},
    {"workspace/didChangeWatchedFiles", notice_files},
    {"workspace/didChangeConfiguration", notice_nothing},
    {"textDocument/completion", request_completion},
    {"textDocument/hover", request_hover},
    {"textDocument/definition", request_definition},
    {"textDocument/declaration", request_definition},
    {"textDocument/references", request_references},
    {"textDocument/documentHighlight", request_highlight},
    {"textDocument/documentSymbol", request_symbols},
    {"textDocument/formatting", request_format},
    {"textDocument/codeAction", request_actions},
    {"textDocument/rename", request_rename},
    {"textDocument/prepareRename", request_prepare_rename},
};

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

static void answer_error(struct server *s, const json_t *id, enum rpc_error code, const char *text)
{
    s->is_broken |= !rpc_send_error(s->out, id, code, text);
}

/* The reason why a method cannot be called; NULL: it can. */
static const char *why_not_callable(const struct server *s, const struct method *method,
                                    const char *name, struct region *region, enum rpc_error *code)
{
    *code = RPC_METHOD_NOT_FOUND;
    if (!method)
        return region_printf(region, "there is no method '%s'", name);
    *code = RPC_NOT_INITIALIZED;
    if (!s->is_initialized && method->call != request_initialize && method->call != notice_exit)
        return "'initialize' comes first";
    *code = RPC_INVALID_REQUEST;
    if (s->is_shut_down && method->call != notice_exit)
        return "the server is shut down";
    return NULL;
}

static void call(struct server *s, const char *name, const json_t *id, const json_t *params)
{
    const struct method *method = find_method(name);
    enum rpc_error code;
    struct failure failure = {0};
    const char *refused = why_not_callable(s, method, name, &s->scratch, &code);
    if (refused) {
        if (id) /* no client waits for the answer of a notification */
            answer_error(s, id, code, refused);
        return;
    }
    json_t *result = method->call(s, params, &failure);
    if (!id)
        json_decref(result);
    else if (failure.text)
        answer_error(s, id, failure.code, failure.text);
    else
        s->is_broken |= !rpc_send_result(s->out, id, result);
}

static void handle_one(struct server *s, const json_t *message)
{
    const json_t *id = json_object_get(message, "id");
    const char *version = text_at(message, "jsonrpc"), *name = text_at(message, "method");
    bool has_id = !id || json_is_integer(id) || json_is_string(id);
    bool is_answer = json_is_object(message) && !name
                     && (json_object_get(message, "result") || json_object_get(message, "error"));
    if (is_answer) /* nothing is asked of the editor */
        return;
    if (!json_is_object(message) || !version || strcmp(version, "2.0") != 0 || !name || !has_id) {
        answer_error(s, has_id ? id : NULL, RPC_INVALID_REQUEST,
                     "a message is an object with 'jsonrpc': \"2.0\" and a 'method'");
        return;
    }
    call(s, name, id, json_object_get(message, "params"));
}

void server_answer(struct server *s, const char *body, size_t size)
{
    json_error_t error;
    json_t *message = json_loadb(body, size, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (message)
        handle_one(s, message);
    else
        answer_error(s, NULL, RPC_PARSE_ERROR,
                     region_printf(&s->scratch, "the message is not JSON: %s", error.text));
    json_decref(message);
    region_release(&s->scratch);
}

void server_complain(struct server *s, enum rpc_result problem)
{
    answer_error(s, NULL, problem == RPC_TOO_LONG ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR,
                 problem == RPC_TOO_LONG ? "the message is longer than 64 MiB"
                                         : "the header has no valid 'Content-Length'");
}

static struct document *find_old(const struct server *s)
{
    struct document *d = s->documents.first;
    while (d && !d->is_old)
        d = d->next;
    return d;
}

bool server_check_one(struct server *s)
{
    struct document *document = find_old(s);
    if (!document)
        return false;
    publish_check(s, document);
    region_release(&s->scratch);
    return true;
}

void server_init(struct server *s, const struct compile_options *options, FILE *out)
{
    *s = (struct server){.out = out, .published = json_object()};
    region_init(&s->lasting, "a description");
    region_init(&s->scratch, "a description");
    documents_init(&s->documents, options);
}

void server_release(struct server *s)
{
    documents_release(&s->documents);
    json_decref(s->published);
    region_release(&s->scratch);
    region_release(&s->lasting);
}

struct message {
    const char *body;
    size_t size;
};

static void handle_message(struct server *s, void *message)
{
    const struct message *m = message;
    server_answer(s, m->body, m->size);
}

/* Answers a message that ends whatever process takes it. */
static void answer_failure(struct server *s, const struct message *m, const char *why)
{
    json_t *message = json_loadb(m->body, m->size, JSON_ALLOW_NUL, NULL);
    const json_t *id = json_object_get(message, "id");
    const char *text = region_printf(&s->scratch, "'%s' could not be answered: %s",
                                     json_is_string(json_object_get(message, "method"))
                                         ? text_at(message, "method")
                                         : "a message",
                                     why);
    if (id)
        answer_error(s, id, RPC_INTERNAL_ERROR, text);
    else
        server_show(s, text);
    json_decref(message);
    region_release(&s->scratch);
}

static void read_all(struct server *s, struct rpc_reader *reader)
{
    const char *body;
    size_t size;
    while (!s->has_ended && !s->is_broken) {
        enum rpc_result result = rpc_next(reader, &body, &size);
        if (result == RPC_MORE)
            return;
        struct message message = {body, size};
        const char *why = result == RPC_MESSAGE ? server_try(s, handle_message, &message) : NULL;
        if (result != RPC_MESSAGE)
            server_complain(s, result);
        else if (!why)
            server_answer(s, body, size);
        else
            answer_failure(s, &message, why);
    }
}

static void check_document(struct server *s, void *document)
{
    publish_check(s, document);
}

/* server_check_one() that survives what it checks. */
static bool try_check_one(struct server *s)
{
    struct document *document = find_old(s);
    const char *why = document ? server_try(s, check_document, document) : NULL;
    if (!why)
        return server_check_one(s);
    publish_failure(s, document, why);
    region_release(&s->scratch);
    return true;
}

int server_run(struct server *s, int in)
{
    struct rpc_reader reader = {0};
    char bytes[65536];
    signal(SIGPIPE, SIG_IGN); /* an editor that is gone is the end of what it reads, too */
    int wait_ms = -1;
    while (!s->has_ended && !s->is_broken) {
        struct pollfd input = {.fd = in, .events = POLLIN};
        int ready = poll(&input, 1, wait_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            wait_ms = try_check_one(s) ? 0 : -1;
            continue;
        }
        ssize_t size = read(in, bytes, sizeof bytes);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        rpc_feed(&reader, bytes, (size_t)size);
        read_all(s, &reader);
        wait_ms = QUIET_MS;
    }
    rpc_release(&reader);
    return s->has_ended && s->is_shut_down ? 0 : 1;
}
