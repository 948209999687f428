/* The authors' C files of a layout's units, looked at before anything is compiled: a C compiler's
 * message about generated code would not lead to the description. */
#ifndef HEDDLE_CODEGEN_BUILD_SOURCES_H
#define HEDDLE_CODEGEN_BUILD_SOURCES_H

#include <stdbool.h>

#include "codegen/emit/layout.h"

/* True if each file can be read and no two files of a unit have one base name; otherwise prints
 * every mistake to stderr, at the declaration of the component or part. */
bool sources_check(const struct layout *layout);

#endif
