/* The code objects that make_objects.sh compiled, for the tests of the readers and of the HIP
 * library. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_OBJECT_OBJECTS_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_OBJECT_OBJECTS_H

#include <stddef.h>

/* The bytes of `name` in the folder of objects, to be freed; skips the test loudly when there is no
 * compiler. */
unsigned char *objects_read(const char *name, size_t *size);

#endif
