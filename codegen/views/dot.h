/* From the graph of a diagram to Graphviz source, and from that to a picture. Called by dot.c. */
#ifndef HEDDLE_CODEGEN_DOT_H
#define HEDDLE_CODEGEN_DOT_H

#include <stdbool.h>
#include <stdio.h>

#include "codegen/views/dot_graph.h"

/* `heat`: what a run measured; NULL: nothing. */
void dot_write(const struct dot_picture *picture, const struct view_heat *heat, FILE *out);

/* A file in memory, for the source of a diagram or its picture; NULL: errno says why. */
FILE *dot_scratch(void);
/* Runs `dot -TFORMAT` over `source` (of which it reads everything from the start). */
bool dot_layout(const char *format, FILE *source, FILE *out, struct view_error *error);

/* The diagram as SVG, its tooltips as <title> elements, which browsers show. */
bool dot_draw_svg(const struct dot_picture *picture, const struct view_heat *heat, FILE *out,
                  struct view_error *error);

#endif
