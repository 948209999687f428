#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_BUILD_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_BUILD_H

/* The builder that the grammar's actions call: the tree under construction, its names and scopes,
 * and messages. Names are interned: equal names have one address. Each name has a stack of its
 * meanings, the innermost scope on top. */

#include <stdarg.h>
#include <stdbool.h>

#include "base/region.h"

#include "ptx.h"
#include "ptx_forms.h"

enum {
    PTX_REGISTERS_MAX = 1 << 20, /* registers of a function */
    PTX_MESSAGES_MAX = 10,       /* errors that are reported */
    PTX_DEPTH_MAX = 200          /* blocks inside of each other */
};

/* A module's variables and an entry's parameters, together. */
#define PTX_BYTES_MAX (UINT64_C(1) << 40)

enum ptx_meaning {
    PTX_MEANS_REGISTER, /* index; count registers for a vector */
    PTX_MEANS_RANGE,    /* %r<10>: index of the first register, count */
    PTX_MEANS_BASE,     /* variable, parameter or function: base and index */
    PTX_MEANS_TABLE
};

struct ptx_symbol {
    struct ptx_name *name;
    struct ptx_symbol *outer;  /* what the name means outside this scope */
    struct ptx_symbol *before; /* the symbol declared before in this scope */
    struct ptx_symbol *range;  /* the range that a register was found in */
    uint8_t meaning;
    uint8_t base;
    uint32_t index;
    uint32_t count;
    uint32_t scope;
};

struct ptx_name {
    struct ptx_name *next; /* in its bucket */
    struct ptx_symbol *top;
    struct ptx_form *form; /* form of a dotted name that was looked up */
    uint32_t hash;
    uint32_t length;
    char text[];
};

struct ptx_scope {
    uint32_t id;
    uint32_t parent; /* index of parser->scopes, or PTX_NONE */
    struct ptx_symbol *symbols;
};

struct ptx_label {
    const char *name;
    uint32_t scope;
    uint32_t instruction;
    uint32_t next; /* in its bucket, or PTX_NONE */
    bool used;
};

/* A place that a label belongs into. */
struct ptx_fixup {
    const char *name;
    uint32_t scope;
    uint32_t line;
    uint32_t *index;
};

/* A constant, a number of the text or an expression of numbers. */
struct ptx_number {
    uint8_t kind; /* PTX_OPERAND_INTEGER, _F32, _F64 */
    uint64_t bits;
};

struct ptx_operands {
    struct ptx_operand *at;
    uint32_t count;
};

struct ptx_words {
    const char **at;
    uint32_t count;
};

/* The numbers of .maxntid and its like. */
struct ptx_limit {
    uint32_t value[3];
};

/* A declaration so far: ".global .align 4 .v2 .f32". */
struct ptx_declaration {
    uint8_t space;
    uint8_t linkage;
    uint8_t type;
    bool is_managed;
    bool is_pointer; /* what follows .ptr describes the pointer's target */
    uint32_t vector;
    uint32_t alignment;
    struct ptx_variable *last; /* for its initializer */
    uint64_t filled;           /* bytes given */
    bool is_open;              /* as many elements as values are given */
};

struct ptx_parser {
    struct region *region;
    struct ptx_module *module;
    struct ptx_error *error;
    const char *name; /* name of the text in messages */
    void *scanner;
    struct ptx_name **buckets;
    uint32_t bucket_count;
    uint32_t name_count;
    struct ptx_scope *scopes; /* all of the module; a scope refers to its parent */
    uint32_t scope_count;
    uint32_t scope; /* the current one */
    uint32_t depth;
    struct ptx_declaration declaration;
    struct ptx_function *function; /* whose header or body is being read, or NULL */
    struct ptx_variable *params;   /* parameters of the header or prototype being read */
    struct ptx_variable *results;
    uint32_t param_count;
    uint32_t result_count;
    bool in_results;
    bool in_params;
    struct ptx_label *labels; /* labels of the function */
    uint32_t label_count;
    uint32_t *label_buckets;
    struct ptx_fixup *fixups;
    uint32_t fixup_count;
    uint32_t line; /* line of the last token */
    uint32_t loc_file;
    uint32_t loc_line;
    uint64_t bytes; /* size of all variables */
    size_t warning_bytes;
    bool has_version;
    bool has_target;
};

/* Messages; the line is one of the PTX. */
void ptx_error_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ptx_warning_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Names and scopes (ptx_scope.c). */
const char *ptx_intern(struct ptx_parser *parser, const char *text, size_t length);
struct ptx_name *ptx_name_of(const char *interned);
void ptx_scope_open(struct ptx_parser *parser);
void ptx_scope_close(struct ptx_parser *parser);
struct ptx_symbol *ptx_declare(struct ptx_parser *parser, const char *name, uint32_t line);
struct ptx_symbol *ptx_lookup(struct ptx_parser *parser, const char *name);
const char *ptx_similar_name(struct ptx_parser *parser, const char *name);
void ptx_label_define(struct ptx_parser *parser, const char *name, uint32_t line);
void ptx_label_use(struct ptx_parser *parser, const char *name, uint32_t line, uint32_t *index);
void ptx_labels_resolve(struct ptx_parser *parser);

/* Declarations (ptx_declare.c). */
void ptx_declaration_begin(struct ptx_parser *parser, uint8_t linkage, uint8_t space);
void ptx_declaration_align(struct ptx_parser *parser, struct ptx_number number, uint32_t line);
void ptx_declare_range(struct ptx_parser *parser, const char *name, struct ptx_number count,
                       uint32_t line);
void ptx_declare_name(struct ptx_parser *parser, const char *name, bool is_array, uint64_t count,
                      uint32_t line);
void ptx_initial_number(struct ptx_parser *parser, struct ptx_number number, uint32_t line);
void ptx_initial_symbol(struct ptx_parser *parser, const char *name, bool generic, uint64_t mask,
                        int64_t addend, uint32_t line);
uint64_t ptx_dimension(struct ptx_parser *parser, uint64_t count, struct ptx_number number,
                       uint32_t line);

/* Functions and their bodies (ptx_function.c). */
void ptx_header_begin(struct ptx_parser *parser);
void ptx_function_header(struct ptx_parser *parser, const char *name, bool is_entry,
                         uint8_t linkage, uint32_t line);
void ptx_function_limit(struct ptx_parser *parser, const char *which, struct ptx_limit limit);
void ptx_function_begin(struct ptx_parser *parser);
void ptx_function_end(struct ptx_parser *parser, bool has_body);
void ptx_add_file(struct ptx_parser *parser, struct ptx_number number, const char *name,
                  uint32_t line);
void ptx_set_version(struct ptx_parser *parser, struct ptx_number number, uint32_t line);
void ptx_set_target(struct ptx_parser *parser, const char *word, uint32_t line);
void ptx_set_address_size(struct ptx_parser *parser, struct ptx_number number, uint32_t line);
void ptx_add_alias(struct ptx_parser *parser, const char *alias, const char *name, uint32_t line);
void ptx_add_table(struct ptx_parser *parser, const char *name, enum ptx_table_kind kind,
                   struct ptx_words words, uint32_t line);
void ptx_module_end(struct ptx_parser *parser);

/* Instructions and operands (ptx_operand.c, ptx_instruction.c). */
struct ptx_operand ptx_operand_word(struct ptx_parser *parser, const char *word, bool negated,
                                    uint32_t line);
struct ptx_operand ptx_operand_sum(struct ptx_parser *parser, const char *word,
                                   struct ptx_number offset, bool minus, uint32_t line);
struct ptx_operand ptx_operand_number(struct ptx_number number);
struct ptx_operand ptx_operand_bracket(struct ptx_parser *parser, struct ptx_operands elements,
                                       uint32_t line);
struct ptx_operands ptx_call_operands(struct ptx_parser *parser, struct ptx_operands results,
                                      const char *target, struct ptx_operands arguments,
                                      const char *table, uint32_t line);
struct ptx_number ptx_fold_unary(struct ptx_parser *parser, char operation,
                                 struct ptx_number number, uint32_t line);
struct ptx_number ptx_fold(struct ptx_parser *parser, char operation, struct ptx_number a,
                           struct ptx_number b, uint32_t line);
struct ptx_operand ptx_operand_list(enum ptx_operand_kind kind, struct ptx_operands elements);
void ptx_instruction(struct ptx_parser *parser, struct ptx_operand guard, const char *name,
                     struct ptx_operands operands, uint32_t line);

/* False: the operands fit none of the forms, which has been reported (ptx_check.c). */
bool ptx_check_operands(struct ptx_parser *parser, const struct ptx_form *form,
                        const struct ptx_operands *operands, const char *name, uint32_t line);

#endif
