/* SVG as a browser wants it. Graphviz puts tooltips in xlink:title attributes, which browsers
 * ignore, and names of our nodes in <title> elements, which they show. This file puts the first in
 * place of the second. A space at the beginning of a text is lost in SVG, so it becomes one that
 * does not break. This file reads tags and text only as far as that takes: attribute values of
 * Graphviz hold no bare quotes or brackets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dot.h"

/* One tag, from '<' to behind '>'. */
static void copy_tag(const char *tag, const char *end, FILE *out)
{
    static const char tooltip[] = "xlink:title=\"";
    const char *title = NULL;
    size_t title_length = 0;
    for (const char *p = tag; p < end;) {
        if (strncmp(p, tooltip, sizeof tooltip - 1) == 0) {
            title = p + sizeof tooltip - 1;
            title_length = strcspn(title, "\"");
            p = title + title_length + 1;
            continue;
        }
        putc(*p++, out);
    }
    if (title)
        fprintf(out, "<title>%.*s</title>", (int)title_length, title);
}

static const char *behind(const char *text, const char *before)
{
    const char *at = strstr(text, before);
    return at ? at + strlen(before) : text + strlen(text);
}

static void rewrite(const char *svg, FILE *out)
{
    while (*svg) {
        if (strncmp(svg, "<title>", 7) == 0) {
            svg = behind(svg, "</title>");
            svg += *svg == '\n';
            continue;
        }
        if (strncmp(svg, "<!--", 4) == 0) {
            svg = behind(svg, "-->");
            svg += *svg == '\n';
            continue;
        }
        if (*svg != '<') {
            putc(*svg++, out);
            continue;
        }
        const char *end = behind(svg, ">");
        copy_tag(svg, end, out);
        if (strncmp(svg, "<text", 5) == 0 && *end == ' ') {
            fputs("&#160;", out);
            end++;
        }
        svg = end;
    }
}

bool dot_draw_svg(const struct dot_picture *picture, struct dot_look look, FILE *out,
                  struct view_error *error)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *source = dot_scratch();
    FILE *drawn = source ? open_memstream(&svg, &size) : NULL;
    if (!drawn) {
        snprintf(error->text, sizeof error->text, "cannot write a temporary file: %s",
                 strerror(errno));
        if (source)
            fclose(source);
        return false;
    }
    dot_write(picture, look, source);
    bool ok = dot_layout("svg", source, drawn, error);
    fclose(source);
    fclose(drawn);
    if (ok)
        rewrite(svg, out);
    free(svg);
    return ok;
}
