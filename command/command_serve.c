/* `heddle serve` and `heddle join`: a machine that stays, and programs that come to it. The server
 * is that of `heddle run --shared` or `--stack rocm`, whose options it takes, without a program;
 * its folder has the socket and, with the latter, the files that the kernel driver shows. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/run/run.h"
#include "command/run/run_layout.h"
#include "command/run/run_rocm.h"

#include "command.h"
#include "command_say.h"

int command_serve(struct command *c)
{
    struct options options = *c->options;
    struct command as = *c;
    if (!c->toolkit.kfd_library) {
        command_say("this installation has no libheddle_kfd.so");
        return EXIT_ERRORS;
    }
    options.command = COMMAND_RUN;
    options.program = run_rocm_server(c);
    as.options = &options;
    return command_run(&as);
}

/* ---- join ---- */

static bool is_server(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid();
}

/* The folder of the only server there is; NULL: said on standard error. */
static const char *find_server(struct command *c)
{
    glob_t found = {0};
    const char *server = NULL;
    size_t count = 0;
    glob(region_printf(c->region, "%s/" RUN_ROCM_SERVERS "*/socket", run_rocm_folders()), 0, NULL,
         &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!is_server(found.gl_pathv[i]))
            continue;
        server =
            region_printf(c->region, "%.*s", (int)(strlen(found.gl_pathv[i]) - strlen("/socket")),
                          found.gl_pathv[i]);
        count++;
        if (count > 1)
            command_say("there is also '%s'", server);
    }
    globfree(&found);
    if (count == 1)
        return server;
    command_say("%s", count ? "there are several servers; name one: heddle join SERVER -- PROGRAM"
                            : "there is no server; start one: heddle serve PLATFORM");
    return NULL;
}

int command_join(struct command *c)
{
    const struct options *o = c->options;
    const char *server = o->arguments.count ? o->arguments.items[0] : find_server(c);
    if (!server)
        return EXIT_ERRORS;
    if (!is_server(region_printf(c->region, "%s/socket", server))) {
        command_say("'%s' is not the folder of a server of yours, as `heddle serve` says it",
                    server);
        return EXIT_ERRORS;
    }
    if (!o->program || !o->program[0]) {
        command_say("name a program: heddle join [SERVER] -- PROGRAM ARGS...");
        return EXIT_USAGE;
    }
    const char *program = run_find_program(c, o->program[0]);
    if (!program)
        return EXIT_ERRORS;
    server = run_absolute(c, server);
    if (!run_rocm_has_files(c, server))
        run_put_libraries(c, program);
    run_rocm_set_environment(c, server);
    run_fix_layout(o->program);
    fflush(NULL);
    execv(program, o->program);
    command_say("cannot start '%s': %s", program, strerror(errno));
    return EXIT_ERRORS;
}
