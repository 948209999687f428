/* Packets: every field gets its offset. A packet is its version, its length, its fields, and behind
 * them one of the cases of its union; nothing is aligned, so a layout follows from the declaration
 * alone, on every host. Runs for all packets in scope, since nothing instantiates one. */
#include <string.h>

#include "dsl/elaborate/elaborate.h"
#include "dsl/suggest.h"

struct packet_type {
    const char *name;
    enum model_field_kind kind;
    uint32_t bytes; /* 0: as many as the declaration says */
};

static const struct packet_type packet_types[] = {
    {"u8", MODEL_FIELD_U8, 1},       {"u16", MODEL_FIELD_U16, 2},
    {"u32", MODEL_FIELD_U32, 4},     {"u64", MODEL_FIELD_U64, 8},
    {"i32", MODEL_FIELD_I32, 4},     {"i64", MODEL_FIELD_I64, 8},
    {"bool", MODEL_FIELD_BOOL, 1},   {"addr", MODEL_FIELD_ADDR, 8},
    {"f32", MODEL_FIELD_F32, 4},     {"f64", MODEL_FIELD_F64, 8},
    {"bytes", MODEL_FIELD_BYTES, 0}, {"string", MODEL_FIELD_STRING, 0},
};

#define PACKET_TYPE_COUNT (sizeof packet_types / sizeof packet_types[0])
#define ENUM_BYTES        2
#define MAX_VERSION       65535

static void suggest_enum(struct elaboration *e, struct diagnostic *d, const char *name,
                         bool or_type)
{
    struct suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; or_type && i < PACKET_TYPE_COUNT; i++)
        suggestion_try(&suggestion, packet_types[i].name);
    for (uint32_t i = 0; i < e->program->enums.count; i++)
        suggestion_try(&suggestion, e->program->enums.items[i]->name);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
}

static void unknown_type(struct elaboration *e, const struct ast_item *item)
{
    if (strcmp(item->target.text, "bits") == 0) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0312, item->target.span, "a packet has no 'bits'");
        diagnostic_help(e->diagnostics, d, "a mask is 'bytes[N]' here, eight bits each");
        return;
    }
    struct diagnostic *d = diagnostic_add(e->diagnostics, E0203, item->target.span,
                                          "no field type is called '%s'", item->target.text);
    suggest_enum(e, d, item->target.text, true);
}

/* The field's type and size; `field->bytes` stays 0 when they are wrong. */
static void type_field(struct elaboration *e, const struct ast_item *item,
                       struct model_packet_field *field)
{
    const struct packet_type *type = NULL;
    for (size_t i = 0; i < PACKET_TYPE_COUNT; i++)
        if (strcmp(packet_types[i].name, item->target.text) == 0)
            type = &packet_types[i];
    const struct model_enum *choice = program_enum(e->program, item->target.text);
    if (type == NULL && choice == NULL) {
        unknown_type(e, item);
        return;
    }
    bool is_sized = type != NULL && type->bytes == 0;
    if (is_sized != (item->size != NULL)) {
        diagnostic_add(e->diagnostics, E0309, item->target.span,
                       is_sized ? "'%s' needs a size: %s[N]" : "'%s' has no size",
                       item->target.text, item->target.text);
        return;
    }
    if (item->via.text != NULL) {
        diagnostic_add(e->diagnostics, E0309, item->via.span,
                       "'%s' has a constant size: in a packet nothing moves", item->name.text);
        return;
    }
    uint32_t bytes = type == NULL ? ENUM_BYTES : type->bytes;
    struct scope none = {NULL, NULL};
    if (is_sized && !field_size(e, item, &none, &bytes))
        return;
    field->field.kind = type != NULL ? type->kind : MODEL_FIELD_ENUM;
    field->field.choice = type != NULL ? NULL : choice;
    field->field.size = field->bytes = bytes;
}

/* Lays out `items` behind `bytes`, in `fields`. Returns the new end; what ends behind the longest
 * packet is reported once. */
static uint32_t lay_out(struct elaboration *e, const struct ast_item *const *items, uint32_t count,
                        struct model_packet_field *fields, uint32_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_item *item = items[i];
        fields[i] = (struct model_packet_field){
            .field = {.name = item->name.text, .doc = item->doc, .size_argument = -1},
            .offset = bytes};
        if (item->kind == AST_UNION) {
            fields[i].field.kind = MODEL_FIELD_ENUM;
            fields[i].field.choice = program_enum(e->program, item->target.text);
            fields[i].field.size = fields[i].bytes = ENUM_BYTES;
        } else {
            type_field(e, item, &fields[i]);
        }
        if (bytes <= MODEL_PACKET_MOST && bytes + fields[i].bytes > MODEL_PACKET_MOST)
            diagnostic_add(e->diagnostics, E0312, item->name.span,
                           "'%s' ends %u bytes behind the start, a packet has at most %d",
                           item->name.text, bytes + fields[i].bytes, MODEL_PACKET_MOST);
        bytes += fields[i].bytes;
        if (bytes > MODEL_PACKET_MOST)
            bytes = MODEL_PACKET_MOST + 1;
    }
    return bytes;
}

static void make_case(struct elaboration *e, const struct model_packet *packet,
                      const struct ast_item *item, struct model_packet_case *made)
{
    uint32_t count = item->body->v.count;
    struct model_packet_field *fields = arena_alloc(e->arena, count * sizeof *fields);
    int32_t value = model_enum_find(packet->choice, item->name.text);
    if (value < 0) {
        struct diagnostic *d =
            diagnostic_add(e->diagnostics, E0313, item->name.span, "enum '%s' has no '%s'",
                           packet->choice->name, item->name.text);
        struct suggestion suggestion = suggestion_for(item->name.text);
        for (uint32_t i = 0; i < packet->choice->count; i++)
            suggestion_try(&suggestion, packet->choice->names[i]);
        diagnostic_suggest(e->diagnostics, d, suggestion.best);
    }
    *made = (struct model_packet_case){.name = item->name.text,
                                       .doc = item->doc,
                                       .place = program_place(e->program, item->name.span),
                                       .value = value < 0 ? 0 : (uint32_t)value,
                                       .fields = fields,
                                       .field_count = count};
    made->bytes = lay_out(e, (const struct ast_item *const *)item->body->v.items, count, fields,
                          packet->bytes);
}

static void make_union(struct elaboration *e, const struct packet_info *info,
                       struct model_packet *packet)
{
    packet->choice = program_enum(e->program, info->choice->target.text);
    if (packet->choice == NULL) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0203, info->choice->target.span,
                                              "no enum is called '%s'", info->choice->target.text);
        suggest_enum(e, d, info->choice->target.text, false);
        return;
    }
    uint32_t count = info->cases.v.count;
    if (count == 0)
        diagnostic_add(e->diagnostics, E0312, info->choice->name.span, "the union '%s' has no case",
                       info->choice->name.text);
    struct model_packet_case *cases = arena_alloc(e->arena, count * sizeof *cases);
    for (uint32_t i = 0; i < count; i++) {
        make_case(e, packet, info->cases.v.items[i], &cases[i]);
        if (cases[i].bytes > packet->most_bytes)
            packet->most_bytes = cases[i].bytes;
    }
    packet->cases = cases;
    packet->case_count = count;
}

static uint32_t packet_version(struct elaboration *e, const struct ast_expr *text)
{
    struct scope none = {NULL, NULL};
    struct value value = eval_as(e, text, &none, (struct type_spec){MODEL_DIM_NONE, NULL}, NULL);
    if (!value.ok)
        return 0;
    if (value.integer >= 1 && value.integer <= MAX_VERSION)
        return (uint32_t)value.integer;
    diagnostic_add(e->diagnostics, E0302, text->span, "the version is %s, which is not in 1 .. %d",
                   value_text(e, &value), MAX_VERSION);
    return 0;
}

static void make_packet(struct elaboration *e, const struct packet_info *info)
{
    struct model_packet *packet = arena_alloc(e->arena, sizeof *packet);
    struct item_list all = {0};
    for (uint32_t i = 0; i < info->fields.v.count; i++)
        vector_push(e->arena, &all.v, info->fields.v.items[i]);
    if (info->choice != NULL)
        vector_push(e->arena, &all.v, info->choice);
    struct model_packet_field *fields = arena_alloc(e->arena, all.v.count * sizeof *fields);
    *packet = (struct model_packet){.name = info->decl->name.text,
                                    .doc = info->decl->doc,
                                    .place = program_place(e->program, info->decl->name.span),
                                    .version = packet_version(e, info->decl->value),
                                    .fields = fields,
                                    .field_count = all.v.count};
    packet->bytes = lay_out(e, all.v.items, all.v.count, fields, MODEL_PACKET_HEADER);
    packet->most_bytes = packet->bytes;
    if (info->choice != NULL)
        make_union(e, info, packet);
    vector_push(e->arena, &e->packets, packet);
}

void packets_make(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->program->packets.count; i++)
        make_packet(e, e->program->packets.items[i]);
}
