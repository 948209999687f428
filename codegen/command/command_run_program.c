/* A program under `heddle run`: found, started with our HIP library in front and the platform named
 * in the environment, supervised. Two outcomes are combined: what the program returned, and how the
 * simulation ended (HEDDLE_STATUS).
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/command/command_run.h"
#include "codegen/command/run_layout.h"
#include "runtime/session/options_env.h"
#include "codegen/emit/sha256.h"

const char *run_find_program(struct command *c, const char *name)
{
    struct stat status;
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        if (stat(name, &status) != 0)
            fprintf(stderr, "heddle run: cannot find the program '%s': %s\n", name,
                    strerror(errno));
        else if (!S_ISREG(status.st_mode) || access(name, X_OK) != 0)
            fprintf(stderr, "heddle run: '%s' is not a program: it is %s\n", name,
                    S_ISDIR(status.st_mode) ? "a folder" : "not executable");
        else
            return name;
        return NULL;
    }
    while (path && *path) {
        size_t size = strcspn(path, ":");
        const char *candidate = arena_printf(c->arena, "%.*s/%s", (int)size, path, name);
        if (stat(candidate, &status) == 0 && S_ISREG(status.st_mode)
            && access(candidate, X_OK) == 0)
            return candidate;
        path += size + (path[size] == ':');
    }
    fprintf(stderr, "heddle run: cannot find the program '%s' on the PATH\n", name);
    if (access(name, X_OK) == 0)
        fprintf(stderr, "help: for the file in this folder write './%s'\n", name);
    return NULL;
}

bool run_program_is_fixed(const char *path)
{
    Elf64_Ehdr header;
    FILE *file = fopen(path, "rb");
    bool read = file && fread(&header, sizeof header, 1, file) == 1;
    if (file)
        fclose(file);
    return read && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0
           && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_EXEC;
}

static const char *hash_file(struct command *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    struct sha256 hash;
    char buffer[65536];
    char *digest = arena_alloc(c->arena, 65);
    size_t got;
    sha256_init(&hash);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        sha256_add(&hash, buffer, got);
    fclose(file);
    sha256_finish(&hash, digest);
    return digest;
}

static volatile sig_atomic_t child;

/* What somebody sends to us is meant for the program; what the terminal sends, it gets itself. */
static void forward_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code != SI_KERNEL)
        kill((pid_t)child, number);
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void handle_passed_on(struct sigaction *action)
{
    sigemptyset(&action->sa_mask);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaction(passed_on[i], action, NULL);
}

/* From here on signals are passed on; they are held back until the caller knows its child and sets
   the mask to `before` again, since one that comes in between would be lost. */
static void forward_signals(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(&held, passed_on[i]);
    sigprocmask(SIG_BLOCK, &held, before);
    handle_passed_on(
        &(struct sigaction){.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART});
}

static void set_environment(struct command *c, const struct build_result *built,
                            const struct heddle_options *options, const char *status_file)
{
    size_t size = options_env_encode(options, NULL, 0) + 1;
    char *text = arena_alloc(c->arena, size);
    options_env_encode(options, text, size);
    setenv(OPTIONS_ENV_PLATFORM, run_absolute(c, built->platform_so), 1);
    setenv(OPTIONS_ENV_OPTIONS, text, 1);
    setenv(OPTIONS_ENV_STATUS, status_file, 1);
    const char *old = getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH",
           old && *old ? arena_printf(c->arena, "%s:%s", c->toolkit.hip_folder, old)
                       : c->toolkit.hip_folder,
           1);
}

/* The outcome of the simulation, as reported by whoever drove it. */
static int read_status(const char *path)
{
    char digit = '0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, &digit, 1) != 1)
            digit = '0';
        close(file);
    }
    return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}

static int wait_for_program(const char *name)
{
    int status;
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR) {
            fprintf(stderr, "heddle: cannot wait for '%s': %s\n", name, strerror(errno));
            return EXIT_ERRORS;
        }
    child = 0;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "heddle: '%s' was ended by signal %d (%s)\n", name, WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

int run_program(struct command *c, const struct build_result *built, struct heddle_options *options,
                const char *program, char **arguments)
{
    char folder[] = "/tmp/heddle-run-XXXXXX";
    if (!c->toolkit.hip_folder) {
        fprintf(stderr, "heddle run: this installation has no libamdhip64.so.5\n");
        return EXIT_ERRORS;
    }
    if (!mkdtemp(folder)) {
        fprintf(stderr, "heddle run: cannot create a folder in /tmp: %s\n", strerror(errno));
        return EXIT_ERRORS;
    }
    const char *status_file = arena_printf(c->arena, "%s/status", folder);
    options->program_hash = hash_file(c, program);
    set_environment(c, built, options, status_file);
    sigset_t before;
    forward_signals(&before);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(EXIT_ERRORS);
        handle_passed_on(&(struct sigaction){.sa_handler = SIG_DFL});
        sigprocmask(SIG_SETMASK, &before, NULL);
        run_fix_layout(arguments);
        execv(program, arguments);
        fprintf(stderr, "heddle run: cannot start '%s': %s\n", program, strerror(errno));
        _exit(127);
    }
    child = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = EXIT_ERRORS;
    if (pid < 0)
        fprintf(stderr, "heddle run: cannot start '%s': %s\n", program, strerror(errno));
    else
        status = wait_for_program(program);
    int simulation = read_status(status_file);
    unlink(status_file);
    rmdir(folder);
    return simulation ? simulation : status;
}
