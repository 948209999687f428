/* From the graph of a diagram to Graphviz source, and from that to a picture. Called by dot.c and
 * json_diagrams.c. */
#ifndef HEDDLE_CODEGEN_VIEWS_DOT_H
#define HEDDLE_CODEGEN_VIEWS_DOT_H

#include <stdbool.h>
#include <stdio.h>

#include "dot_graph.h"

struct dot_look {
    bool links;                   /* nodes link to sections of a page: json_diagrams.h */
    bool legend;                  /* kinds and lines explained below the picture */
    const struct view_heat *heat; /* what a run measured; NULL: nothing */
};

void dot_write(const struct dot_picture *picture, struct dot_look look, FILE *out);

/* A file in memory, for the source of a diagram or its picture; NULL: errno says why. */
FILE *dot_scratch(void);
/* Runs `dot -TFORMAT` over `source` (of which it reads everything from the start). */
bool dot_layout(const char *format, FILE *source, FILE *out, struct view_error *error);

/* The diagram as SVG, its tooltips as <title> elements, which browsers show. */
bool dot_draw_svg(const struct dot_picture *picture, struct dot_look look, FILE *out,
                  struct view_error *error);

#endif
