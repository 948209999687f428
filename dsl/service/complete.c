/* Proposals for the cursor. The place and the words before it choose one of a few lists;
 * nothing is left out for its spelling, since editors do that. */
#include <dirent.h>
#include <string.h>

#include "base/number.h"
#include "dsl/quantity.h"

#include "cursor.h"
#include "describe.h"
#include "parser.h"
#include "service.h"

struct completer {
    struct service *service;
    struct region *region;
    const struct program *program;
    struct cursor cursor;
    const struct type_info *type; /* around the cursor; NULL: unknown */
    VECTOR(struct service_completion) list;
};

static void add_completion(struct completer *c, enum service_kind kind, const char *label,
                           const char *detail, const char *doc)
{
    uint32_t base = c->service->file->base;
    for (uint32_t i = 0; i < c->list.count; i++)
        if (strcmp(c->list.items[i].label, label) == 0)
            return;
    struct service_completion completion = {
        kind, label, detail, doc, c->cursor.word.begin - base, c->cursor.word.end - base};
    vector_push(c->region, &c->list, completion);
}

static void add_words(struct completer *c, enum service_kind kind, const char *const *words)
{
    for (; *words; words++)
        add_completion(c, kind, *words, "", "");
}

static void add_item(struct completer *c, const struct ast_item *item)
{
    struct ast_name name = item->kind == AST_CONNECT ? item->via : item->name;
    if (name.text && strcmp(name.text, "?") != 0)
        add_completion(c, member_kind(item), name.text,
                       describe_detail(c->region, c->program, item),
                       describe_doc(c->program, item));
}

/* Declarations at the top of this kind. */
static void add_top(struct completer *c, enum ast_kind kind)
{
    for (uint32_t f = 0; f < c->program->files.count; f++) {
        const struct ast_items *items = c->program->files.items[f]->items;
        for (uint32_t i = 0; i < items->v.count; i++)
            if (items->v.items[i]->kind == kind)
                add_item(c, items->v.items[i]);
    }
}

/* ---- members of types ---- */

enum members {
    PORTS = 1,
    INSTANCES = 2,
    VALUES = 4,
    SPACES = 8,
    CLOCKS = 16,
    SETTABLE = 32,
    STORES = 64,
    WIRES = 128 /* names after `via`: interconnects, wires, links with a name of their own */
};

struct gather {
    struct completer *completer;
    unsigned which;
};

static unsigned members_of(const struct program *program, const struct ast_item *item)
{
    bool is_link = item->target.text && program_link(program, item->target.text);
    switch (item->kind) {
    case AST_PORT:
        return PORTS;
    case AST_INSTANCE:
        return is_link ? WIRES : INSTANCES;
    case AST_SUBPART:
        return INSTANCES;
    case AST_CONNECT:
        return is_link ? WIRES : WIRES | INSTANCES;
    case AST_PARAM:
        return VALUES | SETTABLE;
    case AST_LET:
        return VALUES;
    case AST_SPACE:
        return SPACES;
    case AST_CLOCK:
        return !item->value ? CLOCKS | SETTABLE : CLOCKS;
    case AST_SLOT:
        return SETTABLE | INSTANCES;
    case AST_READS:
        return SETTABLE | STORES;
    case AST_STORE:
        return STORES;
    default:
        return 0;
    }
}

static bool gather_one(void *context, const struct ast_item *item)
{
    struct gather *gather = context;
    if ((members_of(gather->completer->program, item) & gather->which) && member_name(item).text)
        add_item(gather->completer, item);
    return true;
}

static void add_members(struct completer *c, const struct type_info *type, unsigned which)
{
    struct gather gather = {c, which};
    if (type)
        members_walk(type, gather_one, &gather);
}

/* ---- values ---- */

static void add_values(struct completer *c)
{
    static const char *const constants[] = {"true", "false", NULL};
    static const char *const functions[] = {"count", "min", "max", "log2", "ceil_div", NULL};
    for (uint32_t i = c->cursor.loop_count; i-- > 0;)
        add_completion(c, SERVICE_VARIABLE, c->cursor.loops[i], "", "");
    add_members(c, c->type, VALUES);
    add_words(c, SERVICE_FUNCTION, functions);
    add_words(c, SERVICE_KEYWORD, constants);
    add_members(c, c->type, INSTANCES);
}

static void add_choices(struct completer *c, const struct ast_item *param)
{
    const struct ast_names *names = enum_names(c->program, param, NULL);
    for (uint32_t i = 0; names && i < names->v.count; i++)
        add_completion(c, SERVICE_CHOICE, names->v.items[i].text, "", param->doc);
    static const char *const truth[] = {"true", "false", NULL};
    bool is_bool = param && param->kind == AST_PARAM && param->type && param->type->name.text
                   && strcmp(param->type->name.text, "bool") == 0;
    if (is_bool)
        add_words(c, SERVICE_KEYWORD, truth);
}

static void add_fillers(struct completer *c, const struct ast_item *slot)
{
    for (uint32_t i = 0; i < c->program->types.count; i++)
        if (member_fills(c->program->types.items[i], slot))
            add_item(c, c->program->types.items[i]->decl);
    if (slot->optional)
        add_completion(c, SERVICE_KEYWORD, "none", "", "nothing in this slot");
}

static void add_types_of_values(struct completer *c)
{
    size_t count;
    const char *const *names = quantity_type_names(&count);
    for (size_t i = 0; i < count; i++)
        add_completion(c, SERVICE_TYPE, names[i], "", "");
    add_completion(c, SERVICE_KEYWORD, "enum", "enum { a, b }", "");
    add_top(c, AST_ENUM);
}

/* ---- paths ---- */

/* The member of `type` that the words of a path name: those from `begin` to before `end`, the last
 * of which is a '.'. NULL: unknown. */
static const struct ast_item *follow(struct completer *c, const struct type_info *type,
                                     uint32_t begin, uint32_t end)
{
    const struct ast_item *setting = NULL;
    int depth = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct token *token = &c->cursor.words[i];
        depth += token->kind == '[' ? 1 : token->kind == ']' ? -1 : 0;
        const char *name = depth == 0 ? token_word(token) : NULL;
        if (!name)
            continue;
        if (setting)
            type = member_filler(c->program, setting, name);
        setting = type ? member_setting(type, name) : NULL;
        if (!setting)
            return NULL;
    }
    return setting;
}

/* The first token of the path that ends before the cursor with a '.'. */
static uint32_t path_begin(const struct cursor *cursor)
{
    uint32_t at = cursor->count;
    int depth = 0;
    while (at > 0) {
        const struct token *token = &cursor->words[at - 1];
        bool is_inside = depth > 0;
        if (token->kind == ']')
            depth++;
        else if (token->kind == '[' && depth == 0)
            break;
        else if (token->kind == '[')
            depth--;
        else if (!is_inside && token->kind != '.'
                 && (!token_word(token)
                     || (at < cursor->count && cursor->words[at].kind != '.'
                         && cursor->words[at].kind != '[')))
            break;
        at--;
    }
    return at;
}

static void add_member_of(struct completer *c, const struct type_info *from, unsigned which)
{
    const struct ast_item *item = follow(c, from, path_begin(&c->cursor), c->cursor.count);
    if (!item)
        return;
    const struct type_info *type = member_type(c->program, item);
    add_members(c, type, which);
    for (uint32_t i = 0; !type && item->kind == AST_SLOT && i < c->program->types.count; i++)
        if (member_fills(c->program->types.items[i], item))
            add_members(c, c->program->types.items[i], which);
    const struct protocol_info *protocol =
        item->kind == AST_PORT ? program_protocol(c->program, item->target.text) : NULL;
    for (uint32_t i = 0; protocol && i < protocol->requests.v.count; i++)
        add_item(c, protocol->requests.v.items[i]);
}

/* ---- imports ---- */

static void add_library(struct completer *c)
{
    uint32_t count;
    const struct library_entry *entries = program_library(c->program, &count);
    for (uint32_t i = 0; i < count; i++)
        if (source_is_readable(library_path(c->program, &entries[i])))
            add_completion(c, SERVICE_FILE, region_printf(c->region, "std/%s", entries[i].name),
                           region_strdup(c->region, entries[i].room), "");
}

static void add_folder(struct completer *c, const char *folder)
{
    DIR *open_folder = opendir(folder[0] != '\0' ? folder : ".");
    if (!open_folder)
        return;
    for (const struct dirent *entry; (entry = readdir(open_folder));) {
        size_t length = strlen(entry->d_name);
        if (length > 7 && strcmp(entry->d_name + length - 7, ".heddle") == 0
            && strcmp(source_join(c->region, folder, entry->d_name), c->service->file->name) != 0)
            add_completion(c, SERVICE_FILE, region_strndup(c->region, entry->d_name, length - 7),
                           folder, "");
    }
    closedir(open_folder);
}

static void complete_string(struct completer *c)
{
    const struct token *before = cursor_before(&c->cursor, 1);
    if (!before || !token_is(before, "import"))
        return;
    add_folder(c, c->service->file->folder);
    for (size_t i = 0; i < c->program->options->include_count; i++)
        add_folder(c, c->program->options->include_paths[i]);
    add_library(c);
}

/* ---- places ---- */

static void complete_top(struct completer *c)
{
    static const char *const words[] = {"import", "platform", "component", "part", "protocol",
                                        "link",   "enum",     "interface", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    if (!last)
        add_words(c, SERVICE_KEYWORD, words);
    else if (last->kind == ':')
        add_top(c, AST_INTERFACE);
}

/* "NAME = " or "a.b[*].NAME = " of a setting: what it sets. */
static const struct ast_item *setting_before(struct completer *c, const struct type_info *target,
                                             uint32_t equals)
{
    return target ? follow(c, target, 0, equals) : NULL;
}

static void complete_link(struct completer *c)
{
    static const char *const words[] = {"bandwidth", "latency", NULL};
    if (c->cursor.count == 0)
        add_words(c, SERVICE_PARAM, words);
    else
        add_values(c);
}

static bool is_name(const struct token *token)
{
    return token && (token_word(token) || token->kind == ']');
}

static void complete_value(struct completer *c, const struct ast_item *item)
{
    const struct token *last = cursor_before(&c->cursor, 1);
    if (last->kind == '.') {
        add_member_of(c, c->type, VALUES | INSTANCES);
        return;
    }
    if (is_name(last) || last->kind == NUMBER)
        return;
    const struct token *operand = cursor_before(&c->cursor, 2);
    if ((last->kind == EQUAL || last->kind == UNEQUAL) && token_word(operand) && c->type)
        add_choices(c, member_value(c->type, token_word(operand)));
    else if (item && item->kind == AST_SLOT)
        add_fillers(c, item);
    else if (item && item->kind == AST_READS)
        add_members(c, c->type, INSTANCES);
    else if (item && item->kind == AST_CLOCK)
        add_members(c, c->type, CLOCKS);
    else
        add_choices(c, item);
    bool is_value = !item || item->kind == AST_PARAM || item->kind == AST_LET;
    if (is_value)
        add_values(c);
}

static void complete_settings(struct completer *c)
{
    const char *name = c->cursor.target;
    const struct type_info *target = name ? program_type(c->program, name) : NULL;
    if (!target && name && program_link(c->program, name)) {
        complete_link(c);
        return;
    }
    const struct token *last = cursor_before(&c->cursor, 1);
    uint32_t equals = cursor_kind(&c->cursor, '=');
    if (!last && target && target->model.is_composite)
        add_completion(c, SERVICE_KEYWORD, "insert", "",
                       "a component at a port inside, or a connection");
    if (!last)
        add_members(c, target, SETTABLE | INSTANCES);
    else if (equals != UINT32_MAX)
        complete_value(c, setting_before(c, target, equals));
    else if (last->kind == '.')
        add_member_of(c, target, SETTABLE | INSTANCES);
    else if (last->kind == '[')
        add_values(c);
}

static void complete_types(struct completer *c)
{
    add_top(c, AST_COMPONENT);
    add_top(c, AST_LINK);
}

static void complete_connection(struct completer *c)
{
    static const char *const options[] = {"via", "latency", "over", "by", "else", "on", NULL};
    const struct token *last = cursor_before(&c->cursor, 1), *before = cursor_before(&c->cursor, 2);
    if (token_is(last, "via") || token_is(last, "over")) {
        add_top(c, AST_LINK);
        add_members(c, c->type, WIRES);
    } else if (last->kind == '=' && cursor_before(&c->cursor, 3)
               && token_is(cursor_before(&c->cursor, 3), "via")) {
        complete_types(c);
    } else if (token_is(last, "by")) {
        add_completion(c, SERVICE_KEYWORD, "space", "", "");
    } else if (token_is(last, "space") && before && token_is(before, "by")) {
        add_members(c, c->type, SPACES | INSTANCES);
    } else if (token_is(last, "on")) {
        add_members(c, c->type, CLOCKS);
    } else if (token_is(last, "latency") || last->kind == '[') {
        add_values(c);
    } else if (last->kind == ARROW || last->kind == ',' || token_is(last, "else")) {
        add_members(c, c->type, PORTS | INSTANCES);
    } else if (is_name(last) || last->kind == NUMBER) {
        add_words(c, SERVICE_KEYWORD, options);
    }
}

static void complete_port(struct completer *c)
{
    static const char *const any[] = {"any", NULL};
    static const char *const options[] = {"optional", "depth", "width", "latency", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    if (last->kind == ':') {
        add_top(c, AST_PROTOCOL);
        add_words(c, SERVICE_TYPE, any);
    } else if (cursor_kind(&c->cursor, ':') == UINT32_MAX || last->kind == '('
               || token_is(last, "depth") || token_is(last, "width") || token_is(last, "latency")) {
        add_values(c);
    } else {
        add_words(c, SERVICE_KEYWORD, options);
    }
}

static void complete_param(struct completer *c)
{
    static const char *const options[] = {"in", "pow2", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    const char *name = c->cursor.count > 1 ? token_word(&c->cursor.words[1]) : NULL;
    if (last->kind == ':')
        add_types_of_values(c);
    else if (last->kind == '=' && c->type && name)
        complete_value(c, member_value(c->type, name));
    else if (last->kind == '=' || token_is(last, "in") || last->kind == TO || last->kind == UNTIL)
        add_values(c);
    else if (cursor_kind(&c->cursor, ':') != UINT32_MAX)
        add_words(c, SERVICE_KEYWORD, options);
}

static void complete_part(struct completer *c)
{
    const struct token *last = cursor_before(&c->cursor, 1);
    const char *name = c->cursor.count > 1 ? token_word(&c->cursor.words[1]) : NULL;
    bool is_slot = token_is(&c->cursor.words[0], "slot");
    const struct ast_item *slot = c->type && name ? member_thing(c->type, name) : NULL;
    if (last->kind == ':') {
        if (is_slot)
            add_top(c, AST_INTERFACE);
        add_top(c, AST_PART);
    } else if (last->kind == '=' && slot && slot->kind == AST_SLOT) {
        add_fillers(c, slot);
    } else if (last->kind == '=') {
        add_top(c, AST_PART);
    } else if (is_slot && cursor_kind(&c->cursor, ':') != UINT32_MAX) {
        add_completion(c, SERVICE_KEYWORD, "optional", "", "");
    }
}

static void complete_space(struct completer *c)
{
    static const char *const options[] = {"each", "interleave", "hashed", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    if (last->kind == ':' || last->kind == ',')
        add_members(c, c->type, INSTANCES);
    if (last->kind == ',')
        add_words(c, SERVICE_KEYWORD, options);
    else if (last->kind != ':')
        add_values(c);
}

static void complete_places(struct completer *c)
{
    if (token_is(cursor_before(&c->cursor, 1), "at"))
        add_values(c);
    else
        add_members(c, c->type,
                    token_is(&c->cursor.words[0], "map") ? SPACES | INSTANCES : INSTANCES);
}

static void complete_stat(struct completer *c)
{
    static const char *const kinds[] = {"counter", "histogram", NULL};
    if (cursor_before(&c->cursor, 1)->kind == ':')
        add_words(c, SERVICE_TYPE, kinds);
}

static void complete_plain(struct completer *c)
{
    const struct token *last = cursor_before(&c->cursor, 1);
    if (c->cursor.count == 1 || token_is(last, "in"))
        add_values(c);
    else
        complete_value(c, NULL);
}

static void complete_instance(struct completer *c)
{
    const struct token *last = cursor_before(&c->cursor, 1), *before = cursor_before(&c->cursor, 2);
    if (last->kind == ':')
        complete_types(c);
    else if (token_is(last, "on"))
        add_members(c, c->type, CLOCKS);
    else if (last->kind == '[')
        add_values(c);
    else if (last->kind == ',')
        add_members(c, c->type, PORTS | INSTANCES);
    else if (before && before->kind == ':')
        add_completion(c, SERVICE_KEYWORD, "on", "", "the clock of this instance");
}

static void start_statement(struct completer *c)
{
    static const char *const of_part[] = {"param", "let",       "check", "slot",
                                          "part",  "behaviour", "stat",  NULL};
    static const char *const of_all[] = {"in",        "out", "store", "reads", "clock",     "space",
                                         "partition", "map", "if",    "for",   "coherence", NULL};
    add_members(c, c->type, INSTANCES | PORTS);
    add_words(c, SERVICE_KEYWORD, of_part);
    if (!c->cursor.around_part)
        add_words(c, SERVICE_KEYWORD, of_all);
}

static void complete_body(struct completer *c)
{
    static const struct {
        const char *word;
        void (*complete)(struct completer *c);
    } statements[] = {
        {"param", complete_param},      {"let", complete_plain},   {"check", complete_plain},
        {"if", complete_plain},         {"for", complete_plain},   {"slot", complete_part},
        {"part", complete_part},        {"in", complete_port},     {"out", complete_port},
        {"stat", complete_stat},        {"space", complete_space}, {"map", complete_places},
        {"partition", complete_places}, {"clock", complete_plain},
    };
    const struct token *last = cursor_before(&c->cursor, 1);
    if (!last) {
        start_statement(c);
        return;
    }
    size_t which = 0, count = ARRAY_COUNT(statements);
    while (which < count
           && (!token_is(&c->cursor.words[0], statements[which].word)
               || (c->cursor.words[0].kind == WORD && c->cursor.count > 1)))
        which++;
    if (last->kind == '.') {
        bool is_value = which < count
                        && (statements[which].complete == complete_plain
                            || statements[which].complete == complete_param);
        bool is_map =
            token_is(&c->cursor.words[0], "map") || cursor_kind(&c->cursor, SPACE) != UINT32_MAX;
        add_member_of(c, c->type,
                      is_value ? VALUES | INSTANCES
                      : is_map ? SPACES | INSTANCES
                               : PORTS | INSTANCES);
    } else if (which < count) {
        statements[which].complete(c);
    } else if (cursor_kind(&c->cursor, ARROW) != UINT32_MAX || token_is(&c->cursor.words[0], "by")
               || token_is(&c->cursor.words[0], "over") || token_is(&c->cursor.words[0], "else")) {
        complete_connection(c);
    } else {
        complete_instance(c);
    }
}

/* ---- protocols, facts ---- */

static void complete_fields(struct completer *c)
{
    static const char *const kinds[] = {"u8",   "u16",  "u32",  "u64",   "i32", "i64",
                                        "bool", "addr", "bits", "bytes", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    if (!last || last->kind != ':')
        return;
    add_words(c, SERVICE_TYPE, kinds);
    add_top(c, AST_ENUM);
}

static void complete_protocol(struct completer *c)
{
    static const char *const words[] = {"request", "reply", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    const struct protocol_info *protocol =
        c->cursor.around ? program_protocol(c->program, c->cursor.around) : NULL;
    if (!last)
        add_words(c, SERVICE_KEYWORD, words);
    else if (token_is(&c->cursor.words[0], "reply") && c->cursor.count == 2)
        add_completion(c, SERVICE_KEYWORD, "for", "", "the requests that it answers");
    else if (token_is(&c->cursor.words[0], "reply") && protocol)
        for (uint32_t i = 0; i < protocol->requests.v.count; i++)
            add_item(c, protocol->requests.v.items[i]);
}

static void complete_facts(struct completer *c)
{
    static const char *const verbs[] = {"accesses", "keeps",  "delays", "passes", "answers",
                                        "on",       "before", "after",  "agents", NULL};
    static const char *const effects[] = {"write_back", "drop",  "pass", "spread",
                                          "read",       "write", NULL};
    const struct token *last = cursor_before(&c->cursor, 1);
    if (!last)
        add_words(c, SERVICE_KEYWORD, verbs);
    else if (last->kind == '.')
        add_member_of(c, c->type, PORTS);
    else if (token_is(last, "if"))
        add_values(c);
    else if (cursor_kind(&c->cursor, IF) != UINT32_MAX)
        complete_value(c, NULL);
    else if (cursor_kind(&c->cursor, ':') != UINT32_MAX)
        add_words(c, SERVICE_KEYWORD, effects);
    else
        add_members(c, c->type, PORTS | STORES);
}

const struct service_completion *service_complete(struct service *s, uint32_t at, size_t *count)
{
    static void (*const places[])(struct completer * c) = {
        [CURSOR_TOP] = complete_top,           [CURSOR_BODY] = complete_body,
        [CURSOR_SETTINGS] = complete_settings, [CURSOR_PROTOCOL] = complete_protocol,
        [CURSOR_FIELDS] = complete_fields,     [CURSOR_FACTS] = complete_facts,
    };
    struct completer c = {.service = s, .region = s->region, .program = s->program};
    at = min(at, s->file->size);
    cursor_find(&c.cursor, s->region, s->file, s->file->base + at);
    if (c.cursor.around)
        c.type = program_type(s->program, c.cursor.around);
    if (c.cursor.in_string)
        complete_string(&c);
    else if (c.cursor.place != CURSOR_NOWHERE)
        places[c.cursor.place](&c);
    *count = c.list.count;
    return c.list.items;
}
