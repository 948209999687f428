/* `heddle gen`: all generated C files of a model, written to a folder. */
#ifndef HEDDLE_CODEGEN_EMIT_GEN_H
#define HEDDLE_CODEGEN_EMIT_GEN_H

#include "layout.h"

struct gen_files {
    VECTOR(const char *) names; /* file names in the folder, in the order they were made */
    uint32_t written;           /* how many of them changed on disk */
};

/* NAME.gen.h of every named enumeration, protocol, component with behaviour, and part in scope. The
 * model may be one without a platform. False: message on stderr. */
bool gen_headers(struct region *region, const struct model *model, const char *folder,
                 struct gen_files *files);

/* The wrapper of every unit, platform.c and platform.tables. */
bool gen_platform(struct region *region, const struct layout *layout, const char *folder,
                  struct gen_files *files);

#endif
