/* The table behind `heddle explain`, made from codes.def. The first letter of a code is its
 * severity. */
#include "explain.h"

#include <string.h>
#include <strings.h>

const struct compile_explanation *explain_entry(enum diagnostic_code code)
{
#define DIAGNOSTIC(code, name, summary, text) {#code, name, COMPILE_ERROR, summary, text},
    static const struct compile_explanation table[] = {
#include "codes.def"
    };
#undef DIAGNOSTIC
#define DIAGNOSTIC(code, name, summary, text) {#code, name, COMPILE_WARNING, summary, text},
    static const struct compile_explanation warnings[] = {
#include "codes.def"
    };
#undef DIAGNOSTIC
    return table[code].code[0] == 'E' ? &table[code] : &warnings[code];
}

size_t compile_explanation_count(void)
{
    return DIAGNOSTIC_CODE_COUNT;
}

const struct compile_explanation *compile_explanation_at(size_t index)
{
    return index < DIAGNOSTIC_CODE_COUNT ? explain_entry((enum diagnostic_code)index) : NULL;
}

const struct compile_explanation *compile_explain(const char *code)
{
    for (size_t i = 0; i < DIAGNOSTIC_CODE_COUNT; i++) {
        const struct compile_explanation *entry = explain_entry((enum diagnostic_code)i);
        if (strcasecmp(entry->code, code) == 0 || strcmp(entry->name, code) == 0)
            return entry;
    }
    return NULL;
}
