/* The state that layout.c and layout_wires.c share while the tables of a platform are filled. No
 * other file includes it. */
#ifndef HEDDLE_CODEGEN_EMIT_LAYOUT_BUILDER_H
#define HEDDLE_CODEGEN_EMIT_LAYOUT_BUILDER_H

#include "emit.h"
#include "intern.h"
#include "layout.h"

/* For each leaf, the number of its specialised unit in order of first appearance, and the count of
 * these. The units the build compiles go to layout->units; `compiled` maps specialised numbers to
 * them. */
struct layout_assignment {
    uint32_t *unit_of_leaf;
    uint32_t count;
    uint32_t *compiled;
};

struct layout_assignment layout_assign_units(struct layout *layout);

/* The tables while they grow. */
struct builder {
    struct layout *layout;
    struct region *region;
    const struct model *model;
    struct layout_assignment assignment;
    struct emit strings;
    struct intern string_offsets;
    struct intern param_blocks;
    uint32_t *request_ring; /* by connection id */
    uint32_t *reply_ring;   /* RING_NONE for one-way protocols */
    uint32_t *part_number;  /* by model id */
    uint32_t *first_store;  /* by leaf id: number of its first store */
    uint32_t *pending;      /* by ring: position among the receiver's incoming rings */
    VECTOR(struct platform_domain) domains;
    VECTOR(struct platform_group) groups;
    VECTOR(struct platform_instance) instances;
    VECTOR(struct platform_ring) rings;
    VECTOR(struct platform_link) links;
    VECTOR(struct platform_part) parts;
    VECTOR(struct platform_protocol) protocols;
    VECTOR(struct platform_message) messages;
    VECTOR(struct platform_space) spaces;
    VECTOR(struct platform_map) maps;
    VECTOR(uint32_t) param_names;
    VECTOR(uint32_t) param_units;
    VECTOR(int64_t) params;
    VECTOR(uint32_t) bindings;
    VECTOR(uint8_t) binding_kinds;
    VECTOR(uint32_t) port_rings;
    VECTOR(uint32_t) part_refs;
    VECTOR(uint32_t) incoming;
    VECTOR(uint32_t) partitions;
    VECTOR(uint32_t) routes;
};

/* Empty tables for a layout whose region and model are set. */
struct builder *layout_builder_new(struct layout *layout);
/* Offset of `text` (NULL: "") in the strings; equal texts are there once. */
uint32_t layout_add_string(struct builder *b, const char *text);

/* layout_wires.c: what connects instances. Positions and ring numbers must be known, and the
 * receivers' lists of incoming rings made. */
void layout_add_rings(struct builder *b);
void layout_add_protocols(struct builder *b);
void layout_add_spaces(struct builder *b);

#endif
