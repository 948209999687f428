/* The emitters: one for each kind of generated C file. Each appends the whole file to `e`; none
 * writes to disk. Output depends on the model only, never on time, place or memory addresses.
 * Called by gen.c.
 *
 * docs/design/engine.md, "Generated code", says what the generated headers hold. */
#ifndef HEDDLE_CODEGEN_EMIT_EMITTERS_H
#define HEDDLE_CODEGEN_EMIT_EMITTERS_H

#include "dsl/model.h"

#include "emit.h"
#include "layout.h"

/* NAME.gen.h of a named enumeration: `enum NAME`. */
void emit_enum_header(struct emit *e, const struct model_enum *choice);

/* NAME.gen.h of a protocol declaration, for any arguments. */
void emit_protocol_header(struct emit *e, const struct model_protocol *protocol);

/* NAME.gen.h of a component with C behaviour, and of a part. */
void emit_component_header(struct emit *e, const struct model *model,
                           const struct model_type *type);
void emit_part_header(struct emit *e, const struct model *model, const struct model_type *type);

/* The wrapper file of a unit: constants, headers, C files, descriptor. */
void emit_unit(struct emit *e, const struct layout_unit *unit);

/* The list of the platform's units. */
void emit_platform(struct emit *e, const struct layout *layout);

/* Pieces shared by the emitters. */
void emit_banner(struct emit *e, const char *subject, struct model_place place);
void emit_enum(struct emit *e, const char *name, const struct model_enum *choice);
void emit_params_struct(struct emit *e, const struct model_type *type);
void emit_stats_struct(struct emit *e, const struct model_type *type);
/* The binding words of parts, in the io struct; and their accessors. `self` is "c" or "p". */
void emit_part_words(struct emit *e, const struct model_type *type);
void emit_part_accessors(struct emit *e, const struct model *model, const struct model_type *type,
                         const char *self);
void emit_params_accessor(struct emit *e, const struct model_type *type, const char *self);

#endif
