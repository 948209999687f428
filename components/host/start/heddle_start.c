/* Opens the platform that `heddle run` names, and ends the run when the program exits. */
#include "heddle_start.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"

#include "open_platform.h"

static const struct driver_api *started;

static void end_run(void)
{
    int status = started->finish();
    if (status == EXIT_CLEAN)
        run_ledger_close(false);
    else
        run_ledger_report((enum exit_status)status);
}

static const struct driver_api *fail_start(const char *problem, const char *detail)
{
    fprintf(stderr, "heddle: %s%s\n", problem, detail);
    return NULL;
}

const struct driver_api *heddle_start(void)
{
    const char *path = getenv(OPTIONS_ENV_PLATFORM);
    if (started)
        return started;
    if (!path)
        return fail_start("this program runs on a simulated system: heddle run PLATFORM -- PROGRAM",
                          "");
    const struct heddle_platform *platform = open_platform(path);
    const struct driver_api *api =
        platform ? start_platform(platform, getenv(OPTIONS_ENV_OPTIONS), path) : NULL;
    if (!api)
        return NULL;
    if (api->set_window(HEDDLE_WINDOW, HEDDLE_WINDOW_BYTES) != DRIVER_OK)
        return fail_start("the driver does not start: ", api->error_text());
    started = api;
    run_ledger_open();
    atexit(end_run);
    return started;
}
