/* The page of `heddle run --view`: served on 127.0.0.1 only, below a random token.
 *
 *   GET  /TOKEN/                  the page
 *   GET  /TOKEN/state             what the board of `process` (from 1) shows, as JSON
 *   GET  /TOKEN/statistics        its counters so far, in the form of a statistics file
 *   GET  /TOKEN/topology          the coloured topology, SVG; `measure`
 *   GET  /TOKEN/waits             who waits for whom
 *   POST /TOKEN/ACTION            pause, go, step, waits, end
 *
 * Whatever has not the token is 403, and says no more. Threads of the server block all signals;
 * they only read the model and boards, so the run is the same with and without them. */
#ifndef HEDDLE_CODEGEN_VIEW_SERVER_H
#define HEDDLE_CODEGEN_VIEW_SERVER_H

#include "codegen/command/command.h"
#include "codegen/command/hand_over.h"

/* Before the run; says the address on standard error, and hands over where the board is. Nothing
 * without --view. false: said on standard error. */
bool view_server_start(struct command *c, struct handed *handed);
/* Behind it: a page that is open gets the last state. */
void view_server_end(void);

#endif
