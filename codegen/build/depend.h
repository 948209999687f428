/* The dependencies of a C file: itself and all files that it includes with quotes, by content.
 *
 * The scan looks at #include lines only, whatever conditions they are under, so it may find more
 * files than the compiler reads, never fewer; an include whose name is a macro makes all files of
 * the includer's folder count. System headers (<...>) belong to the compiler. Files are read once
 * per `struct depend`. */
#ifndef HEDDLE_CODEGEN_BUILD_DEPEND_H
#define HEDDLE_CODEGEN_BUILD_DEPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/sha256.h"
#include "codegen/emit/intern.h"

struct depend_file;

struct depend {
    struct region *region;
    struct intern paths;
    struct intern folders; /* 0: missing */
    VECTOR(struct depend_file *) files;
    uint32_t visit;
};

void depend_init(struct depend *depend, struct region *region);

/* Adds names and contents of `path` and everything it includes to `hash`; quoted names are searched
 * beside the includer, then in `folders`. False: `path` itself cannot be read (message on stderr).
 * Independent of where the files are. */
bool depend_add(struct depend *depend, struct sha256 *hash, const char *path,
                const char *const *folders, uint32_t folder_count);

/* Paths looked at so far, also of files that turned out not to be there. */
uint32_t depend_count(const struct depend *depend);
const char *depend_path(const struct depend *depend, uint32_t index);

#endif
