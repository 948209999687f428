/* Name mangling (dsl/reserved.h): most names read as in the description. Called by all emitters of
 * C. */
#include "names.h"

#include <ctype.h>
#include <string.h>

#include "dsl/reserved.h"
#include "dsl/source.h"

const char *name_c(struct region *region, const char *name)
{
    return reserved_besides(region, name, NULL);
}

const char *name_message(struct region *region, const char *name)
{
    static const char *const members[] = {"state", "kind", "ready", "fields", "tag", NULL};
    return reserved_besides(region, name, members);
}

const char *name_upper(struct region *region, const char *name)
{
    char *upper = region_strdup(region, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return upper;
}

const char *name_folder(struct region *region, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    return region_strndup(region, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *name_place(struct region *region, struct model_place place)
{
    if (!place.file)
        return "built in";
    return region_printf(region, "%s:%u", source_base_name(place.file), place.line);
}

const char *name_enum(struct region *region, const struct model_enum *choice, const char *owner,
                      const char *member)
{
    if (choice->name)
        return name_c(region, choice->name);
    return region_printf(region, "%s_%s", owner, member);
}
