/* Opens the shared object of a platform and starts the driver in it. */
#include "open_platform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SAY(format, ...) fprintf(stderr, "heddle: " format "\n", __VA_ARGS__)

enum exit_status exit_status_of(enum driver_status status)
{
    switch (status) {
    case DRIVER_LIMIT:
        return EXIT_LIMIT;
    case DRIVER_STALL:
        return EXIT_STALL;
    case DRIVER_DEADLOCK:
        return EXIT_DEADLOCK;
    default:
        return EXIT_GAVE_UP;
    }
}

const struct heddle_platform *open_platform(const char *path)
{
    const struct heddle_platform *(*open)(uint32_t);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "heddle_platform_open") : NULL;
    if (!object)
        SAY("cannot open the platform that HEDDLE_PLATFORM names: %s", dlerror());
    else if (!symbol)
        SAY("'%s' is not a platform built by heddle", path);
    if (!symbol)
        return NULL;
    memcpy(&open, &symbol, sizeof open);
    const struct heddle_platform *platform = open(PLATFORM_ABI);
    if (!platform)
        SAY("'%s' was built by another version of heddle; build it again", path);
    return platform;
}

const struct driver_api *start_platform(const struct heddle_platform *platform, const char *options,
                                        const char *path)
{
    if (!platform->start(options))
        return NULL; /* a message has the reason */
    const struct driver_api *api = platform->driver();
    if (api && api->version == DRIVER_API_VERSION)
        return api;
    if (api)
        SAY("'%s' speaks version %u of the driver interface, this program version %u; build it "
            "again",
            path, api->version, DRIVER_API_VERSION);
    else
        SAY("'%s' has no driver component, so that no program can run on it", path);
    return NULL;
}
