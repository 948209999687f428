/* The options of a run: pairs of a key and a value, which `heddle run` hands to the process that
 * runs the platform.
 *
 * A key is an option as it is typed, without its dashes: "max-cycles", "record perfetto". The
 * runtime, an extension or a component asks for the keys that it acts on when the platform starts;
 * a key for which nothing has asked by then is a mistake, so no table of them exists here. The rows
 * of command/options/options.def say which options are handed over.
 *
 * The text is "KEY=VALUE", separated by ';'. '%', ';' and control characters in values are written
 * %XX. In place of '=' there is
 *   '>' when the value names a file that the run writes: ranks differ in it, and processes after
 *       the first one of a run write files of their own;
 *   ':' when the pair concerns this process alone: nothing need ask for it.
 *
 * This module depends on nothing but the C library: front ends use it, too. */
#ifndef HEDDLE_RUNTIME_ENGINE_OPTIONS_H
#define HEDDLE_RUNTIME_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The environment of a process that runs a platform: the path of platform.so, its options, the
 * empty folder that takes a recording of the program's calls, and the folder of a debugger
 * (components/checks/debugger/debug_channel.h). HEDDLE_STATUS is run_ledger.h's. */
#define OPTIONS_ENV_PLATFORM "HEDDLE_PLATFORM"
#define OPTIONS_ENV_OPTIONS  "HEDDLE_OPTIONS"
#define OPTIONS_ENV_RECORD   "HEDDLE_RECORD_API_TRACE"
#define OPTIONS_ENV_DEBUG    "HEDDLE_DEBUG"

/* ---- reading ---- */

/* Takes a copy of `text` (NULL: no options) in place of earlier options. False: it is malformed, as
 * said on standard error. */
bool options_open(const char *text);

/* NULL: the option was not given. The text stays until options_open() is called again. */
const char *option_text(const char *key);
/* Line `number`, from 0, of an option that may be given several times, into `text`. False: there is
 * none. */
bool option_line(const char *key, unsigned number, char *text, size_t size);
/* A file or a folder that this process writes: the path that was given, with the number of the
 * process in its name if it is not the first one of the run (option "process"). */
const char *option_file(const char *key);
const char *option_folder(const char *key);
bool option_flag(const char *key);
/* 0: the option was not given, or its value is no number, which options_end() says. */
uint64_t option_number(const char *key);
/* The index of the value in `words`; 0: the option was not given, or has another value. */
unsigned option_word(const char *key, const char *const *words, unsigned count);

/* True if the environment has the option with this value, which holds no character that is written
 * %XX. For constructors of libraries: it takes no memory, and needs no options_open(). */
bool option_is_set_early(const char *key, const char *value);

/* The platform has started. Returns true when every key was asked for and has a value of the right
 * kind; otherwise prints which does not, and returns false. */
bool options_end(void);

/* True if the run writes a file. */
bool options_have_output(void);
/* The pairs in which all ranks must agree, as text; a file that is written only by its key. */
const char *options_shared(void);
/* The options of one such text that the other text lacks, as a user types them: "--max-cycles 5";
 * "" when there are none. The caller frees the result. */
char *options_difference(const char *shared, const char *other);

/* ---- writing ---- */

/* Appends a pair to the `length` bytes of `text`. Returns the new length without the NUL, as
 * snprintf(): beyond `size` nothing is written. */
size_t options_put(char *text, size_t size, size_t length, const char *key, char sign,
                   const char *value);

/* The path of what process `number` (run_ledger.h) writes where the first one writes `path`:
 * "stats.json" becomes "stats.process2.json", a folder or what has no suffix "NAME.process2".
 * Returns the length without the NUL, as snprintf(). */
size_t options_number_path(const char *path, unsigned number, bool is_folder, char *text,
                           size_t size);

#endif
