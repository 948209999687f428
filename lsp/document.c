/* Documents that the editor has open. */
#include "document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "dsl/source.h"

#include "uri.h"

#define SERVICE_USES 64

static void *allocate(size_t size)
{
    return grow_zeroed(size, "a document");
}

static char *copy(const char *text, size_t size)
{
    char *made = allocate(size + 1);
    if (size > 0)
        memcpy(made, text, size);
    return made;
}

char *documents_real_path(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : copy(path, strlen(path));
}

struct document *documents_at(const struct documents *documents, const char *path)
{
    for (struct document *d = documents->first; d; d = d->next)
        if (strcmp(d->path, path) == 0)
            return d;
    for (struct document *d = documents->first; d; d = d->next) {
        if (strcmp(source_base_name(d->path), source_base_name(path)) != 0)
            continue;
        char *real = documents_real_path(path);
        bool is_same = strcmp(d->path, real) == 0;
        free(real);
        if (is_same)
            return d;
    }
    return NULL;
}

static const char *open_text(void *context, const char *name, size_t *size)
{
    const struct documents *documents = context;
    const struct document *document = documents_at(documents, name);
    if (!document)
        return NULL;
    bool is_replaced = document == documents->replaced;
    *size = is_replaced ? documents->replacement_size : document->size;
    return is_replaced ? documents->replacement : document->text;
}

void documents_init(struct documents *documents, const struct compile_options *options)
{
    *documents = (struct documents){.options = *options};
    documents->options.open_text = open_text;
    documents->options.open_context = documents;
}

struct document *documents_find(const struct documents *documents, const char *uri)
{
    for (struct document *d = documents->first; d; d = d->next)
        if (strcmp(d->uri, uri) == 0)
            return d;
    return NULL;
}

static void forget_service(struct document *document)
{
    service_close(document->service);
    document->service = NULL;
}

static bool was_read(const struct document *document, const char *path)
{
    for (size_t i = 0; i < compile_file_count(document->checked); i++)
        if (strcmp(compile_file_name(document->checked, i), path) == 0)
            return true;
    return false;
}

static void outdate(struct document *document)
{
    document->is_old = true;
    document->model = NULL;
}

/* The text at `path` has changed. */
static void has_changed(struct documents *documents, const char *path)
{
    for (struct document *d = documents->first; d; d = d->next) {
        forget_service(d);
        if (strcmp(d->path, path) == 0 || !d->checked || compile_diagnostic_count(d->checked) > 0
            || was_read(d, path))
            outdate(d);
    }
}

void documents_outdate(struct documents *documents)
{
    for (struct document *d = documents->first; d; d = d->next) {
        forget_service(d);
        outdate(d);
    }
}

void documents_set_text(struct documents *documents, struct document *document, const char *text,
                        size_t size)
{
    document->has_mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    size_t from = document->has_mark ? 3 : 0;
    char *made = copy(text + from, size - from);
    free(document->text);
    document->text = made;
    document->size = size - from;
    has_changed(documents, document->path);
}

struct document *documents_open(struct documents *documents, const char *uri, const char *text,
                                size_t size)
{
    struct document *document = documents_find(documents, uri);
    if (!document) {
        struct region region;
        region_init(&region, "a description");
        document = allocate(sizeof *document);
        document->uri = copy(uri, strlen(uri));
        document->path = documents_real_path(uri_path(&region, uri));
        region_release(&region);
        struct document **end = &documents->first;
        while (*end)
            end = &(*end)->next;
        *end = document;
    }
    documents_set_text(documents, document, text, size);
    return document;
}

static void release_document(struct document *document)
{
    forget_service(document);
    compile_close(document->checked);
    json_decref(document->found);
    free(document->uri);
    free(document->path);
    free(document->text);
    free(document);
}

void documents_close(struct documents *documents, struct document *document)
{
    struct document **at = &documents->first;
    while (*at != document)
        at = &(*at)->next;
    *at = document->next;
    has_changed(documents, document->path); /* others see the file again */
    release_document(document);
}

void documents_release(struct documents *documents)
{
    while (documents->first) {
        struct document *document = documents->first;
        documents->first = document->next;
        release_document(document);
    }
}

void documents_edit(struct documents *documents, struct document *document, struct position from,
                    struct position to, const char *text, size_t size)
{
    struct position_lines lines;
    position_lines_make(&lines, document->text, document->size);
    lines.lead = document->has_mark;
    size_t begin = position_offset(&lines, from), end = position_offset(&lines, to);
    position_lines_release(&lines);
    end = max(end, begin);
    size_t whole = document->size - (end - begin) + size;
    char *made = allocate(whole + 1);
    memcpy(made, document->text, begin);
    if (size > 0)
        memcpy(made + begin, text, size);
    memcpy(made + begin + size, document->text + end, document->size - end);
    free(document->text);
    document->text = made;
    document->size = whole;
    has_changed(documents, document->path);
}

struct service *documents_service(struct documents *documents, struct document *document)
{
    if (document->service_uses++ >= SERVICE_USES)
        forget_service(document);
    if (!document->service) {
        document->service = service_open(&documents->options, document->path);
        document->service_uses = 0;
    }
    return document->service;
}
