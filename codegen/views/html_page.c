/* See html_page.h. No fonts, styles or scripts from elsewhere: pages are read from a disk, years
 * later. */
#include "codegen/views/html_page.h"

#include "codegen/views/docs_text.h"

static const char style[] =
    "body { font: 15px/1.5 Helvetica, Arial, sans-serif; color: #222; margin: 0 auto; padding: "
    "1rem 2rem;"
    " max-width: 110rem; }\n"
    "h1 { font-size: 1.4rem; margin: .3rem 0; } h2 { font-size: 1.1rem; } h3 { font-size: 1rem; }\n"
    "a { color: #0072B2; } code { font-size: .92em; background: #F1F1EF; padding: 0 .2em; }\n"
    "nav { color: #777; } .type { color: #777; font-weight: normal; }\n"
    ".view { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }\n"
    ".picture { flex: 5 1 50rem; overflow-x: auto; border: 1px solid #DDD; border-radius: 6px; "
    "padding: .6rem; position: sticky; top: .5rem; background: #FFF; }\n"
    ".picture svg { max-width: 100%; height: auto; }\n"
    ".picture svg a:hover polygon { stroke-width: 2.5; }\n"
    "aside { flex: 1 1 18rem; min-width: 0; }\n"
    "table { border-collapse: collapse; margin: .5rem 0; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .15rem .7rem .15rem 0; "
    "border-bottom: 1px solid #E4E4E4; }\n"
    "th { font-weight: bold; color: #555; }\n"
    "td.value { white-space: nowrap; font-family: monospace; }\n"
    "details { border-bottom: 1px solid #E4E4E4; padding: .2rem 0; } summary { cursor: pointer; }\n"
    ".kind { border-radius: 3px; padding: 0 .35em; font-size: .8em; }\n"
    "section[hidden] { display: none; }\n";

static const char script[] =
    "function show() {\n"
    "  var wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));\n"
    "  var sections = document.querySelectorAll('section');\n"
    "  var section = wanted ? wanted.closest('section') : sections[0];\n"
    "  sections.forEach(function (s) { s.hidden = s !== section; });\n"
    "  if (wanted && wanted.tagName === 'DETAILS') {\n"
    "    wanted.open = true;\n"
    "    wanted.scrollIntoView({ block: 'nearest' });\n"
    "  }\n"
    "  else { scrollTo(0, 0); }\n"
    "}\n"
    "addEventListener('hashchange', show);\n"
    "show();\n";

void html_write_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    docs_write_html(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void html_write_script(FILE *out)
{
    fprintf(out, "<script>\n%s</script>\n", script);
}
