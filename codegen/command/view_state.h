/* What boards (runtime/engine/board.h) show, as JSON for the page of `heddle run --view`. Boards
 * belong to processes that may be anything: what they say is bounded before it is used. One thread
 * at a time. */
#ifndef HEDDLE_CODEGEN_VIEW_STATE_H
#define HEDDLE_CODEGEN_VIEW_STATE_H

#include <jansson.h>

#include "codegen/report/measure_group.h"
#include "runtime/engine/board.h"

struct view_state {
    int file; /* with all places */
    const struct model *model;
    struct arena *arena; /* for as long as the page is served */
    struct measure_groups groups;
    struct board *boards[BOARD_PLACES]; /* mapped; NULL: not yet */
    uint64_t *values;                   /* a copy */
    uint64_t room;                      /* of it, in values */
};

/* Makes the file. false: errno says why. */
bool view_state_open(struct view_state *s, struct arena *arena, const struct model *model);
void view_state_close(struct view_state *s);

/* The board of a process, from 0; NULL: it has not opened the platform. */
struct board *view_state_board(struct view_state *s, unsigned place);
/* What the page shows of a process. */
json_t *view_state_read(struct view_state *s, unsigned place);
/* Its counters so far, in the form of a statistics file; NULL: there is no such process. */
json_t *view_state_statistics(struct view_state *s, unsigned place);
/* What was waited for when it last said so, NULL likewise; `wish`: the count of the answer. */
json_t *view_state_waits(struct view_state *s, unsigned place);
/* All processes have come to their end, if there were any. */
bool view_state_ended(struct view_state *s);

#endif
