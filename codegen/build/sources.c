/* The C files of units. A unit is one translation unit: its generated file includes the C files of
 * the component and of all its parts by their base names, so a second file of one name would take
 * the place of the first. Called by build.c. */
#include "sources.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit/input.h"
#include "dsl/source.h"

static const struct model_type *unit_type(const struct layout_unit *unit, uint32_t index)
{
    return index < unit->parts.count ? unit->parts.items[index].type : unit->type;
}

/* "cache.heddle:3:11: error: the behaviour of part lru, 'lru.c'" */
static void print_subject(const struct model_type *type, const char *file)
{
    fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": error: the behaviour of %s %s, '%s'",
            type->place.file, type->place.line, type->place.column,
            type->is_part ? "part" : "component", type->name, file);
}

static bool check_readable(const struct model_type *type)
{
    bool ok = true;
    for (uint32_t i = 0; i < type->behaviour_count; i++) {
        const char *mistake = input_mistake(type->behaviour[i], INPUT_SOURCE_BYTES);
        if (!mistake)
            continue;
        print_subject(type, type->behaviour[i]);
        fprintf(stderr, ", cannot be read: %s\n", mistake);
        ok = false;
    }
    return ok;
}

/* The first file of the unit's types before `end` that has this base name, in another folder. */
static const char *namesake(const struct layout_unit *unit, uint32_t end, const char *file)
{
    for (uint32_t t = 0; t < end; t++) {
        const struct model_type *type = unit_type(unit, t);
        for (uint32_t i = 0; i < type->behaviour_count; i++)
            if (strcmp(source_base_name(type->behaviour[i]), source_base_name(file)) == 0
                && strcmp(type->behaviour[i], file) != 0)
                return type->behaviour[i];
    }
    return NULL;
}

static bool check_names(const struct layout_unit *unit, uint32_t index)
{
    const struct model_type *type = unit_type(unit, index);
    bool ok = true;
    for (uint32_t i = 0; i < type->behaviour_count; i++) {
        const char *other = namesake(unit, index, type->behaviour[i]);
        if (!other)
            continue;
        print_subject(type, type->behaviour[i]);
        fprintf(stderr, ", is called like '%s'; C files of one unit need different names\n", other);
        ok = false;
    }
    return ok;
}

bool sources_check(const struct layout *layout)
{
    bool ok = true;
    for (uint32_t i = 0; i < layout->units.count; i++) {
        const struct layout_unit *unit = layout->units.items[i];
        for (uint32_t t = 0; t <= unit->parts.count; t++) {
            ok &= check_readable(unit_type(unit, t));
            ok &= check_names(unit, t);
        }
    }
    return ok;
}
