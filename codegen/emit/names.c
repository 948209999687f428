/* Name mangling. Keywords are the only names that change; everything else reads as in the
 * description. Called by all emitters of C. */
#include "codegen/emit/names.h"

#include <ctype.h>
#include <string.h>

static const char *const keywords[] = {
    "auto",     "break",  "case",    "char",     "const",    "continue", "default",  "do",
    "double",   "else",   "enum",    "extern",   "float",    "for",      "goto",     "if",
    "inline",   "int",    "long",    "register", "restrict", "return",   "short",    "signed",
    "sizeof",   "static", "struct",  "switch",   "typedef",  "union",    "unsigned", "void",
    "volatile", "while",  "asm",     "typeof",   "bool",     "true",     "false",    "NULL",
    "main",     "errno",  "alignas", "alignof",
};

const char *name_c(struct arena *arena, const char *name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(name, keywords[i]) == 0)
            return arena_printf(arena, "%s_", name);
    return name;
}

const char *name_message(struct arena *arena, const char *name)
{
    static const char *const members[] = {"state", "kind", "ready", "fields", "tag"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (strcmp(name, members[i]) == 0)
            return arena_printf(arena, "%s_", name);
    return name_c(arena, name);
}

const char *name_upper(struct arena *arena, const char *name)
{
    char *upper = arena_strdup(arena, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return upper;
}

const char *name_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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
    return arena_printf(arena, "%s:%u", name_base(place.file), place.line);
}

const char *name_enum(struct arena *arena, const struct model_enum *choice, const char *owner,
                      const char *member)
{
    if (choice->name)
        return name_c(arena, choice->name);
    return arena_printf(arena, "%s_%s", owner, member);
}
