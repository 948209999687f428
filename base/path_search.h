/* Programs that are named without a folder. */
#ifndef HEDDLE_BASE_PATH_SEARCH_H
#define HEDDLE_BASE_PATH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the first program of this name, a file that may be executed, in the order of
 * PATH. As in a shell, an empty folder there is the current one. False: there is none. */
bool path_search(const char *name, char *path, size_t size);

#endif
