/* A folder of a test's own, and what tests do with the output of views. */
#ifndef HEDDLE_TESTS_CODEGEN_VIEWS_SCRATCH_H
#define HEDDLE_TESTS_CODEGEN_VIEWS_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>

/* A new empty folder below the temporary one; the same string stays valid until the next call. */
const char *scratch_make(void);
/* With everything in it. */
void scratch_remove(const char *dir);
/* The whole file, to be freed; NULL when there is none. */
char *scratch_read(const char *dir, const char *name);
/* Is `text` what the golden file says? With UPDATE_GOLDEN=1 in the environment it is written there,
 * and yes. The folder of golden files is in the environment, too: VIEWS_GOLDEN. */
bool scratch_is_golden(const char *name, const char *text);
/* How often `what` occurs in `text`. */
unsigned scratch_count(const char *text, const char *what);

#endif
