/* "Nothing has changed since": a list of files and folders as a build found them. When all still
 * are what they were, the build's result stands and nothing needs to be read, not even the
 * description.
 *
 * A file is known by size and time of change in nanoseconds, a folder by its time (so a file that
 * appears in it counts), a missing one by being missing. A file that changed after the build began
 * could have been read before or after that; then no stamp is written. Results, and the list
 * itself, have checksums. */
#ifndef HEDDLE_CODEGEN_BUILD_STAMP_H
#define HEDDLE_CODEGEN_BUILD_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "codegen/emit/intern.h"

struct stamp {
    struct region *region;
    struct intern seen;
    VECTOR(const char *) paths;
    VECTOR(const char *) results;
    const char *here; /* folder that relative paths start from */
    int64_t began_ns; /* wall clock, only compared with times of files */
};

/* Before anything is read. */
void stamp_begin(struct stamp *stamp, struct region *region);
void stamp_add(struct stamp *stamp, const char *path);
/* Adds a result, a file beside the list, which is known by its content: no other process is to
 * write it. */
void stamp_add_result(struct stamp *stamp, const char *name);

/* Writes the list; removes an old one when none may be written. */
void stamp_write(const struct stamp *stamp, const char *file);
/* True if `file` exists and everything in it still holds. */
bool stamp_holds(const char *file);

#endif
