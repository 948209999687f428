/* See heddle_start.h. */
#include "heddle_start.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"
#include "open_platform.h"

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

const struct driver_api *heddle_start(void)
{
    const char *path = getenv(OPTIONS_ENV_PLATFORM);
    if (started)
        return started;
    if (!path)
        return lack("this program runs on a simulated system: heddle run PLATFORM -- PROGRAM", "");
    const struct heddle_platform *platform = open_platform(path);
    const struct driver_api *api =
        platform ? start_platform(platform, getenv(OPTIONS_ENV_OPTIONS), path) : NULL;
    if (!api)
        return NULL;
    if (api->set_window(HEDDLE_WINDOW, HEDDLE_WINDOW_BYTES) != DRIVER_OK)
        return lack("the driver does not start: ", api->error_text());
    started = api;
    run_ledger_open();
    atexit(finish_run);
    return started;
}
