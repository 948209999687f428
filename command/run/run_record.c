/* Recordings of a run. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command_say.h"
#include "components/traces/api_trace/api_trace.h"
#include "runtime/engine/options.h"

#include "hand_over.h"
#include "run.h"

/* Kinds of recordings, and the file that is there when the recording is complete. */
static const struct recording_kind {
    const char *option, *complete;
} recording_kinds[RUN_RECORDINGS] = {
    [RUN_RECORD_CALLS] = {"--record api", API_TRACE_FILE},
    [RUN_RECORD_STEPS] = {"--record instructions", "kernelslist.g"},
};

static const char *recording_folder(const struct options *o, size_t kind)
{
    return kind == RUN_RECORD_CALLS ? o->record_api : o->record_instructions;
}

bool run_recording_allowed(const struct options *o)
{
    struct stat status;
    for (size_t i = 0; i < RUN_RECORDINGS; i++) {
        const char *folder = recording_folder(o, i);
        if (folder && lstat(folder, &status) == 0) {
            command_say("'%s=%s': this exists already; a recording is a new folder",
                        recording_kinds[i].option, folder);
            return false;
        }
    }
    return true;
}

/* A folder of files. */
static void remove_folder(struct command *c, const char *folder)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        unlink(region_printf(c->region, "%s/%s", folder, entry->d_name));
    if (entries)
        closedir(entries);
    rmdir(folder);
}

static bool begin_one(struct command *c, size_t kind, struct run_recording *recording)
{
    const char *folder = recording_folder(c->options, kind);
    if (!folder)
        return true;
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/')
        size--;
    folder = region_printf(c->region, "%.*s", (int)size, folder);
    char *part = region_take(c->region, size + sizeof ".part-XXXXXX");
    memcpy(part, folder, size);
    memcpy(part + size, ".part-XXXXXX", sizeof ".part-XXXXXX");
    char full[PATH_MAX];
    if (!mkdtemp(part) || chmod(part, 0755) != 0 || !realpath(part, full)) {
        command_say("'%s %s': cannot make a folder there: %s", recording_kinds[kind].option, folder,
                    strerror(errno));
        return false;
    }
    recording->folder[kind] = folder;
    recording->part[kind] = region_strdup(c->region, full);
    return true;
}

bool run_recording_begin(struct command *c, struct handed *handed, struct run_recording *recording)
{
    *recording = (struct run_recording){0};
    for (size_t i = 0; i < RUN_RECORDINGS; i++) {
        if (begin_one(c, i, recording))
            continue;
        for (size_t made = 0; made < i; made++)
            if (recording->part[made])
                remove_folder(c, recording->part[made]);
        return false;
    }
    if (recording->part[RUN_RECORD_CALLS])
        setenv(OPTIONS_ENV_RECORD, recording->part[RUN_RECORD_CALLS], 1);
    hand_over(handed, "record instructions", '>', recording->part[RUN_RECORD_STEPS]);
    return true;
}

static int end_one(struct command *c, const struct run_recording *recording, size_t kind,
                   unsigned number, int status)
{
    const char *folder = run_numbered_path(c, recording->folder[kind], number, true);
    const char *part = run_numbered_path(c, recording->part[kind], number, true);
    const char *list = kind == RUN_RECORD_STEPS && c->options->record_raw
                           ? "kernelslist" /* not grouped */
                           : recording_kinds[kind].complete;
    const char *trace = region_printf(c->region, "%s/%s", part, list);
    bool complete = access(trace, F_OK) == 0;
    if (complete && rename(part, folder) == 0) {
        command_say("recorded in '%s'", folder);
        return status;
    }
    if (complete)
        command_say("cannot rename the recording to '%s': %s", folder, strerror(errno));
    else
        command_say("nothing is recorded: the program %s",
                    status == 0 ? "has not used HIP to its end, or cannot be recorded"
                                : "did not come to a good end");
    remove_folder(c, part);
    return status != 0 ? status : EXIT_ERRORS;
}

int run_recording_end(struct command *c, const struct run_recording *recording,
                      const struct run_outcome *outcome, int status)
{
    unsetenv(OPTIONS_ENV_RECORD);
    for (size_t i = 0; i < RUN_RECORDINGS; i++)
        for (unsigned n = 1; recording->folder[i] && (n == 1 || n <= outcome->processes.count); n++)
            status = end_one(c, recording, i, n, status);
    return status;
}
