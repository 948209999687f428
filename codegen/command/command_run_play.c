/* See command_run_play.h. The player is a program like any other: it stands beside the HIP library
 * and gives the commands of the trace to the driver below it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/command/command_run_play.h"

#define PLAYER "heddle-play-instructions"
#define LIST   "kernelslist.g"

int run_play_trace(struct command *c, const char **program, char ***arguments)
{
    const char *path = c->options->play_instructions;
    struct stat status;
    if (!c->toolkit.hip_folder) {
        fprintf(stderr, "heddle run: this installation has no libamdhip64.so.5, which plays "
                        "traces\n");
        return EXIT_ERRORS;
    }
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        path = arena_printf(c->arena, "%s/" LIST, path);
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "heddle run: cannot read '--play instructions=%s': %s\n", path,
                strerror(errno));
        return EXIT_ERRORS;
    }
    *program = arena_printf(c->arena, "%s/" PLAYER, c->toolkit.hip_folder);
    if (access(*program, X_OK) != 0) {
        fprintf(stderr, "heddle run: cannot find the player of traces, '%s'\n", *program);
        return EXIT_ERRORS;
    }
    char **list = arena_alloc(c->arena, 3 * sizeof *list);
    list[0] = arena_strdup(c->arena, *program);
    list[1] = arena_strdup(c->arena, path);
    list[2] = NULL;
    *arguments = list;
    return EXIT_CLEAN;
}
