/* Every name of a program, with its places and its meaning. Names are resolved by declarations
 * only: a path goes from the type of an instance to the types of its members, whatever `if`
 * decides. Built once for a service by names_build().
 *
 * A symbol is told from others by the offset of its first declaration. What is in both branches
 * of an `if` is one symbol. */
#ifndef HEDDLE_DSL_SERVICE_NAMES_H
#define HEDDLE_DSL_SERVICE_NAMES_H

#include "base/hash_table.h"
#include "dsl/elaborate/imports.h"
#include "dsl/language_service.h"

struct name_symbol {
    struct service_symbol shown; /* first: handed out */
    struct span span;            /* span of the first declaration */
    const struct ast_item *item; /* its declaration; of a choice, the item with the enumeration */
    const struct type_info *owner;
};

struct name_occurrence {
    struct span span;
    struct name_symbol *symbol;
    bool is_declaration;
    uint32_t value; /* a setting's: offset of what it is set to; 0: no setting */
};

struct names {
    struct region *region;
    const struct program *program;
    VECTOR(struct name_symbol *) symbols;
    VECTOR(struct name_occurrence) occurrences; /* by place */
    struct hash_table symbol_at;                /* by offset of the declaration */
};

void names_build(struct names *names, struct region *region, const struct program *program);
/* The name at an offset, or just before it; NULL: none. */
const struct name_occurrence *names_at(const struct names *names, uint32_t offset);
struct name_symbol *names_declared(const struct names *names, uint32_t offset);
/* Enters a declaration, or finds it. */
struct name_symbol *names_symbol(struct names *names, enum service_kind kind, struct ast_name name,
                                 const struct ast_item *item, const struct type_info *owner);
void names_add(struct names *names, struct span span, struct name_symbol *symbol);
struct service_place names_place(const struct names *names, struct span span);

/* members.c: what is in the body of a type, in its `if` and `for`, too. */
typedef bool member_visit(void *context, const struct ast_item *item); /* False: no further */
void members_walk(const struct type_info *type, member_visit *visit, void *context);
/* The name that an item declares in a body; `text` is NULL when it declares none. */
struct ast_name member_name(const struct ast_item *item);
/* A parameter or `let`. */
const struct ast_item *member_value(const struct type_info *type, const char *name);
/* A port, instance, part, slot, store, clock or space. */
const struct ast_item *member_thing(const struct type_info *type, const char *name);
/* The names that the braces of an instance or part can set. */
const struct ast_item *member_setting(const struct type_info *type, const char *name);
/* The type of an instance, interconnect, part, or of what a slot takes by default; NULL: unknown.
 */
const struct type_info *member_type(const struct program *program, const struct ast_item *item);
/* The first of the types that may fill a slot with a member of this name; NULL: none. */
const struct type_info *member_filler(const struct program *program, const struct ast_item *slot,
                                      const char *name);
bool member_fills(const struct type_info *part, const struct ast_item *slot);
enum service_kind member_kind(const struct ast_item *item);
/* The names of an enumeration, written in place or declared; NULL: none. `*item` (may be NULL) is
 * what declares it. */
const struct ast_names *enum_names(const struct program *program, const struct ast_item *param,
                                   const struct ast_item **item);
const struct ast_item *enum_named(const struct program *program, const char *name);
/* The parameter that gives an expression its enumeration, or NULL. */
const struct ast_item *enum_of(const struct program *program, const struct type_info *type,
                               const struct ast_expr *x);
const struct ast_item *protocol_message(const struct program *program, const struct ast_item *port,
                                        const char *name);

#endif
