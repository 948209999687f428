/* Declarations that the files of a service share. */
#ifndef HEDDLE_DSL_SERVICE_SERVICE_H
#define HEDDLE_DSL_SERVICE_SERVICE_H

#include "dsl/pipeline/compilation.h"

#include "names.h"

struct service {
    struct compilation *compilation;
    struct region *region;
    const struct program *program;
    const struct source_file *file;
    struct names names;
    bool has_names;
};

/* The index of all names, made when it is first asked for. */
struct names *service_names(struct service *s);

#endif
