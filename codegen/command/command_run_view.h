/* The page of `heddle run --view`. A child in Python serves it (python/heddle/view) out of the
 * board (runtime/engine/board.h), which is made here and written by the simulating processes. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_VIEW_H
#define HEDDLE_CODEGEN_COMMAND_RUN_VIEW_H

#include "codegen/command/hand_over.h"

/* Before the run; the place of the board is handed over. Nothing without --view. false: said on
 * standard error. */
bool run_view_start(struct command *c, struct handed *handed);
/* Behind it: a page that is open gets the last state. */
void run_view_end(void);

#endif
