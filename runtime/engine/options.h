/* What a run is asked for: the options of a platform's shared object, as a front end fills them.
 *
 * The runtime acts on its own ones and passes the rest on, as text or numbers that only an
 * extension or a component understands; their names are those of the command line. Texts belong to
 * the caller. */
#ifndef HEDDLE_RUNTIME_OPTIONS_H
#define HEDDLE_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Of heddle_options, heddle_platform and the tables. */
#define PLATFORM_ABI 12

/* How programs are executed. PLATFORM_FUNCTIONAL: instructions at once, without timing; it is the
 * driver that does so, the rest of the platform stays as it is at start-up. PLATFORM_SAMPLED: some
 * of it in detail, the rest at once; what it would take in detail is estimated
 * (components/sampling). */
enum platform_mode { PLATFORM_TIMING, PLATFORM_FUNCTIONAL, PLATFORM_SAMPLED };

/* How the user is told how far the run has come. */
enum platform_progress { PLATFORM_QUIET, PLATFORM_PROGRESS_LINE, PLATFORM_PROGRESS_LINES };

/* What is written of the components' statistics at the end of a span of time: sums over arrays,
 * every instance, or nothing (runtime/observe/stats_span.h). */
enum platform_span_stats {
    PLATFORM_SPAN_STATS_SUM,
    PLATFORM_SPAN_STATS_ALL,
    PLATFORM_SPAN_STATS_NONE
};

#define PLATFORM_LINES 4

/* Lines whose way through the platform is of interest, and from when on: runtime/observe/watch.h.
 */
struct platform_lines {
    uint64_t address[PLATFORM_LINES];
    uint32_t count;
    uint64_t since_ps;
};

struct heddle_options {
    uint32_t abi;
    const char *stats_path; /* NULL: none */
    bool stats_no_host;
    const char *trace_path;
    uint64_t trace_from_ps, trace_to_ps; /* window of the trace; 0: from the start, to the end */
    const char *trace_instances;         /* paths with '*', one a line; NULL: all */
    const char *trace_launches;          /* names and numbers, one a line; NULL: all */
    const char *series_path;             /* NULL: none; time series (runtime/observe/series.h) */
    uint64_t series_ps;                  /* a sample every so often; 0: see */
    uint64_t series_cycles;              /* every so many cycles of the fastest clock; 0: none */
    const char *series_counters;         /* patterns of counters, one a line; NULL: all */
    const char *view_path;               /* NULL: none; the board of a run that is watched */
    uint64_t view_place;                 /* of this process, from 0 (runtime/engine/board.h) */
    const char *tables_path;             /* generic builds */
    const char *program_hash;            /* for the stamp; NULL */
    const char *set;      /* for the stamp: what was set, a line each; NULL: nothing */
    uint64_t max_cycles;  /* of the fastest clock; 0: none */
    uint64_t stall_limit; /* 0: default of 10 million */
    int tick_order;       /* enum engine_order */
    uint64_t seed;
    bool tick_all; /* test aid: tick every component at every edge; must change nothing */
    int progress;  /* enum platform_progress, on stderr */
    int threads;
    int mode;            /* enum platform_mode */
    bool page_bounds;    /* kernels may access whole pages of allocations; false: only what was
                            asked for */
    const char *unified; /* NULL, or devices that the program sees as one: "0,1,2,3" */
    int span_stats;      /* enum platform_span_stats */
    const char *kernels; /* NULL: all launches in detail; else, with */
    const char *warmup;  /* this, see components/sampling/sampling_options.h, and */
    const char *interval;
    int profile;                     /* enum platform_profile; functional mode only */
    const char *instruction_profile; /* NULL, or a file that counts by instruction are written to;
                                        platforms that are built for it */
    const char *addresses;           /* NULL, or a file that a profile of memory writes
                                        (components/statistics/address_list.h) */
    /* Platforms that drive themselves, and players of calls (runtime/state/checkpoint.h). */
    const char *checkpoint_path;   /* NULL: none; written at */
    uint64_t checkpoint_ps;        /* this time, or */
    uint64_t checkpoint_cycle;     /* this cycle of the fastest clock, if not 0, or */
    const char *checkpoint_kernel; /* when this launch begins, named as in --kernels; or NULL */
    const char *restore_path;      /* NULL: from the beginning */
    /* Not passed on to programs. */
    struct platform_lines watch;
    /* A trace of API calls for a component of the platform to play, and what has its kernels. */
    const char *api_trace; /* NULL: none */
    const char *const *modules;
    uint32_t module_count;
    const char *sass_trace_path; /* NULL: none; for platforms with a trace_player */
    bool sass_no_cache;
    bool allow_incomplete;    /* traces of instructions that lack something are played */
    const char *record_trace; /* NULL: none; an empty folder */
};

#endif
