/* See command_run_ranks.h. */
#include "codegen/command/command_run_ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/command/command_run.h"
#include "runtime/engine/rank.h"
#include "runtime/session/exit_status.h"

/* What each launcher tells those that it starts: Open MPI's manual, "Environment Variables"; the
 * wire protocol of process managers (PMI) that Hydra speaks. */
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
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        unsigned count = number_in(launchers[i].count);
        if (count > 1)
            return (struct run_ranks){number_in(launchers[i].number), count, launchers[i].library};
    }
    return (struct run_ranks){0, 1, NULL};
}

bool run_ranks_announce(struct command *c, const struct run_ranks *launched)
{
    if (launched->count == 1)
        return true;
    const char *module =
        c->toolkit.mpi_folder
            ? arena_printf(c->arena, "%s/heddle_mpi_%s.so", c->toolkit.mpi_folder, launched->library)
            : NULL;
    if (module && access(module, R_OK) == 0) {
        setenv(RANK_ENVIRONMENT, arena_printf(c->arena, "%s;%u", module, launched->count), 1);
        return true;
    }
    if (launched->number == 0)
        fprintf(stderr,
                "heddle run: started by mpirun as %u ranks, but heddle was built without MPI of %s; "
                "install its development package and build again, or run without mpirun\n",
                launched->count, launched->library);
    return false;
}

int run_ranks_serve(struct command *c, const struct build_result *built,
                    const struct heddle_options *options)
{
    void *library;
    const struct heddle_platform *platform = run_open_built(c, built, &library);
    /* Rank 0 decides what an interruption does; who loses it is ended by the launcher. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    if (!platform || !platform->start(options))
        return EXIT_NOT_STARTED;
    return platform->run();
}
