/* Documents that the editor has open: their text, and what was last made of it.
 *
 * A change of any document makes all services old, since it may be imported; a check is old only
 * where the changed file was read, or where something was wrong. */
#ifndef HEDDLE_LSP_DOCUMENT_H
#define HEDDLE_LSP_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dsl/compile.h"
#include "dsl/language_service.h"

#include "position.h"

struct document {
    struct document *next;
    char *uri;
    char *path; /* without symbolic links, where there is such a file */
    char *text; /* without a byte-order mark */
    size_t size;
    bool has_mark;
    json_int_t version;
    bool is_old;             /* to be checked */
    struct service *service; /* NULL: not made, or old */
    uint32_t service_uses;   /* answers stay in its region, so it is made anew now and then */
    struct compilation *checked;
    const struct model
        *model;    /* model of `checked`; NULL: that has errors, or is of another state */
    json_t *found; /* diagnostics of the last check, by URI */
};

struct documents {
    struct document *first;
    struct compile_options options; /* as open_text finds documents */
    /* For completion, a text in place of a document's. */
    const struct document *replaced;
    const char *replacement;
    size_t replacement_size;
};

void documents_init(struct documents *documents, const struct compile_options *options);
void documents_release(struct documents *documents);
struct document *documents_find(const struct documents *documents, const char *uri);
/* By path, also where one leads over symbolic links. */
struct document *documents_at(const struct documents *documents, const char *path);
/* Opens a document, or gives an open one a new text. */
struct document *documents_open(struct documents *documents, const char *uri, const char *text,
                                size_t size);
void documents_close(struct documents *documents, struct document *document);
void documents_set_text(struct documents *documents, struct document *document, const char *text,
                        size_t size);
/* Puts `text` in place of what is between two positions. */
void documents_edit(struct documents *documents, struct document *document, struct position from,
                    struct position to, const char *text, size_t size);
/* Files that are not open have changed. */
void documents_outdate(struct documents *documents);
/* Declarations of the names in a document; NULL: it is too large. */
struct service *documents_service(struct documents *documents, struct document *document);
/* The path without symbolic links, in memory of its own, or a copy of `path`. */
char *documents_real_path(const char *path);

#endif
