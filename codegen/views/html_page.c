/* See html_page.h. No fonts, styles or scripts from elsewhere: pages are read from a disk, years
 * later. Style and script are files of their own, whose lines the build quotes. */
#include "codegen/views/html_page.h"

#include "codegen/views/docs_text.h"

static const char *const style[] = {
#include "html_page.css.inc"
};

static const char *const script[] = {
#include "html_page.js.inc"
};

static void write_lines(FILE *out, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fputs(lines[i], out);
}

void html_write_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    docs_write_html(out, title);
    fputs("</title>\n<style>\n", out);
    write_lines(out, style, sizeof style / sizeof style[0]);
    fputs("</style>\n</head>\n<body>\n", out);
}

void html_write_tools(FILE *out)
{
    fputs("<div class=\"tools\"><input id=\"search\" type=\"search\" autocomplete=\"off\" "
          "placeholder=\"search: a path, a type, a parameter\" aria-label=\"search\">"
          "<ul id=\"hits\"></ul>"
          "<button data-key=\"+\" title=\"closer\">+</button>"
          "<button data-key=\"-\" title=\"farther\">−</button>"
          "<button data-key=\"0\" title=\"the whole picture\">fit</button>"
          "<button data-key=\"u\" title=\"one level up\">up</button>"
          "<small>keys: / search, + − 0 zoom, h j k l move, u up; drag, shift and wheel</small>"
          "</div>\n",
          out);
}

void html_write_script(FILE *out)
{
    fputs("<script>\n", out);
    write_lines(out, script, sizeof script / sizeof script[0]);
    fputs("</script>\n", out);
}
