/* Finds programs on the PATH. */
#include "path_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool path_search(const char *name, char *path, size_t room)
{
    for (const char *at = getenv("PATH"); at; at = *at ? at + 1 : NULL) {
        struct stat status;
        size_t size = strcspn(at, ":");
        int length = snprintf(path, room, "%.*s/%s", size ? (int)size : 1, size ? at : ".", name);
        if (length > 0 && (size_t)length < room && stat(path, &status) == 0
            && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
            return true;
        at += size;
    }
    return false;
}
