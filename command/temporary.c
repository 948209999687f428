/* Files that are for this command alone, in $TMPDIR. They are gone at its end, also when a signal
 * ends it. Called by command_run.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/options/options_table.h"
#include "runtime/engine/unfinished.h"

#include "command.h"
#include "command_say.h"

const char *command_temporary(const struct command *c)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    char *path = region_printf(c->region, "%s/heddle-XXXXXX", folder);
    unfinished_guard();
    int file = mkstemp(path);
    if (file < 0) {
        command_say("cannot create a file in '%s': %s", folder, strerror(errno));
        return NULL;
    }
    close(file);
    unfinished_add(path);
    return path;
}
