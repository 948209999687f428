/* Everything declared in a file and in what it imports, by name.
 *
 * Declarations of all files form one space for each kind: components, parts and platforms share
 * one; protocols, links, interfaces and enums have one each. Their order is that of the
 * imports, depth first, a file after what it imports; order of declaration never matters to the
 * language. */
#ifndef HEDDLE_DSL_ELABORATE_IMPORTS_H
#define HEDDLE_DSL_ELABORATE_IMPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/compile.h"
#include "dsl/diagnostic.h"
#include "dsl/model.h"
#include "dsl/source.h"
#include "dsl/syntax/ast.h"

struct item_list {
    VECTOR(const struct ast_item *) v;
};

/* A component, part or platform. `model` is filled from the declaration; what needs values
 * (protocols of ports) is filled from its first instance. */
struct type_info {
    struct model_type model;
    const struct ast_item *decl;
    const struct ast_file *file;
    bool is_main; /* declared in the main file */
    uint32_t instances;
    uint64_t least;          /* items that it expands to at least; 0: not counted yet */
    struct item_list params; /* AST_PARAM and AST_LET; parallel to model.params, and so on */
    struct item_list ports;
    struct item_list stats;
    struct item_list measures; /* AST_MEASURE; parallel to model.measures */
    struct item_list parts;    /* AST_SLOT and AST_SUBPART */
    struct item_list stores;
    struct item_list clocks;
    struct item_list behaviour; /* AST_BEHAVIOUR; none: NAME.c */
    struct item_list coherence; /* AST_COHERENCE; none: nothing is known */
    struct model_param_decl *param_decls;
    struct model_port_decl *port_decls;
    struct model_part_decl *part_decls;
};

struct protocol_info {
    const struct ast_item *decl;
    struct item_list params; /* AST_FIELD: name and type */
    struct item_list requests, replies;
    enum model_dimension *dimensions; /* dimensions of the parameters */
};

struct link_info {
    const struct ast_item *decl;
    struct model_link_type *model; /* filled by elaboration; NULL until then */
};

/* A declaration in a file that is not imported. */
struct elsewhere {
    enum ast_kind kind;
    const char *name;
    const char *import; /* as an import would name its file */
};

/* A folder ROOM/NAME of the library. */
struct library_entry {
    const char *room, *name;
};

struct library {
    VECTOR(struct library_entry) entries; /* see program_library */
    bool is_listed;
};

/* An import that was found. */
struct import_info {
    const struct ast_item *item;
    const char *path;
};

struct program {
    struct region *region;
    struct diagnostics *diagnostics;
    struct source_set *sources;
    const struct compile_options *options;
    VECTOR(struct ast_file *) files; /* main file first */
    VECTOR(struct import_info) imports;
    VECTOR(const char *) missed; /* where files of these would have come first */
    VECTOR(struct type_info *) types;
    VECTOR(struct protocol_info *) protocols;
    VECTOR(struct link_info *) links;
    VECTOR(struct model_interface *) interfaces;
    VECTOR(struct model_enum *) enums;
    struct library *library;
    VECTOR(struct elsewhere) elsewhere; /* see program_suggest_import */
    bool knows_elsewhere;
    bool is_damaged; /* a file could not be read or has syntax errors */
};

/* Parses the main file and its imports and declares everything. */
void program_load(struct program *program, struct source_file *main);

struct type_info *program_type(const struct program *program, const char *name);
struct protocol_info *program_protocol(const struct program *program, const char *name);
struct link_info *program_link(const struct program *program, const char *name);
struct model_interface *program_interface(const struct program *program, const char *name);
struct model_enum *program_enum(const struct program *program, const char *name);

struct model_place program_place(const struct program *program, struct span span);
/* An enumeration from its literals; says when one occurs twice. */
struct model_enum *program_make_enum(struct program *program, const char *name, const char *doc,
                                     const struct ast_names *literals, struct span span);
/* The index of a name in a list, or -1. */
int32_t item_list_find(const struct item_list *list, const char *name);
/* Says which import declares `name`: of the library, the folders of -I and that of the main file.
 * False: none does. */
bool program_suggest_import(struct program *program, struct diagnostic *d, enum ast_kind kind,
                            const char *name);
/* Index of a literal, or -1. */
int32_t model_enum_find(const struct model_enum *choice, const char *name);

/* The folders of the library by name, and by room where two rooms have the same name. The library
 * is walked once, at the first call. */
const struct library_entry *program_library(const struct program *program, uint32_t *count);
/* ROOM/NAME/NAME.heddle, which need not exist. */
const char *library_path(const struct program *program, const struct library_entry *entry);

#endif
