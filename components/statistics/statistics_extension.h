/* The functions by which the runtime calls this library; components/sampling registers them before
 * its own, so that the section `kernels` is first. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_STATISTICS_EXTENSION_H
#define HEDDLE_COMPONENTS_STATISTICS_STATISTICS_EXTENSION_H

#include "runtime/engine/extension.h"

extern const struct extension statistics_extension __attribute__((visibility("hidden")));

#endif
