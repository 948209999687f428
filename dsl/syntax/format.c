/* The formatter works on tokens, not on the tree, so that nothing can be lost: what comes out has
 * the same tokens, and the same words in its comments, in the same order.
 *
 * Each brace level indents by four, the second and later lines of a statement by eight more, and
 * blank lines are at most one. In runs of neighbouring lines of the same kind the columns ':', '=',
 * 'in' and '->' are aligned. Line breaks are the author's where lines fit; format_wrap.c adds those
 * that are missing. A layout with new breaks is made again until every line fits, so formatting
 * twice gives the same as formatting once: the result depends on tokens and line breaks only, and
 * both survive. */
#include "format.h"

#include <string.h>

#include "base/number.h"

#include "ast.h"
#include "format_line.h"
#include "parser.h"

/* Text under construction, and the column in which it ends. */
struct text {
    struct region *region;
    size_t column;
    VECTOR(char) v;
};

static void text_add(struct text *text, const char *add)
{
    text->column += format_width(add);
    for (; *add != '\0'; add++)
        vector_push(text->region, &text->v, *add);
}

static void text_pad(struct text *text, size_t count)
{
    text->column += count;
    for (size_t i = 0; i < count; i++)
        vector_push(text->region, &text->v, ' ');
}

static const char *text_end(struct text *text)
{
    vector_push(text->region, &text->v, '\0');
    return text->v.items;
}

static bool is_operand_end(int kind)
{
    return kind == WORD || kind == NUMBER || kind == STRING || kind == ')' || kind == ']';
}

/* A '-' or '!' that belongs to the operand after it. */
static bool is_prefix(const struct token *tokens, uint32_t i)
{
    return tokens[i].kind == '!'
           || (tokens[i].kind == '-' && (i == 0 || !is_operand_end(tokens[i - 1].kind)));
}

/* True if a space stands between token i - 1 and token i. */
static bool wants_space(const struct token *tokens, uint32_t i, bool in_protocol_args)
{
    int before = tokens[i - 1].kind, kind = tokens[i].kind;
    if (kind == ';' || kind == ',' || kind == ')' || kind == ']' || kind == '.' || before == '.'
        || before == '(' || before == '[')
        return false;
    if (kind == '[' || kind == '(')
        return before != WORD && !(before == ')' || before == ']') && before != '['
               && before != '(';
    if (before == '*' && kind != WORD && kind != NUMBER && kind != '(')
        return true;
    if (is_prefix(tokens, i - 1))
        return false;
    if (kind == ':' && in_protocol_args)
        return false;
    return true;
}

static const char *token_text(const struct formatter *f, const struct token *token)
{
    return region_strndup(f->region, f->source->text + (token->span.begin - f->source->base),
                          token->span.end - token->span.begin);
}

/* Lines of source between two offsets. */
static uint32_t count_newlines(const struct formatter *f, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        count += f->source->text[i - f->source->base] == '\n';
    return count;
}

static void add_blank(struct formatter *f)
{
    if (f->lines.count == 0 || f->lines.items[f->lines.count - 1].is_blank)
        return;
    struct format_line line = {.is_blank = true, .movable_comment = COMMENT_NONE};
    vector_push(f->region, &f->lines, line);
}

static const char *comment_text(const struct formatter *f, const struct comment *comment)
{
    const char *text = f->source->text + (comment->span.begin - f->source->base);
    size_t size = comment->span.end - comment->span.begin;
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    return region_strndup(f->region, text, size);
}

static void add_comment_line(struct formatter *f, const struct comment *comment, uint32_t indent)
{
    struct format_line line = {.indent = indent, .cell_count = 1, .movable_comment = COMMENT_NONE};
    line.cells[0].text = comment_text(f, comment);
    vector_push(f->region, &f->lines, line);
}

/* The number of braces, parentheses and brackets that are open after a token. */
static uint32_t depth_after(uint32_t depth, int token)
{
    if (token == '{' || token == '(' || token == '[')
        return depth + 1;
    return depth - (depth > 0 && (token == '}' || token == ')' || token == ']'));
}

/* The kind of lines that tokens [from, to) are aligned with. Only single statements are. */
static int line_kind(const struct token *tokens, uint32_t from, uint32_t to, bool starts_statement)
{
    uint32_t depth = 0;
    int at_top = 0; /* the first of '->', ':' and '=' outside of all braces and brackets */
    for (uint32_t i = from; i < to; i++) {
        int kind = tokens[i].kind;
        if (kind == '}' && depth == 0)
            return 0;
        depth = depth_after(depth, kind);
        if (depth == 0 && (kind == ';' || kind == '}') && i + 1 < to && tokens[i + 1].kind != ';')
            return 0;
        if (depth == 0 && at_top == 0 && (kind == ARROW || kind == ':' || kind == '='))
            at_top = kind;
    }
    if (!starts_statement || to - from < 3)
        return 0;
    switch (tokens[from].kind) {
    case PARAM:
    case LET:
    case MEASURE:
    case SLOT:
        return tokens[from].kind;
    case IN:
    case OUT:
        return IN;
    case REQUEST:
    case REPLY:
        return REQUEST;
    case WORD:
        return at_top == ':' ? WORD : at_top;
    default:
        return 0;
    }
}

/* A left side longer than this is not aligned and does not push the others to the right. */
#define WIDEST_CELL 28

/* The aligned column that a token begins, `place` tokens after the first of a line of this kind, by
 * what it is; 0 for none. Columns rise from left to right. */
static int column_of_token(const struct token *token, uint32_t place, int kind)
{
    int it = token->kind;
    switch (kind) {
    case PARAM:
        if (it == IN)
            return token[-1].kind != PARAM ? 3 : 0;
        return it == ':' ? 1 : it == '=' ? 2 : 0;
    case SLOT:
        return it == ':' ? 1 : it == '=' ? 2 : 0;
    case MEASURE:
        return it == '=' ? 1 : it == OF ? 2 : 0;
    case IN:
        return place == 1 ? 1 : it == ':' ? 2 : 0;
    case REQUEST:
        return place <= 2 ? (int)place : 0;
    case WORD:
        return it == ':';
    case LET:
        return it == '=';
    default:
        return it == kind; /* '->' and '=' */
    }
}

/* The column that token i begins, if no brace has come, nothing is open, and it is after `last`. */
static int column_of(const struct token *tokens, uint32_t from, uint32_t i, int kind, int last)
{
    uint32_t depth = 0;
    for (uint32_t k = from; k < i; k++) {
        if (tokens[k].kind == '{')
            return 0;
        depth = depth_after(depth, tokens[k].kind);
    }
    if (depth != 0 || i == from)
        return 0;
    int column = column_of_token(&tokens[i], i - from, kind);
    return column > last ? column : 0;
}

static void finish_cell(struct format_line *line, struct text *text, int column)
{
    if (text->v.count == 0 || line->cell_count == FORMAT_CELLS_MAX)
        return;
    line->cells[line->cell_count].text = text_end(text);
    line->cells[line->cell_count++].column = column;
    text->column++;
    text->v.items = NULL;
    text->v.count = text->v.capacity = 0;
}

struct line_context {
    uint32_t indent;
    bool starts_statement;
    uint32_t parens_before; /* open '(' at the start of the line: fields of a protocol head */
    bool in_fields;         /* inside the braces of a message, where ':' sticks to its name */
    uint32_t comment;       /* the next one; those between its tokens belong to the line */
    uint32_t movable_comment;
};

/* The text of the comments from *next that are in front of `token` and begin no line, with a
 * space between; NULL: there are none. */
static const char *joined_comments(const struct formatter *f, uint32_t *next, uint32_t token)
{
    const struct comment *comments = f->list->comments.items;
    const char *joined = NULL;
    for (; *next < f->list->comments.count && comments[*next].token <= token
           && !comments[*next].own_line;
         ++*next) {
        const char *text = comment_text(f, &comments[*next]);
        joined = joined ? region_printf(f->region, "%s %s", joined, text) : text;
    }
    return joined;
}

static void add_code_line(struct formatter *f, uint32_t from, uint32_t to,
                          const struct line_context *context, const char *comment)
{
    const struct token *tokens = f->list->tokens.items;
    struct format_line line = {.indent = context->indent,
                               .comment = comment,
                               .movable_comment = context->movable_comment,
                               .from = from,
                               .to = to,
                               .is_continuation = !context->starts_statement};
    line.kind = line_kind(tokens, from, to, context->starts_statement);
    struct text text = {.region = f->region, .column = line.indent};
    int column = 0, last = 0;
    uint32_t parens = context->parens_before, depth = 0, inner = context->comment;
    bool is_message = context->in_fields;
    for (uint32_t i = from; i < to; i++) {
        bool head_field = parens > 0 || (is_message && (depth > 0 || context->in_fields));
        bool space = i > from && wants_space(tokens, i, head_field);
        int begins = line.kind != 0 ? column_of(tokens, from, i, line.kind, last) : 0;
        if (begins != 0 && text.v.count > WIDEST_CELL)
            line.kind = begins = 0;
        if (begins != 0) {
            finish_cell(&line, &text, column);
            column = last = begins;
            space = false;
        }
        const char *before = joined_comments(f, &inner, i);
        if (before) {
            text_pad(&text, text.v.count > 0 ? 1 : 0);
            text_add(&text, before);
            space = tokens[i].kind != ';' && tokens[i].kind != ',';
        }
        if (space) /* two between the statements of a line */
            text_pad(&text, depth == 0 && context->starts_statement && tokens[i - 1].kind == ';'
                                    && tokens[i].kind != '}'
                                ? 2
                                : 1);
        f->columns[i] = (uint32_t)text.column;
        text_add(&text, token_text(f, &tokens[i]));
        if (tokens[i].kind == REQUEST || tokens[i].kind == REPLY)
            is_message = true;
        depth += tokens[i].kind == '{';
        depth -= depth > 0 && tokens[i].kind == '}';
        parens += tokens[i].kind == '(';
        parens -= tokens[i].kind == ')' && parens > 0;
    }
    finish_cell(&line, &text, column);
    vector_push(f->region, &f->lines, line);
}

static bool same_run(const struct format_line *a, const struct format_line *b)
{
    return a->kind != 0 && a->kind == b->kind && a->indent == b->indent && !a->is_blank
           && !b->is_blank;
}

static bool is_comment_line(const struct format_line *line)
{
    const char *text = line->cell_count == 1 ? line->cells[0].text : "";
    return text[0] == '/' && (text[1] == '/' || text[1] == '*');
}

/* The end of the run that begins at `from`; comment lines inside a run belong to it. */
static uint32_t run_end(const struct formatter *f, uint32_t from)
{
    uint32_t end = from + 1;
    for (uint32_t i = from + 1; i < f->lines.count; i++) {
        const struct format_line *line = &f->lines.items[i];
        if (same_run(&f->lines.items[from], line))
            end = i + 1;
        else if (!is_comment_line(line) && !line->is_continuation
                 && line->indent <= f->lines.items[from].indent)
            break;
    }
    return end;
}

#define COLUMNS 4

/* Columns of a run, from left to right: each begins one space after the longest text before it.
 * Where `cell` begins if the text before it ends in column `at`. */
static size_t cell_start(const struct format_cell *cell, size_t at, const size_t *columns)
{
    return max(columns[cell->column], at + 1);
}

static size_t line_width(const struct format_line *line, const size_t *columns)
{
    size_t at = line->indent;
    for (uint32_t i = 0; i < line->cell_count; i++)
        at = (i > 0 ? cell_start(&line->cells[i], at, columns) : at)
             + format_width(line->cells[i].text);
    return at;
}

static void write_line(struct text *out, const struct format_line *line, const size_t *columns)
{
    out->column = 0;
    text_pad(out, line->indent);
    for (uint32_t i = 0; i < line->cell_count; i++) {
        if (i > 0)
            text_pad(out, cell_start(&line->cells[i], out->column, columns) - out->column);
        text_add(out, line->cells[i].text);
    }
    if (line->comment) {
        text_pad(out, line->cell_count > 0 ? 2 : 0);
        text_add(out, line->comment);
    }
    text_add(out, "\n");
}

static void find_columns(const struct formatter *f, uint32_t from, uint32_t to, size_t *columns)
{
    memset(columns, 0, COLUMNS * sizeof *columns);
    for (int column = 1; column < COLUMNS; column++)
        for (uint32_t i = from; i < to; i++) {
            const struct format_line *line = &f->lines.items[i];
            if (!same_run(&f->lines.items[from], line))
                continue;
            size_t at = line->indent;
            for (uint32_t c = 0; c < line->cell_count; c++) {
                if (c > 0) {
                    at = cell_start(&line->cells[c], at, columns);
                    if (line->cells[c].column == column && at > columns[column])
                        columns[column] = at;
                }
                at += format_width(line->cells[c].text);
            }
        }
}

/* The end of the run of lines that begins at `from`, and its columns. */
static uint32_t align_run(const struct formatter *f, uint32_t from, size_t *columns)
{
    uint32_t end = f->lines.items[from].kind != 0 ? run_end(f, from) : from + 1;
    find_columns(f, from, end, columns);
    return end;
}

/* Marks breaks in lines that are too long. False: there are none. */
static bool break_lines(struct formatter *f)
{
    bool is_broken = false;
    for (uint32_t i = 0; i < f->lines.count;) {
        size_t columns[COLUMNS];
        for (uint32_t end = align_run(f, i, columns); i < end; i++) {
            const struct format_line *line = &f->lines.items[i];
            is_broken |= format_break_line(f, line, line_width(line, columns));
        }
    }
    return is_broken;
}

static const char *write_lines(struct formatter *f, size_t *size)
{
    struct text out = {.region = f->region};
    while (f->lines.count > 0 && f->lines.items[f->lines.count - 1].is_blank)
        f->lines.count--;
    for (uint32_t i = 0; i < f->lines.count;) {
        size_t columns[COLUMNS];
        for (uint32_t end = align_run(f, i, columns); i < end; i++)
            if (f->lines.items[i].is_blank)
                text_add(&out, "\n");
            else
                write_line(&out, &f->lines.items[i], columns);
    }
    *size = out.v.count;
    return text_end(&out);
}

/* The state of the walk over the tokens. */
struct walk {
    uint32_t depth; /* open braces */
    uint32_t parens;
    uint32_t comment;       /* next comment */
    uint32_t last_end;      /* offset after the last token or comment */
    uint32_t message_depth; /* depth inside a request or reply; 0: in none */
    bool in_message_head;
};

/* Comments with a line of their own that are before a token, which begins a line. */
static void comments_before(struct formatter *f, struct walk *w, uint32_t token)
{
    const struct comment *comments = f->list->comments.items;
    while (w->comment < f->list->comments.count && comments[w->comment].token <= token
           && comments[w->comment].own_line) {
        const struct comment *comment = &comments[w->comment++];
        if (count_newlines(f, w->last_end, comment->span.begin) > 1)
            add_blank(f);
        add_comment_line(f, comment, FORMAT_INDENT * w->depth);
        w->last_end = comment->span.end;
    }
}

/* The end of the line that begins with token `from`: the next token that is first on its line. */
static uint32_t line_end(const struct formatter *f, uint32_t from)
{
    uint32_t to = from + 1;
    while (f->list->tokens.items[to].kind != 0 && !f->list->tokens.items[to].first_on_line)
        to++;
    return to;
}

static void update(struct walk *w, const struct token *token)
{
    switch (token->kind) {
    case REQUEST:
    case REPLY:
        w->in_message_head = true;
        break;
    case '{':
        w->depth++;
        if (w->in_message_head && w->message_depth == 0)
            w->message_depth = w->depth;
        w->in_message_head = false;
        break;
    case '}':
        if (w->depth == w->message_depth)
            w->message_depth = 0;
        w->depth -= w->depth > 0;
        break;
    case '(':
        w->parens++;
        break;
    case ')':
        w->parens -= w->parens > 0;
        break;
    default:
        break;
    }
}

/* True if a token after a '}' belongs to the statement that the braces are in. */
static bool continues_block(int kind)
{
    return kind == ARROW || kind == VIA || kind == BY || kind == OVER || kind == LATENCY
           || kind == AT;
}

static void format_line(struct formatter *f, struct walk *w, uint32_t from, uint32_t to)
{
    const struct token *tokens = f->list->tokens.items;
    int before = from > 0 ? tokens[from - 1].kind : ';';
    struct line_context context = {.parens_before = w->parens, .in_fields = w->message_depth > 0};
    context.starts_statement =
        before == ';' || before == '{' || (before == '}' && !continues_block(tokens[from].kind));
    uint32_t depth = w->depth;
    for (uint32_t i = from; i < to && tokens[i].kind == '}'; i++)
        depth -= depth > 0;
    bool is_whole = context.starts_statement || tokens[from].kind == '}';
    context.indent = FORMAT_INDENT * depth + (is_whole ? 0 : FORMAT_CONTINUATION);
    if (count_newlines(f, w->last_end, tokens[from].span.begin) > 1)
        add_blank(f);
    w->last_end = tokens[to - 1].span.end;
    context.comment = w->comment;
    joined_comments(f, &w->comment, to - 1); /* comments inside the line, which it writes */
    uint32_t after = w->comment;
    const char *comment = joined_comments(f, &w->comment, to);
    if (comment)
        w->last_end = f->list->comments.items[w->comment - 1].span.end;
    bool is_movable = comment && comment[1] == '/' && after == context.comment
                      && w->comment == after + 1 && context.starts_statement
                      && tokens[from].kind != '}';
    context.movable_comment = is_movable ? after : COMMENT_NONE;
    add_code_line(f, from, to, &context, comment);
    for (uint32_t i = from; i < to; i++)
        update(w, &tokens[i]);
}

static void lay_out(struct formatter *f)
{
    const struct token *tokens = f->list->tokens.items;
    struct walk w = {.last_end = f->source->base};
    f->lines.count = 0;
    uint32_t i = 0;
    while (tokens[i].kind != 0) {
        comments_before(f, &w, i);
        uint32_t end = line_end(f, i);
        format_line(f, &w, i, end);
        i = end;
    }
    comments_before(f, &w, i);
}

const char *format_source(struct region *region, struct diagnostics *d,
                          const struct source_file *source, size_t *size)
{
    *size = 0;
    if (ast_parse(region, d, source)->is_damaged)
        return NULL;
    struct token_list list;
    d->muted++;
    token_scan(region, d, source, false, &list);
    d->muted--;
    struct formatter f = {.region = region, .source = source, .list = &list};
    f.columns = region_take_array(region, list.tokens.count, sizeof *f.columns);
    do
        lay_out(&f);
    while (break_lines(&f));
    format_wrap_comments(&f);
    return write_lines(&f, size);
}
