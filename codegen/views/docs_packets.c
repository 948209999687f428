/* The layout of every packet as tables, so that another program can be written against it without
 * looking at C. See docs_packets.h. */
#include "codegen/views/docs_packets.h"

#include <inttypes.h>

#include "codegen/views/docs_page.h"

static const char *const columns[] = {"at", "bytes", "field", "type", "meaning"};

#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const char *type_text(struct arena *arena, const struct model_field *field)
{
    static const char *const names[] = {
        [MODEL_FIELD_U8] = "u8",     [MODEL_FIELD_U16] = "u16",     [MODEL_FIELD_U32] = "u32",
        [MODEL_FIELD_U64] = "u64",   [MODEL_FIELD_I32] = "i32",     [MODEL_FIELD_I64] = "i64",
        [MODEL_FIELD_BOOL] = "bool", [MODEL_FIELD_ADDR] = "addr",   [MODEL_FIELD_F32] = "f32",
        [MODEL_FIELD_F64] = "f64",   [MODEL_FIELD_BYTES] = "bytes", [MODEL_FIELD_STRING] = "string",
    };
    if (field->kind == MODEL_FIELD_ENUM)
        return field->choice->name;
    if (field->kind == MODEL_FIELD_BYTES || field->kind == MODEL_FIELD_STRING)
        return arena_printf(arena, "%s[%" PRIu32 "]", names[field->kind], field->size);
    return names[field->kind];
}

static void write_row(struct docs_page *page, struct arena *arena, uint32_t offset, uint32_t bytes,
                      const char *name, const char *type, const char *doc)
{
    const char *cells[COLUMN_COUNT] = {
        arena_printf(arena, "%" PRIu32, offset), arena_printf(arena, "%" PRIu32, bytes),
        arena_printf(arena, "`%s`", name), arena_printf(arena, "`%s`", type), doc};
    docs_page_row(page, cells, COLUMN_COUNT);
}

static void write_fields(struct docs_page *page, struct arena *arena,
                         const struct model_packet_field *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        write_row(page, arena, fields[i].offset, fields[i].bytes, fields[i].field.name,
                  type_text(arena, &fields[i].field), fields[i].field.doc);
}

static void write_case(struct docs_page *page, struct arena *arena,
                       const struct model_packet *packet, const struct model_packet_case *one)
{
    const char *chooser = packet->fields[packet->field_count - 1].field.name;
    docs_page_heading(page, 3, arena_printf(arena, "%s %s", packet->name, one->name));
    docs_page_text(page, one->doc);
    docs_page_text(page, arena_printf(arena, "`%s` is %" PRIu32 ", %" PRIu32 " bytes in all.",
                                      chooser, one->value, one->bytes));
    if (one->field_count == 0)
        return;
    docs_page_table_begin(page, columns, COLUMN_COUNT);
    write_fields(page, arena, one->fields, one->field_count);
    docs_page_table_end(page);
}

static void write_packet(struct docs_page *page, struct arena *arena,
                         const struct model_packet *packet)
{
    docs_page_heading(page, 2, packet->name);
    docs_page_text(page, packet->doc);
    docs_page_text(page, arena_printf(arena,
                                      "Version %" PRIu32 ", at most %" PRIu32
                                      " bytes. Declared in `%s`, line %" PRIu32 ".",
                                      packet->version, packet->most_bytes, packet->place.file,
                                      packet->place.line));
    docs_page_table_begin(page, columns, COLUMN_COUNT);
    write_row(page, arena, 0, 4, "version", "u32",
              arena_printf(arena, "%" PRIu32, packet->version));
    write_row(page, arena, 4, 4, "length", "u32", "of the whole packet in bytes");
    write_fields(page, arena, packet->fields, packet->field_count);
    docs_page_table_end(page);
    for (uint32_t i = 0; i < packet->case_count; i++)
        write_case(page, arena, packet, &packet->cases[i]);
}

bool docs_write_packets(const struct docs_list *list, const char *dir, struct view_error *error)
{
    struct docs_page page;
    if (list->packets.count == 0)
        return true;
    if (!docs_page_open(&page, dir, "packets", "Packets", error))
        return false;
    docs_page_text(
        &page, "What programs and devices exchange in memory. Numbers are little-endian, nothing "
               "is aligned or padded; `bool` is a byte that is 0 or 1, an enumeration has two "
               "bytes and counts from 0, `addr` has eight, `f32` and `f64` are IEEE 754, text is "
               "filled up with zeros.");
    for (uint32_t i = 0; i < list->packets.count; i++)
        write_packet(&page, list->arena, list->packets.items[i]);
    return docs_page_close(&page);
}
