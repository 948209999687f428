/* The coloured topology of a run that goes on: `heddle dot --svg --stats`, with the counters so
 * far, as a process of its own that gives way to the simulation. */
#ifndef HEDDLE_CODEGEN_VIEW_PICTURE_H
#define HEDDLE_CODEGEN_VIEW_PICTURE_H

#include <jansson.h>

#include "codegen/command/command.h"

struct view_picture {
    struct options_list words;  /* of the command, but for what changes */
    size_t statistics, measure; /* their places */
};

void view_picture_open(struct view_picture *p, struct command *c);
/* The SVG, to be freed; NULL: it could not be drawn. From any thread. */
char *view_picture_draw(const struct view_picture *p, json_t *statistics, const char *measure,
                        size_t *size);

#endif
