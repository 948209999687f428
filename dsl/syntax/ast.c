/* Builders of the tree and the entry points of the parser. The grammar's actions (parser.y) are the
 * only callers of the builders; imports.c and override.c call the entry points. */
#include "ast.h"

#include <string.h>

#include "parser.h"

struct ast_expr *ast_expr_new(struct parser *p, enum ast_expr_kind kind, struct span span)
{
    struct ast_expr *e = region_take(p->region, sizeof *e);
    e->kind = kind;
    e->span = span;
    e->depth = 1;
    return e;
}

static void deepen(struct ast_expr *e, const struct ast_expr *child)
{
    if (child && child->depth >= e->depth)
        e->depth = child->depth + 1;
}

struct ast_expr *ast_expr_join(struct parser *p, struct ast_expr *e, struct ast_expr *a,
                               struct ast_expr *b, struct ast_expr *c)
{
    e->a = a;
    e->b = b;
    e->c = c;
    deepen(e, a);
    deepen(e, b);
    deepen(e, c);
    if (e->depth <= AST_DEPTH_MAX)
        return e;
    if (!p->has_failed)
        diagnostic_add(p->diagnostics, E0007, e->span, "the expression nests more than %d deep",
                       AST_DEPTH_MAX);
    p->has_failed = true;
    return ast_expr_new(p, AST_NUMBER, e->span);
}

/* A list that is full takes no more, with a diagnostic the first time. */
static bool is_full(struct parser *p, uint32_t count, struct span span)
{
    if (count < AST_ITEMS_MAX)
        return false;
    if (!p->is_flooded)
        diagnostic_add(p->diagnostics, E0311, span, "more than %d of these in one place",
                       AST_ITEMS_MAX);
    p->has_failed = p->is_flooded = true;
    return true;
}

struct ast_exprs *ast_exprs_add(struct parser *p, struct ast_exprs *list, struct ast_expr *e)
{
    if (!list)
        list = region_take(p->region, sizeof *list);
    if (is_full(p, list->v.count, e->span))
        return list;
    vector_push(p->region, &list->v, e);
    list->span = span_join(list->span, e->span);
    return list;
}

struct ast_names *ast_names_add(struct parser *p, struct ast_names *list, struct ast_name name)
{
    if (!list)
        list = region_take(p->region, sizeof *list);
    if (is_full(p, list->v.count, name.span))
        return list;
    vector_push(p->region, &list->v, name);
    return list;
}

static const char *find_doc(const struct parser *p, uint32_t begin)
{
    uint32_t low = 0, high = p->docs.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->docs.items[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->docs.count && p->docs.items[low].begin == begin ? p->docs.items[low].text : "";
}

struct ast_item *ast_item_new(struct parser *p, enum ast_kind kind, struct span span,
                              struct ast_name name)
{
    struct ast_item *item = region_take(p->region, sizeof *item);
    item->kind = kind;
    item->span = span;
    item->name = name;
    item->doc = find_doc(p, span.begin);
    return item;
}

struct ast_items *ast_items_add(struct parser *p, struct ast_items *list, struct ast_item *item)
{
    if (!list)
        list = region_take(p->region, sizeof *list);
    if (is_full(p, list->v.count, item->span))
        return list;
    vector_push(p->region, &list->v, item);
    return list;
}

struct ast_items *ast_items_append(struct parser *p, struct ast_items *list, struct ast_items *more)
{
    if (!list)
        list = region_take(p->region, sizeof *list);
    for (uint32_t i = 0;
         more && i < more->v.count && !is_full(p, list->v.count, more->v.items[i]->span); i++)
        vector_push(p->region, &list->v, more->v.items[i]);
    return list;
}

bool ast_declared_name(struct parser *p, struct ast_expr *path, struct ast_name *name,
                       struct ast_expr **size)
{
    const struct ast_expr *inner = path;
    *size = NULL;
    if (path->kind == AST_INDEX) {
        *size = path->b;
        inner = path->a;
    } else if (path->kind == AST_ALL && path->half_open) {
        inner = path->a;
    }
    if (inner->kind == AST_NAME) {
        *name = inner->name;
        return true;
    }
    struct diagnostic *d = diagnostic_add(p->diagnostics, E0001, path->span,
                                          "a declaration needs a plain name, or NAME[SIZE]");
    (void)d;
    p->has_failed = true;
    *name = (struct ast_name){"?", path->span};
    return false;
}

struct ast_item *ast_param(struct parser *p, struct ast_name name, struct ast_type *type,
                           struct ast_expr *value, struct ast_param_options options,
                           struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_PARAM, span, name);
    item->type = type;
    item->value = value;
    item->low = options.range.low;
    item->high = options.range.high;
    item->half_open = options.range.half_open;
    item->pow2 = options.pow2;
    return item;
}

struct ast_item *ast_slot(struct parser *p, struct ast_name name, struct ast_name type,
                          struct ast_slot_options options, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_SLOT, span, name);
    item->target = type;
    item->value = options.value;
    item->fill_body = options.body;
    item->is_optional = options.is_optional;
    return item;
}

struct ast_item *ast_connect(struct parser *p, struct ast_exprs *left, struct ast_exprs *right,
                             struct ast_connect_options options, struct span span)
{
    struct ast_name no_name = {NULL, {0, 0}};
    struct ast_item *item = ast_item_new(p, AST_CONNECT, span, no_name);
    item->left = left;
    item->right = right;
    item->latency = options.latency;
    item->via = options.via;
    item->which = options.which;
    item->target = options.type;
    item->on = options.on;
    item->body = options.body;
    item->over = options.over;
    item->by = options.by;
    item->otherwise = options.otherwise;
    return item;
}

struct ast_items *ast_ports(struct parser *p, struct ast_items *names, bool is_in,
                            struct ast_name protocol, struct ast_exprs *args,
                            struct ast_port_options options, struct span span)
{
    for (uint32_t i = 0; i < names->v.count; i++) {
        struct ast_item *port = names->v.items[i];
        port->kind = AST_PORT;
        port->span = span;
        port->doc = find_doc(p, span.begin);
        port->is_in = is_in;
        port->target = protocol;
        port->args = args;
        port->is_optional = options.is_optional;
        port->depth = options.depth;
        port->width = options.width;
        port->latency = options.latency;
    }
    return names;
}

struct ast_item *ast_fact(struct parser *p, struct ast_name verb, struct ast_exprs *left,
                          struct ast_fact_options options, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_FACT, span, verb);
    item->left = left;
    item->right = options.right;
    item->at_what = options.at_what;
    item->operands = options.operands;
    item->value = options.condition;
    return item;
}

struct ast_items *ast_stats(struct parser *p, const struct ast_names *names, struct ast_name kind,
                            struct span span)
{
    struct ast_items *list = NULL;
    for (uint32_t i = 0; i < names->v.count; i++) {
        struct ast_item *stat = ast_item_new(p, AST_STAT, span, names->v.items[i]);
        stat->target = kind;
        list = ast_items_add(p, list, stat);
    }
    return list;
}

struct ast_items *ast_behaviour(struct parser *p, struct ast_items *before, struct ast_name file,
                                struct span span)
{
    return ast_items_add(p, before, ast_item_new(p, AST_BEHAVIOUR, span, file));
}

static void report_unsized(struct parser *p, const struct ast_expr *path)
{
    if (path->kind != AST_ALL)
        return;
    struct diagnostic *d =
        diagnostic_add(p->diagnostics, E0001, path->span, "the array needs a size");
    diagnostic_help(p->diagnostics, d,
                    "only port arrays can take their count from what is connected");
    p->has_failed = true;
}

struct ast_item *ast_subpart(struct parser *p, struct ast_expr *path, struct ast_name type,
                             struct ast_items *body, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_SUBPART, span, type);
    ast_declared_name(p, path, &item->name, &item->size);
    report_unsized(p, path);
    item->target = type;
    item->body = body;
    return item;
}

struct ast_item *ast_instance(struct parser *p, struct ast_expr *path, struct ast_name type,
                              struct ast_name on, struct ast_items *body, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_INSTANCE, span, type);
    ast_declared_name(p, path, &item->name, &item->size);
    report_unsized(p, path);
    item->target = type;
    item->on = on;
    item->body = body;
    return item;
}

struct ast_item *ast_setting(struct parser *p, struct ast_expr *path, struct ast_expr *value,
                             struct ast_items *body, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_SETTING, span, path->name);
    item->path = path->kind == AST_MEMBER ? path->a : NULL;
    item->value = value;
    item->fill_body = body;
    return item;
}

struct ast_item *ast_insert(struct parser *p, struct ast_name name, struct ast_name type,
                            struct ast_items *body, struct ast_expr *port, struct span span)
{
    struct ast_item *item = ast_item_new(p, AST_INSERT, span, name);
    item->target = type;
    item->body = body;
    item->via = port->name;
    item->path = port->kind == AST_MEMBER ? port->a : NULL;
    return item;
}

static bool starts_statement(const struct parser *p, uint32_t at)
{
    if (at == 0)
        return true;
    int before = p->tokens.tokens.items[at - 1].kind;
    return before == ';' || before == '{' || before == '}';
}

const char *ast_keyword_meant(const struct parser *p, uint32_t at)
{
    const struct token *token = &p->tokens.tokens.items[at];
    return token->kind == WORD && starts_statement(p, at) ? token_suggest(token->text) : NULL;
}

static const char *describe(const struct parser *p, const struct token *token, const char *symbol)
{
    if (token->kind == 0)
        return "the end of the file";
    if (token->kind == NUMBER || token->kind == WORD || token->kind == STRING || token->text)
        return region_printf(p->region, "'%s'", source_slice(p->diagnostics->sources, token->span));
    return symbol;
}

void ast_report_syntax(struct parser *p, uint32_t at, const struct ast_expectation *expected)
{
    const struct token *token = &p->tokens.tokens.items[at];
    struct diagnostics *d = p->diagnostics;
    const char *unexpected = describe(p, token, expected->symbol);
    const char *meant = ast_keyword_meant(p, at);
    struct diagnostic *new;
    if (meant) {
        new = diagnostic_add(d, E0001, token->span, "unexpected %s", unexpected);
        diagnostic_suggest(d, new, meant);
        return;
    }
    if (expected->only)
        new = diagnostic_add(d, E0001, token->span, "expected %s, found %s", expected->only,
                             unexpected);
    else if (expected->value && !starts_statement(p, at))
        new = diagnostic_add(d, E0001, token->span, "expected a value, found %s", unexpected);
    else if (expected->semicolon)
        new = diagnostic_add(d, E0001, token->span, "expected ';', found %s", unexpected);
    else
        new = diagnostic_add(d, E0001, token->span, "unexpected %s", unexpected);
    if (at == 0)
        return;
    const struct token *before = token - 1;
    bool two_words = token->kind == WORD && before->kind == WORD && starts_statement(p, at - 1);
    if (two_words && (meant = token_suggest(before->text)))
        diagnostic_help(d, new, "did you mean '%s %s'?", meant, token->text);
    else if (two_words)
        diagnostic_help(d, new, "an instance is written 'NAME : TYPE;', here '%s : %s'",
                        token->text, before->text);
    else if (token->kind == ':' && expected->only && strcmp(expected->only, "'='") == 0)
        diagnostic_help(d, new, "a setting is written 'NAME = VALUE;'");
    else if (token->kind == '=' && before->kind == '=')
        diagnostic_help(d, new, "equality is written '=='");
    else if (token->kind == '>' && before->kind == '-')
        diagnostic_help(d, new, "the arrow is written '->', without a space");
}

/* Lines of `///`, without the slashes and one space, joined with line ends. */
static void collect_docs(struct parser *p)
{
    const struct comment *comments = p->tokens.comments.items;
    uint32_t count = p->tokens.comments.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!comments[i].is_doc)
            continue;
        const char *text = p->source->text + (comments[i].span.begin - p->source->base) + 3;
        size_t size = comments[i].span.end - comments[i].span.begin - 3;
        if (size > 0 && text[0] == ' ')
            text++, size--;
        while (size > 0 && text[size - 1] == ' ')
            size--;
        /* Where nesting became too deep, or braces were not balanced, the tokens end before the
         * comments do. */
        uint32_t token = comments[i].token;
        if (token >= p->tokens.tokens.count || (token == 0 && !comments[i].own_line))
            continue;
        if (!comments[i].own_line) /* documents what begins its line */
            for (token--; token > 0 && !p->tokens.tokens.items[token].first_on_line;)
                token--;
        uint32_t begin = p->tokens.tokens.items[token].span.begin;
        struct ast_doc *last = p->docs.count > 0 ? &p->docs.items[p->docs.count - 1] : NULL;
        if (last && last->begin == begin)
            last->text = region_printf(p->region, "%s\n%.*s", last->text, (int)size, text);
        else if (!last || last->begin < begin)
            vector_push(p->region, &p->docs,
                        ((struct ast_doc){begin, region_strndup(p->region, text, size)}));
    }
}

static bool parse(struct parser *p)
{
    uint32_t errors = p->diagnostics->error_count;
    token_scan(p->region, p->diagnostics, p->source, true, &p->tokens);
    collect_docs(p);
    bool scanned = p->diagnostics->error_count == errors;
    bool parsed = heddle_yyparse(p) == 0;
    return scanned && parsed && !p->has_failed && p->diagnostics->error_count == errors;
}

struct ast_file *ast_parse(struct region *region, struct diagnostics *d,
                           const struct source_file *source)
{
    struct parser p = {.region = region, .diagnostics = d, .source = source, .start = PARSE_FILE};
    struct ast_file *file = region_take(region, sizeof *file);
    file->source = source;
    file->is_damaged = !parse(&p);
    file->items = p.items ? p.items : region_take(region, sizeof *p.items);
    return file;
}

struct ast_expr *ast_parse_expression(struct region *region, struct diagnostics *d,
                                      const struct source_file *source)
{
    struct parser p = {
        .region = region, .diagnostics = d, .source = source, .start = PARSE_EXPRESSION};
    return parse(&p) ? p.expression : NULL;
}
