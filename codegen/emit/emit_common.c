/* Declarations that headers of components and parts have in common: parameters, statistics, and the
 * parts they own. The struct of the author (`struct NAME`) is incomplete in a generated header; its
 * first member is `struct NAME_io`, so the accessors cast. */
#include <string.h>

#include "base/number.h"

#include "emitters.h"
#include "names.h"

static const char *const stat_types[] = {
    [MODEL_STAT_COUNTER] = "uint64_t",
    [MODEL_STAT_HISTOGRAM] = "struct stat_histogram",
};

static void emit_param_enums(struct emit *e, const struct model_type *type)
{
    for (uint32_t i = 0; i < type->param_count; i++) {
        const struct model_param_decl *param = &type->params[i];
        if (!param->choice || param->choice->name)
            continue;
        emit_enum(e, name_enum(e->region, param->choice, type->name, param->name), param->choice);
        emit(e, "\n");
    }
}

void emit_params_struct(struct emit *e, const struct model_type *type)
{
    if (type->param_count == 0)
        return;
    emit_param_enums(e, type);
    emit(e, "struct %s_params {\n", name_c(e->region, type->name));
    for (uint32_t i = 0; i < type->param_count; i++) {
        const struct model_param_decl *param = &type->params[i];
        static const char *const units[] = {
            [MODEL_DIM_BYTES] = " /* bytes */",
            [MODEL_DIM_CYCLES] = " /* cycles */",
            [MODEL_DIM_HZ] = " /* Hz */",
            [MODEL_DIM_SECONDS] = " /* ps */",
            [MODEL_DIM_BYTES_PER_S] = " /* bytes a second */",
            [MODEL_DIM_BYTES_PER_CY] = " /* bytes a cycle */",
            [MODEL_DIM_STRING] = " /* offset in the platform's strings */",
        };
        emit_comment(e, "    ", param->doc);
        emit(e, "    %s %s;", param->may_be_negative ? "int64_t" : "uint64_t",
             name_c(e->region, param->name));
        if (param->choice)
            emit(e, " /* enum %s */", name_enum(e->region, param->choice, type->name, param->name));
        else if (param->dimension < ARRAY_COUNT(units) && units[param->dimension])
            emit(e, "%s", units[param->dimension]);
        emit(e, "\n");
    }
    emit(e, "};\n\n");
}

void emit_stats_struct(struct emit *e, const struct model_type *type)
{
    if (type->stat_count == 0)
        return;
    emit(e, "struct %s_stats {\n", name_c(e->region, type->name));
    for (uint32_t i = 0; i < type->stat_count; i++) {
        emit_comment(e, "    ", type->stats[i].doc);
        emit(e, "    %s %s;\n", stat_types[type->stats[i].kind],
             name_c(e->region, type->stats[i].name));
    }
    emit(e, "};\n\n");
}

void emit_part_words(struct emit *e, const struct model_type *type)
{
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_decl *decl = &type->parts[i];
        if (decl->is_array)
            emit(e, "    uint32_t %s_count, %s_first;\n", decl->name, decl->name);
        else
            emit(e, "    uint32_t %s;\n", name_c(e->region, decl->name));
    }
}

void emit_params_accessor(struct emit *e, const struct model_type *type, const char *self)
{
    if (type->param_count == 0)
        return;
    const char *name = name_c(e->region, type->name), *upper = name_upper(e->region, type->name);
    emit(e, "static inline const struct %s_params *%s_params(const struct %s *%s)\n{\n", name, name,
         name, self);
    emit(e, "#ifdef %s_CONSTANTS\n", upper);
    emit(e, "    static const struct %s_params constants = %s_CONSTANTS;\n", name, upper);
    emit(e, "    (void)%s;\n    return &constants;\n", self);
    emit(e, "#else\n");
    emit(e,
         "    return (const struct %s_params *)(const void *)(engine_base.params + "
         "%s_io(%s)->base.params);\n",
         name, name, self);
    emit(e, "#endif\n}\n\n");
    for (uint32_t i = 0; i < type->param_count; i++) {
        if (type->params[i].dimension != MODEL_DIM_STRING)
            continue;
        emit(e, "static inline const char *%s_%s_text(const struct %s *%s)\n{\n", name,
             type->params[i].name, name, self);
        emit(e,
             "    return engine_base.platform->strings + "
             "engine_base.params[%s_io(%s)->base.params + %u];\n}\n\n",
             name, self, i);
    }
}

/* One part of a place: NULL when nothing fills an optional one. */
static void emit_part_accessor(struct emit *e, const struct model_type *type,
                               const struct model_part_decl *decl, const char *part,
                               const char *self)
{
    const char *name = name_c(e->region, type->name);
    emit(e, "static inline struct %s *%s_%s(const struct %s *%s%s)\n{\n", part, name, decl->name,
         name, self, decl->is_array ? ", uint32_t i" : "");
    if (decl->is_array)
        emit(e,
             "    return arena_at(struct %s, "
             "engine_base.part_refs[%s_io(%s)->%s_first + i]);\n}\n\n",
             part, name, self, decl->name);
    else if (!decl->is_slot || !decl->is_optional)
        emit(e, "    return arena_at(struct %s, %s_io(%s)->%s);\n}\n\n", part, name, self,
             name_c(e->region, decl->name));
    else
        emit(e,
             "    uint32_t offset = %s_io(%s)->%s;\n"
             "    return offset == UINT32_MAX ? NULL : arena_at(struct %s, offset);\n}\n\n",
             name, self, name_c(e->region, decl->name), part);
}

/* The functions of what fills a slot; the wrapper says which, as a constant or by the part's kind.
 */
static void emit_ops_accessor(struct emit *e, const struct model_type *type,
                              const struct model_part_decl *decl, const char *self)
{
    const char *name = name_c(e->region, type->name);
    const char *macro = region_printf(e->region, "%s_%s_OPS", name_upper(e->region, type->name),
                                      name_upper(e->region, decl->name));
    emit(e, "#ifdef %s\n", macro);
    emit(e, "static inline const struct %s_ops *%s_%s_ops(const struct %s *%s%s)\n{\n",
         decl->interface->name, name, decl->name, name, self, decl->is_array ? ", uint32_t i" : "");
    emit(e, "    return %s(%s_%s(%s%s));\n}\n#endif\n\n", macro, name, decl->name, self,
         decl->is_array ? ", i" : "");
}

void emit_part_accessors(struct emit *e, const struct model *model, const struct model_type *type,
                         const char *self)
{
    (void)model;
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_decl *decl = &type->parts[i];
        const char *name = name_c(e->region, type->name);
        emit(e, "/* %s %s */\n", decl->is_slot ? "slot" : "part", decl->name);
        emit_comment(e, "", decl->doc);
        if (decl->is_array)
            emit(e,
                 "static inline uint32_t %s_%s_count(const struct %s *%s)\n{\n    return "
                 "%s_io(%s)->%s_count;\n}\n\n",
                 name, decl->name, name, self, name, self, decl->name);
        emit_part_accessor(e, type, decl,
                           decl->part_type ? name_c(e->region, decl->part_type->name) : "part",
                           self);
        if (decl->interface)
            emit_ops_accessor(e, type, decl, self);
    }
}
