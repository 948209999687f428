/* Colours, numbers and widths of a diagram that shows what a run measured (view_heat of view.h).
 *
 * The scale is linear and begins at zero; its end is printed below the picture, and the number
 * is in every node, so two pictures with different ends cannot be mistaken for each other. The
 * colours go from pale yellow to dark blue, in steps of lightness that people with any kind of
 * colour vision tell apart (YlGnBu of ColorBrewer; Brewer, 2003). */
#ifndef HEDDLE_CODEGEN_VIEWS_DOT_HEAT_H
#define HEDDLE_CODEGEN_VIEWS_DOT_HEAT_H

#include "dot_pen.h"

#define DOT_HEAT_COLOUR 8 /* "#rrggbb" */

/* Sums over all instances of a node. */
struct view_share dot_heat_share(const struct view_heat *heat, enum model_measure_kind kind,
                                 const struct model_instance *const *instances, uint32_t count);
/* The fullest instance of a node; whole is 0 when it is no more than twice as full as the mean, or
 * when the measure is no load (hit rates). */
struct view_share dot_heat_fullest(const struct view_heat *heat, enum model_measure_kind kind,
                                   const struct model_instance *const *instances, uint32_t count);
/* White when nothing was measured. */
const char *dot_heat_colour(const struct view_heat *heat, const struct view_share *share,
                            char colour[static DOT_HEAT_COLOUR]);
/* The colour of text that is readable on dot_heat_colour(). */
const char *dot_heat_ink(const struct view_heat *heat, const struct view_share *share);
/* "37.2 %", or "" when nothing was measured. */
const char *dot_heat_text(const struct view_share *share, char text[static 16]);
/* A line for every measure that there is, with the least and the most of several instances. */
void dot_heat_tooltip(const struct dot_pen *pen, const struct dot_node *node);
/* The width of an edge's line, and lines for its tooltip. */
double dot_heat_width(const struct dot_pen *pen, const struct dot_edge *e);
void dot_heat_edge_tooltip(const struct dot_pen *pen, const struct dot_edge *e);
/* Sums over the links in a box of shared wires. */
struct view_share dot_heat_wires(const struct dot_pen *pen, uint32_t box);
/* Cells of the legend. */
void dot_heat_legend(const struct view_heat *heat, FILE *out);

#endif
