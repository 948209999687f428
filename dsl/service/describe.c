/* Declarations as a line or two of heddle. */
#include "describe.h"

#include <string.h>

#include "base/number.h"

static const char *slice(const struct program *program, const struct ast_expr *x)
{
    return source_slice(program->sources, x->span);
}

static const char *type_text(struct region *region, const struct program *program,
                             const struct ast_type *type)
{
    if (!type)
        return "";
    const struct ast_names *literals = type->literals;
    if (!literals) {
        const struct ast_item *named =
            type->name.text ? enum_named(program, type->name.text) : NULL;
        if (!named)
            return type->name.text ? type->name.text : "";
        literals = named->names;
    }
    const char *text = "enum { ";
    for (uint32_t i = 0; i < literals->v.count; i++)
        text = region_printf(region, "%s%s%s", text, i > 0 ? ", " : "", literals->v.items[i].text);
    return region_printf(region, "%s }", text);
}

static const char *param_detail(struct region *region, const struct program *program,
                                const struct ast_item *item)
{
    const char *text = type_text(region, program, item->type);
    if (item->value)
        text = region_printf(region, "%s = %s", text, slice(program, item->value));
    if (item->low && item->high)
        text = region_printf(region, "%s in %s %s %s", text, slice(program, item->low),
                             item->half_open ? "..<" : "..", slice(program, item->high));
    return item->pow2 ? region_printf(region, "%s pow2", text) : text;
}

static const char *port_detail(struct region *region, const struct program *program,
                               const struct ast_item *item)
{
    const char *text = item->target.text;
    if (item->args && item->args->v.count > 0)
        text =
            region_printf(region, "%s(%s)", text, source_slice(program->sources, item->args->span));
    return item->is_optional ? region_printf(region, "%s optional", text) : text;
}

const char *describe_detail(struct region *region, const struct program *program,
                            const struct ast_item *item)
{
    switch (item->kind) {
    case AST_PARAM:
        return param_detail(region, program, item);
    case AST_LET:
    case AST_CLOCK:
        return item->value ? region_printf(region, "= %s", slice(program, item->value)) : "";
    case AST_PORT:
        return port_detail(region, program, item);
    case AST_SLOT:
        return item->value ? region_printf(region, "%s = %s", item->target.text,
                                           slice(program, item->value))
                           : region_printf(region, "%s%s", item->target.text,
                                           item->is_optional ? " optional" : "");
    case AST_FIELD:
        return item->size
                   ? region_printf(region, "%s[%s]", item->target.text, slice(program, item->size))
                   : item->target.text;
    default:
        return item->target.text ? item->target.text : "";
    }
}

static const char *name_of(struct region *region, const struct program *program,
                           const struct ast_item *item)
{
    const char *name = item->kind == AST_CONNECT ? item->via.text : item->name.text;
    if (item->unsized)
        return region_printf(region, "%s[]", name);
    return item->size ? region_printf(region, "%s[%s]", name, slice(program, item->size)) : name;
}

const char *describe_code(struct region *region, const struct program *program,
                          const struct ast_item *item)
{
    static const char *const words[] = {
        [AST_PROTOCOL] = "protocol ",   [AST_LINK] = "link ",   [AST_ENUM] = "enum ",
        [AST_INTERFACE] = "interface ", [AST_PART] = "part ",   [AST_COMPONENT] = "component ",
        [AST_PLATFORM] = "platform ",   [AST_PARAM] = "param ", [AST_LET] = "let ",
        [AST_STAT] = "stat ",           [AST_SLOT] = "slot ",   [AST_SUBPART] = "part ",
        [AST_STORE] = "store ",         [AST_READS] = "reads ", [AST_CLOCK] = "clock ",
        [AST_SPACE] = "space ",         [AST_FOR] = "for ",     [AST_INSERT] = "insert ",
    };
    const char *word = (size_t)item->kind < ARRAY_COUNT(words) ? words[item->kind] : "";
    if (item->kind == AST_PORT)
        word = item->is_in ? "in " : "out ";
    if (item->kind == AST_MESSAGE)
        word = item->is_reply ? "reply " : "request ";
    const char *name = name_of(region, program, item);
    const char *detail = describe_detail(region, program, item);
    if (item->kind == AST_LINK || item->kind == AST_SPACE)
        return source_slice(program->sources, item->span);
    if (item->kind == AST_ENUM)
        return region_printf(region, "enum %s { %u }", name, item->names->v.count);
    if (detail[0] == '\0')
        return region_printf(region, "%s%s", word ? word : "", name);
    bool is_equal = detail[0] == '=';
    return region_printf(region, "%s%s%s%s", word ? word : "", name, is_equal ? " " : " : ",
                         detail);
}

const char *describe_doc(const struct program *program, const struct ast_item *item)
{
    if (item->doc && item->doc[0] != '\0')
        return item->doc;
    const struct type_info *type = member_type(program, item);
    return type && type->decl->doc ? type->decl->doc : "";
}
