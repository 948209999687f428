/* Which files there are, and their names. Called by the commands gen, build and run. */
#include "codegen/emit/gen.h"

#include <stdio.h>
#include <string.h>

#include "codegen/emit/emit.h"
#include "codegen/emit/emitters.h"
#include "runtime/state/tables.h"

static bool write_file(struct arena *arena, struct emit *e, const char *folder, const char *name,
                       struct gen_files *files)
{
    vector_push(arena, &files->names, name);
    enum emit_result result = emit_write(e, arena_printf(arena, "%s/%s", folder, name));
    files->written += result == EMIT_WRITTEN;
    return result != EMIT_FAILED;
}

static bool is_known(const struct gen_files *files, const char *name)
{
    for (uint32_t i = 0; i < files->names.count; i++)
        if (strcmp(files->names.items[i], name) == 0)
            return true;
    return false;
}

/* One header a declaration, for all its arguments. */
static bool write_protocol(struct arena *arena, const struct model_protocol *protocol,
                           const char *folder, struct gen_files *files)
{
    const char *name = arena_printf(arena, "%s.gen.h", protocol->name);
    if (is_known(files, name))
        return true;
    struct emit e;
    emit_init(&e, arena);
    emit_protocol_header(&e, protocol);
    return write_file(arena, &e, folder, name, files);
}

static void same_header(struct model_place place, const char *what, const char *name)
{
    fprintf(stderr,
            "%s:%u:%u: error: %s '%s' has the name of a protocol, an enumeration or another type, "
            "so their headers would be the same file\nhelp: rename one of them\n",
            place.file, place.line, place.column, what, name);
}

static bool write_type(struct arena *arena, const struct model *model,
                       const struct model_type *type, const char *folder, struct gen_files *files)
{
    for (uint32_t i = 0; i < type->port_count; i++)
        if (type->ports[i].protocol
            && !write_protocol(arena, type->ports[i].protocol, folder, files))
            return false;
    if (type->is_composite || type->is_platform)
        return true;
    const char *name = arena_printf(arena, "%s.gen.h", type->name);
    if (is_known(files, name)) {
        same_header(type->place, type->is_part ? "part" : "component", type->name);
        return false;
    }
    struct emit e;
    emit_init(&e, arena);
    if (type->is_part)
        emit_part_header(&e, model, type);
    else
        emit_component_header(&e, model, type);
    return write_file(arena, &e, folder, name, files);
}

bool gen_headers(struct arena *arena, const struct model *model, const char *folder,
                 struct gen_files *files)
{
    bool ok = emit_make_folder(folder);
    for (uint32_t i = 0; ok && i < model->enum_count; i++) {
        struct emit e;
        emit_init(&e, arena);
        emit_enum_header(&e, model->enums[i]);
        ok = write_file(arena, &e, folder, arena_printf(arena, "%s.gen.h", model->enums[i]->name),
                        files);
    }
    for (uint32_t i = 0; ok && i < model->protocol_count; i++)
        ok = write_protocol(arena, model->protocols[i], folder, files);
    for (uint32_t i = 0; ok && i < model->type_count; i++)
        ok = write_type(arena, model, model->types[i], folder, files);
    return ok;
}

/* The format knows units by name; only that member is read. */
static bool write_tables(struct arena *arena, const struct layout *layout, const char *folder,
                         struct gen_files *files)
{
    struct platform_table table = layout->table;
    const struct unit_type **units = arena_take(arena, (layout->units.count + 1) * sizeof *units);
    for (uint32_t i = 0; i < layout->units.count; i++) {
        struct unit_type *unit = arena_take(arena, sizeof *unit);
        unit->name = layout->units.items[i]->type->name;
        units[i] = unit;
    }
    table.units = units;
    size_t bytes = tables_image_bytes(&table);
    if (bytes == 0)
        compiler_bug("a string of the tables is missing");
    char *image = arena_take(arena, bytes);
    tables_image(&table, image, bytes);
    enum emit_result result =
        emit_write_bytes(arena_printf(arena, "%s/platform.tables", folder), image, bytes);
    vector_push(arena, &files->names, "platform.tables");
    files->written += result == EMIT_WRITTEN;
    return result != EMIT_FAILED;
}

bool gen_platform(struct arena *arena, const struct layout *layout, const char *folder,
                  struct gen_files *files)
{
    bool ok = emit_make_folder(folder);
    for (uint32_t i = 0; ok && i < layout->units.count; i++) {
        struct emit e;
        emit_init(&e, arena);
        emit_unit(&e, layout->units.items[i]);
        ok = write_file(arena, &e, folder,
                        arena_printf(arena, "%s.c", layout->units.items[i]->symbol), files);
    }
    struct emit e;
    emit_init(&e, arena);
    emit_platform(&e, layout);
    return ok && write_file(arena, &e, folder, "platform.c", files)
           && write_tables(arena, layout, folder, files);
}
