/* Name mangling (dsl/reserved.h): most names read as in the description. Called by all emitters of
 * C. */
#include "codegen/emit/names.h"

#include <ctype.h>
#include <string.h>

#include "dsl/reserved.h"
#include "dsl/source.h"

const char *name_c(struct arena *arena, const char *name)
{
    return reserved_besides(arena, name, NULL);
}

const char *name_message(struct arena *arena, const char *name)
{
    static const char *const members[] = {"state", "kind", "ready", "fields", "tag", NULL};
    return reserved_besides(arena, name, members);
}

const char *name_upper(struct arena *arena, const char *name)
{
    char *upper = arena_strdup(arena, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return upper;
}

const char *name_folder(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *name_place(struct arena *arena, struct model_place place)
{
    if (!place.file)
        return "built in";
    return arena_printf(arena, "%s:%u", source_base_name(place.file), place.line);
}

const char *name_enum(struct arena *arena, const struct model_enum *choice, const char *owner,
                      const char *member)
{
    if (choice->name)
        return name_c(arena, choice->name);
    return arena_printf(arena, "%s_%s", owner, member);
}
