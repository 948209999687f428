/* The folder in which a build works, and its compiler. */
#include "site.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/number.h"
#include "base/sha256.h"
#include "codegen/emit/emit.h"
#include "dsl/source.h"

#include "cache.h"

#define LOCK "lock"

/* The folder depends on all that was asked for, not on what the files hold. */
static const char *choose_folder(const struct site *site)
{
    const struct build_request *request = site->request;
    if (request->folder)
        return request->folder;
    static const char *const variables[] = {"HEDDLE_CFLAGS", "HEDDLE_LDFLAGS"};
    struct sha256 hash;
    char real[PATH_MAX], digest[65];
    sha256_init(&hash);
    sha256_add_string(&hash, realpath(request->file, real) ? real : request->file);
    sha256_add_string(&hash, request->toolkit->library);
    sha256_add_string(&hash, site->compiler.key);
    sha256_add_string(&hash, request->platform ? request->platform : "");
    sha256_add_string(&hash, request->generic ? "generic" : "");
    sha256_add_string(&hash, request->allow_incoherent ? "incoherent" : "");
    sha256_add_string(&hash, request->profile ? "profile" : "");
    for (size_t i = 0; i < ARRAY_COUNT(variables); i++)
        sha256_add_string(&hash, getenv(variables[i]) ? getenv(variables[i]) : "");
    for (size_t i = 0; i < request->override_count; i++)
        sha256_add_string(&hash, request->overrides[i]);
    sha256_add_string(&hash, "-I");
    for (size_t i = 0; i < request->include_count; i++)
        sha256_add_string(&hash, realpath(request->include[i], real) ? real : request->include[i]);
    sha256_finish(&hash, digest);
    char *stem = region_strdup(site->region, source_base_name(request->file));
    stem[strcspn(stem, ".")] = '\0';
    return region_printf(site->region, "%s/platforms/%s-%.16s", site->cache, stem, digest);
}

bool site_open(struct site *site, struct region *region, const struct build_request *request)
{
    *site = (struct site){.region = region, .request = request, .cache = cache_folder(region)};
    if (!cache_is_safe(site->cache) || !compiler_find(&site->compiler))
        return false;
    site->folder = choose_folder(site);
    return true;
}

const char *site_file(const struct site *site, const char *name)
{
    return region_printf(site->region, "%s/%s", site->folder, name);
}

int site_lock(const struct site *site)
{
    if (!emit_make_folder(site->folder))
        return -1;
    const char *path = site_file(site, LOCK);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        cache_touch(path);
    if (file >= 0 && flock(file, LOCK_EX) == 0)
        return file;
    fprintf(stderr, "heddle: cannot lock '%s': %s\n", path, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

void site_touch(const struct site *site)
{
    cache_touch(site_file(site, LOCK));
}
