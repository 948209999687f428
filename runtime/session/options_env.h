/* How `heddle run` hands options to the process that runs the platform: environment variables.
 *
 * - HEDDLE_PLATFORM: path of platform.so
 * - HEDDLE_OPTIONS: struct heddle_options as text, "key=value" separated by ';' ('%', ';' and
 *   control characters in values are written %XX). Unset: defaults.
 * - HEDDLE_STATUS: what processes tell `heddle run` (run_ledger.h); unset: nobody asks.
 * - HEDDLE_RECORD_API_TRACE: folder, empty, that takes a recording of the program's calls.
 *
 * The program's runtime library reads the options and calls heddle_platform.start() with them. This
 * file depends on nothing but the C library. */
#ifndef HEDDLE_RUNTIME_OPTIONS_ENV_H
#define HEDDLE_RUNTIME_OPTIONS_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/state/platform.h"

#define OPTIONS_ENV_PLATFORM "HEDDLE_PLATFORM"
#define OPTIONS_ENV_OPTIONS  "HEDDLE_OPTIONS"
#define OPTIONS_ENV_RECORD   "HEDDLE_RECORD_API_TRACE"

/* Text for HEDDLE_OPTIONS. Returns the length without the NUL, as snprintf(). */
size_t options_env_encode(const struct heddle_options *options, char *text, size_t size);

/* Fills `options` from `text` (NULL or "": defaults, abi = PLATFORM_ABI). Strings point into
 * `storage`, which must hold strlen(text) + 1 bytes and outlive the options. false: `*mistake` is
 * the key that is unknown or has a bad value. */
bool options_env_decode(const char *text, struct heddle_options *options, char *storage,
                        const char **mistake);

/* The path of what process `number` (run_ledger.h) writes where the first one writes `path`:
 * "stats.json" becomes "stats.process2.json", a folder or what has no suffix "NAME.process2".
 * Returns the length without the NUL, as snprintf(). */
size_t options_env_number_path(const char *path, unsigned number, bool folder, char *text,
                               size_t size);

#endif
