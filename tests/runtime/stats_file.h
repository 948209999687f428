/* A file of statistics in a folder of its own, for tests that read what a run has written. */
#ifndef HEDDLE_TESTS_RUNTIME_STATS_FILE_H
#define HEDDLE_TESTS_RUNTIME_STATS_FILE_H

#include <jansson.h>

#include "runtime/scheduler/run.h"

extern char stats_file_path[64];

/* Before and after each test. */
void stats_file_begin(void);
void stats_file_end(void);

/* Runs two tickers, each of them with a kernel of its own, and writes the file. */
void stats_file_run_tickers(struct engine_limits limits);

/* The caller releases what these return. */
json_t *stats_file_load(void);
char *stats_file_text(void);

/* The integer root[first][second][third]. */
long long stats_file_number(json_t *root, const char *first, const char *second, const char *third);

#endif
