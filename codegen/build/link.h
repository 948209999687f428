/* The last step of a build: objects and the toolkit's archives become platform.so. */
#ifndef HEDDLE_CODEGEN_BUILD_LINK_H
#define HEDDLE_CODEGEN_BUILD_LINK_H

#include <stdbool.h>

#include "build.h"
#include "build_flags.h"
#include "site.h"

/* Links, unless the cache has the library. False: message on stderr, the linker's included. */
bool link_platform(const struct site *site, const struct words *objects,
                   struct build_result *result);

#endif
