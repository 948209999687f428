/* See heddle_start.h. */
#include "heddle_start.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"
#include "runtime/state/platform.h"

static const struct driver_api *started;

static void finish_run(void)
{
    int status = started->finish();
    if (status == EXIT_CLEAN)
        run_ledger_close(false);
    else
        run_ledger_report((enum exit_status)status);
}

static const struct driver_api *lack(const char *what, const char *more)
{
    fprintf(stderr, "heddle: %s%s\n", what, more);
    return NULL;
}

/* The platform's table, or NULL after a message. */
static const struct heddle_platform *open_platform(const char *path)
{
    const struct heddle_platform *(*open)(uint32_t);
    void *object = dlopen(path, RTLD_NOW);
    void *symbol = object ? dlsym(object, "heddle_platform_open") : NULL;
    if (!symbol) {
        lack("the platform cannot be opened: ", dlerror());
        return NULL;
    }
    memcpy(&open, &symbol, sizeof open);
    const struct heddle_platform *platform = open(PLATFORM_ABI);
    if (!platform)
        lack(path, " was built by another version of heddle; build this program again");
    return platform;
}

const struct driver_api *heddle_start(void)
{
    const char *path = getenv(OPTIONS_ENV_PLATFORM);
    if (started)
        return started;
    if (!path)
        return lack("this program runs on a simulated system: heddle run PLATFORM -- PROGRAM", "");
    const struct heddle_platform *platform = open_platform(path);
    if (!platform || !platform->start(getenv(OPTIONS_ENV_OPTIONS)))
        return NULL;
    const struct driver_api *api = platform->driver();
    if (!api || api->version != DRIVER_API_VERSION)
        return lack("the platform has no driver that this program can use", "");
    if (api->set_window(HEDDLE_WINDOW, HEDDLE_WINDOW_BYTES) != DRIVER_OK)
        return lack("the driver does not start: ", api->error_text());
    started = api;
    run_ledger_open();
    atexit(finish_run);
    return started;
}
