/* A session of several ranks: checks what they must have in common, and runs the ranks other than
 * the first. */
#ifndef HEDDLE_RUNTIME_SESSION_RANKS_SESSION_H
#define HEDDLE_RUNTIME_SESSION_RANKS_SESSION_H

#include <stdbool.h>

struct platform_table;

/* True if all ranks hold the same platform, the same code, and the same options that decide what
 * happens. False: rank 0 has printed what differs. */
bool ranks_agree(const struct platform_table *table);
/* Runs a rank other than 0 whenever rank 0 runs, until rank 0 has come to its end. Returns an exit
 * status. */
int ranks_serve(void);

#endif
