/* Matches dotted names with the table of forms, and reports the names that fit no form.
 *
 * A pattern is read as a grammar without backtracking: an optional part is taken if it fits, of a
 * choice the first that fits. The table is written so that this is enough. */
#include "ptx_forms.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "ptx.h"

struct form_row {
    uint16_t opcode;
    const char *modifiers; /* NULL: the row names an opcode */
    const char *operands;
};

static const struct form_row ROWS[] = {
#define OPCODE(name, text)        {PTX_OP_##name, NULL, NULL},
#define FORM(modifiers, operands) {0, modifiers, operands},
#include "ptx_opcodes.def"
#undef OPCODE
#undef FORM
};

static const struct {
    const char *name;
    const char *choices;
} CLASSES[] = {
#define CLASS(name, choices) {name, choices},
#include "ptx_classes.def"
#undef CLASS
};

enum { ROW_COUNT = ARRAY_COUNT(ROWS), CLASS_COUNT = ARRAY_COUNT(CLASSES) };

/* The components of a name after its opcode. */
struct name_parts {
    const char *text[PTX_COMPONENTS_MAX];
    uint32_t length[PTX_COMPONENTS_MAX];
    uint32_t count;
};

struct ptx_nearest ptx_nearest_begin(const char *word)
{
    uint32_t length = (uint32_t)strlen(word);
    return (struct ptx_nearest){.word = word, .distance = length < 4 ? 2 : length / 3 + 1};
}

/* Levenshtein's distance, or `limit` where it is no less. */
static uint32_t distance_of(const char *a, const char *b, uint32_t limit)
{
    enum { LONGEST = 63 };
    uint32_t row[LONGEST + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST)
        return limit;
    for (uint32_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_length];
}

void ptx_nearest_try(struct ptx_nearest *nearest, const char *candidate)
{
    uint32_t distance = distance_of(nearest->word, candidate, nearest->distance);
    if (distance >= nearest->distance)
        return;
    nearest->distance = distance;
    nearest->best = candidate;
}

const char *ptx_hint(char hint[PTX_MESSAGE_BYTES], bool has_dot, const char *name)
{
    hint[0] = '\0';
    if (name)
        snprintf(hint, PTX_MESSAGE_BYTES, "; did you mean '%s%s'?", has_dot ? "." : "", name);
    return hint;
}

const char *ptx_form_class(const char *name, size_t length)
{
    for (uint32_t i = 0; i < CLASS_COUNT; i++)
        if (strncmp(CLASSES[i].name, name, length) == 0 && CLASSES[i].name[length] == 0)
            return CLASSES[i].choices;
    return NULL;
}

/* The end of the bracket that opens at `pattern`: the address of its closing character. */
static const char *closing(const char *pattern)
{
    uint32_t depth = 0;
    for (;; pattern++) {
        if (*pattern == '(' || *pattern == '{')
            depth++;
        if ((*pattern == ')' || *pattern == '}') && --depth == 0)
            return pattern;
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
           || c == ':';
}

static bool match_literal(const char *pattern, size_t length, const struct name_parts *parts,
                          uint32_t *at)
{
    if (*at == parts->count)
        return false;
    bool open = pattern[length] == '*';
    if (open ? parts->length[*at] < length : parts->length[*at] != length)
        return false;
    if (strncmp(parts->text[*at], pattern, length) != 0)
        return false;
    ++*at;
    return true;
}

static bool match_sequence(const char *pattern, const char *end, const struct name_parts *parts,
                           uint32_t *at);

/* Choices lie between `pattern` and `end`, separated by bars outside inner brackets. */
static bool match_choice(const char *pattern, const char *end, const struct name_parts *parts,
                         uint32_t *at)
{
    while (pattern < end) {
        const char *bar = pattern;
        while (bar < end && *bar != '|')
            bar = *bar == '(' || *bar == '{' ? closing(bar) + 1 : bar + 1;
        uint32_t trial = *at;
        if (match_sequence(pattern, bar, parts, &trial)) {
            *at = trial;
            return true;
        }
        pattern = bar + 1;
    }
    return false;
}

static bool match_class(const char *name, size_t length, const struct name_parts *parts,
                        uint32_t *at)
{
    const char *choices = ptx_form_class(name, length);
    return choices && match_choice(choices + 1, closing(choices), parts, at);
}

static bool match_sequence(const char *pattern, const char *end, const struct name_parts *parts,
                           uint32_t *at)
{
    while (pattern < end) {
        const char *next = pattern + 1;
        if (*pattern == '{') {
            next = closing(pattern);
            uint32_t trial = *at;
            if (match_sequence(pattern + 1, next, parts, &trial))
                *at = trial;
            next++;
        } else if (*pattern == '(') {
            next = closing(pattern);
            if (!match_choice(pattern + 1, next, parts, at))
                return false;
            next++;
        } else if (*pattern == '<') {
            while (*next != '>')
                next++;
            if (!match_class(pattern + 1, (size_t)(next - pattern - 1), parts, at))
                return false;
            next++;
        } else {
            while (is_word(*next))
                next++;
            if (!match_literal(pattern + 1, (size_t)(next - pattern - 1), parts, at))
                return false;
            if (*next == '*')
                next++;
        }
        pattern = next;
    }
    return true;
}

/* True if a component occurs anywhere in a pattern, its classes included. */
static bool pattern_has(const char *pattern, const char *text, uint32_t length)
{
    while (*pattern) {
        if (*pattern == '<') {
            const char *end = strchr(pattern, '>');
            const char *choices = ptx_form_class(pattern + 1, (size_t)(end - pattern - 1));
            if (choices && pattern_has(choices, text, length))
                return true;
            pattern = end + 1;
        } else if (*pattern == '.') {
            const char *end = pattern + 1;
            while (is_word(*end))
                end++;
            uint32_t have = (uint32_t)(end - pattern - 1);
            bool same = *end == '*' ? have <= length : have == length;
            if (same && strncmp(pattern + 1, text, have) == 0)
                return true;
            pattern = end;
        } else {
            pattern++;
        }
    }
    return false;
}

/* The opcode whose name is the longest beginning of `name`, in whole components. */
static bool find_opcode(const char *name, enum ptx_opcode *opcode, size_t *length)
{
    *length = 0;
    for (uint32_t i = 0; i < PTX_OPCODE_COUNT; i++) {
        const char *candidate = ptx_opcode_name((enum ptx_opcode)i);
        size_t have = strlen(candidate);
        if (have <= *length || strncmp(candidate, name, have) != 0)
            continue;
        if (name[have] != 0 && name[have] != '.')
            continue;
        *length = have;
        *opcode = (enum ptx_opcode)i;
    }
    return *length != 0;
}

static bool split(const char *rest, struct name_parts *parts)
{
    parts->count = 0;
    while (*rest == '.') {
        if (parts->count == PTX_COMPONENTS_MAX)
            return false;
        const char *begin = ++rest;
        while (is_word(*rest))
            rest++;
        parts->text[parts->count] = begin;
        parts->length[parts->count++] = (uint32_t)(rest - begin);
    }
    return *rest == 0;
}

static bool same_text(const char *text, const char *part, uint32_t length)
{
    return strncmp(text, part, length) == 0 && text[length] == 0;
}

static enum ptx_type type_of(const char *part, uint32_t length)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++)
        if (same_text(ptx_type_name((enum ptx_type)i), part, length))
            return (enum ptx_type)i;
    return PTX_TYPE_NONE;
}

static enum ptx_modifier modifier_of(const char *part, uint32_t length)
{
    for (int i = 1; i < PTX_MODIFIER_COUNT; i++)
        if (same_text(ptx_modifier_name((enum ptx_modifier)i), part, length))
            return (enum ptx_modifier)i;
    return PTX_MODIFIER_NONE;
}

static bool fill_form(struct ptx_form *form, const struct name_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        enum ptx_type type = type_of(parts->text[i], parts->length[i]);
        enum ptx_modifier modifier = modifier_of(parts->text[i], parts->length[i]);
        if (type != PTX_TYPE_NONE && form->type_count < sizeof form->types)
            form->types[form->type_count++] = (uint8_t)type;
        else if (modifier != PTX_MODIFIER_NONE && form->modifier_count < PTX_MODIFIERS_MAX)
            form->modifiers[form->modifier_count++] = (uint16_t)modifier;
        else
            return false;
    }
    return true;
}

static uint32_t first_row(enum ptx_opcode opcode)
{
    uint32_t row = 0;
    while (ROWS[row].modifiers || ROWS[row].opcode != opcode)
        row++;
    return row + 1;
}

static void describe_unknown_opcode(const char *name, char *message)
{
    char word[64];
    size_t length = strcspn(name, ".");
    snprintf(word, sizeof word, "%.*s", (int)min(length, 63), name);
    struct ptx_nearest nearest = ptx_nearest_begin(word);
    const char *family = NULL; /* "wmma" alone is no instruction: name one that begins so */
    for (int i = 0; i < PTX_OPCODE_COUNT; i++) {
        const char *candidate = ptx_opcode_name((enum ptx_opcode)i);
        ptx_nearest_try(&nearest, candidate);
        if (!family && strncmp(candidate, word, length) == 0 && candidate[length] == '.')
            family = candidate;
    }
    char hint[PTX_MESSAGE_BYTES];
    snprintf(message, PTX_MESSAGE_BYTES, "unknown instruction '%.80s'%s", name,
             ptx_hint(hint, false, family ? family : nearest.best));
}

/* Says which component an opcode does not have, if there is one. */
static bool describe_foreign_component(enum ptx_opcode opcode, const struct name_parts *parts,
                                       char *message)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        bool known = false;
        for (uint32_t row = first_row(opcode); row < ROW_COUNT && ROWS[row].modifiers; row++)
            known |= pattern_has(ROWS[row].modifiers, parts->text[i], parts->length[i]);
        if (known)
            continue;
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)min(parts->length[i], 63), parts->text[i]);
        struct ptx_nearest nearest = ptx_nearest_begin(word);
        for (int m = 1; m < PTX_MODIFIER_COUNT + PTX_TYPE_COUNT; m++) {
            if (m == PTX_MODIFIER_COUNT)
                continue;
            const char *candidate = m < PTX_MODIFIER_COUNT
                                        ? ptx_modifier_name((enum ptx_modifier)m)
                                        : ptx_type_name((enum ptx_type)(m - PTX_MODIFIER_COUNT));
            for (uint32_t row = first_row(opcode); row < ROW_COUNT && ROWS[row].modifiers; row++)
                if (pattern_has(ROWS[row].modifiers, candidate, (uint32_t)strlen(candidate))) {
                    ptx_nearest_try(&nearest, candidate);
                    break;
                }
        }
        char hint[PTX_MESSAGE_BYTES];
        snprintf(message, PTX_MESSAGE_BYTES, "'%s' takes no '.%s'%s", ptx_opcode_name(opcode), word,
                 ptx_hint(hint, true, nearest.best));
        return true;
    }
    return false;
}

static void describe_forms(enum ptx_opcode opcode, const char *name, char *message)
{
    const char *opcode_name = ptx_opcode_name(opcode);
    int used = snprintf(message, PTX_MESSAGE_BYTES,
                        "'%.80s' is no form of '%s'; its types and modifiers, in order: ", name,
                        opcode_name);
    uint32_t row = first_row(opcode);
    for (uint32_t i = row; i < ROW_COUNT && ROWS[i].modifiers && used < PTX_MESSAGE_BYTES; i++)
        used += snprintf(message + used, PTX_MESSAGE_BYTES - (size_t)used, "%s%s%s",
                         i > row ? " or " : "", opcode_name, ROWS[i].modifiers);
    if (used >= PTX_MESSAGE_BYTES)
        memcpy(message + PTX_MESSAGE_BYTES - 4, "...", 4);
}

/* Order, scope and space of an atomic operation come first in the manual; nvcc and the headers of
 * cooperative groups write them behind, as in atom.global.sys.add and atom.add.release.gpu. */
static void put_in_order(struct name_parts *parts)
{
    static const char *const classes[] = {"aspace", "scope", "aorder"};
    for (size_t c = 0; c < ARRAY_COUNT(classes); c++) {
        uint32_t i = 0, at;
        while (i < parts->count
               && (at = i, !match_class(classes[c], strlen(classes[c]), parts, &at)))
            i++;
        if (i == parts->count)
            continue;
        const char *text = parts->text[i];
        uint32_t length = parts->length[i];
        for (; i > 0; i--) {
            parts->text[i] = parts->text[i - 1];
            parts->length[i] = parts->length[i - 1];
        }
        parts->text[0] = text;
        parts->length[0] = length;
    }
}

static void find_rows(struct ptx_form *form, const struct name_parts *parts)
{
    for (uint32_t row = first_row(form->opcode); row < ROW_COUNT && ROWS[row].modifiers; row++) {
        uint32_t at = 0;
        const char *pattern = ROWS[row].modifiers;
        if (!match_sequence(pattern, pattern + strlen(pattern), parts, &at) || at != parts->count
            || form->operand_form_count == PTX_OPERAND_FORMS_MAX)
            continue;
        form->operand_forms[form->operand_form_count++] = ROWS[row].operands;
    }
}

bool ptx_form_find(const char *name, struct ptx_form *form, char message[PTX_MESSAGE_BYTES])
{
    struct name_parts parts;
    size_t length;
    *form = (struct ptx_form){0};
    if (!find_opcode(name, &form->opcode, &length)) {
        describe_unknown_opcode(name, message);
        return false;
    }
    if (!split(name + length, &parts)) {
        snprintf(message, PTX_MESSAGE_BYTES, "'%.80s' has too many modifiers", name);
        return false;
    }
    if (form->opcode == PTX_OP_ATOM || form->opcode == PTX_OP_RED)
        put_in_order(&parts);
    find_rows(form, &parts);
    if (form->operand_form_count && fill_form(form, &parts))
        return true;
    if (!describe_foreign_component(form->opcode, &parts, message))
        describe_forms(form->opcode, name, message);
    return false;
}

bool ptx_form_at(uint32_t index, enum ptx_opcode *opcode, const char **modifiers,
                 const char **operands)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        if (!ROWS[row].modifiers) {
            *opcode = (enum ptx_opcode)ROWS[row].opcode;
        } else if (index-- == 0) {
            *modifiers = ROWS[row].modifiers;
            *operands = ROWS[row].operands;
            return true;
        }
    }
    return false;
}
