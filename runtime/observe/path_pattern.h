/* Patterns of paths, as `--record-path` and `--series-counter` take them: '*' matches anything,
 * an index that is left out for all, a path for what is below it, too. */
#ifndef HEDDLE_RUNTIME_OBSERVE_PATH_PATTERN_H
#define HEDDLE_RUNTIME_OBSERVE_PATH_PATTERN_H

#include <stdbool.h>

bool path_pattern_matches(const char *pattern, const char *path);

/* Calls `take` with each line of `text` until one returns false; whether none did. */
bool path_pattern_each(const char *text, bool (*take)(const char *line));

#endif
