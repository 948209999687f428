/* Answers for editors about a description that is being written: the meaning of a name, its places,
 * completions at the cursor, the declarations of a file.
 *
 * A service is made of one state of a file and of what it imports, as compile_options.open_text
 * gives them. Nothing is elaborated: all answers follow from declarations, so half-written text
 * has answers, too. What it hands out lives until service_close(). Places are bytes in the text of
 * a file as the language sees it: without a byte-order mark, lines ending with '\n'. */
#ifndef HEDDLE_DSL_LANGUAGE_SERVICE_H
#define HEDDLE_DSL_LANGUAGE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile.h"

enum service_kind {
    SERVICE_FILE,
    SERVICE_PLATFORM,
    SERVICE_COMPONENT,
    SERVICE_PART,
    SERVICE_PROTOCOL,
    SERVICE_LINK,
    SERVICE_INTERFACE,
    SERVICE_ENUM,
    SERVICE_CHOICE, /* a name of an enumeration */
    SERVICE_PARAM,
    SERVICE_LET,
    SERVICE_PORT,
    SERVICE_STAT,
    SERVICE_SLOT,
    SERVICE_SUBPART,
    SERVICE_STORE,
    SERVICE_CLOCK,
    SERVICE_INSTANCE, /* also wires and interconnects */
    SERVICE_SPACE,
    SERVICE_VARIABLE, /* the index of a `for` */
    SERVICE_MESSAGE,
    SERVICE_FIELD,
    SERVICE_KEYWORD,
    SERVICE_FUNCTION,
    SERVICE_TYPE, /* the type of a parameter, field or statistic */
    SERVICE_KINDS
};

struct service;

struct service_place {
    const char *file;
    const char *text; /* the whole file; "" for files that are not descriptions */
    uint32_t size;
    uint32_t begin, end;
};

/* A name, whose first declaration tells it from all others. */
struct service_symbol {
    enum service_kind kind;
    const char *name;
    struct service_place place; /* where that declaration is */
    const char *owner;          /* the type around it, "" for what is at the top */
    bool is_library;
};

struct service_occurrence {
    struct service_place place;
    bool is_declaration;
};

/* A proposal for the cursor, in place of the bytes `begin` to `end`. */
struct service_completion {
    enum service_kind kind;
    const char *label;
    const char *detail; /* "cycles = 4cy in 1cy .. 100cy" */
    const char *doc;
    uint32_t begin, end;
};

/* A declaration; those in it follow it with a greater depth. */
struct service_outline {
    enum service_kind kind;
    const char *name;
    const char *detail;
    uint32_t depth;
    uint32_t begin, end;           /* the whole range */
    uint32_t name_begin, name_end; /* inside */
};

struct service_hover {
    uint32_t begin, end;
    const char *code; /* a line or two of heddle */
    const char *text; /* what the comment above says and where the name belongs */
};

/* NULL: the file can neither be read nor is it open. The options are copied. */
struct service *service_open(const struct compile_options *options, const char *file);
void service_close(struct service *s);

/* The text of the file. */
const char *service_text(const struct service *s, uint32_t *size);
/* The name at a place of the file, NULL: none. `place` (may be NULL) is where it is there. */
const struct service_symbol *service_symbol_at(struct service *s, uint32_t at,
                                               struct service_place *place);
/* The symbol whose first declaration is at this place of any file, as another service knows it. */
const struct service_symbol *service_symbol_declared(struct service *s, const char *file,
                                                     uint32_t begin);
/* Occurrences of a symbol in all files, by place. */
const struct service_occurrence *
service_occurrences(struct service *s, const struct service_symbol *symbol, size_t *count);
/* Explains the name or number at a place. False: there is none. */
bool service_hover_at(struct service *s, uint32_t at, struct service_hover *hover);
/* Values that a parameter at a place has in an elaborated platform, "" when that says nothing. */
const char *service_values(struct service *s, const struct model *model, uint32_t at);
const struct service_completion *service_complete(struct service *s, uint32_t at, size_t *count);
const struct service_outline *service_outline(struct service *s, size_t *count);

#endif
