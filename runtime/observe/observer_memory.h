/* Memory of observers of a run, which is not simulated state: without it the process ends. */
#ifndef HEDDLE_RUNTIME_OBSERVER_MEMORY_H
#define HEDDLE_RUNTIME_OBSERVER_MEMORY_H

#include "runtime/engine/bug.h"

static inline void *needed(void *memory, const char *what)
{
    if (!memory)
        die("out of memory for %s", what);
    return memory;
}

#endif
