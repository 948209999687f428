/* Declarations: which statements each body may have, which names collide, and the parts of the
 * model that follow from a declaration alone. Works in two steps, because order of declaration does
 * not matter: declare_item() enters a name; declare_finish.c follows what refers to others. */
#include "declare.h"

#include <string.h>

#include "base/number.h"
#include "dsl/compiler_bug.h"
#include "dsl/source.h"
#include "dsl/suggest.h"
#include "dsl/syntax/token.h"

/* Reports that the item has a name that was declared before, at `first`. */
static void report_duplicate(struct program *program, const struct ast_item *item,
                             struct span first, const char *kind)
{
    struct diagnostic *d = diagnostic_add(program->diagnostics, E0201, item->name.span,
                                          "%s '%s' is declared twice", kind, item->name.text);
    diagnostic_note(program->diagnostics, d, first, "first declared here");
    if (item->kind == AST_INSTANCE)
        diagnostic_help(program->diagnostics, d,
                        "give it another name, or make an array: '%s[2] : %s'", item->name.text,
                        item->target.text);
}

/* Statements that each body admits; the column is the declaration around it. */
enum place_flags {
    IN_COMPONENT = 1,
    IN_PART = 2,
    IN_PLATFORM = 4,
    IN_IF = 8,
    IN_FOR = 16,
    LEAF_ONLY = 32
};

struct placement {
    enum ast_kind kind;
    const char *what;
    int where;
};

static const struct placement placements[] = {
    {AST_PARAM, "a parameter", IN_COMPONENT | IN_PART | IN_PLATFORM},
    {AST_LET, "a 'let'", IN_COMPONENT | IN_PART | IN_PLATFORM},
    {AST_CHECK, "a 'check'", IN_COMPONENT | IN_PART | IN_PLATFORM | IN_IF | IN_FOR},
    {AST_PORT, "a port", IN_COMPONENT},
    {AST_STAT, "a statistic", IN_COMPONENT | IN_PART | LEAF_ONLY},
    {AST_MEASURE, "a measure", IN_COMPONENT | IN_PART | LEAF_ONLY},
    {AST_SLOT, "a slot", IN_COMPONENT | IN_PART | IN_PLATFORM},
    {AST_SUBPART, "a part", IN_COMPONENT | IN_PART | LEAF_ONLY},
    {AST_STORE, "a store", IN_COMPONENT | LEAF_ONLY},
    {AST_READS, "a 'reads'", IN_COMPONENT | LEAF_ONLY},
    {AST_CLOCK, "a clock", IN_COMPONENT | IN_PLATFORM},
    {AST_BEHAVIOUR, "a 'behaviour'", IN_COMPONENT | IN_PART | LEAF_ONLY},
    {AST_COHERENCE, "a 'coherence'", IN_COMPONENT | LEAF_ONLY},
    {AST_INSTANCE, "an instance", IN_COMPONENT | IN_PLATFORM | IN_IF},
    {AST_CONNECT, "a connection", IN_COMPONENT | IN_PLATFORM | IN_IF | IN_FOR},
    {AST_SPACE, "a space", IN_COMPONENT | IN_PLATFORM | IN_IF},
    {AST_MAP, "a 'map'", IN_PLATFORM | IN_IF | IN_FOR},
    {AST_PARTITION, "a 'partition'", IN_COMPONENT | IN_PLATFORM | IN_IF | IN_FOR},
    {AST_IF, "an 'if'", IN_COMPONENT | IN_PLATFORM | IN_IF | IN_FOR},
    {AST_FOR, "a 'for'", IN_COMPONENT | IN_PLATFORM | IN_IF | IN_FOR},
};

static const struct placement *placement_of(enum ast_kind kind)
{
    for (size_t i = 0; i < ARRAY_COUNT(placements); i++)
        if (placements[i].kind == kind)
            return &placements[i];
    compiler_bug("no placement for item kind %d", (int)kind);
}

static bool makes_composite(const struct ast_items *body)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        if (item->kind == AST_INSTANCE || item->kind == AST_CONNECT || item->kind == AST_SPACE)
            return true;
        if ((item->kind == AST_IF || item->kind == AST_FOR)
            && (makes_composite(item->body) || makes_composite(item->otherwise_body)))
            return true;
    }
    return false;
}

/* The advice for a statement that cannot be here. */
static void help_misplaced(struct program *program, struct diagnostic *d,
                           const struct ast_item *item, int flag, const char *where)
{
    const char *name = item->name.text;
    if (item->kind == AST_INSTANCE && flag == IN_FOR)
        diagnostic_help(program->diagnostics, d,
                        "make an array before it, '%s[n] : %s;', and connect '%s[i]'", name,
                        item->target.text, name);
    else if (item->kind == AST_INSTANCE && flag == IN_PART)
        diagnostic_help(program->diagnostics, d,
                        "a part has no clock: what it contains is 'part %s : PART;'", name);
    else if (item->kind == AST_PORT && flag == IN_PART)
        diagnostic_help(program->diagnostics, d,
                        "its owner speaks for it: functions of the interface bring what the owner "
                        "hears");
    else if (item->kind == AST_SUBPART && flag == IN_COMPONENT)
        diagnostic_help(program->diagnostics, d,
                        "'slot %s : INTERFACE = %s;' here is handed down to the instances: '{ SLOT "
                        "= %s; }'",
                        name, item->target.text, name);
    else if (item->kind == AST_FOR)
        diagnostic_help(program->diagnostics, d,
                        "several parts are an array: 'part NAME[n] : PART;'");
    else if (item->kind == AST_SLOT || item->kind == AST_SUBPART)
        diagnostic_help(program->diagnostics, d, "declare it at the top of the body, outside of %s",
                        where);
}

static void misplaced(struct program *program, const struct ast_item *item,
                      const struct placement *rule, int flag, const char *where)
{
    struct span span = item->name.text && item->kind != AST_CHECK ? item->name.span : item->span;
    struct diagnostic *d = diagnostic_add(program->diagnostics, E0008, span,
                                          "%s cannot stand in %s", rule->what, where);
    help_misplaced(program, d, item, flag, where);
}

static void check_nested(struct program *program, const struct ast_items *body, int flag,
                         const char *where, const struct type_info *type)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        const struct placement *rule = placement_of(item->kind);
        if (!(rule->where & flag))
            misplaced(program, item, rule, flag, where);
        else if (item->kind == AST_MAP && !type->model.is_platform)
            misplaced(program, item, rule, flag, "a component");
        else if (item->kind == AST_IF) {
            check_nested(program, item->body, flag == IN_FOR ? IN_FOR : IN_IF, "an 'if'", type);
            check_nested(program, item->otherwise_body, flag == IN_FOR ? IN_FOR : IN_IF, "an 'if'",
                         type);
        } else if (item->kind == AST_FOR)
            check_nested(program, item->body, IN_FOR, "a 'for'", type);
    }
}

/* Names of a body form two spaces: values (parameters and lets) and things (ports, instances,
 * slots, ...). What can be set in an instance's braces must be unique over both. */
struct body_names {
    struct item_list values, things, stats, measures;
};

static void add_name(struct program *program, struct item_list *list, const struct ast_item *item)
{
    int32_t before = item_list_find(list, item->name.text);
    if (before >= 0)
        report_duplicate(program, item, list->v.items[before]->name.span, "the name");
    else
        vector_push(program->region, &list->v, item);
}

static struct item_list *list_for(struct type_info *type, enum ast_kind kind)
{
    switch (kind) {
    case AST_PARAM:
    case AST_LET:
        return &type->params;
    case AST_PORT:
        return &type->ports;
    case AST_STAT:
        return &type->stats;
    case AST_MEASURE:
        return &type->measures;
    case AST_SLOT:
    case AST_SUBPART:
        return &type->parts;
    case AST_STORE:
    case AST_READS:
        return &type->stores;
    case AST_CLOCK:
        return &type->clocks;
    case AST_BEHAVIOUR:
        return &type->behaviour;
    case AST_COHERENCE:
        return &type->coherence;
    default:
        return NULL;
    }
}

/* Generated code includes the C files of a unit by their base names, so these must differ. */
static void check_file(struct program *program, const struct item_list *files,
                       const struct ast_item *item)
{
    for (uint32_t i = 0; i < files->v.count; i++) {
        const struct ast_item *before = files->v.items[i];
        if (strcmp(source_base_name(before->name.text), source_base_name(item->name.text)) != 0
            || item->name.text == token_unclosed)
            continue;
        bool is_same = strcmp(before->name.text, item->name.text) == 0;
        struct diagnostic *d = diagnostic_add(program->diagnostics, E0201, item->name.span,
                                              is_same ? "the file '%s' is named twice"
                                                      : "a second file is called '%s'",
                                              source_base_name(item->name.text));
        diagnostic_note(program->diagnostics, d, before->name.span, "first named here");
        if (!is_same)
            diagnostic_help(program->diagnostics, d,
                            "C files of one unit are told apart by their names, without folders");
        return;
    }
}

static void check_once(struct program *program, const struct item_list *before,
                       const struct ast_item *item)
{
    if (before->v.count == 0)
        return;
    struct diagnostic *d =
        diagnostic_add(program->diagnostics, E0201, item->span, "a second 'coherence'");
    diagnostic_note(program->diagnostics, d, before->v.items[0]->span, "the first is here");
}

static void collect_member(struct program *program, struct type_info *type,
                           struct body_names *names, const struct ast_item *item)
{
    uint32_t errors = program->diagnostics->error_count;
    struct item_list *list = list_for(type, item->kind);
    switch (item->kind) {
    case AST_PARAM:
    case AST_LET:
        add_name(program, &names->values, item);
        break;
    case AST_STAT:
        add_name(program, &names->stats, item);
        break;
    case AST_MEASURE:
        add_name(program, &names->measures, item);
        break;
    case AST_BEHAVIOUR:
        check_file(program, &type->behaviour, item);
        break;
    case AST_COHERENCE:
        check_once(program, &type->coherence, item);
        break;
    default:
        if (item->kind == AST_INSTANCE || item->kind == AST_SPACE || list)
            add_name(program, &names->things, item);
    }
    if (list && program->diagnostics->error_count == errors)
        vector_push(program->region, &list->v, item);
}

/* The C files of a component or part without instances: as it names them, or NAME.c. */
static void set_behaviour(struct program *program, struct type_info *type)
{
    struct region *region = program->region;
    if (type->model.is_composite)
        return;
    uint32_t named = type->behaviour.v.count;
    const char **files = region_take(region, (named + 1) * sizeof *files);
    for (uint32_t i = 0; i < named; i++) {
        const struct ast_name *name = &type->behaviour.v.items[i]->name;
        files[i] = source_join(region, type->model.folder, name->text);
        if (name->text != token_unclosed && source_is_no_file(files[i]))
            diagnostic_add(program->diagnostics, E0102, name->span,
                           "cannot read '%s': it is not a regular file", files[i]);
    }
    if (named == 0)
        files[0] = source_join(region, type->model.folder,
                               region_printf(region, "%s.c", type->model.name));
    type->model.behaviour = files;
    type->model.behaviour_count = named > 0 ? named : 1;
}

static void collect_body(struct program *program, struct type_info *type)
{
    const struct ast_items *body = type->decl->body;
    int flag = type->model.is_part ? IN_PART : type->model.is_platform ? IN_PLATFORM : IN_COMPONENT;
    const char *where = type->model.is_part       ? "a part"
                        : type->model.is_platform ? "a platform"
                                                  : "a component";
    struct body_names names = {0};
    for (uint32_t i = 0; i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        const struct placement *rule = placement_of(item->kind);
        if (!(rule->where & flag)) {
            misplaced(program, item, rule, flag, where);
            continue;
        }
        if ((rule->where & LEAF_ONLY) && type->model.is_composite) {
            misplaced(program, item, rule, flag, "a component that is made of other components");
            continue;
        }
        if (item->kind == AST_IF) {
            check_nested(program, item->body, IN_IF, "an 'if'", type);
            check_nested(program, item->otherwise_body, IN_IF, "an 'if'", type);
        } else if (item->kind == AST_FOR) {
            check_nested(program, item->body, IN_FOR, "a 'for'", type);
        }
        if (item->kind == AST_CLOCK && !item->value && type->model.is_platform) {
            diagnostic_add(program->diagnostics, E0413, item->name.span,
                           "the clock of a platform needs a frequency");
            continue;
        }
        collect_member(program, type, &names, item);
    }
    for (uint32_t i = 0; i < names.things.v.count; i++) {
        const struct ast_item *item = names.things.v.items[i];
        int32_t value = item_list_find(&names.values, item->name.text);
        bool is_settable =
            item->kind == AST_SLOT || item->kind == AST_READS || item->kind == AST_CLOCK;
        if (is_settable && value >= 0)
            report_duplicate(program, item, names.values.v.items[value]->name.span, "the name");
    }
}

static void declare_type_item(struct program *program, const struct ast_file *file,
                              const struct ast_item *item)
{
    struct type_info *before = program_type(program, item->name.text);
    if (before) {
        report_duplicate(program, item, before->decl->name.span,
                         item->kind == AST_PART ? "part" : "component");
        return;
    }
    struct type_info *type = region_take(program->region, sizeof *type);
    type->decl = item;
    type->file = file;
    type->is_main = file == program->files.items[0];
    type->model = (struct model_type){
        .name = item->name.text,
        .doc = item->doc,
        .place = program_place(program, item->name.span),
        .is_part = item->kind == AST_PART,
        .is_platform = item->kind == AST_PLATFORM,
        .is_composite = item->kind == AST_PLATFORM
                        || (item->kind == AST_COMPONENT && makes_composite(item->body)),
        .is_library = file->source->is_library,
        .folder = file->source->folder,
    };
    vector_push(program->region, &program->types, type);
    collect_body(program, type);
    set_behaviour(program, type);
}

static void declare_protocol(struct program *program, const struct ast_item *item)
{
    struct protocol_info *before = program_protocol(program, item->name.text);
    if (before) {
        report_duplicate(program, item, before->decl->name.span, "protocol");
        return;
    }
    struct protocol_info *protocol = region_take(program->region, sizeof *protocol);
    protocol->decl = item;
    struct item_list messages = {0};
    for (uint32_t i = 0; i < item->body->v.count; i++) {
        const struct ast_item *part = item->body->v.items[i];
        if (part->kind == AST_FIELD) {
            add_name(program, &protocol->params, part);
            continue;
        }
        add_name(program, &messages, part);
        if (messages.v.count == 0 || messages.v.items[messages.v.count - 1] != part)
            continue;
        vector_push(program->region, part->is_reply ? &protocol->replies.v : &protocol->requests.v,
                    part);
        struct item_list fields = {0};
        for (uint32_t f = 0; f < part->body->v.count; f++)
            add_name(program, &fields, part->body->v.items[f]);
    }
    vector_push(program->region, &program->protocols, protocol);
}

static void declare_simple(struct program *program, const struct ast_file *file,
                           const struct ast_item *item)
{
    if (item->kind == AST_LINK) {
        struct link_info *before = program_link(program, item->name.text);
        if (before) {
            report_duplicate(program, item, before->decl->name.span, "link");
            return;
        }
        struct link_info *link = region_take(program->region, sizeof *link);
        link->decl = item;
        vector_push(program->region, &program->links, link);
    } else if (item->kind == AST_ENUM) {
        if (program_enum(program, item->name.text)) {
            diagnostic_add(program->diagnostics, E0201, item->name.span,
                           "enum '%s' is declared twice", item->name.text);
            return;
        }
        struct model_enum *made =
            program_make_enum(program, item->name.text, item->doc, item->names, item->name.span);
        vector_push(program->region, &program->enums, made);
    } else {
        if (program_interface(program, item->name.text)) {
            diagnostic_add(program->diagnostics, E0201, item->name.span,
                           "interface '%s' is declared twice", item->name.text);
            return;
        }
        struct model_interface *made = region_take(program->region, sizeof *made);
        *made = (struct model_interface){.name = item->name.text,
                                         .doc = item->doc,
                                         .place = program_place(program, item->name.span),
                                         .folder = file->source->folder};
        vector_push(program->region, &program->interfaces, made);
    }
}

void declare_item(struct program *program, const struct ast_file *file, const struct ast_item *item)
{
    switch (item->kind) {
    case AST_IMPORT:
        break;
    case AST_PROTOCOL:
        declare_protocol(program, item);
        break;
    case AST_LINK:
    case AST_ENUM:
    case AST_INTERFACE:
        declare_simple(program, file, item);
        break;
    case AST_PART:
    case AST_COMPONENT:
    case AST_PLATFORM:
        declare_type_item(program, file, item);
        break;
    default:
        compiler_bug("item kind %d at top level", (int)item->kind);
    }
}
