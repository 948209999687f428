/* The tree of a description, as written. Built by the grammar's actions through the functions
 * below, in the compilation's region; never changed afterwards. Names are not interned: compare
 * them with strcmp().
 *
 * Expressions and items (declarations and statements) are one structure each with a kind; which
 * members a kind uses stands beside it. */
#ifndef HEDDLE_DSL_SYNTAX_AST_H
#define HEDDLE_DSL_SYNTAX_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/diagnostic.h"
#include "dsl/model.h"
#include "dsl/source.h"

#include "token.h"

/* Expressions nest no deeper than this, so that walking them recursively is safe. */
#define AST_DEPTH_MAX 200

/* No pair of braces, and no list, holds more than this: later passes compare every name with every
 * other. */
#define AST_ITEMS_MAX 10000

struct ast_name {
    const char *text; /* NULL: absent */
    struct span span;
};

enum ast_expr_kind {
    AST_NUMBER, /* value, dimension */
    AST_STRING, /* name */
    AST_NAME,   /* name */
    AST_MEMBER, /* a . name */
    AST_INDEX,  /* a [ b ] */
    AST_SLICE,  /* a [ b .. c ], half_open */
    AST_ALL,    /* a [ * ] */
    AST_CALL,   /* name ( list ) */
    AST_NEGATE, /* a */
    AST_NOT,    /* a */
    AST_BINARY, /* a op b; op is a character or a token kind */
    AST_CHOOSE, /* a ? b : c */
};

struct ast_expr {
    enum ast_expr_kind kind;
    struct span span;
    struct ast_name name;
    int64_t value;
    enum model_dimension dimension;
    int op;
    bool half_open;
    uint32_t depth;
    struct ast_expr *a, *b, *c;
    struct ast_exprs *list;
};

struct ast_exprs {
    VECTOR(struct ast_expr *) v;
    struct span span;
};

struct ast_names {
    VECTOR(struct ast_name) v;
};

/* A type in a parameter: a dimension by name, a named enum, or an enum written in place. */
struct ast_type {
    struct ast_name name; /* "int", "B/cy", the enum's; NULL for one in place */
    struct ast_names *literals;
    struct span span;
};

enum ast_kind {
    AST_IMPORT,    /* name: the string */
    AST_PROTOCOL,  /* name, body: AST_PARAM without default, AST_MESSAGE */
    AST_MESSAGE,   /* name, is_reply, names: the requests it answers, body: AST_FIELD */
    AST_FIELD,     /* name, target: type, size: of bits[] and bytes[], via: field with the length */
    AST_LINK,      /* name, body: AST_SETTING */
    AST_ENUM,      /* name, names */
    AST_INTERFACE, /* name */
    AST_PART,      /* name, target: interface, body */
    AST_COMPONENT, /* name, body */
    AST_PLATFORM,  /* name, body */
    AST_PARAM,     /* name, type, value: default, low, high, half_open, pow2 */
    AST_LET,       /* name, value */
    AST_CHECK,     /* value, message */
    AST_PORT,      /* is_in, name, size/unsized, target: protocol, args, optional, depth, width,
                      latency */
    AST_STAT,      /* name, target: kind; one item for each name */
    AST_MEASURE,   /* name, value: the part, whole */
    AST_SLOT,      /* name, target: interface, value: default (AST_NAME), fill_body, optional */
    AST_SUBPART,   /* name, size, target: part, body */
    AST_STORE,     /* name, target: C type */
    AST_READS,     /* name, target: C type */
    AST_CLOCK,     /* name, value: frequency; NULL: an input */
    AST_BEHAVIOUR, /* name: the string; one item for each file */
    AST_INSTANCE,  /* name, size, target: component, on, body: AST_SETTING, AST_INSERT,
                     AST_CONNECT (`insert a -> b;`) */
    AST_SETTING, /* name, value; fill_body when the value is PART { ... }; path: what the name is a
                    member of, NULL: the instance itself */
    AST_INSERT,  /* name, target: component, body: AST_SETTING, path: an instance, via: its port */
    AST_CONNECT, /* left, right, latency, via, which, target: type of via, on, body,
                    over,   by, otherwise */
    AST_SPACE,   /* name, left: targets, each, interleave, hashed */
    AST_MAP,     /* left, at */
    AST_PARTITION, /* left */
    AST_IF,        /* value, body, otherwise_body */
    AST_FOR,       /* name, low, high, half_open, body */
    AST_COHERENCE, /* body: AST_FACT */
    AST_FACT,      /* name: its verb, left, right, at_what, operands, value: the condition */
};

struct ast_item;

struct ast_items {
    VECTOR(struct ast_item *) v;
    struct span span; /* braces included */
};

struct ast_item {
    enum ast_kind kind;
    struct span span;
    struct ast_name name;
    struct ast_name target;
    const char *doc; /* "" when undocumented */
    struct ast_names *names;
    struct ast_type *type;
    struct ast_exprs *args;
    struct ast_expr *size, *value, *low, *high;
    struct ast_expr *depth, *width, *latency;
    struct ast_expr *path;
    struct ast_expr *whole;
    struct ast_expr *which; /* elements of `via`: AST_ALL, AST_INDEX, AST_SLICE, without `a` */
    struct ast_exprs *left, *right;
    struct ast_exprs *at_what, *operands;
    struct ast_expr *by, *otherwise, *each, *interleave, *hashed, *at;
    struct ast_name via, over, on;
    struct ast_items *body, *fill_body, *otherwise_body;
    bool is_in, is_reply, unsized, is_optional, half_open, pow2;
};

/* Clauses that may follow a declaration in any order, while the parser gathers them. */
struct ast_range {
    struct ast_expr *low, *high; /* NULL: absent */
    bool half_open;
};

struct ast_param_options {
    struct ast_range range;
    bool pow2;
};

struct ast_port_options {
    struct ast_expr *depth, *width, *latency;
    bool is_optional;
};

struct ast_slot_options {
    struct ast_expr *value; /* AST_NAME */
    struct ast_items *body;
    bool is_optional;
};

struct ast_connect_options {
    struct ast_name via, type, on, over;
    struct ast_expr *which, *latency, *by, *otherwise;
    struct ast_items *body;
};

struct ast_fact_options {
    struct ast_exprs *right, *at_what, *operands;
    struct ast_expr *condition;
};

struct ast_file {
    const struct source_file *source;
    struct ast_items *items;
    bool is_damaged; /* has syntax errors */
};

/* Documentation in front of the token at offset `begin`. */
struct ast_doc {
    uint32_t begin;
    const char *text;
};

/* The state that the parser and the builders share. */
struct parser {
    struct region *region;
    struct diagnostics *diagnostics;
    const struct source_file *source;
    struct token_list tokens;
    uint32_t next;
    VECTOR(struct ast_doc) docs; /* by offset */
    struct ast_items *items;     /* the result: a file */
    struct ast_expr *expression; /* the result: one expression */
    int start;             /* pseudo token that chooses between the two; 0 once it is delivered */
    bool insert_semicolon; /* recovery delivers one that is not in the file */
    bool has_failed;
    bool is_flooded; /* a list was full */
};

/* Parses a whole file; never NULL. */
struct ast_file *ast_parse(struct region *region, struct diagnostics *d,
                           const struct source_file *source);
/* Parses one expression, the value of an override. NULL after a diagnostic. */
struct ast_expr *ast_parse_expression(struct region *region, struct diagnostics *d,
                                      const struct source_file *source);

struct ast_expr *ast_expr_new(struct parser *p, enum ast_expr_kind kind, struct span span);
struct ast_expr *ast_expr_join(struct parser *p, struct ast_expr *e, struct ast_expr *a,
                               struct ast_expr *b, struct ast_expr *c);
struct ast_exprs *ast_exprs_add(struct parser *p, struct ast_exprs *list, struct ast_expr *e);
struct ast_names *ast_names_add(struct parser *p, struct ast_names *list, struct ast_name name);
struct ast_item *ast_item_new(struct parser *p, enum ast_kind kind, struct span span,
                              struct ast_name name);
struct ast_items *ast_items_add(struct parser *p, struct ast_items *list, struct ast_item *item);
struct ast_items *ast_items_append(struct parser *p, struct ast_items *list,
                                   struct ast_items *more);
struct ast_item *ast_param(struct parser *p, struct ast_name name, struct ast_type *type,
                           struct ast_expr *value, struct ast_param_options options,
                           struct span span);
struct ast_item *ast_slot(struct parser *p, struct ast_name name, struct ast_name type,
                          struct ast_slot_options options, struct span span);
struct ast_item *ast_connect(struct parser *p, struct ast_exprs *left, struct ast_exprs *right,
                             struct ast_connect_options options, struct span span);
struct ast_items *ast_ports(struct parser *p, struct ast_items *names, bool is_in,
                            struct ast_name protocol, struct ast_exprs *args,
                            struct ast_port_options options, struct span span);
/* `behaviour "a.c", "b.c";` */
struct ast_items *ast_behaviour(struct parser *p, struct ast_items *before, struct ast_name file,
                                struct span span);
struct ast_items *ast_stats(struct parser *p, const struct ast_names *names, struct ast_name kind,
                            struct span span);
struct ast_item *ast_subpart(struct parser *p, struct ast_expr *path, struct ast_name type,
                             struct ast_items *body, struct span span);
struct ast_item *ast_instance(struct parser *p, struct ast_expr *path, struct ast_name type,
                              struct ast_name on, struct ast_items *body, struct span span);
struct ast_item *ast_fact(struct parser *p, struct ast_name verb, struct ast_exprs *left,
                          struct ast_fact_options options, struct span span);
/* `latency = 3cy;` or `sa[*].l1v.latency = 3cy;`; `body` is that of a part, or NULL. */
struct ast_item *ast_setting(struct parser *p, struct ast_expr *path, struct ast_expr *value,
                             struct ast_items *body, struct span span);
/* `insert wc : combiner { settings } at sa[*].l1v.bottom;`; path NULL: `port` is a bare name. */
struct ast_item *ast_insert(struct parser *p, struct ast_name name, struct ast_name type,
                            struct ast_items *body, struct ast_expr *port, struct span span);
/* The keyword that a misspelled word at the beginning of a statement, token number `at`, is near
 * to; NULL: there is none, or it is something else. */
const char *ast_keyword_meant(const struct parser *p, uint32_t at);

/* Symbols that the grammar takes in place of a token; `symbol` and `only` are names of its symbols.
 */
struct ast_expectation {
    const char *symbol; /* symbol of the token itself */
    const char *only;   /* the one thing expected; NULL: there are several */
    bool semicolon, value;
};

/* The message of a syntax error at token number `at`. */
void ast_report_syntax(struct parser *p, uint32_t at, const struct ast_expectation *expected);
/* NAME or NAME[size] of a declaration that the grammar read as a path; says what is wrong with
 * anything else. */
bool ast_declared_name(struct parser *p, struct ast_expr *path, struct ast_name *name,
                       struct ast_expr **size);
#endif
