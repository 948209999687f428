/* Text into labels of Graphviz and into CSV. */
#ifndef HEDDLE_CODEGEN_VIEWS_ESCAPE_H
#define HEDDLE_CODEGEN_VIEWS_ESCAPE_H

#include <stdio.h>

/* With &, <, >, " as entities. */
void escape_html(FILE *out, const char *text);
/* A field of CSV (RFC 4180), and what is after it. */
void escape_csv(FILE *out, const char *text, const char *after);

#endif
