/* Work that is done between windows; see deferred.c. Called by the leader. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_DEFERRED_H
#define HEDDLE_RUNTIME_SCHEDULER_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

void deferred_open(void); /* for a platform */
/* True if a component has left work for the end of this window. */
bool window_has_work(void);
/* Does the work that components have left for the end of this window; the components tick again at
 * their first edges at or after `end_ps`. */
void window_do_work(uint64_t end_ps);

#endif
