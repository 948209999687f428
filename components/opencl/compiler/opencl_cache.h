/* The cache of builds: a file for each in $HEDDLE_CACHE/opencl; `heddle run` sets HEDDLE_CACHE for
 * programs, and without it there is no cache. A build is found by all that it was made of: sources,
 * headers, options, target, and which compiler, device library and library of ours there are.
 * Header files that the compiler found by itself are in the file with their digests, and count
 * as well. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_CACHE_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_CACHE_H

#include "base/sha256.h"

#include "opencl_compiler.h"

/* Adds bytes, so that neighbours do not run together. */
void opencl_cache_add(struct sha256 *key, const void *bytes, size_t size);
/* Adds which file that is: path, size and time of its last change. */
void opencl_cache_add_identity(struct sha256 *key, const char *path);

/* Looks for a build. `key` has 64 digits. */
bool opencl_cache_find(const char *key, struct opencl_built *built);
/* Keeps a build. `dependencies`: the rule of a makefile that the compiler wrote; NULL: it read
 * nothing. A cache that cannot be written to is no error. */
void opencl_cache_keep(const char *key, const struct opencl_built *built, const char *dependencies);

#endif
