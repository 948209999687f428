/* Names of kernels for people. The file is its own, so that only what links libiberty needs it. */
#include <libiberty/demangle.h>
#include <string.h>

#include "base/grow.h"

#include "code_object.h"

char *code_object_readable_name(const char *symbol)
{
    char *name = cplus_demangle_v3(symbol, DMGL_PARAMS | DMGL_ANSI);
    return name ? name : grow_text(symbol, "a name");
}
