/* Breaks lines that are longer than FORMAT_COLUMNS.
 *
 * Code breaks outside of parentheses and braces if it can: between statements, else after a comma
 * or before a word such as `via`, unless that leaves less than half a line. Otherwise a block in
 * braces, but the names of an enum, gets lines of its own. What is left breaks inside of them.
 *
 * A comment takes the words that do not fit to its next line, and so on to the end of the
 * paragraph. A comment after code goes before it. */
#include <string.h>

#include "base/number.h"

#include "format_line.h"
#include "parser.h"

size_t format_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* Tokens of a line that are to be broken: [from, to). They are written `shift` columns further left
 * than formatter.columns says. */
struct piece {
    uint32_t from, to;
    uint32_t indent;
    size_t shift;
    size_t limit; /* the columns that they may take */
};

/* Places for a break, the best first. */
enum place {
    PLACE_STATEMENT,
    PLACE_CLAUSE,
    PLACE_ELSE, /* the ':' of a choice */
    PLACE_CHOICE,
    PLACE_OR,
    PLACE_AND,
    PLACES,
    PLACE_NONE = PLACES
};

static bool begins_statement(int before, int kind)
{
    if (before == ';')
        return kind != '}';
    return before == '}'
           && (kind == WORD || kind == COMPONENT || kind == PLATFORM || kind == PROTOCOL
               || kind == LINK || kind == INTERFACE || kind == PART || kind == FOR);
}

static bool begins_statement_at(const struct formatter *f, uint32_t i)
{
    const struct token *tokens = f->list->tokens.items;
    return tokens[i].kind == '}' || tokens[i - 1].kind == '{'
           || begins_statement(tokens[i - 1].kind, tokens[i].kind);
}

/* The place before token i; `choices` are the '?' before it whose ':' has not come. */
static enum place place_before(const struct token *tokens, uint32_t i, uint32_t choices)
{
    int before = tokens[i - 1].kind, kind = tokens[i].kind;
    if (begins_statement(before, kind))
        return PLACE_STATEMENT;
    if (before == ',')
        return PLACE_CLAUSE;
    switch (kind) {
    case ARROW:
    case VIA:
    case BY:
    case OVER:
    case AT:
        return PLACE_CLAUSE;
    case IF:
        return before == ELSE || before == '{' ? PLACE_NONE : PLACE_CLAUSE;
    case ':':
        return choices > 0 ? PLACE_ELSE : PLACE_NONE;
    case '?':
        return PLACE_CHOICE;
    case OR:
        return PLACE_OR;
    case AND:
        return PLACE_AND;
    default:
        return PLACE_NONE;
    }
}

/* True if token i opens a block of statements. */
static bool opens_block(const struct token *tokens, uint32_t i)
{
    return tokens[i].kind == '{' && i > 0 && tokens[i - 1].kind != ENUM && tokens[i + 1].kind != '}'
           && tokens[i + 1].kind != 0;
}

/* The number of levels by which a token leads into parentheses, brackets and braces. */
static int32_t nesting_of(int kind)
{
    if (kind == '{' || kind == '(' || kind == '[')
        return 1;
    return kind == '}' || kind == ')' || kind == ']' ? -1 : 0;
}

struct places {
    uint32_t best; /* the token before which the line breaks; 0: there is none */
    uint32_t best_rank;
    uint32_t block; /* the '{' of the outermost block; 0: there is none */
};

/* Ranks: places outside of everything, then the block, then all others, those further out first. */
enum { RANK_BLOCK = PLACES, RANK_INSIDE, RANK_TOO_LONG = 1 << 20 };

static uint32_t rank_of(const struct piece *piece, enum place place, uint32_t nesting, size_t at)
{
    uint32_t rank = (uint32_t)place + nesting * PLACES;
    bool is_early = at < piece->indent + (FORMAT_COLUMNS - min(piece->indent, FORMAT_COLUMNS)) / 2;
    if (nesting > 0 || (is_early && place != PLACE_STATEMENT))
        rank += RANK_INSIDE;
    return at > piece->limit + 1 ? rank + RANK_TOO_LONG : rank;
}

static struct places find_places(const struct formatter *f, const struct piece *piece)
{
    const struct token *tokens = f->list->tokens.items;
    struct places places = {.best_rank = UINT32_MAX};
    int32_t nesting = 0;
    uint32_t choices = 0;
    for (uint32_t i = piece->from + 1; i < piece->to; i++) {
        nesting = max(nesting + nesting_of(tokens[i - 1].kind), 0);
        size_t at = f->columns[i] - piece->shift;
        if (nesting == 0 && places.block == 0 && at < piece->limit && i + 1 < piece->to
            && opens_block(tokens, i))
            places.block = i;
        enum place place = place_before(tokens, i, choices);
        choices += tokens[i].kind == '?';
        choices -= place == PLACE_ELSE;
        if (place == PLACE_NONE)
            continue;
        uint32_t rank = rank_of(piece, place, (uint32_t)nesting, at);
        bool is_better = rank < RANK_TOO_LONG ? rank <= places.best_rank : rank < places.best_rank;
        if (is_better) {
            places.best = i;
            places.best_rank = rank;
        }
    }
    return places;
}

/* Gives a block lines of its own. Returns the token that begins the last of these in the piece. */
static uint32_t break_block(struct token *tokens, uint32_t open, uint32_t to)
{
    uint32_t close = open;
    int32_t nesting = 0;
    do
        nesting += nesting_of(tokens[close++].kind);
    while (nesting > 0 && tokens[close].kind != 0);
    close--;
    tokens[open + 1].first_on_line = tokens[close].first_on_line = true;
    return close < to ? close : open + 1;
}

/* Returns the token that begins the last line made of the piece; 0: it cannot be broken. */
static uint32_t break_piece(struct formatter *f, const struct piece *piece)
{
    struct token *tokens = f->list->tokens.items;
    struct places places = find_places(f, piece);
    if (places.block != 0 && places.best_rank > RANK_BLOCK)
        return break_block(tokens, places.block, piece->to);
    if (places.best != 0)
        tokens[places.best].first_on_line = true;
    return places.best;
}

static void move_comment(struct formatter *f, const struct format_line *line)
{
    struct comment *comment = &f->list->comments.items[line->movable_comment];
    comment->own_line = true;
    comment->token = line->from;
}

bool format_break_line(struct formatter *f, const struct format_line *line, size_t width)
{
    if (line->movable_comment != COMMENT_NONE
        && width + 2 + format_width(line->comment) > FORMAT_COLUMNS) {
        move_comment(f, line);
        return true;
    }
    if (width <= FORMAT_COLUMNS || line->from == line->to)
        return false;
    const struct token *last = &f->list->tokens.items[line->to - 1];
    size_t end = f->columns[line->to - 1] + (last->span.end - last->span.begin);
    size_t padding = width - min(end, width);
    struct piece piece = {.from = line->from,
                          .to = line->to,
                          .indent = line->indent,
                          .limit = FORMAT_COLUMNS - min(padding, FORMAT_COLUMNS)};
    uint32_t statement =
        line->indent - (line->is_continuation ? min(line->indent, FORMAT_CONTINUATION) : 0);
    bool is_broken = false;
    while (end - piece.shift > piece.limit) {
        uint32_t next = break_piece(f, &piece);
        if (next == 0)
            break;
        is_broken = true;
        piece.from = next;
        piece.indent = statement + (begins_statement_at(f, next) ? 0 : FORMAT_CONTINUATION);
        piece.shift = f->columns[next] - min(piece.indent, f->columns[next]);
        piece.limit = FORMAT_COLUMNS;
    }
    return is_broken;
}

/* The slashes of a comment and the blanks after them. */
static size_t prefix_of(const char *text)
{
    size_t slashes = strspn(text, "/");
    return slashes + strspn(text + slashes, " ");
}

/* True if a comment's text is a new paragraph even right after a line of another: an item of a
 * list, or a sentence such as "Published: ...". */
static bool begins_paragraph(const char *text)
{
    bool is_capital = text[0] >= 'A' && text[0] <= 'Z';
    size_t word = strcspn(text, " :");
    return text[0] == '\0' || strchr("-*|#", text[0]) || (is_capital && text[word] == ':');
}

static bool is_line_comment(const struct format_line *line)
{
    return !line->is_blank && line->from == line->to && strncmp(line->cells[0].text, "//", 2) == 0;
}

/* The blank at which a comment that is too long breaks; 0: it fits, or there is none. */
static size_t comment_break(const struct format_line *line)
{
    const char *text = line->cells[0].text;
    size_t best = 0, prefix = prefix_of(text);
    size_t at = line->indent;
    if (at + format_width(text) <= FORMAT_COLUMNS)
        return 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == ' ' && i > prefix && (at <= FORMAT_COLUMNS || best == 0))
            best = i;
        at += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return best;
}

static struct format_line comment_of(const struct format_line *like, const char *text)
{
    struct format_line line = *like;
    line.cells[0].text = text;
    return line;
}

/* Breaks a comment, and joins the rest to `next` (NULL: no line follows) if that continues it.
 * Returns true if it has done so. */
static bool put_rest(struct formatter *f, struct format_line *line, size_t at,
                     const struct format_line *next)
{
    const char *text = line->cells[0].text;
    size_t prefix = prefix_of(text), head = at;
    while (text[head - 1] == ' ')
        head--;
    const char *rest = text + at + strspn(text + at, " ");
    const char *hanging = strncmp(text + prefix, "- ", 2) == 0 ? "  " : "";
    const char *begin = text[prefix - 1] == '/' ? " " : hanging;
    vector_push(f->region, &f->lines, comment_of(line, region_strndup(f->region, text, head)));
    rest = region_printf(f->region, "%.*s%s%s", (int)prefix, text, begin, rest);
    const char *more = next && is_line_comment(next) ? next->cells[0].text : "";
    size_t start = prefix_of(more);
    bool is_joined = start > 0 && start == prefix_of(rest) && strncmp(more, rest, start) == 0
                     && next->indent == line->indent && !begins_paragraph(more + start);
    if (is_joined)
        rest = region_printf(f->region, "%s %s", rest, more + start);
    *line = comment_of(line, rest);
    return is_joined;
}

void format_wrap_comments(struct formatter *f)
{
    const struct format_line *lines = f->lines.items;
    uint32_t count = f->lines.count;
    f->lines.items = NULL;
    f->lines.count = f->lines.capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct format_line line = lines[i];
        for (size_t at; is_line_comment(&line) && (at = comment_break(&line)) != 0;)
            i += put_rest(f, &line, at, i + 1 < count ? &lines[i + 1] : NULL);
        vector_push(f->region, &f->lines, line);
    }
}
