/* A platform without a program: it drives itself, or plays a trace, in this process. */
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "command/command_say.h"
#include "runtime/engine/rank.h"

#include "hand_over.h"
#include "run.h"

/* Options that would have nothing to act on without a file that is written. */
static bool is_about_output(const char *key)
{
    static const char *const keys[] = {"every-ps",          "every-cycles",  "series-counter",
                                       "series-use",        "checkpoint-ps", "checkpoint-cycle",
                                       "checkpoint-kernel", "stats-no-host", "record-window",
                                       "record-path",       "record-kernel"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* A run that failed over a line, again, to show what became of the line. */
static int repeat(struct command *c, const struct build_result *built, const struct handed *handed,
                  const struct platform_lines *suspects)
{
    struct handed second = {.region = c->region};
    const char *lines = NULL;
    if (getenv(RANK_ENVIRONMENT)) {
        command_say_begin("to see the messages about the line, run it again without mpirun, with");
        for (uint32_t i = 0; i < suspects->count; i++)
            fprintf(stderr, " --watch 0x%llx", (unsigned long long)suspects->address[i]);
        fputc('\n', stderr);
        return EXIT_GAVE_UP;
    }
    for (size_t i = 0; i < handed->pairs.count; i++) {
        const struct handed_pair *pair = &handed->pairs.items[i];
        if (pair->sign != '>' && !is_about_output(pair->key))
            hand_over(&second, pair->key, pair->sign, pair->value);
    }
    for (uint32_t i = 0; i < suspects->count; i++)
        lines = region_printf(c->region, "%s%s0x%llx", lines ? lines : "", lines ? "\n" : "",
                              (unsigned long long)suspects->address[i]);
    hand_over(&second, "watch", '=', lines);
    hand_over_number(&second, "watch-from", suspects->since_ps);
    command_say_begin("the messages about the line at");
    for (uint32_t i = 0; i < suspects->count; i++)
        fprintf(stderr, "%s 0x%llx", i ? " =" : "", (unsigned long long)suspects->address[i]);
    fprintf(stderr, " from %llu ps on:\n", (unsigned long long)suspects->since_ps);
    return run_platform(c, built, &second);
}

const struct heddle_platform *run_open_built(struct command *c, const struct build_result *built,
                                             void **library)
{
    const struct heddle_platform *(*open_platform)(uint32_t abi) = NULL;
    malloc_trim(0); /* memory of the front end goes back before a simulation needs it */
    *library = dlopen(run_absolute(c, built->platform_so), RTLD_NOW | RTLD_LOCAL);
    if (*library) {
        void *symbol = dlsym(*library, "heddle_platform_open");
        memcpy(&open_platform, &symbol, sizeof symbol);
    }
    const struct heddle_platform *platform = open_platform ? open_platform(PLATFORM_ABI) : NULL;
    if (!platform) {
        const char *why = *library ? "it is of another version of heddle" : dlerror();
        command_say("cannot open '%s': %s", built->platform_so, why);
    }
    return platform;
}

/* ---- interruption ---- */

static const struct heddle_platform *running; /* NULL: none */
static volatile sig_atomic_t interrupted;     /* by this signal; 0: none */

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
#define NUMBERS ARRAY_COUNT(numbers)
static struct sigaction actions_before[NUMBERS];

/* The first one ends the run, which then writes what is known; the second one ends the process. */
static void on_signal(int number)
{
    if (interrupted || !running) {
        for (size_t i = 0; i < NUMBERS; i++)
            if (numbers[i] == number)
                sigaction(number, &actions_before[i], NULL);
        raise(number);
        return;
    }
    interrupted = number;
    running->interrupt();
}

/* Signals that the user has chosen to ignore stay ignored (nohup). */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    static bool handled;
    for (size_t i = 0; i < NUMBERS && !handled; i++)
        if (sigaction(numbers[i], NULL, &actions_before[i]) == 0
            && actions_before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    handled = true;
}

/* Whenever it came: the signal is what ended the run, or would have. */
static int end_interrupted(void)
{
    command_say("interrupted by signal %d (%s)", (int)interrupted, strsignal(interrupted));
    return EXIT_SIGNALLED + interrupted;
}

/* ---- the run ---- */

/* The component that plays traces of API calls; other platforms have the HIP library for it. */
#define TRACE_PLAYER "trace_cpu"
/* The one that plays lists of SASS traces. */
#define SASS_PLAYER  "trace_player"

bool run_plays_itself(struct command *c, const struct build_result *built)
{
    void *library;
    const struct heddle_platform *platform = run_open_built(c, built, &library);
    bool plays = !platform || platform->has(TRACE_PLAYER);
    if (library)
        dlclose(library);
    return plays;
}

int run_platform(struct command *c, const struct build_result *built, const struct handed *handed)
{
    void *library;
    const char *file = c->options->arguments.items[0];
    const struct heddle_platform *platform = run_open_built(c, built, &library);
    if (!platform)
        return EXIT_UNABLE;
    bool plays = platform->has(TRACE_PLAYER);
    if (plays
        && (c->options->unified || run_is_functional(c->options) || run_is_sampled(c->options))) {
        command_say("this platform plays traces itself, without '--unified' and '--mode'");
        return EXIT_USAGE;
    }
    if (plays && !c->options->play_api) {
        command_say("this platform plays traces of API calls: heddle run %s --play api=DIR", file);
        return EXIT_USAGE;
    }
    if (c->options->play_sass && !platform->has(SASS_PLAYER)) {
        command_say("'--play sass': this platform has no trace_player that could play it; rtx3070, "
                    "h100 and others have one");
        return EXIT_UNABLE;
    }
    if (!platform->start(handed_text(handed)))
        return EXIT_UNABLE;
    if (platform->driver()) {
        command_say("this platform's driver needs a program: heddle run %s -- PROGRAM ARGS...%s",
                    file, platform->has(SASS_PLAYER) ? "; or traces: --play sass=LIST" : "");
        return EXIT_USAGE;
    }
    running = platform;
    handle_signals();
    int status = platform->run();
    int written = platform->finish();
    running = NULL;
    if (interrupted)
        return end_interrupted();
    status = status ? status : written;
    struct platform_lines suspects;
    if (status == EXIT_GAVE_UP && !handed_value(handed, "watch") && platform->suspects(&suspects)) {
        dlclose(library);
        return repeat(c, built, handed, &suspects);
    }
    return status;
}
