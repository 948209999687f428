/* What programs that speak to the driver itself share. PROGRAM is defined before, the name as a
 * string. */
#ifndef HEDDLE_TESTS_PROGRAMS_DRIVER_PROGRAM_H
#define HEDDLE_TESTS_PROGRAMS_DRIVER_PROGRAM_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/host/driver/driver_api.h"
#include "runtime/engine/options.h"
#include "runtime/session/run_ledger.h"
#include "runtime/state/platform.h"

static const struct driver_api *api;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL " PROGRAM ": %s:%d: %s (%s)\n", __func__, __LINE__, #condition,           \
                   api->error_text());                                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define MUST(call) CHECK((call) == DRIVER_OK)

/* Starts the platform that `heddle run` has chosen; sets `api`. */
static inline void start_platform(void)
{
    const struct heddle_platform *(*open)(uint32_t);
    void *object = dlopen(getenv(OPTIONS_ENV_PLATFORM), RTLD_NOW);
    void *symbol = object ? dlsym(object, "heddle_platform_open") : NULL;
    memcpy(&open, &symbol, sizeof symbol);
    if (!symbol || !open(PLATFORM_ABI)->start(getenv(OPTIONS_ENV_OPTIONS))) {
        printf("FAIL " PROGRAM ": the platform does not start\n");
        exit(1);
    }
    run_ledger_open();
    api = open(PLATFORM_ABI)->driver();
}

static inline void finish_platform(void)
{
    CHECK(api->finish() == EXIT_CLEAN);
    run_ledger_close(false);
}

#endif
