/* The context of the cursor, read off the tokens. A stack of the open braces, each with the words
 * in front of it. */
#include "cursor.h"

#include <string.h>

#include "base/number.h"
#include "dsl/syntax/lexer.h"

#include "parser.h"

struct frame {
    uint32_t begin, end; /* tokens in front of the '{' */
};

const char *token_word(const struct token *token)
{
    bool is_text = token && token->kind != STRING && token->kind != NUMBER;
    return is_text ? token->text : NULL;
}

bool token_is(const struct token *token, const char *word)
{
    const char *text = token_word(token);
    return text && strcmp(text, word) == 0;
}

const struct token *cursor_before(const struct cursor *cursor, uint32_t back)
{
    return back <= cursor->count ? &cursor->words[cursor->count - back] : NULL;
}

uint32_t cursor_kind(const struct cursor *cursor, int kind)
{
    for (uint32_t i = 0; i < cursor->count; i++)
        if (cursor->words[i].kind == kind)
            return i;
    return UINT32_MAX;
}

static enum cursor_place place_at_top(struct cursor *c, const struct token *head, uint32_t count)
{
    static const struct {
        const char *word;
        enum cursor_place place;
    } places[] = {
        {"platform", CURSOR_BODY},     {"component", CURSOR_BODY}, {"part", CURSOR_BODY},
        {"protocol", CURSOR_PROTOCOL}, {"link", CURSOR_SETTINGS},
    };
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        if (count < 2 || !token_is(&head[0], places[i].word))
            continue;
        c->around = token_word(&head[1]);
        c->around_part = token_is(&head[0], "part");
        if (places[i].place == CURSOR_SETTINGS)
            c->target = c->around;
        return places[i].place;
    }
    return CURSOR_NOWHERE;
}

/* The type in front of the braces of an instance or part: "... : TYPE [on CLOCK] {" or
 * "... = TYPE [on CLOCK] {". */
static const char *target_of(const struct token *head, uint32_t count)
{
    if (count >= 3 && token_is(&head[count - 2], "on"))
        count -= 2;
    if (count < 2 || (head[count - 2].kind != ':' && head[count - 2].kind != '='))
        return NULL;
    return token_word(&head[count - 1]);
}

static enum cursor_place place_in_body(struct cursor *c, const struct token *head, uint32_t count)
{
    if (count == 0)
        return CURSOR_NOWHERE;
    if (token_is(&head[0], "for") && count > 1 && head[1].kind != ':') {
        if (c->loop_count < CURSOR_LOOPS && token_word(&head[1]))
            c->loops[c->loop_count++] = token_word(&head[1]);
        return CURSOR_BODY;
    }
    if (token_is(&head[0], "else") || (token_is(&head[0], "if") && count > 1))
        return CURSOR_BODY;
    if (token_is(&head[0], "coherence") && count == 1)
        return CURSOR_FACTS;
    if (token_is(&head[count - 1], "enum"))
        return CURSOR_NOWHERE;
    c->target = target_of(head, count);
    return CURSOR_SETTINGS;
}

static enum cursor_place place_inside(struct cursor *c, enum cursor_place outer,
                                      const struct token *head, uint32_t count)
{
    switch (outer) {
    case CURSOR_TOP:
        return place_at_top(c, head, count);
    case CURSOR_BODY:
        return place_in_body(c, head, count);
    case CURSOR_SETTINGS: /* a part in a slot */
        c->target = target_of(head, count);
        return CURSOR_SETTINGS;
    case CURSOR_PROTOCOL:
        return CURSOR_FIELDS;
    default:
        return CURSOR_NOWHERE;
    }
}

static bool is_in_comment(const struct token_list *list, uint32_t at)
{
    for (uint32_t i = 0; i < list->comments.count; i++)
        if (list->comments.items[i].span.begin < at && at <= list->comments.items[i].span.end)
            return true;
    return false;
}

/* The word at the cursor. False: nothing can be completed there. `*last` is the first token behind
 * what is before it. */
static bool find_word(struct cursor *c, const struct token_list *list, uint32_t at, uint32_t *last)
{
    c->word = (struct span){at, at};
    for (*last = 0; *last < list->tokens.count; (*last)++) {
        const struct token *token = &list->tokens.items[*last];
        if (token->kind == 0 || token->span.begin >= at)
            return true;
        if (token->span.end < at
            || (token->span.end == at && !token_word(token) && token->kind != NUMBER
                && token->kind != STRING))
            continue;
        if (token->kind == NUMBER)
            return false;
        if (token->kind != STRING) {
            c->word = token->span;
            return true;
        }
        bool closed = token->text != token_unclosed;
        if (closed && token->span.end == at)
            continue;
        c->in_string = true;
        c->word = (struct span){token->span.begin + 1, token->span.end - closed};
        return true;
    }
    return true;
}

void cursor_find(struct cursor *c, struct region *region, const struct source_file *file,
                 uint32_t at)
{
    struct source_set unused;
    struct diagnostics ignored;
    struct token_list list;
    struct frame frames[TOKEN_DEPTH_MAX + 1];
    uint32_t depth = 0, begin = 0, last;
    source_set_init(&unused, region);
    diagnostics_init(&ignored, region, &unused);
    ignored.muted = 1;
    *c = (struct cursor){.place = CURSOR_NOWHERE};
    token_scan(region, &ignored, file, false, &list);
    if (is_in_comment(&list, at) || !find_word(c, &list, at, &last))
        return;
    for (uint32_t i = 0; i < last; i++) {
        int kind = list.tokens.items[i].kind;
        if (kind == '{') {
            if (depth == TOKEN_DEPTH_MAX)
                return;
            frames[depth++] = (struct frame){begin, i};
        } else if (kind == '}' && depth > 0) {
            depth--;
        }
        if (kind == '{' || kind == '}' || kind == ';')
            begin = i + 1;
    }
    c->place = CURSOR_TOP;
    for (uint32_t i = 0; i < depth; i++)
        c->place = place_inside(c, c->place, &list.tokens.items[frames[i].begin],
                                frames[i].end - frames[i].begin);
    const struct token *tokens = list.tokens.items;
    c->words = tokens + begin;
    c->count = last - begin;
}
