/* Files that are for this command alone, in $TMPDIR. They are gone at its end, also when a signal
 * ends it. Called by command_run.c. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/command/command.h"
#include "codegen/command/options_table.h"

#define MOST 4

static const char *paths[MOST];
static volatile sig_atomic_t count;

static void remove_all(int number)
{
    for (int i = 0; i < count; i++)
        unlink(paths[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void guard(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGQUIT};
    struct sigaction before, action = {.sa_handler = remove_all};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

const char *command_temporary(const struct command *c)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    char *path = arena_printf(c->arena, "%s/heddle-XXXXXX", folder);
    if (count == 0)
        guard();
    int file = mkstemp(path);
    if (file < 0) {
        fprintf(stderr, "heddle %s: cannot create a file in '%s': %s\n",
                options_command_name(c->options->command), folder, strerror(errno));
        return NULL;
    }
    close(file);
    if (count < MOST) {
        paths[count] = path;
        count++;
    }
    return path;
}
