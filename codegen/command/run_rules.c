/* Options of `heddle run` that belong together, or contradict each other: a row each, of which the
 * first one that is broken is said. What a single option may be is in options.def and
 * run_options.c.
 */
#include <stdio.h>
#include <string.h>

#include "codegen/command/command_run.h"
#include "components/sampling/sampling_options.h"

struct rule {
    bool broken;
    const char *text;
    const char *option; /* NULL, or what the text is about, which comes before it */
};

static bool keeps(const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].broken) {
            const char *option = rules[i].option;
            fprintf(stderr, "heddle run: %s%s%s%s\n", option ? "'" : "", option ? option : "",
                    option ? "' " : "", rules[i].text);
            return false;
        }
    return true;
}

#define KEEPS(rules) keeps((rules), sizeof(rules) / sizeof *(rules))

static bool keeps_traces(const struct options *o)
{
    bool state = o->checkpoint || o->restore, program = o->program || o->play_api;
    const struct rule rules[] = {
        {o->play_instructions && o->program, "either a program or '--play instructions', not both",
         NULL},
        {o->play_instructions && (o->play_api || o->play_sass),
         "'--play instructions', '--play api' and '--play sass' are different traces; give one",
         NULL},
        {o->play_instructions && (o->record_api || o->record_instructions),
         "a trace that is played cannot be recorded: it is no program", NULL},
        {o->play_instructions && state,
         "the state of a platform that plays a trace cannot be written or restored", NULL},
        {o->play_instructions && run_is_functional(o),
         "'--mode functional' executes programs; a trace that is played is not executed", NULL},
        {o->play_instructions && o->unified,
         "'--unified' is for programs: a trace says which GPU each kernel runs on", NULL},
        {o->module.count && !o->play_api,
         "'--module' is for the kernels of a trace; name it: --play api=DIR", NULL},
        {o->play_api && o->program, "either a program or '--play api', not both", NULL},
        {o->play_api && state && o->kernels,
         "'--kernels' counts launches from the beginning; without '--checkpoint' and '--restore'",
         NULL},
        {o->play_api && state && o->record_instructions,
         "'--record instructions' records a whole run; without '--checkpoint' and '--restore'",
         NULL},
        {o->record_api && !program,
         "'--record api' records a program; name one: heddle run PLATFORM --record api=DIR -- "
         "PROGRAM ARGS...",
         NULL},
        {o->record_instructions && !program,
         "'--record instructions' records a program; name one: heddle run PLATFORM --record "
         "instructions=DIR -- PROGRAM ARGS...",
         NULL},
        {o->record_instructions && o->kernels,
         "'--record instructions' records all launches in the same way; leave out '--kernels'",
         NULL},
        {o->record_instructions && o->unified,
         "'--record instructions' cannot record a device of several GPUs; leave out '--unified'",
         NULL},
        {o->allow_incomplete && !o->play_sass,
         "'--allow-incomplete' is for '--play sass'; give that, too", NULL},
        {o->play_sass && o->program,
         "'--play sass' plays a trace instead of a program; leave out what stands behind '--'",
         NULL},
    };
    return KEEPS(rules);
}

static bool keeps_sampled(const struct options *o)
{
    const struct {
        bool given;
        const char *name;
    } refused[] = {{o->kernels, "--kernels"},       {o->interval, "--interval"},
                   {o->checkpoint, "--checkpoint"}, {o->restore, "--restore"},
                   {o->report, "--report"},         {o->play_instructions, "--play instructions"}};
    for (size_t i = 0; run_is_sampled(o) && i < sizeof refused / sizeof refused[0]; i++) {
        if (!refused[i].given)
            continue;
        fprintf(stderr,
                "heddle run: '--mode sampled' chooses itself what is simulated, and goes on for a "
                "whole run of a program; without '%s'\n",
                refused[i].name);
        return false;
    }
    return true;
}

static bool keeps_mode(const struct options *o)
{
    bool functional = run_is_functional(o), sampled = run_is_sampled(o);
    const char *shown = o->record_window         ? "--record-window"
                        : o->record_path.count   ? "--record-path"
                        : o->record_kernel.count ? "--record-kernel"
                                                 : NULL;
    char error[64];
    snprintf(error, sizeof error, "--error %s", o->error ? o->error : "");
    const struct rule rules[] = {
        {o->error && !sampled,
         "is for '--mode sampled'; of launches that are chosen while a program runs, '--interval' "
         "says it",
         error},
        {sampled && !o->program && !o->play_sass,
         "'--mode sampled' executes a program; name one: heddle run PLATFORM --mode sampled -- "
         "PROGRAM ARGS...",
         NULL},
        {functional && !o->program && !o->play_api && !o->play_sass,
         "'--mode functional' executes a program; name one: heddle run PLATFORM --mode functional "
         "-- PROGRAM ARGS...",
         NULL},
        {functional && o->record_perfetto,
         "'--record perfetto' shows messages between components; there are none with '--mode "
         "functional'",
         NULL},
        {functional && o->report,
         "'--report' tells where time went; there is none with '--mode functional'", NULL},
        {!o->every && (o->series || o->series_counter.count),
         "needs an interval of simulated time; give '--every 10us', too",
         o->series ? "--series" : "--series-counter"},
        {o->every && !o->series && !o->record_perfetto,
         "'--every' says how often '--series FILE' and '--record perfetto=FILE' tell counters; "
         "give either, too",
         NULL},
        {o->every && functional,
         "'--every' tells what happens over time; there is none with '--mode functional'", NULL},
        {shown && !o->record_perfetto, "says what '--record perfetto=FILE' shows, which is missing",
         shown},
        {o->unified && !o->program && !o->play_api,
         "'--unified' is for programs; name one: heddle run PLATFORM --unified GPUS -- PROGRAM "
         "ARGS...",
         NULL},
    };
    return KEEPS(rules) && keeps_sampled(o);
}

static bool keeps_sampling(const struct options *o, const struct sampling *sampling)
{
    bool functional = run_is_functional(o), instructions = run_profiles_instructions(o);
    bool blocks = o->profile && strcmp(o->profile, "blocks") == 0;
    bool memory = o->profile && strcmp(o->profile, "memory") == 0;
    bool state = o->checkpoint || o->restore;
    const struct rule rules[] = {
        {instructions && functional,
         "'--profile instructions' tells where cycles went; there are "
         "none with '--mode functional'",
         NULL},
        {(blocks || memory) && !functional,
         "looks at kernels as they are executed with '--mode functional'; give that, too",
         blocks ? "--profile blocks" : "--profile memory"},
        {o->kernels && !o->program && !o->play_instructions && !o->play_sass,
         "'--kernels' chooses launches of a program, or kernels of '--play sass' or '--play "
         "instructions'; name one: heddle run PLATFORM --kernels LIST -- PROGRAM ARGS...",
         NULL},
        {sampling->automatic && !o->stats && !run_is_sampled(o),
         "'--kernels auto' tells what all launches take in the statistics; give '--stats FILE', "
         "too, or use heddle sample",
         NULL},
        {sampling->automatic && o->play_instructions,
         "'--kernels auto' executes all launches of a program; of a trace, choose launches by "
         "number or name",
         NULL},
        {sampling->automatic && state,
         "'--kernels auto' goes on for a whole run; without '--checkpoint' and '--restore'", NULL},
        {o->kernels && functional,
         "'--kernels' chooses what is simulated in detail; nothing is "
         "with '--mode functional'",
         NULL},
        {o->addresses && !memory,
         "'--addresses FILE' is written by a profile; give '--mode "
         "functional --profile memory', too",
         NULL},
    };
    return KEEPS(rules);
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
        {state && o->program,
         "is for platforms that drive themselves and for '--play api': half of the state of a "
         "program's run is the program's own; record its calls first (--record api=DIR)",
         option},
        {state && run_is_functional(o),
         "is about simulated time; there is none with '--mode functional'", option},
        {!o->checkpoint != !o->checkpoint_at,
         "'--checkpoint FILE' and '--checkpoint-at WHEN' belong together", NULL},
        {at_kernel && !o->play_api,
         "'--checkpoint-at kernel:' is for '--play api'; give a cycle "
         "or a time",
         NULL},
        {o->watch.count && o->program, "'--watch' is for platforms that drive themselves", NULL},
    };
    return KEEPS(rules);
}

bool run_keeps_rules(const struct options *o, const struct sampling *sampling)
{
    return keeps_traces(o) && keeps_mode(o) && keeps_sampling(o, sampling) && keeps_state(o);
}
