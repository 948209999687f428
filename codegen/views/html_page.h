/* What does not depend on the platform in a page: styles and the script. */
#ifndef HEDDLE_CODEGEN_HTML_PAGE_H
#define HEDDLE_CODEGEN_HTML_PAGE_H

#include <stdio.h>

/* From the doctype to <body>, with the styles; `title` as plain text. */
void html_write_head(FILE *out, const char *title);
/* Search and zoom, above the sections of a platform. */
void html_write_tools(FILE *out);
/* Makes the tools work; shows the section that the address names, hides the others; without scripts
 * all are shown. */
void html_write_script(FILE *out);

#endif
