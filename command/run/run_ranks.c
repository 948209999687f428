/* A run of several ranks, started by a launcher of MPI. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "command/command.h"
#include "command/command_say.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_transport.h"
#include "runtime/link/rank_placement.h"
#include "runtime/session/exit_status.h"

#include "run.h"

#define PATIENCE_S 10

/* The environment by which each launcher tells a process its rank: Open MPI's manual, "Environment
 * Variables"; the wire protocol of process managers (PMI) that Hydra speaks. */
static const struct launcher {
    const char *library, *number, *count;
} launchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"mpich", "PMI_RANK", "PMI_SIZE"},
};

static unsigned number_in(const char *name)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

struct run_ranks run_ranks_of_launcher(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(launchers); i++) {
        unsigned count = number_in(launchers[i].count);
        if (count > 1)
            return (struct run_ranks){number_in(launchers[i].number), count, launchers[i].library};
    }
    return (struct run_ranks){0, 1, NULL};
}

static const char *module;
static int token = -1; /* one byte, for the one process that is to have the ranks */

static bool make_token(void)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "", 1) != 1)
        return false;
    close(ends[1]);
    token = ends[0];
    return true;
}

static bool can_share(const struct options *o, unsigned number)
{
    static const char state[] = "a state is that of one process";
    static const char few[] =
        "launches that are not simulated are executed in one process, which needs the memory of "
        "all GPUs; as few are left, there is little to share";
    const struct {
        bool given;
        const char *option, *why;
    } refused[] = {
        {o->checkpoint, "--checkpoint", state},
        {o->restore, "--restore", state},
        {o->record_instructions, "--record instructions", "a recording is that of one process"},
        {o->watch.count, "--watch", "messages are printed in the order of one process"},
        {run_is_sampled(o), "--mode sampled", few},
        {o->kernels || o->warmup, "--kernels", few},
    };
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++)
        if (refused[i].given) {
            if (number == 0)
                command_say("'%s' cannot be used with several ranks: %s; run it without mpirun",
                            refused[i].option, refused[i].why);
            return false;
        }
    return true;
}

bool run_ranks_takes_part(struct run_ranks *launched, const struct options *options)
{
    if (launched->count == 1 || !run_is_functional(options))
        return true;
    if (launched->number > 0)
        return false;
    command_say("note: functional mode uses one process; rank 0 runs the program, the other %u end",
                launched->count - 1);
    launched->count = 1;
    return true;
}

bool run_ranks_announce(struct command *c, const struct run_ranks *launched)
{
    if (launched->count == 1 && c->options->place)
        command_say("'--place' is for several ranks: mpirun -n N heddle run ...");
    if (launched->count == 1)
        return !c->options->place;
    if (!can_share(c->options, launched->number))
        return false;
    if (c->toolkit.mpi_folder)
        module = region_printf(c->region, "%s/heddle_mpi_%s.so", c->toolkit.mpi_folder,
                               launched->library);
    if (module && access(module, R_OK) == 0 && make_token()) {
        const char *place = launched->number ? "" : command_place_run(c, launched->count);
        if (!place)
            return false;
        setenv(PLACEMENT_ENVIRONMENT, place, 1);
        setenv(RANK_ENVIRONMENT,
               region_printf(c->region, "%s;%u;%d", module, launched->count, token), 1);
        return true;
    }
    /* Each rank may run a heddle of its own. */
    command_say("mpirun has started %u ranks, but the heddle of rank %u was built without the MPI "
                "of %s; install its development package there and build again (./dev build finds "
                "it), or run without mpirun",
                launched->count, launched->number, launched->library);
    return false;
}

/* The other ranks wait for a rank 0 that does not exist. */
static void end_others(int status)
{
    rank_transport_function *function = NULL;
    uint32_t number, count;
    void *library = dlopen(module, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = library ? dlsym(library, "heddle_rank_transport") : NULL;
    memcpy(&function, &symbol, sizeof function);
    fflush(NULL);
    if (function && function()->open(&number, &count))
        function()->abort(status);
}

int run_ranks_outcome(const struct run_outcome *outcome, const char *program, int status)
{
    const struct run_process *first = outcome->processes.count ? outcome->processes.items : NULL;
    char untaken;
    if (!status && !(first && (first->is_closed || first->is_partial))) {
        fprintf(stderr,
                first ? "heddle: '%s' ended without an end of its simulation; the other ranks are "
                        "ended\n"
                      : "heddle: no process of '%s' has used HIP; the other ranks are ended\n",
                program);
        status = EXIT_MISSED;
    }
    if (status && read(token, &untaken, 1) == 1)
        end_others(status);
    return status;
}

/* Rank 0 decides what an interruption does. Should that never tell us, this process ends. */
static void on_signal(int number)
{
    (void)number;
    alarm(PATIENCE_S);
}

int run_ranks_serve(struct command *c, const struct build_result *built,
                    const struct handed *handed)
{
    void *library;
    struct handed own = *handed;
    /* Rank 0 writes, and others must know that it does. */
    if ((c->options->report || c->options->view) && !c->options->stats)
        hand_over(&own, "stats", '>', "/dev/null");
    if (run_profiles_instructions(c->options))
        hand_over(&own, "profile instructions", '>', "/dev/null");
    if (c->options->view)
        hand_over(&own, "view", '>', "/dev/null");
    const struct heddle_platform *platform = run_open_built(c, built, &library);
    if (!platform || !platform->start(handed_text(&own)))
        return EXIT_UNABLE;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        signal(numbers[i], on_signal);
    return platform->run();
}
