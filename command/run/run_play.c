/* Plays recorded calls. The player is a program like any other: it is next to the HIP library,
 * through which it issues the calls of a trace. */
#include <stdio.h>
#include <unistd.h>

#include "command/command_say.h"

#include "run.h"

#define API_PLAYER "heddle-play-api"

int run_play_api(struct command *c, const char **program, char ***arguments)
{
    const struct options *o = c->options;
    if (!c->toolkit.hip_folder) {
        command_say("this installation has no libamdhip64.so.5, which plays traces of API calls");
        return EXIT_ERRORS;
    }
    if (!command_api_trace_check(c, o->play_api))
        return EXIT_ERRORS;
    *program = region_printf(c->region, "%s/" API_PLAYER, c->toolkit.hip_folder);
    if (access(*program, X_OK) != 0) {
        command_say("cannot find the player of API traces, '%s'", *program);
        return EXIT_ERRORS;
    }
    char **list = region_take(c->region, (o->module.count + 3) * sizeof *list);
    size_t count = 0;
    list[count++] = region_strdup(c->region, *program);
    list[count++] = region_strdup(c->region, o->play_api);
    for (size_t i = 0; i < o->module.count; i++)
        list[count++] = region_strdup(c->region, o->module.items[i]);
    list[count] = NULL;
    *arguments = list;
    return EXIT_CLEAN;
}
