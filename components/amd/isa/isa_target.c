/* Traits of the targets. See isa_target.h. */
#include "isa_target.h"

#include <stdio.h>
#include <string.h>

const struct isa_traits isa_traits[ISA_TARGET_COUNT] = {
#define TARGET(id, text, of, ...) [ISA_##id] = {.name = text, .parent = ISA_##of, __VA_ARGS__},
#define OPCODE(target, row, opcode)
#include "targets.tab"
#undef TARGET
#undef OPCODE
};

static bool is_name(const char *target_name, const char *name, size_t length)
{
    return target_name && strlen(target_name) == length && !strncmp(name, target_name, length);
}

int isa_target_by_name(const char *name, enum isa_target *out)
{
    size_t length = strcspn(name, ":");
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        const char *const names[] = {isa_traits[target].name, isa_traits[target].generic};
        if (is_name(names[0], name, length) || is_name(names[1], name, length)) {
            *out = (enum isa_target)target;
            return 0;
        }
    }
    return -1;
}

const char *isa_target_name(enum isa_target target)
{
    return target < ISA_TARGET_COUNT ? isa_traits[target].name : "unknown";
}

const struct isa_traits *isa_traits_of(const char *name)
{
    enum isa_target target;
    return isa_target_by_name(name, &target) == 0 ? &isa_traits[target] : NULL;
}

size_t isa_target_names(char *text, size_t size)
{
    size_t used = 0;
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++) {
        const char *before = target == 0 ? "" : target + 1 < ISA_TARGET_COUNT ? ", " : " or ";
        used += (size_t)snprintf(used < size ? text + used : NULL, used < size ? size - used : 0,
                                 "%s%s", before, isa_traits[target].name);
    }
    return used;
}
