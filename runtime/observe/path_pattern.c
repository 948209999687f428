/* Matches paths of components with patterns that users write; path_pattern.h has their form. */
#define _GNU_SOURCE /* strdup, strtok_r */
#include "path_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

bool path_pattern_matches(const char *pattern, const char *path)
{
    if (!*pattern)
        return !*path || *path == '.' || *path == '[';
    if (*pattern == '*')
        return path_pattern_matches(pattern + 1, path)
               || (*path && path_pattern_matches(pattern, path + 1));
    if (*path == '[' && *pattern != '[') {
        const char *end = strchr(path, ']');
        return end && path_pattern_matches(pattern, end + 1);
    }
    return *pattern == *path && path_pattern_matches(pattern + 1, path + 1);
}

bool path_pattern_each(const char *text, bool (*take)(const char *line))
{
    char *copy = grow_text(text, "a list of paths"), *rest = NULL;
    bool is_complete = true;
    for (char *line = strtok_r(copy, "\n", &rest); is_complete && line;
         line = strtok_r(NULL, "\n", &rest))
        is_complete = take(line);
    free(copy);
    return is_complete;
}
