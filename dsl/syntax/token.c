/* The pass over the raw tokens that tells keywords from names and repairs braces; token.h has the
 * rule.
 *
 * Invariant: the kind of every token before the current one is final, so "what is before" is
 * read off the array. Called by ast.c and by the formatter. */
#include "token.h"

#include <string.h>

#include "base/number.h"
#include "dsl/suggest.h"

#include "ast.h"
#include "lexer.h"
#include "parser.h"

const char token_unclosed[] = "";

enum keyword_class {
    STARTS = 1,   /* begins a statement */
    FOLLOWS = 2,  /* comes after a complete operand */
    COMPLETE = 4, /* FOLLOWS, and takes no operand itself */
    TOP_LEVEL = 8 /* STARTS, and never inside braces */
};

struct keyword {
    const char *word;
    int kind;
    int class;
};

static const struct keyword keywords[] = {
    {"import", IMPORT, STARTS | TOP_LEVEL},
    {"protocol", PROTOCOL, STARTS | TOP_LEVEL},
    {"interface", INTERFACE, STARTS | TOP_LEVEL},
    {"component", COMPONENT, STARTS | TOP_LEVEL},
    {"platform", PLATFORM, STARTS | TOP_LEVEL},
    {"link", LINK, STARTS},
    {"enum", ENUM, STARTS},
    {"part", PART, STARTS},
    {"param", PARAM, STARTS},
    {"slot", SLOT, STARTS},
    {"insert", INSERT, STARTS},
    {"let", LET, STARTS},
    {"check", CHECK, STARTS},
    {"in", IN, STARTS | FOLLOWS},
    {"out", OUT, STARTS},
    {"stat", STAT, STARTS},
    {"measure", MEASURE, STARTS},
    {"space", SPACE, STARTS},
    {"map", MAP, STARTS},
    {"partition", PARTITION, STARTS},
    {"clock", CLOCK, STARTS},
    {"if", IF, STARTS | FOLLOWS},
    {"for", FOR, STARTS | FOLLOWS},
    {"else", ELSE, FOLLOWS},
    {"store", STORE, STARTS},
    {"reads", READS, STARTS},
    {"behaviour", BEHAVIOUR, STARTS},
    {"coherence", COHERENCE, STARTS},
    {"request", REQUEST, STARTS},
    {"reply", REPLY, STARTS},
    {"optional", OPTIONAL, FOLLOWS | COMPLETE},
    {"pow2", POW2, FOLLOWS | COMPLETE},
    {"depth", DEPTH, FOLLOWS},
    {"width", WIDTH, FOLLOWS},
    {"latency", LATENCY, FOLLOWS},
    {"via", VIA, FOLLOWS},
    {"over", OVER, FOLLOWS},
    {"by", BY, FOLLOWS},
    {"at", AT, FOLLOWS},
    {"on", ON, FOLLOWS},
    {"of", OF, FOLLOWS},
};

const char *token_suggest(const char *word)
{
    struct suggestion suggestion = suggestion_for(word);
    for (size_t i = 0; i < ARRAY_COUNT(keywords); i++)
        if (keywords[i].class & STARTS)
            suggestion_try(&suggestion, keywords[i].word);
    return suggestion.best;
}

static const struct keyword *find_keyword(const char *word)
{
    for (size_t i = 0; i < ARRAY_COUNT(keywords); i++)
        if (keywords[i].word[0] == word[0] && strcmp(keywords[i].word, word) == 0)
            return &keywords[i];
    return NULL;
}

/* The scan's state: the tokens as they came, and those that go on. */
struct filter {
    struct region *region;
    struct diagnostics *diagnostics;
    const struct source_file *file;
    const struct token *raw;
    uint32_t raw_count;
    struct token_list *out;
    uint32_t open[TOKEN_DEPTH_MAX + 1]; /* indices (in out) of '{' not closed yet */
    uint32_t depth;
    uint32_t
        suspect; /* index of a '{' that its indentation says was never closed; UINT32_MAX: none */
};

static int raw_kind(const struct filter *f, uint32_t i)
{
    return i < f->raw_count ? f->raw[i].kind : 0;
}

static bool raw_is_word(const struct filter *f, uint32_t i, const char *word)
{
    return raw_kind(f, i) == WORD && strcmp(f->raw[i].text, word) == 0;
}

static int previous_kind(const struct filter *f)
{
    return f->out->tokens.count > 0 ? f->out->tokens.items[f->out->tokens.count - 1].kind : ';';
}

static bool ends_operand(int kind)
{
    return kind == WORD || kind == NUMBER || kind == STRING || kind == ')' || kind == ']'
           || kind == OPTIONAL || kind == POW2;
}

/* True if what follows a word at a statement's start fits its use as a keyword. */
static bool starter_fits(const struct filter *f, const struct keyword *keyword, uint32_t i)
{
    int next = raw_kind(f, i + 1);
    if (f->depth == 0)
        return true; /* only declarations are there */
    switch (keyword->kind) {
    case IMPORT:
    case BEHAVIOUR:
        return next == STRING || next == WORD;
    case COHERENCE:
        return next == '{';
    case CHECK:
    case IF:
        return next == WORD || next == NUMBER || next == STRING || next == '(' || next == '!'
               || next == '-';
    default:
        return next == WORD;
    }
}

static bool operand_follows(const struct filter *f, uint32_t i)
{
    int next = raw_kind(f, i + 1);
    return next == WORD || next == NUMBER || next == '(' || next == '-' || next == '!'
           || next == STRING;
}

/* A word behind a complete operand. A statement keyword at the start of a line is taken as one even
 * there: the ';' before it is missing, and saying that is better than misreading two statements as
 * one. */
static int classify_follower(const struct filter *f, const struct keyword *keyword, uint32_t i)
{
    if (f->raw[i].first_on_line && (keyword->class & STARTS) && starter_fits(f, keyword, i)) {
        int third = raw_kind(f, i + 2);
        if (!(keyword->class & FOLLOWS) || third == ':' || third == '[' || third == ',')
            return keyword->kind;
    }
    if (!(keyword->class & FOLLOWS))
        return WORD;
    if (keyword->class & COMPLETE)
        return keyword->kind;
    return operand_follows(f, i) ? keyword->kind : WORD;
}

/* A word where an operand is wanted is a name, but for the few keywords that follow other keywords.
 */
static int classify_operand(const struct filter *f, int before, uint32_t i)
{
    if (before == ',' && raw_is_word(f, i, "each") && operand_follows(f, i))
        return EACH;
    if (before == ',' && raw_is_word(f, i, "interleave") && operand_follows(f, i))
        return INTERLEAVE;
    if (before == ',' && raw_is_word(f, i, "hashed")
        && (raw_kind(f, i + 1) == ';' || operand_follows(f, i)))
        return HASHED;
    if (before == BY && raw_is_word(f, i, "space"))
        return SPACE;
    if (before == ELSE && raw_is_word(f, i, "if"))
        return IF;
    if (before == ':' && raw_is_word(f, i, "enum") && raw_kind(f, i + 1) == '{')
        return ENUM;
    return WORD;
}

static int classify(const struct filter *f, uint32_t i)
{
    int before = previous_kind(f);
    const struct keyword *keyword = find_keyword(f->raw[i].text);
    if (before == ';' || before == '{' || before == '}') {
        if (!keyword)
            return WORD;
        if ((keyword->class & STARTS) && starter_fits(f, keyword, i))
            return keyword->kind;
        if (before != '}')
            return WORD;
        if (keyword->kind == ELSE)
            return raw_kind(f, i + 1) == '{' || operand_follows(f, i) ? ELSE : WORD;
        bool after_body = keyword->kind == BY || keyword->kind == OVER || keyword->kind == LATENCY
                          || keyword->kind == AT;
        return after_body && operand_follows(f, i) ? keyword->kind : WORD;
    }
    if (ends_operand(before))
        return keyword ? classify_follower(f, keyword, i) : WORD;
    return classify_operand(f, before, i);
}

static void put_token(struct filter *f, struct token token)
{
    vector_push(f->region, &f->out->tokens, token);
}

static uint32_t indentation(const struct filter *f, const struct token *token)
{
    const char *text = f->file->text;
    uint32_t at = token->span.begin - f->file->base;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    uint32_t from = at;
    while (text[at] == ' ' || text[at] == '\t')
        at++;
    return at - from;
}

/* '}' for a '{' that is still open, where `before` is. */
static void close_missing(struct filter *f, const struct token *before)
{
    f->depth--;
    put_token(f, (struct token){.kind = '}', .span = {before->span.begin, before->span.begin}});
}

static void report_unclosed(struct filter *f, const struct token *before, bool at_end)
{
    uint32_t guilty = f->suspect != UINT32_MAX ? f->suspect : f->open[f->depth - 1];
    const struct token *brace = &f->out->tokens.items[guilty];
    struct diagnostic *d =
        diagnostic_add(f->diagnostics, E0002, brace->span, "this '{' is never closed");
    if (!at_end)
        diagnostic_note(f->diagnostics, d, before->span,
                        "this can only stand outside of all braces");
    diagnostic_help(f->diagnostics, d, "add the missing '}'");
    struct span unsure = {brace->span.begin, at_end ? UINT32_MAX : before->span.begin};
    vector_push(f->region, &f->out->unclosed, unsure);
}

static bool open_brace(struct filter *f, const struct token *token)
{
    if (f->depth == TOKEN_DEPTH_MAX) {
        diagnostic_add(f->diagnostics, E0007, token->span, "braces nest more than %d deep",
                       TOKEN_DEPTH_MAX);
        return false;
    }
    f->open[f->depth++] = f->out->tokens.count;
    return true;
}

static void close_brace(struct filter *f, const struct token *token)
{
    if (f->depth == 0) {
        diagnostic_add(f->diagnostics, E0002, token->span, "this '}' closes nothing");
        return;
    }
    const struct token *opener = &f->out->tokens.items[f->open[f->depth - 1]];
    /* A '}' further left than the line of its '{' belongs to an outer one, and the inner one was
     * forgotten. */
    if (token->first_on_line && f->suspect == UINT32_MAX
        && indentation(f, token) < indentation(f, opener))
        f->suspect = f->open[f->depth - 1];
    f->depth--;
    put_token(f, *token);
    if (f->depth == 0)
        f->suspect = UINT32_MAX;
}

static void close_all(struct filter *f, const struct token *before, bool at_end)
{
    if (f->depth == 0)
        return;
    if (f->out->cut == 0)
        report_unclosed(f, before, at_end);
    while (f->depth > 0)
        close_missing(f, before);
    f->suspect = UINT32_MAX;
}

/* "each", "enum" and the like are keywords behind other keywords only, and are in no table. */
static bool starts_top_level(const char *word)
{
    const struct keyword *keyword = find_keyword(word);
    return keyword && (keyword->class & TOP_LEVEL);
}

static void filter_token(struct filter *f, uint32_t i, bool recover)
{
    struct token token = f->raw[i];
    if (token.kind == WORD)
        token.kind = classify(f, i);
    if (recover && f->depth > 0 && token.kind != WORD && f->raw[i].kind == WORD
        && token.first_on_line && starts_top_level(token.text))
        close_all(f, &token, false);
    put_token(f, token);
}

void token_scan(struct region *region, struct diagnostics *d, const struct source_file *file,
                bool recover, struct token_list *out)
{
    struct token_list raw = {0};
    lexer_scan(region, d, file, &raw);
    *out = (struct token_list){0};
    out->cut = raw.cut;
    if (raw.cut != 0)
        vector_push(region, &out->unclosed, ((struct span){raw.cut, UINT32_MAX}));
    out->comments.items = raw.comments.items;
    out->comments.count = raw.comments.count;
    out->comments.capacity = raw.comments.capacity;
    struct filter f = {.region = region,
                       .diagnostics = d,
                       .file = file,
                       .raw = raw.tokens.items,
                       .raw_count = raw.tokens.count,
                       .out = out,
                       .suspect = UINT32_MAX};
    uint32_t comment = 0;
    for (uint32_t i = 0; i < raw.tokens.count; i++) {
        const struct token *token = &raw.tokens.items[i];
        if (token->kind == 0) {
            if (recover)
                close_all(&f, token, true);
        } else if (token->kind == '{') {
            if (!open_brace(&f, token)) {
                struct token end = raw.tokens.items[raw.tokens.count - 1];
                while (f.depth > 0)
                    close_missing(&f, &end);
                put_token(&f, end);
                break;
            }
        }
        /* comments name the token that follows; indices shift when braces are put in or dropped */
        for (; comment < out->comments.count && out->comments.items[comment].token == i; comment++)
            out->comments.items[comment].token = out->tokens.count;
        if (token->kind == '}')
            close_brace(&f, token);
        else
            filter_token(&f, i, recover);
    }
}
