/* Finds the files of the device library (see clang_library.h). */
#include "clang_library.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool clang_library_exists(const char *name)
{
    char path[sizeof CLANG_LIBRARY_FOLDER + 128];
    snprintf(path, sizeof path, "%s/%s", CLANG_LIBRARY_FOLDER, name);
    return access(path, R_OK) == 0;
}

bool clang_library_of_target(const char *target, char *name, size_t size, bool *is_borrowed)
{
    size_t length = strcspn(target, ":");
    const char *number = length > 3 ? target + 3 : "";
    snprintf(name, size, "oclc_isa_version_%.*s.bc", length > 3 ? (int)(length - 3) : 0, number);
    *is_borrowed = false;
    if (clang_library_exists(name))
        return true;
    if (length > 3)
        name[strlen(name) - 4] = '0'; /* the last digit, in front of ".bc" */
    return *is_borrowed = clang_library_exists(name);
}
