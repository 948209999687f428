/* Memory as wavefronts have left it, for a debugger with timing: what they have stored and caches
 * still hold, by line. An instruction counts when it is executed, so atomics and stores that
 * nothing orders are taken in the order of the events. Pure. */
#ifndef HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_STORES_H
#define HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void debug_stores_write(uint64_t address, const void *bytes, size_t size);
/* Replaces bytes read from memory by newer ones that wavefronts have stored. */
void debug_stores_read(uint64_t address, void *bytes, size_t size);
/* Something else has written there. */
void debug_stores_forget(uint64_t address, uint64_t size);
/* Forgets what memory has by now. `read` returns false for bytes that memory has no more; those are
 * forgotten, too. */
void debug_stores_settle(bool (*read)(uint64_t address, void *bytes, size_t size));

#endif
