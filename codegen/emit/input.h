/* Files that are read whole: looked at before they are opened. */
#ifndef HEDDLE_CODEGEN_EMIT_INPUT_H
#define HEDDLE_CODEGEN_EMIT_INPUT_H

#include <stdint.h>
#include <stdio.h>

struct region;

/* The largest C file that a behaviour names, and the largest of other files. */
#define INPUT_SOURCE_BYTES ((uint64_t)16 << 20)
#define INPUT_BYTES        ((uint64_t)1 << 30)

/* The reason why a file of at most `most` bytes cannot be read; NULL: it can. A pipe would wait for
 * its writer, a device may have no end. */
const char *input_mistake(const char *path, uint64_t most);

/* Opens the file for reading; NULL: printed "heddle SUBJECT: cannot read 'PATH': ..." to stderr. */
FILE *input_open(const char *subject, const char *path, uint64_t most);

/* The bytes of a file and a NUL, in `region`; NULL when it cannot be read (errno). */
char *input_read(struct region *region, const char *path, size_t *size);

#endif
