/* Part lru: written by hand in the form that the generator emits. */
#ifndef SPIKE_LRU_GEN_H
#define SPIKE_LRU_GEN_H

#include "replacement_policy.h"
#include "runtime/engine.h"

struct lru_io {
    struct part base;
};

#endif
