/* The C compiler of a build. The date and size of its file are its version: asking it would take
 * longer than all the rest of an idle build. */
#include "compiler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path_search.h"

void compiler_add_identity(struct sha256 *hash, const char *path)
{
    struct stat status;
    char text[96] = "missing";
    if (stat(path, &status) == 0)
        snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)status.st_size,
                 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    sha256_add_string(hash, path);
    sha256_add_string(hash, text);
}

bool compiler_find(struct compiler *compiler)
{
    const char *name = getenv("HEDDLE_CC");
    compiler->name = name && *name ? name : "cc";
    char path[PATH_MAX], real[PATH_MAX];
    bool has_folder = strchr(compiler->name, '/') != NULL;
    if (!(has_folder || path_search(compiler->name, path, sizeof path))
        || !realpath(has_folder ? compiler->name : path, real)) {
        fprintf(stderr,
                "heddle: no C compiler: '%s' is not on the PATH\nhelp: install gcc or clang, or "
                "set HEDDLE_CC\n",
                compiler->name);
        return false;
    }
    struct sha256 hash;
    sha256_init(&hash);
    compiler_add_identity(&hash, real);
    sha256_finish(&hash, compiler->key);
    return true;
}
