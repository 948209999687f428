/* Finds programs on the PATH. */
#include "path_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool path_search(const char *name, char *path, size_t size)
{
    for (const char *at = getenv("PATH"); at; at = *at ? at + 1 : NULL) {
        struct stat status;
        size_t folder = strcspn(at, ":");
        int length =
            snprintf(path, size, "%.*s/%s", folder ? (int)folder : 1, folder ? at : ".", name);
        if (length > 0 && (size_t)length < size && stat(path, &status) == 0
            && S_ISREG(status.st_mode) && access(path, X_OK) == 0)
            return true;
        at += folder;
    }
    return false;
}
