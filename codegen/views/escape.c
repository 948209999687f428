/* Text for labels of Graphviz and for CSV. */
#include "escape.h"

void escape_html(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            fputs(entity, out);
        else
            putc(*text, out);
    }
}

void escape_csv(FILE *out, const char *text, const char *after)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fprintf(out, "\"%s", after);
}
