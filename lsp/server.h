/* The language server: one editor, one thread, messages in their order; each is tried in a child
 * first (trial.c). Diagnostics are made when the editor is silent for a moment, so that every
 * stroke of a key is not a check of its own.
 *
 * A request is a row of a table in server.c. Its function takes the parameters and gives a result,
 * or fills `failure`; requests_*.c hold them by topic. */
#ifndef HEDDLE_LSP_SERVER_H
#define HEDDLE_LSP_SERVER_H

#include "base/region.h"

#include "document.h"
#include "rpc.h"

struct server {
    struct documents documents;
    FILE *out;
    VECTOR(const char *) roots; /* folders of the workspace */
    struct region lasting;      /* until the server ends */
    struct region scratch;      /* until the message is answered */
    json_t *published;          /* URIs with diagnostics that the editor shows */
    bool is_initialized, is_shut_down, has_ended, is_broken;
};

struct failure {
    enum rpc_error code;
    const char *text; /* NULL: nothing failed */
};

typedef json_t *server_request(struct server *s, const json_t *params, struct failure *failure);

void server_init(struct server *s, const struct compile_options *options, FILE *out);
void server_release(struct server *s);
/* Takes one message as it came. */
void server_answer(struct server *s, const char *body, size_t size);
/* Says that a message could not be read. */
void server_complain(struct server *s, enum rpc_result problem);
/* Checks one changed document and publishes its diagnostics. False: no document has changed. */
bool server_check_one(struct server *s);
/* Serves `in` until it ends; an exit status. */
int server_run(struct server *s, int in);

/* ---- for requests ---- */

json_t *server_fail(struct failure *failure, enum rpc_error code, const char *text);
/* The open document that the parameters name; NULL with a failure. */
struct document *server_document(struct server *s, const json_t *params, struct failure *failure);
/* The open document that the parameters name, its service, and the offset in it, in bytes. */
struct service *server_place(struct server *s, const json_t *params, struct document **document,
                             uint32_t *at, struct failure *failure);
/* The name at the place, and where it is declared if `place` is wanted; NULL: none, or with a
 * failure. */
const struct service_symbol *server_symbol(struct server *s, const json_t *params,
                                           struct document **document, struct service **service,
                                           struct service_place *place, struct failure *failure);
json_t *server_range(struct position_lines *lines, size_t begin, size_t end);
/* {uri, range} of a place in any file. */
json_t *server_location(struct server *s, const struct service_place *place);
const char *server_uri(struct server *s, const char *path);
bool server_position(const json_t *json, struct position *position);
void server_show(struct server *s, const char *text); /* as a warning, in the editor */

/* requests_symbol.c */
server_request request_definition, request_references, request_highlight, request_symbols;
/* requests_text.c */
server_request request_hover, request_completion, request_format;
/* requests_fix.c */
server_request request_actions;
/* requests_rename.c */
server_request request_rename, request_prepare_rename;

/* publish.c: checks a document and sends diagnostics that have changed. */
void publish_check(struct server *s, struct document *document);
/* In place of a check that cannot be made: says why, as the only diagnostic. */
void publish_failure(struct server *s, struct document *document, const char *why);
/* Sends what remains of the diagnostics of a document that is being closed. */
void publish_forget(struct server *s, struct document *document);

/* trial.c: NULL when the work ends well in a child; else what went wrong, in the scratch region. */
typedef void server_work(struct server *s, void *context);
const char *server_try(struct server *s, server_work *work, void *context);

/* workspace.c: where a symbol is, in all descriptions of the workspace and open ones. */
struct found_place {
    const char *path;
    const char *text;
    uint32_t size;
    uint32_t begin, end;
    bool is_declaration;
};
struct found_places {
    VECTOR(struct found_place) v; /* by path and place */
};
void workspace_find(struct server *s, struct service *service, const struct service_symbol *symbol,
                    struct found_places *found);
bool workspace_has(const struct server *s, const char *path);

#endif
