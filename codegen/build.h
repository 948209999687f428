/* `heddle build`: from a layout to platform.so.
 *
 * The cache ($HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle) holds
 *   objects/HH/HASH.o          one compiled unit; HASH covers the contents of all it includes, compiler and flags
 *   platforms/NAME-HASH/       generated files and platform.so of one description with one list of overrides
 * Objects are shared by all platforms. A build that finds everything in place starts no process. Builds of the same
 * platform wait for each other; files appear under their names only when they are complete. */
#ifndef HEDDLE_CODEGEN_BUILD_H
#define HEDDLE_CODEGEN_BUILD_H

#include "codegen/layout.h"
#include "codegen/toolkit.h"

struct build_request {
    const struct toolkit *toolkit;
    const char *file;             /* main file, for the name of the folder in the cache */
    const char *const *overrides; /* likewise */
    size_t override_count;
    const char *folder;           /* -o: instead of the one in the cache; NULL */
    bool generic;
    bool verbose;
    uint32_t jobs;                /* 0: as many as processors */
};

struct build_result {
    const char *platform_so;
    const char *tables; /* generic builds; NULL otherwise */
    uint32_t compiled;  /* objects that had to be made */
    bool linked;
};

/* false: message on stderr, with the compiler's. */
bool build_platform(struct arena *arena, const struct model *model, const struct build_request *request,
                    struct build_result *result);

#endif
