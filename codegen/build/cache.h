/* The cache: the folder in which builds keep their results (build.h lists them), and its bound.
 *
 * When a build has made something new and the cache holds more than $HEDDLE_CACHE_LIMIT (default
 * 2 GiB; "500MiB"; 0: no bound), the entries used longest ago are removed: compiled objects,
 * folders of platforms with the libraries that no other platform names, code of OpenCL's kernels. A
 * use is a build that takes an object, or a build or run of a platform. An entry used within the
 * last hour stays, since a build or run may be about to take it; so does a platform that is being
 * built. */
#ifndef HEDDLE_CODEGEN_BUILD_CACHE_H
#define HEDDLE_CODEGEN_BUILD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"

#define CACHE_DEFAULT_LIMIT  ((uint64_t)2 << 30)
#define CACHE_RECENT_SECONDS 3600

/* $HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle, else a folder in /tmp. */
const char *cache_folder(struct region *region);

/* True if only this user (and root) can write in the cache, or replace it. Its contents become code
 * that runs. False: the reason was said on stderr. */
bool cache_is_safe(const char *folder);

/* Notes that a build runs until the file is closed, also by the compilers that it has started.
 * Before, unless others run, removes what builds have left that were killed. -1: said why on
 * stderr. */
int cache_begin(struct region *region, const char *folder);

/* Closes the file of cache_begin(). A build that is not `ok` may have left something. */
void cache_end(int file, bool ok);

/* When the disk of the cache is full, says so on stderr. */
void cache_say_full(const char *folder);

/* $HEDDLE_CACHE_LIMIT in bytes. False: it is no size (message on stderr). */
bool cache_limit(uint64_t *bytes);

/* Notes a use of the object or lock file. */
void cache_touch(const char *path);

/* Removes what was used longest ago until at most `limit` bytes are left. Returns how many bytes
 * were removed. */
uint64_t cache_prune(struct region *region, const char *folder, uint64_t limit);

#endif
