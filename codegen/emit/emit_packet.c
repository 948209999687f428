/* The header of a packet: its structure, the table of its layout, and the two functions that read
 * the table (runtime/link/packet.h). Offsets are those of the model; the structure is the
 * compiler's. */
#include <inttypes.h>

#include "codegen/emit/emitters.h"
#include "codegen/emit/names.h"

static const char *const member_types[] = {
    [MODEL_FIELD_U8] = "uint8_t",    [MODEL_FIELD_U16] = "uint16_t",
    [MODEL_FIELD_U32] = "uint32_t",  [MODEL_FIELD_U64] = "uint64_t",
    [MODEL_FIELD_I32] = "int32_t",   [MODEL_FIELD_I64] = "int64_t",
    [MODEL_FIELD_BOOL] = "bool",     [MODEL_FIELD_ADDR] = "uint64_t",
    [MODEL_FIELD_ENUM] = "uint16_t", [MODEL_FIELD_BYTES] = "uint8_t",
    [MODEL_FIELD_F32] = "float",     [MODEL_FIELD_F64] = "double",
    [MODEL_FIELD_STRING] = "char",
};

static const char *kind_of(const struct model_field *field)
{
    switch (field->kind) {
    case MODEL_FIELD_BOOL:
        return "PACKET_BOOL";
    case MODEL_FIELD_ENUM:
        return "PACKET_CHOICE";
    case MODEL_FIELD_BYTES:
        return "PACKET_BYTES";
    case MODEL_FIELD_STRING:
        return "PACKET_STRING";
    default:
        return "PACKET_NUMBER";
    }
}

/* Each enumeration's header once. */
static void emit_includes(struct emit *e, const struct model_packet *packet)
{
    VECTOR(const struct model_enum *) known = {0};
    for (int32_t c = -1; c < (int32_t)packet->case_count; c++) {
        const struct model_packet_field *fields = c < 0 ? packet->fields : packet->cases[c].fields;
        uint32_t count = c < 0 ? packet->field_count : packet->cases[c].field_count;
        for (uint32_t f = 0; f < count; f++) {
            const struct model_enum *choice = fields[f].field.choice;
            bool seen = choice == NULL;
            for (uint32_t k = 0; k < known.count; k++)
                seen |= known.items[k] == choice;
            if (seen)
                continue;
            vector_push(e->arena, &known, choice);
            emit(e, "#include \"%s.gen.h\"\n", choice->name);
        }
    }
    emit(e, "#include \"runtime/link/packet.h\"\n\n");
}

static void emit_sizes(struct emit *e, const struct model_packet *packet, const char *upper)
{
    emit(e, "#define %s_VERSION    %" PRIu32 "\n", upper, packet->version);
    emit(e, "#define %s_MOST_BYTES %" PRIu32 " /* of the longest one, header included */\n\n",
         upper, packet->most_bytes);
}

static void emit_members(struct emit *e, const char *indent,
                         const struct model_packet_field *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct model_field *field = &fields[i].field;
        emit_comment(e, indent, field->doc);
        emit(e, "%s%s %s", indent, member_types[field->kind], name_c(e->arena, field->name));
        if (field->kind == MODEL_FIELD_BYTES)
            emit(e, "[%" PRIu32 "]", field->size);
        if (field->kind == MODEL_FIELD_STRING)
            emit(e, "[%" PRIu32 " + 1]", field->size);
        emit(e, "; /* at %" PRIu32, fields[i].offset);
        if (field->choice != NULL)
            emit(e, ", enum %s", field->choice->name);
        emit(e, " */\n");
    }
}

static void emit_struct(struct emit *e, const struct model_packet *packet)
{
    emit(e, "struct %s {\n", name_c(e->arena, packet->name));
    emit_members(e, "    ", packet->fields, packet->field_count);
    if (packet->field_count == 0)
        emit(e, "    uint8_t nothing; /* C has no empty structures */\n");
    bool any = false;
    for (uint32_t i = 0; i < packet->case_count; i++) {
        const struct model_packet_case *one = &packet->cases[i];
        if (one->field_count == 0)
            continue;
        if (!any)
            emit(e, "    union {\n");
        any = true;
        emit_comment(e, "        ", one->doc);
        emit(e, "        struct {\n");
        emit_members(e, "            ", one->fields, one->field_count);
        emit(e, "        } %s;\n", name_c(e->arena, one->name));
    }
    emit(e, "%s};\n\n", any ? "    };\n" : "");
}

/* The table `NAME_CASE_fields` or `NAME_fields`. */
static void emit_field_table(struct emit *e, const struct model_packet *packet, const char *table,
                             const char *member, const struct model_packet_field *fields,
                             uint32_t count)
{
    if (count == 0)
        return;
    emit(e, "static const struct packet_field %s[] = {\n", table);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_field *field = &fields[i].field;
        emit(e,
             "    {\"%s\", %s, %" PRIu32 ", %" PRIu32 ", offsetof(struct %s, %s%s), %" PRIu32
             "},\n",
             field->name, kind_of(field), fields[i].offset, fields[i].bytes,
             name_c(e->arena, packet->name), member, name_c(e->arena, field->name),
             field->choice != NULL ? field->choice->count : 0);
    }
    emit(e, "};\n\n");
}

static void emit_case_table(struct emit *e, const struct model_packet *packet)
{
    const char *choice = name_upper(e->arena, name_c(e->arena, packet->choice->name));
    for (uint32_t i = 0; i < packet->case_count; i++) {
        const struct model_packet_case *one = &packet->cases[i];
        emit_field_table(e, packet, arena_printf(e->arena, "%s_%s_fields", packet->name, one->name),
                         arena_printf(e->arena, "%s.", name_c(e->arena, one->name)), one->fields,
                         one->field_count);
    }
    emit(e, "static const struct packet_case %s_cases[] = {\n", packet->name);
    for (uint32_t i = 0; i < packet->case_count; i++) {
        const struct model_packet_case *one = &packet->cases[i];
        const char *fields = one->field_count == 0
                                 ? "NULL"
                                 : arena_printf(e->arena, "%s_%s_fields", packet->name, one->name);
        emit(e, "    [%s_%s] = {\"%s\", %s, %" PRIu32 ", %" PRIu32 "},\n", choice,
             name_upper(e->arena, one->name), one->name, fields, one->field_count, one->bytes);
    }
    emit(e, "};\n\n");
}

static void emit_layout(struct emit *e, const struct model_packet *packet, const char *upper)
{
    const char *name = packet->name;
    emit(e, "static const struct packet_layout %s_layout = {\n", name);
    emit(e, "    .name = \"%s\",\n    .version = %s_VERSION,\n", name, upper);
    emit(e, "    .bytes = %" PRIu32 ",\n    .struct_bytes = sizeof(struct %s),\n", packet->bytes,
         name_c(e->arena, name));
    if (packet->field_count > 0)
        emit(e, "    .fields = %s_fields,\n    .field_count = %" PRIu32 ",\n", name,
             packet->field_count);
    if (packet->case_count > 0)
        emit(e, "    .cases = %s_cases,\n    .case_count = sizeof %s_cases / sizeof %s_cases[0],\n",
             name, name, name);
    emit(e, "};\n\n");
}

static void emit_functions(struct emit *e, const char *name)
{
    const char *tag = name_c(e->arena, name);
    emit(e,
         "/* Bytes written, or 0: `fault` says why. */\n"
         "static inline size_t %s_encode(const struct %s *packet, void *bytes, size_t size,\n"
         "                               struct packet_fault *fault)\n"
         "{\n    return packet_encode(&%s_layout, packet, bytes, size, fault);\n}\n\n",
         name, tag, name);
    emit(e,
         "/* Bytes read, or 0: `fault` says why, and `packet` is as it was. */\n"
         "static inline size_t %s_decode(struct %s *packet, const void *bytes, size_t size,\n"
         "                               struct packet_fault *fault)\n"
         "{\n    return packet_decode(&%s_layout, packet, bytes, size, fault);\n}\n\n",
         name, tag, name);
}

void emit_packet_header(struct emit *e, const struct model_packet *packet)
{
    const char *upper = name_upper(e->arena, packet->name);
    emit_banner(e, arena_printf(e->arena, "Packet %s", packet->name), packet->place);
    emit_comment(e, "", packet->doc);
    emit(e, "#ifndef HEDDLE_GEN_%s_H\n#define HEDDLE_GEN_%s_H\n\n", upper, upper);
    emit(e, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    emit_includes(e, packet);
    emit_sizes(e, packet, upper);
    emit_struct(e, packet);
    emit_field_table(e, packet, arena_printf(e->arena, "%s_fields", packet->name), "",
                     packet->fields, packet->field_count);
    if (packet->case_count > 0)
        emit_case_table(e, packet);
    emit_layout(e, packet, upper);
    emit_functions(e, packet->name);
    emit(e, "#endif\n");
}
