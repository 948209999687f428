/* Paths as file: URIs (RFC 8089), and back. */
#ifndef HEDDLE_LSP_URI_H
#define HEDDLE_LSP_URI_H

#include <stdbool.h>

#include "base/region.h"

/* The path of a file: URI of this machine; of any other URI, the URI itself. */
const char *uri_path(struct region *region, const char *uri);
const char *uri_of_path(struct region *region, const char *path);

#endif
