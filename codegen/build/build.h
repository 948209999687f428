/* `heddle build`: from a layout to platform.so.
 *
 * The cache is $HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle. It holds
 *
 * - objects/HH/HASH.o: one compiled unit; HASH covers all it includes, compiler and flags
 * - libraries/HH/HASH.so: linked objects
 * - platforms/NAME-HASH/: generated files, platform.so and the stamp of one description with one
 *   list of overrides
 *
 * Each has a checksum, and what is damaged is made anew; what killed builds have left goes at the
 * next build. A cache that others can write to is refused.
 *
 * Objects that came compiled with the toolkit (toolkit.h) are taken from there, by the same hash.
 *
 * Objects and libraries are shared by all platforms. A build that finds everything in place starts
 * no process, and one whose inputs all are as old as they were reads none of them. Builds of the
 * same platform wait for each other; files appear under their names only when they are complete. */
#ifndef HEDDLE_CODEGEN_BUILD_BUILD_H
#define HEDDLE_CODEGEN_BUILD_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "dsl/model.h"

#include "jobs.h"
#include "toolkit.h"

struct build_request {
    const struct toolkit *toolkit;
    const char *file;             /* main file, for the name of the folder in the cache */
    const char *platform;         /* for that name, too; NULL: the last one of the file */
    const char *const *overrides; /* for that name, too */
    size_t override_count;
    const char *const *include; /* -I */
    size_t include_count;
    const char *folder; /* -o: instead of the one in the cache; NULL */
    /* True if the platform will do, which is asked before anything is made of it. False: the reason
     * was said. NULL: any will do. */
    bool (*accept)(const struct model *model, const void *context);
    const void *context;
    bool generic;
    bool allow_incoherent;
    bool
        profile; /* -DHEDDLE_PROFILE: components count by instruction (runtime/observe/profile.h) */
    bool verbose;
    enum jobs_progress progress;
    bool colour;   /* diagnostics for a terminal */
    uint32_t jobs; /* 0: as many as processors */
};

struct build_result {
    const char *platform_so;
    const char *tables;
    uint32_t compiled; /* objects that had to be made */
    bool linked;
    bool refused; /* by `accept` */
};

/* True if the result of an earlier build of this request is still good, by times of files only. */
bool build_is_current(struct region *region, const struct build_request *request,
                      struct build_result *result);

/* Reads, elaborates, generates, compiles, links. False: messages on stderr, the front end's and the
 * compiler's included. */
bool build_platform(struct region *region, const struct build_request *request,
                    struct build_result *result);

#endif
