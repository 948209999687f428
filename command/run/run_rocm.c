/* Shows a program the simulated kernel driver. The folder holds the files by their own paths; the
 * preloaded library (components/kfd) shows them there. */
#define _GNU_SOURCE /* nftw */
#include "run_rocm.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "codegen/emit/emit.h"
#include "codegen/views/view.h"
#include "command/command_say.h"
#include "command/supervise.h"
#include "runtime/engine/options.h"

/* The parameter of platforms, and its upper limit (std/host_memory). */
#define MEMORY     "host_memory"
#define MEMORY_MAX "64GiB"

static const char *folder; /* NULL: none */
static char **server;      /* run_rocm_server() */

static bool is_server(const struct command *c)
{
    return server && c->options->program == server;
}

/* 250 small files take 12 ms of the system's time in memory, and 200 ms on a disk. */
const char *run_rocm_folders(void)
{
    static const char memory[] = "/dev/shm";
    const char *within = getenv("TMPDIR");
    return within && within[0] == '/' ? within : access(memory, W_OK | X_OK) == 0 ? memory : "/tmp";
}

bool run_uses_rocm(const struct options *o)
{
    return o->stack && strcmp(o->stack, "rocm") == 0;
}

/* `heddle serve` is one without a program. */
bool run_has_server(const struct options *o)
{
    return run_uses_rocm(o) || o->shared || (server && o->program == server);
}

static bool put_file(void *context, const char *path, const char *text)
{
    struct region *region = context;
    return emit_write_below(region, region_printf(region, "%s%s", folder, path), text);
}

static bool make_folder(struct command *c)
{
    const char *within = run_rocm_folders();
    char *path = region_printf(c->region, "%s/%sXXXXXX", within,
                               is_server(c) ? RUN_ROCM_SERVERS : "heddle-rocm-");
    folder = mkdtemp(path);
    if (!folder)
        command_say("cannot create a folder in '%s': %s", within, strerror(errno));
    return folder != NULL;
}

static bool says_memory(const struct options *o)
{
    for (size_t i = 0; i < o->set.count; i++)
        if (strncmp(o->set.items[i], MEMORY "=", sizeof MEMORY) == 0)
            return true;
    return false;
}

/* Errors of the description are printed when it is built. */
void run_rocm_give_memory(struct command *c)
{
    if (!run_uses_rocm(c->options) || says_memory(c->options))
        return;
    struct compilation *compilation = command_open(c);
    const struct model *model =
        compile_platform(compilation, c->options->arguments.items[0], c->options->platform);
    bool can = false;
    for (uint32_t i = 0; model && i < model->root->param_count; i++)
        can |= strcmp(model->root->params[i].decl->name, MEMORY) == 0;
    compile_close(compilation);
    if (!can)
        return;
    struct options *options = region_take(c->region, sizeof *options);
    *options = *c->options;
    options->set.items = region_take(c->region, (options->set.count + 1) * sizeof(char *));
    memcpy(options->set.items, c->options->set.items, options->set.count * sizeof(char *));
    options->set.items[options->set.count++] = MEMORY "=" MEMORY_MAX;
    c->options = options;
}

bool run_rocm_begin(struct command *c)
{
    struct view_error error = {""};
    if (!run_has_server(c->options))
        return true;
    if (!c->toolkit.kfd_library) {
        command_say("this installation has no libheddle_kfd.so");
        return false;
    }
    if (!run_uses_rocm(c->options))
        return make_folder(c);
    struct compilation *compilation = command_open(c);
    const struct model *model = command_platform(c, compilation, c->options->arguments.items[0]);
    const struct view_files files = {put_file, c->region};
    bool ok = model && make_folder(c) && view_topology(model, &files, true, &error);
    compile_close(compilation);
    if (error.text[0])
        command_say("'--stack rocm': %s", error.text);
    if (!ok)
        run_rocm_end();
    return ok;
}

/* ---- the simulator ---- */

/* A socket in the folder, which is named by a descriptor, as paths of sockets are short. */
static int open_socket(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int within = open(folder, O_PATH | O_CLOEXEC);
    int fd = within < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/socket", within);
    if (fd >= 0
        && (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 || listen(fd, SOMAXCONN) != 0)) {
        close(fd);
        fd = -1;
    }
    if (within >= 0)
        close(within);
    return fd;
}

static char *server_path(const struct command *c)
{
    const char *library = c->toolkit.kfd_library;
    return region_printf(c->region, "%.*s/heddle-kfd", (int)(strrchr(library, '/') - library),
                         library);
}

char **run_rocm_server(struct command *c)
{
    server = region_take(c->region, 5 * sizeof *server);
    server[0] = server_path(c);
    server[1] = server[4] = NULL; /* the former is known when it starts */
    server[2] = region_strdup(c->region, "serve");
    server[3] = region_printf(c->region, "%" PRIu64, c->options->shared);
    return server;
}

/* The server is supervised in the program's place. */
static bool start_server(struct command *c, int listener)
{
    server[1] = region_printf(c->region, "%d", listener);
    fcntl(listener, F_SETFD, 0);
    unsetenv("LD_PRELOAD");
    printf("%s\n", folder);
    command_say("programs join by: heddle join %s -- PROGRAM", folder);
    return true;
}

/* The simulator keeps both descriptors, and has nothing of what is put in front of programs. */
__attribute__((noreturn)) static void be_simulator(struct command *c, const char *path,
                                                   int listener, int control)
{
    char *const words[] = {region_strdup(c->region, path), region_printf(c->region, "%d", listener),
                           region_printf(c->region, "%d", control),
                           region_printf(c->region, "%" PRIu64, c->options->shared), NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(listener, F_SETFD, 0);
    fcntl(control, F_SETFD, 0);
    unsetenv("LD_PRELOAD");
    execv(path, words);
    command_say("cannot start '%s': %s", path, strerror(errno));
    _exit(127);
}

bool run_rocm_start(struct command *c, struct supervise *supervise)
{
    const char *path = server_path(c);
    int listener = open_socket(), control[2];
    if (listener >= 0 && is_server(c))
        return start_server(c, listener);
    if (listener < 0 || pipe2(control, O_CLOEXEC) != 0) {
        command_say("cannot make a socket in '%s': %s", folder, strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        be_simulator(c, path, listener, control[0]);
    close(listener);
    close(control[0]);
    supervise->simulator = pid;
    supervise->control = control[1];
    if (pid < 0)
        command_say("cannot start '%s': %s", path, strerror(errno));
    if (pid > 0)
        run_rocm_set_environment(c, folder);
    return pid > 0;
}

/* ---- the program ---- */

bool run_rocm_has_files(struct command *c, const char *within)
{
    return access(region_printf(c->region, "%s/sys", within), F_OK) == 0;
}

/* The program finds the HIP library of the system, not heddle's, so the path of libraries stays.
 * ROCr leaves the SDMA engines of gfx8 alone unless it is told to use them. */
void run_rocm_set_environment(struct command *c, const char *within)
{
    const char *before = getenv("LD_PRELOAD"), *library = c->toolkit.kfd_library;
    if (!run_rocm_has_files(c, within)) {
        setenv(OPTIONS_ENV_PLATFORM, region_printf(c->region, "%s/socket", within), 1);
        return;
    }
    setenv("HEDDLE_TOPOLOGY", within, 1);
    setenv("HSA_ENABLE_SDMA", "1", 0);
    setenv("LD_PRELOAD",
           before && *before ? region_printf(c->region, "%s:%s", library, before) : library, 1);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

void run_rocm_end(void)
{
    if (folder && nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        command_say("cannot remove the folder '%s': %s", folder, strerror(errno));
    folder = NULL;
}
