/* See command_run_rocm.h. The folder holds the files by their own paths; the preloaded library
 * (components/kfd) shows them there. */
#define _GNU_SOURCE /* nftw */
#include "codegen/command/command_run_rocm.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/emit/emit.h"
#include "codegen/views/view.h"

static const char *folder; /* NULL: none */

bool run_uses_rocm(const struct options *o)
{
    return o->stack && strcmp(o->stack, "rocm") == 0;
}

static bool put(void *context, const char *path, const char *text)
{
    struct arena *arena = context;
    return emit_write_below(arena, arena_printf(arena, "%s%s", folder, path), text);
}

static bool make_folder(struct command *c)
{
    const char *within = getenv("TMPDIR");
    within = within && within[0] == '/' ? within : "/tmp";
    char *path = arena_printf(c->arena, "%s/heddle-rocm-XXXXXX", within);
    folder = mkdtemp(path);
    if (!folder)
        fprintf(stderr, "heddle run: cannot create a folder in '%s': %s\n", within,
                strerror(errno));
    return folder != NULL;
}

bool run_rocm_begin(struct command *c)
{
    struct view_error error = {""};
    if (!run_uses_rocm(c->options))
        return true;
    if (!c->toolkit.kfd_library) {
        fprintf(stderr, "heddle run: this installation has no libheddle_kfd.so\n");
        return false;
    }
    struct compilation *compilation = command_open(c);
    const struct model *model = command_platform(c, compilation, c->options->arguments.items[0]);
    const struct view_files files = {put, c->arena};
    bool ok = model && make_folder(c) && view_topology(model, &files, true, &error);
    compile_close(compilation);
    if (error.text[0])
        fprintf(stderr, "heddle run: '--stack rocm': %s\n", error.text);
    if (!ok)
        run_rocm_end();
    return ok;
}

/* The program finds the HIP library of the system, not heddle's, so the path of libraries stays.
 * ROCr leaves the SDMA engines of gfx8 alone unless it is told to use them. */
void run_rocm_set_environment(struct command *c)
{
    const char *before = getenv("LD_PRELOAD"), *library = c->toolkit.kfd_library;
    setenv("HEDDLE_TOPOLOGY", folder, 1);
    setenv("HSA_ENABLE_SDMA", "1", 0);
    if (c->options->kfd_version)
        setenv("HEDDLE_KFD_VERSION", c->options->kfd_version, 1);
    setenv("LD_PRELOAD",
           before && *before ? arena_printf(c->arena, "%s:%s", library, before) : library, 1);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

void run_rocm_end(void)
{
    if (folder && nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "heddle run: cannot remove the folder '%s': %s\n", folder, strerror(errno));
    folder = NULL;
}
