/* Programs that are named without a folder. */
#ifndef HEDDLE_BASE_PATH_SEARCH_H
#define HEDDLE_BASE_PATH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes where the first program of this name is, in the order of PATH: a file that may be
 * executed. As in a shell an empty folder there is the current one. */
bool path_search(const char *name, char *path, size_t room);

#endif
