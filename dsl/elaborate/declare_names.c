/* Names that different declarations would share in the C that is made of them: functions and
 * constants, structures, members of `struct NAME_io`, header files. A description cannot know what
 * codegen/emit makes, so the tables here repeat which names it forms; the system tests compile
 * hostile names of every kind (tests/system/language/test_names.py).
 *
 * One list of all names, sorted, shows each clash as two neighbours. Functions and constants are
 * in it as they are, others with their space in front ("struct cache_io"). */
#include <stdlib.h>
#include <string.h>

#include "dsl/reserved.h"
#include "dsl/source.h"

#include "declare.h"

/* A declaration, or a member of an enumeration. */
struct origin {
    const char *kind;
    struct ast_name name;
    bool is_library;
};

/* One name of the generated C and what it comes from. */
struct made {
    const char *text;
    const struct origin *origin;
    uint32_t order;
};

struct names {
    struct program *program;
    const struct ast_item *item; /* the item whose names are being made */
    const struct origin *origin; /* the item's place, for messages */
    bool is_library;
    VECTOR(struct made) list;
};

static const char *kind_name(const struct ast_item *item)
{
    switch (item->kind) {
    case AST_PROTOCOL:
        return "protocol";
    case AST_MESSAGE:
        return item->is_reply ? "reply" : "request";
    case AST_FIELD:
        return "field";
    case AST_ENUM:
        return "enum";
    case AST_INTERFACE:
        return "interface";
    case AST_PART:
    case AST_SUBPART:
        return "part";
    case AST_COMPONENT:
        return "component";
    case AST_PARAM:
        return "parameter";
    case AST_PORT:
        return "port";
    case AST_SLOT:
        return "slot";
    default:
        return "store";
    }
}

static void begin_member(struct names *n, const char *kind, struct ast_name name)
{
    struct origin *origin = region_take(n->program->region, sizeof *origin);
    *origin = (struct origin){kind, name, n->is_library};
    n->origin = origin;
}

static void begin_item(struct names *n, const struct ast_item *item)
{
    n->item = item;
    begin_member(n, kind_name(item), item->name);
}

static void add_name(struct names *n, const char *text)
{
    struct made made = {text, n->origin, n->list.count};
    vector_push(n->program->region, &n->list, made);
}

#define ADD(n, ...) add_name(n, region_printf((n)->program->region, __VA_ARGS__))

/* One name for each ending, which may be "". */
static void add_endings(struct names *n, const char *stem, const char *const *endings)
{
    for (; *endings; endings++)
        ADD(n, "%s%s", stem, *endings);
}

static const char *upper(const struct names *n, const char *name)
{
    char *text = region_strdup(n->program->region, name);
    for (char *c = text; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return text;
}

static const char *in_c(const struct names *n, const char *name)
{
    return reserved_besides(n->program->region, name, NULL);
}

static void add_header(struct names *n)
{
    ADD(n, "HEDDLE_GEN_%s_H", upper(n, n->item->name.text));
}

/* `name` is that of the enumeration in C. */
static void add_enum(struct names *n, const char *name, const struct ast_names *literals)
{
    ADD(n, "struct %s", name);
    for (uint32_t i = 0; i < literals->v.count; i++) {
        begin_member(n, "member", literals->v.items[i]);
        ADD(n, "%s_%s", upper(n, name), upper(n, literals->v.items[i].text));
    }
}

static void add_message(struct names *n, const char *protocol, const struct ast_item *message)
{
    const char *stem = region_printf(n->program->region, "%s_%s", protocol, message->name.text);
    begin_item(n, message);
    ADD(n, "%s", upper(n, stem));
    ADD(n, "%s_payload_bytes", stem);
    for (uint32_t i = 0; i < message->body->v.count; i++) {
        begin_item(n, message->body->v.items[i]);
        ADD(n, "%s_%s", stem, n->item->name.text);
    }
}

static void add_protocol(struct names *n, const struct protocol_info *protocol)
{
    static const char *const directions[] = {"_request", "_reply", "_request_kind", "_reply_kind",
                                             NULL};
    const char *name = protocol->decl->name.text;
    begin_item(n, protocol->decl);
    add_header(n);
    add_endings(n, region_printf(n->program->region, "struct %s", name), directions);
    for (uint32_t i = 0; i < protocol->requests.v.count; i++)
        add_message(n, name, protocol->requests.v.items[i]);
    for (uint32_t i = 0; i < protocol->replies.v.count; i++)
        add_message(n, name, protocol->replies.v.items[i]);
}

/* `protocol` is NULL for ports of `any`. */
static void add_port(struct names *n, const char *type, const struct protocol_info *protocol)
{
    static const char *const both[] = {"_count", "_is_connected", "_first_pending", NULL};
    static const char *const incoming[] = {"_peek", "_payload", "_pop", "_can_reply", NULL};
    static const char *const outgoing[] = {"_can_send", "_peek_reply", "_reply_payload",
                                           "_pop_reply", NULL};
    static const char *const words[] = {"_request", "_reply", NULL};
    static const char *const array_words[] = {"_count", "_first", NULL};
    const struct ast_item *port = n->item;
    struct region *region = n->program->region;
    const char *stem = region_printf(region, "%s_%s", type, port->name.text);
    bool is_array = port->unsized || port->size;
    add_endings(n, stem, is_array ? both : both + 1);
    add_endings(n, stem, port->is_in ? incoming : outgoing);
    add_endings(n, region_printf(region, "struct %s_io.%s", type, port->name.text),
                is_array ? array_words : words);
    if (!protocol) {
        ADD(n, "%s_%s", stem, port->is_in ? "forward_reply" : "forward");
        ADD(n, "%s_%s", upper(n, stem), port->is_in ? "REPLIES" : "REQUESTS");
        return;
    }
    const struct item_list *messages = port->is_in ? &protocol->replies : &protocol->requests;
    for (uint32_t i = 0; i < messages->v.count; i++)
        ADD(n, "%s_%s_%s", stem, port->is_in ? "reply" : "send", messages->v.items[i]->name.text);
}

static void add_place(struct names *n, const char *type)
{
    static const char *const array_words[] = {"_count", "_first", NULL};
    const struct ast_item *place = n->item;
    struct region *region = n->program->region;
    const char *stem = region_printf(region, "%s_%s", type, place->name.text);
    const char *member = region_printf(region, "struct %s_io.", type);
    ADD(n, "%s", stem);
    if (place->size) {
        ADD(n, "%s_count", stem);
        add_endings(n, region_printf(region, "%s%s", member, place->name.text), array_words);
    } else {
        ADD(n, "%s%s", member, in_c(n, place->name.text));
    }
    if (place->kind != AST_SLOT)
        return;
    ADD(n, "%s_ops", stem);
    ADD(n, "%s_kinds", stem);
    ADD(n, "%s_OPS", upper(n, stem));
}

static void add_store(struct names *n, const char *type)
{
    const struct ast_item *store = n->item;
    ADD(n, "%s_%s", type, store->name.text);
    ADD(n, "struct %s_io.%s", type, in_c(n, store->name.text));
    if (reserved_word(store->target.text) || reserved_tag(store->target.text))
        diagnostic_add(n->program->diagnostics, E0212, store->target.span,
                       "a structure of yours cannot be called '%s' in C", store->target.text);
}

static void add_param(struct names *n, const char *type, const char *raw_type)
{
    const struct ast_item *param = n->item;
    if (param->kind == AST_PARAM && param->type->literals)
        add_enum(n, region_printf(n->program->region, "%s_%s", raw_type, param->name.text),
                 param->type->literals);
    else if (param->kind == AST_PARAM && strcmp(param->type->name.text, "string") == 0)
        ADD(n, "%s_%s_text", type, param->name.text);
}

static void add_members(struct names *n, const struct type_info *type, const char *name)
{
    for (uint32_t i = 0; i < type->decl->body->v.count; i++) {
        begin_item(n, type->decl->body->v.items[i]);
        switch (n->item->kind) {
        case AST_PARAM:
            add_param(n, name, type->model.name);
            break;
        case AST_PORT:
            add_port(n, name, program_protocol(n->program, n->item->target.text));
            break;
        case AST_SLOT:
        case AST_SUBPART:
            add_place(n, name);
            break;
        case AST_STORE:
        case AST_READS:
            add_store(n, name);
            break;
        default:
            break;
        }
    }
}

/* "cache__12" is that of a unit, whose number is not known here; all count as the first. */
static bool is_unit(const char *text)
{
    size_t length = strlen(text), digits = 0;
    while (digits < length && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
        digits++;
    return digits > 0 && length > digits + 2 && strncmp(text + length - digits - 2, "__", 2) == 0;
}

/* The C file of a unit is found among the generated ones first. */
static void check_behaviour(struct names *n, const struct type_info *type)
{
    for (uint32_t i = 0; i < type->model.behaviour_count; i++) {
        const char *base = source_base_name(type->model.behaviour[i]);
        size_t length = strlen(base);
        if (length < 3 || strcmp(base + length - 2, ".c") != 0)
            continue;
        const char *stem = region_strndup(n->program->region, base, length - 2);
        if (strcmp(stem, "platform") != 0 && !is_unit(stem))
            continue;
        bool is_named = type->behaviour.v.count > 0;
        struct diagnostic *d =
            diagnostic_add(n->program->diagnostics, E0212,
                           is_named ? type->behaviour.v.items[i]->name.span : type->decl->name.span,
                           "the C file '%s' has the name of a generated one", base);
        diagnostic_help(n->program->diagnostics, d,
                        is_named ? "give the file another name"
                                 : "name another file: behaviour \"NAME.c\";");
    }
}

static void add_type(struct names *n, const struct type_info *type)
{
    static const char *const tags[] = {"", "_params", "_io", "_stats", NULL};
    static const char *const common[] = {"_io", "_params", "_stat_list", "_init", NULL};
    static const char *const of_part[] = {"_part", "_init_part", "_ops", NULL};
    static const char *const of_component[] = {
        "_now",      "_wake_at", "_walk", "_tick_each",   "_tick_one",        "_init_one",
        "__generic", "__1",      "_tick", "_outstanding", "_outstanding_one", NULL};
    if (type->model.is_composite)
        return;
    struct region *region = n->program->region;
    begin_item(n, type->decl);
    add_header(n);
    const char *name = in_c(n, type->model.name);
    add_endings(n, region_printf(region, "struct %s", name), tags);
    add_endings(n, name, common);
    add_endings(n, name, type->model.is_part ? of_part : of_component);
    ADD(n, "%s_CONSTANTS", upper(n, type->model.name));
    ADD(n, "struct %s_io.base", name);
    ADD(n, "struct %s_io.stats", name);
    add_members(n, type, name);
    check_behaviour(n, type);
}

/* Without what tells the spaces apart. */
static const char *shown(const char *text)
{
    const char *dot = strchr(text, '.');
    return dot ? dot + 1 : text;
}

static void report(struct names *n, const struct made *made, const struct made *before)
{
    struct diagnostics *d = n->program->diagnostics;
    const struct origin *origin = made->origin, *other = before ? before->origin : NULL;
    bool is_quiet = origin->is_library && (!other || other->is_library);
    d->muted += is_quiet;
    struct diagnostic *clash =
        !other
            ? diagnostic_add(d, E0212, origin->name.span,
                             "%s '%s' becomes '%s' in C, a name of the runtime", origin->kind,
                             origin->name.text, shown(made->text))
            : diagnostic_add(d, E0212, origin->name.span,
                             "%s '%s' becomes '%s' in C, and so does %s '%s'", origin->kind,
                             origin->name.text, shown(made->text), other->kind, other->name.text);
    if (other)
        diagnostic_note(d, clash, other->name.span, "the other one is here");
    diagnostic_help(d, clash, "rename %s", !other ? "it" : "one of them");
    d->muted -= is_quiet;
}

static int by_text(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order != 0 ? order : x->order < y->order ? -1 : 1;
}

static bool is_of_runtime(const char *text)
{
    return strncmp(text, "struct ", 7) == 0 ? reserved_tag(text + 7) : reserved_symbol(text);
}

static void find_clashes(struct names *n)
{
    for (uint32_t i = 0; i < n->list.count; i++)
        if (is_unit(n->list.items[i].text)) {
            char *text = region_strdup(n->program->region, n->list.items[i].text);
            strcpy(strrchr(text, '_') + 1, "1");
            n->list.items[i].text = text;
        }
    qsort(n->list.items, n->list.count, sizeof *n->list.items, by_text);
    for (uint32_t i = 0; i < n->list.count; i++) {
        const struct made *made = &n->list.items[i];
        if (is_of_runtime(made->text))
            report(n, made, NULL);
        else if (i > 0 && strcmp(made->text, n->list.items[i - 1].text) == 0)
            report(n, made, &n->list.items[i - 1]);
    }
}

static bool is_library(const struct ast_file *file, const struct program *program)
{
    return file->source->is_library && file != program->files.items[0];
}

void declare_names(struct program *program)
{
    struct names n = {.program = program};
    for (uint32_t f = 0; f < program->files.count; f++) {
        const struct ast_file *file = program->files.items[f];
        n.is_library = is_library(file, program);
        for (uint32_t i = 0; i < file->items->v.count; i++) {
            begin_item(&n, file->items->v.items[i]);
            const char *name = n.item->name.text;
            switch (n.item->kind) {
            case AST_PROTOCOL:
                add_protocol(&n, program_protocol(program, name));
                break;
            case AST_ENUM:
                add_header(&n);
                add_enum(&n, in_c(&n, name), n.item->names);
                break;
            case AST_INTERFACE:
                ADD(&n, "struct %s_ops", name);
                break;
            case AST_PART:
            case AST_COMPONENT:
                add_type(&n, program_type(program, name));
                break;
            default:
                break;
            }
        }
    }
    if (n.list.count > 0)
        find_clashes(&n);
}
