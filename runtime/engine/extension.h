/* Libraries that take part in every run of a platform. The runtime calls them at fixed points and
 * knows none of them by name.
 *
 * A library registers one table of functions before main(), from a constructor in its archive.
 * `heddle build` links with -u so that the archive's member is taken (codegen/build/link.c).
 * All calls come from one thread, while no component ticks, in the order of the members. A member
 * may be NULL. The table stays the library's and lives as long as the process. */
#ifndef HEDDLE_RUNTIME_ENGINE_EXTENSION_H
#define HEDDLE_RUNTIME_ENGINE_EXTENSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct platform_table;

enum extension_end {
    EXTENSION_DONE,
    EXTENSION_FOUND,  /* the program has mistakes, which an option asked for */
    EXTENSION_MISSED, /* an option asked for an event that never happened */
    EXTENSION_FAILED  /* something could not be written */
};

/* Counts so far: launches that the program has requested, launches that have begun, the parts of
 * all launches, and parts that have ended. The words are what users call a launch and its parts. */
struct run_counts {
    uint64_t launches, begun, parts, done;
    const char *launch_word, *parts_word;
};

struct extension {
    /* Before the platform is built: the library reads its options (options.h). False: they are
     * wrong, as said on standard error. */
    bool (*start)(void);
    /* The instances exist, but none is initialised: tables of an earlier platform are forgotten. */
    void (*build)(const struct platform_table *table);
    /* Statistics begin. */
    void (*open_stats)(void);
    /* At the end of each window: what happened before `end_ps` is to be settled, and statistics
     * (stats_span.h) are those of that time. */
    void (*settle)(uint64_t end_ps);
    /* With several ranks, between windows: returns when the first event that is to be settled
     * happened, at `from_ps` or later (ENGINE_NEVER: there is none). Then channels carry what other
     * ranks have of the time before `end_ps` to rank 0 (rank_channel.h), which settles. */
    uint64_t (*find_unsettled)(uint64_t from_ps);
    /* Sections of the statistics, between `clocks` and `components`. */
    void (*write_stats)(struct json *out);
    /* Sets how far the run has come. The first extension that knows is asked. */
    void (*progress)(struct run_counts *counts);
    /* At the end of a run, before statistics are written: what has not ended is cut off here. */
    void (*cut)(void);
    /* At the end of a run. Prints what is wrong. */
    enum extension_end (*finish)(void);
};

void extension_register(const struct extension *extension);

/* Each calls its member of all extensions, in the order of their registration. start() stops at the
 * first one that fails. finish() returns the worst end, find_unsettled() the earliest time. */
bool extensions_start(void);
void extensions_build(const struct platform_table *table);
void extensions_open_stats(void);
void extensions_settle(uint64_t end_ps);
uint64_t extensions_find_unsettled(uint64_t from_ps);
void extensions_write_stats(struct json *out);
void extensions_progress(struct run_counts *counts);
void extensions_cut(void);
enum extension_end extensions_finish(void);

#endif
