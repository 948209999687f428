/* The list of generated files, and their names. Called by the commands gen, build and run. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

#include "dsl/compiler_bug.h"
#include "runtime/state/tables.h"

#include "emit.h"
#include "emitters.h"

static bool write_file(struct region *region, struct emit *e, const char *folder, const char *name,
                       struct gen_files *files)
{
    vector_push(region, &files->names, name);
    enum emit_result result = emit_write(e, region_printf(region, "%s/%s", folder, name));
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
static bool write_protocol(struct region *region, const struct model_protocol *protocol,
                           const char *folder, struct gen_files *files)
{
    const char *name = region_printf(region, "%s.gen.h", protocol->name);
    if (is_known(files, name))
        return true;
    struct emit e;
    emit_init(&e, region);
    emit_protocol_header(&e, protocol);
    return write_file(region, &e, folder, name, files);
}

static void same_header(struct model_place place, const char *kind, const char *name)
{
    fprintf(stderr,
            "%s:%u:%u: error: %s '%s' has the name of a protocol, an enumeration or another type, "
            "so their headers would be the same file\nhelp: rename one of them\n",
            place.file, place.line, place.column, kind, name);
}

static bool write_type(struct region *region, const struct model *model,
                       const struct model_type *type, const char *folder, struct gen_files *files)
{
    for (uint32_t i = 0; i < type->port_count; i++)
        if (type->ports[i].protocol
            && !write_protocol(region, type->ports[i].protocol, folder, files))
            return false;
    if (type->is_composite || type->is_platform)
        return true;
    const char *name = region_printf(region, "%s.gen.h", type->name);
    if (is_known(files, name)) {
        same_header(type->place, type->is_part ? "part" : "component", type->name);
        return false;
    }
    struct emit e;
    emit_init(&e, region);
    if (type->is_part)
        emit_part_header(&e, model, type);
    else
        emit_component_header(&e, model, type);
    return write_file(region, &e, folder, name, files);
}

bool gen_headers(struct region *region, const struct model *model, const char *folder,
                 struct gen_files *files)
{
    bool ok = emit_make_folder(folder);
    for (uint32_t i = 0; ok && i < model->enum_count; i++) {
        struct emit e;
        emit_init(&e, region);
        emit_enum_header(&e, model->enums[i]);
        ok = write_file(region, &e, folder,
                        region_printf(region, "%s.gen.h", model->enums[i]->name), files);
    }
    for (uint32_t i = 0; ok && i < model->protocol_count; i++)
        ok = write_protocol(region, model->protocols[i], folder, files);
    for (uint32_t i = 0; ok && i < model->type_count; i++)
        ok = write_type(region, model, model->types[i], folder, files);
    return ok;
}

/* The format knows units by name; only that member is read. */
static bool write_tables(struct region *region, const struct layout *layout, const char *folder,
                         struct gen_files *files)
{
    struct platform_table table = layout->table;
    const struct unit_type **units = region_take(region, (layout->units.count + 1) * sizeof *units);
    for (uint32_t i = 0; i < layout->units.count; i++) {
        struct unit_type *unit = region_take(region, sizeof *unit);
        unit->name = layout->units.items[i]->type->name;
        units[i] = unit;
    }
    table.units = units;
    size_t bytes = tables_image_bytes(&table);
    if (bytes == 0)
        compiler_bug("a string of the tables is missing");
    char *image = region_take(region, bytes);
    tables_image(&table, image, bytes);
    enum emit_result result =
        emit_write_bytes(region_printf(region, "%s/platform.tables", folder), image, bytes);
    vector_push(region, &files->names, "platform.tables");
    files->written += result == EMIT_WRITTEN;
    return result != EMIT_FAILED;
}

bool gen_platform(struct region *region, const struct layout *layout, const char *folder,
                  struct gen_files *files)
{
    bool ok = emit_make_folder(folder);
    for (uint32_t i = 0; ok && i < layout->units.count; i++) {
        struct emit e;
        emit_init(&e, region);
        emit_unit(&e, layout->units.items[i]);
        ok = write_file(region, &e, folder,
                        region_printf(region, "%s.c", layout->units.items[i]->symbol), files);
    }
    struct emit e;
    emit_init(&e, region);
    emit_platform(&e, layout);
    return ok && write_file(region, &e, folder, "platform.c", files)
           && write_tables(region, layout, folder, files);
}
