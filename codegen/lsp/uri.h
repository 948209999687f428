/* Paths as file: URIs (RFC 8089), and back. */
#ifndef HEDDLE_CODEGEN_URI_H
#define HEDDLE_CODEGEN_URI_H

#include <stdbool.h>

#include "dsl/arena.h"

/* The path of a file: URI of this machine; of any other URI, the URI itself. */
const char *uri_path(struct arena *arena, const char *uri);
const char *uri_of_path(struct arena *arena, const char *path);

#endif
