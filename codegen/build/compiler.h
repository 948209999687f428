/* The C compiler of a build: $HEDDLE_CC, else cc. */
#ifndef HEDDLE_CODEGEN_BUILD_COMPILER_H
#define HEDDLE_CODEGEN_BUILD_COMPILER_H

#include <stdbool.h>

#include "base/sha256.h"

struct compiler {
    const char *name; /* as the user gave it */
    char key[65];     /* changes when another compiler, or version, is behind the name */
};

/* False: there is none (message on stderr). */
bool compiler_find(struct compiler *compiler);

/* Adds a file as it is now, without reading it: path, size, time of change. */
void compiler_add_identity(struct sha256 *hash, const char *path);

#endif
