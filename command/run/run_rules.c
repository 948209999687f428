/* Options of `heddle run` that belong together, or contradict each other: a row for each rule. The
 * first broken rule is reported. options.def and run_options.c have the rules for single options.
 */
#include <string.h>

#include "base/number.h"
#include "command/command_say.h"
#include "components/sampling/sampling_options.h"

#include "run.h"
#include "run_rocm.h"

struct rule {
    bool is_broken;
    const char *option, *text; /* the option comes before the text */
};

static bool keeps_rules(const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].is_broken) {
            command_say("'%s' %s", rules[i].option, rules[i].text);
            return false;
        }
    return true;
}

#define KEEPS_RULES(rules) keeps_rules((rules), ARRAY_COUNT(rules))

static bool keeps_traces(const struct options *o)
{
    bool state = o->checkpoint || o->restore, program = o->program || o->play_api;
    const struct rule rules[] = {
        {.is_broken = o->module.count && !o->play_api,
         .option = "--module",
         .text = "is for the kernels of a trace; name it: --play api=DIR"},
        {.is_broken = o->play_api && o->program,
         .option = "--play api",
         .text = "plays a trace instead of a program; leave out what stands after '--'"},
        {.is_broken = o->play_api && state && o->kernels,
         .option = "--kernels",
         .text = "counts launches from the beginning; without '--checkpoint' and '--restore'"},
        {.is_broken = o->play_api && state && o->record_instructions,
         .option = "--record instructions",
         .text = "records a whole run; without '--checkpoint' and '--restore'"},
        {.is_broken = o->record_api && !program,
         .option = "--record api",
         .text = "records a program; name one: heddle run PLATFORM --record api=DIR -- PROGRAM "
                 "ARGS..."},
        {.is_broken = o->record_instructions && !program,
         .option = "--record instructions",
         .text = "records a program; name one: heddle run PLATFORM --record instructions=DIR -- "
                 "PROGRAM ARGS..."},
        {.is_broken = o->record_instructions && o->kernels,
         .option = "--record instructions",
         .text = "records all launches in the same way; leave out '--kernels'"},
        {.is_broken = (o->record_raw || o->record_addresses) && !o->record_instructions,
         .option = o->record_raw ? "--record-raw" : "--record-addresses",
         .text = "says how '--record instructions' of a CUDA program is written; give that, too"},
        {.is_broken = o->record_instructions && o->unified,
         .option = "--record instructions",
         .text = "cannot record a device of several GPUs; leave out '--unified'"},
        {.is_broken = o->allow_incomplete && !o->play_sass,
         .option = "--allow-incomplete",
         .text = "is for '--play sass'; give that, too"},
        {.is_broken = o->play_sass && o->program,
         .option = "--play sass",
         .text = "plays a trace instead of a program; leave out what stands after '--'"},
    };
    return KEEPS_RULES(rules);
}

static bool keeps_mode(const struct options *o)
{
    bool functional = run_is_functional(o), sampled = run_is_sampled(o);
    const char *chosen = o->kernels      ? "--kernels"
                         : o->checkpoint ? "--checkpoint"
                         : o->restore    ? "--restore"
                         : o->report     ? "--report"
                                         : NULL;
    const struct rule rules[] = {
        {.is_broken = sampled && !o->program && !o->play_sass,
         .option = "--mode sampled",
         .text =
             "executes a program; name one: heddle run PLATFORM --mode sampled -- PROGRAM ARGS..."},
        {.is_broken = functional && !o->program && !o->play_api && !o->play_sass,
         .option = "--mode functional",
         .text = "executes a program; name one: heddle run PLATFORM --mode functional -- PROGRAM "
                 "ARGS..."},
        {.is_broken = o->checks && !o->program && !o->play_api,
         .option = "--check",
         .text =
             "looks at a program; name one: heddle run PLATFORM --check CHECKS -- PROGRAM ARGS..."},
        {.is_broken = functional && o->record_perfetto,
         .option = "--record perfetto",
         .text = "shows messages between components; there are none with '--mode functional'"},
        {.is_broken = functional && o->report,
         .option = "--report",
         .text = "tells where time went; there is none with '--mode functional'"},
        {.is_broken = o->host_clock && strcmp(o->host_clock, "simulated") == 0
                      && (!o->program || o->record_api || o->record_instructions),
         .option = "--host-clock simulated",
         .text = o->program ? "passes simulated time in sleeps, which no recording holds; record "
                              "with the host's clocks"
                            : "is for programs; name one: heddle run PLATFORM --host-clock "
                              "simulated -- PROGRAM ARGS..."},
        {.is_broken = o->unified && !o->program && !o->play_api,
         .option = "--unified",
         .text =
             "is for programs; name one: heddle run PLATFORM --unified GPUS -- PROGRAM ARGS..."},
        {.is_broken = sampled && chosen,
         .option = chosen,
         .text = "cannot be combined with '--mode sampled', which chooses what is simulated for a "
                 "whole run of a program; leave one of them out"},
    };
    return KEEPS_RULES(rules);
}

/* True if the options of what a run writes and shows go together. False: said on stderr. */
static bool keeps_results(const struct options *o)
{
    bool functional = run_is_functional(o);
    const char *shown = o->record_window         ? "--record-window"
                        : o->record_path.count   ? "--record-path"
                        : o->record_kernel.count ? "--record-kernel"
                                                 : NULL;
    const struct rule rules[] = {
        {.is_broken = !o->every && !run_reports_limits(o) && (o->series || o->series_counter.count),
         .option = o->series ? "--series" : "--series-counter",
         .text = "needs an interval of simulated time; give '--every 10us', too"},
        {.is_broken = o->every && !o->series && !o->record_perfetto && !run_reports_limits(o),
         .option = "--every",
         .text = "says how often '--series FILE' and '--record perfetto=FILE' tell counters; give "
                 "either, too"},
        {.is_broken = o->stats_no_host && !o->stats,
         .option = "--stats-no-host",
         .text = "is about the statistics; give '--stats FILE', too"},
        {.is_broken = o->view_paused && !o->view,
         .option = "--view-paused",
         .text = "waits for the page; give '--view', too"},
        {.is_broken = o->every && functional,
         .option = "--every",
         .text = "tells what happens over time; there is none with '--mode functional'"},
        {.is_broken = shown && !o->record_perfetto,
         .option = shown,
         .text = "says what '--record perfetto=FILE' shows, which is missing"},
    };
    return KEEPS_RULES(rules);
}

static bool keeps_stack(const struct options *o)
{
    const char *library = o->record_api            ? "--record api"
                          : o->record_instructions ? "--record instructions"
                          : o->unified             ? "--unified"
                          : o->host_clock          ? "--host-clock"
                                                   : NULL;
    const struct rule rules[] = {
        {.is_broken = o->shared && !o->program,
         .option = "--shared",
         .text = "is for programs; name one: heddle run PLATFORM --shared 2 -- PROGRAM ARGS..."},
        {.is_broken = run_uses_rocm(o) && !o->program,
         .option = "--stack rocm",
         .text = "is for programs; name one: heddle run PLATFORM --stack rocm -- PROGRAM ARGS..."},
        {.is_broken = o->kfd_version && !run_uses_rocm(o),
         .option = "--kfd-version",
         .text = "is for AMD's own runtime; add '--stack rocm'"},
        {.is_broken = run_has_server(o) && library,
         .option = library,
         .text = "needs the machine in the program's own process; leave out '--stack rocm' and "
                 "'--shared'"},
        {.is_broken = o->shared && (o->checkpoint || o->restore),
         .option = o->checkpoint ? "--checkpoint" : "--restore",
         .text = "and the state of a machine that several processes use exclude each other"},
    };
    return KEEPS_RULES(rules);
}

static bool keeps_sampling(const struct options *o, const struct sampling *sampling)
{
    bool functional = run_is_functional(o), instructions = run_profiles_instructions(o);
    bool blocks = o->profile && strcmp(o->profile, "blocks") == 0;
    bool memory = o->profile && strcmp(o->profile, "memory") == 0;
    bool state = o->checkpoint || o->restore;
    const struct rule rules[] = {
        {.is_broken = instructions && functional,
         .option = "--profile instructions",
         .text = "tells where cycles went; there are none with '--mode functional'"},
        {.is_broken = (blocks || memory) && !functional,
         .option = blocks ? "--profile blocks" : "--profile memory",
         .text = "looks at kernels as they are executed with '--mode functional'; give that, too"},
        {.is_broken = o->kernels && !o->program && !o->play_sass,
         .option = "--kernels",
         .text = "chooses launches of a program, or kernels of '--play sass'; name one: heddle run "
                 "PLATFORM --kernels LIST -- PROGRAM ARGS..."},
        {.is_broken = sampling->automatic && state,
         .option = "--kernels auto",
         .text = "goes on for a whole run; without '--checkpoint' and '--restore'"},
        {.is_broken = o->kernels && functional,
         .option = "--kernels",
         .text = "chooses what is simulated in detail; nothing is with '--mode functional'"},
        {.is_broken = o->addresses && !memory,
         .option = "--addresses FILE",
         .text = "is written by a profile; give '--mode functional --profile memory', too"},
    };
    return KEEPS_RULES(rules);
}

static bool keeps_state(const struct options *o)
{
    const char *kernel = "kernel:";
    bool state = o->checkpoint || o->checkpoint_at || o->restore;
    bool at_kernel = o->checkpoint_at && strncmp(o->checkpoint_at, kernel, strlen(kernel)) == 0;
    const char *option = o->checkpoint      ? "--checkpoint"
                         : o->checkpoint_at ? "--checkpoint-at"
                                            : "--restore";
    const struct rule rules[] = {
        {.is_broken = state && o->program,
         .text =
             "is for platforms that drive themselves and for '--play api': half of the state of a "
             "program's run is the program's own; record its calls first (--record api=DIR)",
         .option = option},
        {.is_broken = state && run_is_functional(o),
         .option = option,
         .text = "is about simulated time; there is none with '--mode functional'"},
        {.is_broken = !o->checkpoint != !o->checkpoint_at,
         .option = "--checkpoint FILE",
         .text = "and '--checkpoint-at WHEN' belong together"},
        {.is_broken = at_kernel && !o->play_api,
         .option = "--checkpoint-at kernel:",
         .text = "is for '--play api'; give a cycle or a time"},
        {.is_broken = o->watch.count && o->program,
         .option = "--watch",
         .text = "is for platforms that drive themselves"},
    };
    return KEEPS_RULES(rules);
}

bool run_keeps_rules(const struct options *o, const struct sampling *sampling)
{
    return keeps_traces(o) && keeps_stack(o) && keeps_mode(o) && keeps_results(o)
           && keeps_sampling(o, sampling) && keeps_state(o);
}
