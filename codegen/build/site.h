/* The site of a build: the folder in which it works, and its compiler. One request has one site, so
 * builds of the same platform meet there and wait for each other. */
#ifndef HEDDLE_CODEGEN_BUILD_SITE_H
#define HEDDLE_CODEGEN_BUILD_SITE_H

#include <stdbool.h>

#include "base/region.h"

#include "build.h"
#include "compiler.h"

struct site {
    struct region *region;
    const struct build_request *request;
    const char *cache;
    const char *folder; /* generated files, platform.so and the stamp; may not exist yet */
    struct compiler compiler;
};

/* False: message on stderr. */
bool site_open(struct site *site, struct region *region, const struct build_request *request);

/* A file of the site's folder. */
const char *site_file(const struct site *site, const char *name);

/* Makes the folder and locks it, until the file is closed or the process ends. -1: message on
 * stderr. */
int site_lock(const struct site *site);
/* Notes a use of the site, for the cache. */
void site_touch(const struct site *site);

#endif
