/* The part that this library takes in every run; see runtime/engine/extension.h. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_SAMPLING_EXTENSION_H
#define HEDDLE_COMPONENTS_SAMPLING_SAMPLING_EXTENSION_H

#include "runtime/engine/extension.h"

/* Registered by a constructor of its own; named here for the linker's -u only. */
extern const struct extension sampling_extension __attribute__((visibility("hidden")));

#endif
