/* Names of C for names of the description, and names of places for comments. All results live in
 * `region`. */
#ifndef HEDDLE_CODEGEN_EMIT_NAMES_H
#define HEDDLE_CODEGEN_EMIT_NAMES_H

#include "base/region.h"
#include "dsl/model.h"

/* The name itself, with '_' after it where C has it as a keyword or macro ("switch_", "EOF_").
 * Different names give different ones. */
const char *name_c(struct region *region, const char *name);

/* Member of a message's union: also '_' behind the names of the members beside it ("tag_"). */
const char *name_message(struct region *region, const char *name);

/* "replacement_policy" -> "REPLACEMENT_POLICY". */
const char *name_upper(struct region *region, const char *name);

/* Folder of a path: "" without one. */
const char *name_folder(struct region *region, const char *path);

/* "cache.heddle:47": no folder, since the output must not depend on where the files are. */
const char *name_place(struct region *region, struct model_place place);

/* The C type of an enumerated parameter or field: "enum atomic_op" for a named one, "enum
 * cache_write" for one written in place at `owner`'s `member`. Without "enum ". */
const char *name_enum(struct region *region, const struct model_enum *choice, const char *owner,
                      const char *member);

#endif
