/* Finds the origin of a number in a comment. */
#include "origin.h"

#include <stdbool.h>
#include <string.h>

#include "suggest.h"

#define LONGEST_WORD 16 /* longer words are no misspelt kind */

static const struct {
    const char *name, *word;
} kinds[ORIGIN_KINDS] = {
    [ORIGIN_UNSTATED] = {"unstated", "Unstated"},    [ORIGIN_MEASURED] = {"measured", "Measured"},
    [ORIGIN_PUBLISHED] = {"published", "Published"}, [ORIGIN_DERIVED] = {"derived", "Derived"},
    [ORIGIN_FITTED] = {"fitted", "Fitted"},          [ORIGIN_ASSUMED] = {"assumed", "Assumed"},
};

const char *origin_name(enum origin_kind kind)
{
    return kinds[kind].name;
}

const char *origin_word(enum origin_kind kind)
{
    return kinds[kind].word;
}

static bool is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* At the start, on a new line, or after the end of a sentence. */
static bool begins_sentence(const char *doc, const char *at)
{
    while (at > doc && at[-1] == ' ')
        at--;
    return at == doc || at[-1] == '\n' || at[-1] == '.' || at[-1] == ';' || at[-1] == ':';
}

static enum origin_kind kind_of(const char *word, size_t length)
{
    for (enum origin_kind k = ORIGIN_MEASURED; k < ORIGIN_KINDS; k++)
        if (strlen(kinds[k].word) == length && strncmp(kinds[k].word, word, length) == 0)
            return k;
    return ORIGIN_UNSTATED;
}

static bool is_nearly_a_kind(const char *word, size_t length)
{
    char text[LONGEST_WORD + 1];
    if (length > LONGEST_WORD)
        return false;
    memcpy(text, word, length);
    text[length] = '\0';
    struct suggestion suggestion = suggestion_for(text);
    for (enum origin_kind k = ORIGIN_MEASURED; k < ORIGIN_KINDS; k++)
        suggestion_try(&suggestion, kinds[k].word);
    return suggestion.best != NULL;
}

struct origin origin_in(const char *doc)
{
    struct origin origin = {.source = ""};
    for (const char *colon = strchr(doc, ':'); colon; colon = strchr(colon + 1, ':')) {
        const char *at = colon;
        while (at > doc && is_letter(at[-1]))
            at--;
        size_t length = (size_t)(colon - at);
        if (length == 0 || !begins_sentence(doc, at))
            continue;
        enum origin_kind kind = kind_of(at, length);
        if (kind != ORIGIN_UNSTATED && origin.kind == ORIGIN_UNSTATED) {
            origin.kind = kind;
            origin.source = colon + 1 + strspn(colon + 1, " \n");
        } else if (kind == ORIGIN_UNSTATED && !origin.misspelt && is_nearly_a_kind(at, length)) {
            origin.misspelt = at;
            origin.misspelt_length = length;
        }
    }
    return origin;
}
