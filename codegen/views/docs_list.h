/* What a reference is about: the declarations of several models, each once, in order of first
 * appearance. */
#ifndef HEDDLE_CODEGEN_DOCS_LIST_H
#define HEDDLE_CODEGEN_DOCS_LIST_H

#include "dsl/arena.h"
#include "dsl/model.h"

struct docs_list {
    struct arena *arena;
    const struct model *const *scopes;
    size_t scope_count;
    VECTOR(const struct model_type *) types;
    VECTOR(const struct model_protocol *)
    protocols; /* one for each declaration, whatever its arguments */
    VECTOR(const struct model_link_type *) links;
    VECTOR(const struct model_interface *) interfaces;
    VECTOR(const struct model_enum *) enums;
    VECTOR(const struct model *) platforms;
};

void docs_list_collect(struct docs_list *list, struct arena *arena,
                       const struct model *const *scopes, size_t scope_count);

/* A bound port of that declaration somewhere in the scopes, or NULL: the model knows depths only of
 * instances. */
const struct model_port *docs_list_port_sample(const struct docs_list *list,
                                               const struct model_port_decl *decl);

#endif
