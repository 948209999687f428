/* Optimal string alignment distance (edits and transpositions of neighbours), over at most 32
 * characters. A candidate is near when it differs by at most a third of its length, one of four
 * letters that begins alike by a half ("rait" and "rate"); on a tie the first one wins, so the
 * answer is stable. */
#include "suggest.h"

#include <string.h>

#include "base/number.h"

#define LONGEST 32

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

/* Letters that differ only in case count half: "gib" is nearer to "GiB" than to "cy". Distances are
 * doubled. */
static uint32_t substitution(char a, char b)
{
    if (a == b)
        return 0;
    return lower(a) == lower(b) ? 1 : 2;
}

static uint32_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return UINT32_MAX;
    uint32_t rows[3][LONGEST + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = (uint32_t)(2 * j);
    for (size_t i = 1; i <= n; i++) {
        row[0] = (uint32_t)(2 * i);
        for (size_t j = 1; j <= m; j++) {
            row[j] = min(min(last[j] + 2, row[j - 1] + 2),
                         last[j - 1] + substitution(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min(row[j], before[j - 2] + 2);
        }
        uint32_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[m];
}

struct suggestion suggestion_for(const char *word)
{
    return (struct suggestion){.word = word, .best = NULL, .distance = UINT32_MAX};
}

void suggestion_try(struct suggestion *suggestion, const char *candidate)
{
    if (!candidate || strcmp(candidate, suggestion->word) == 0)
        return;
    uint32_t away = distance(suggestion->word, candidate);
    uint32_t length = (uint32_t)strlen(candidate);
    uint32_t allowed = 2 * (length / 3 > 0 ? (length + 1) / 3 : 1);
    if (length <= 2)
        allowed = 1; /* one letter of two is no likeness; another case is */
    if (length == 4 && strncmp(suggestion->word, candidate, 2) == 0)
        allowed = 4;
    if (away <= allowed && away < suggestion->distance) {
        suggestion->best = candidate;
        suggestion->distance = away;
    }
}

const char *compile_suggest(const char *word, const char *const *candidates, size_t count)
{
    struct suggestion suggestion = suggestion_for(word);
    for (size_t i = 0; i < count; i++)
        suggestion_try(&suggestion, candidates[i]);
    return suggestion.best;
}
