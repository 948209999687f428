/* Commands that make or use platform.so: build and run.
 *
 * `run` with a program starts it with our HIP library in front and the platform named in the
 * environment, passes signals on, and combines two outcomes: what the program returned, and how the
 * simulation ended (HEDDLE_STATUS). Without a program the platform drives itself in this process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/build.h"
#include "codegen/command.h"
#include "codegen/command_run_trace.h"
#include "codegen/options_env.h"
#include "codegen/sha256.h"
#include "runtime/sampling.h"

#define REPORT_FILE "/tmp/heddle-report-XXXXXX"

static bool build(struct command *c, struct build_result *result)
{
    const struct options *o = c->options;
    struct build_request request = {
        .toolkit = &c->toolkit,
        .file = o->arguments.items[0],
        .platform = o->platform,
        .overrides = o->set.items,
        .override_count = o->set.count,
        .include = o->include.items,
        .include_count = o->include.count,
        .folder = o->output,
        .generic = o->generic,
        .verbose = o->verbose,
        .colour = command_wants_colour(),
        .jobs = (uint32_t)o->jobs,
    };
    return build_is_current(c->arena, &request, result)
           || build_platform(c->arena, &request, result);
}

int command_build(struct command *c)
{
    struct build_result result;
    if (!build(c, &result))
        return EXIT_ERRORS;
    if (c->options->verbose)
        fprintf(stderr, "heddle: %u compiled, %s\n", result.compiled,
                result.linked ? "linked" : "nothing to link");
    printf("%s\n", result.platform_so);
    if (result.tables)
        printf("%s\n", result.tables);
    return EXIT_CLEAN;
}

static const char *absolute(struct command *c, const char *path)
{
    char folder[PATH_MAX];
    if (!path || path[0] == '/' || !getcwd(folder, sizeof folder))
        return path;
    return arena_printf(c->arena, "%s/%s", folder, path);
}

static const char *const *absolute_all(struct command *c, const struct options_list *paths)
{
    const char **all = arena_alloc(c->arena, (paths->count + 1) * sizeof *all);
    for (size_t i = 0; i < paths->count; i++)
        all[i] = absolute(c, paths->items[i]);
    return all;
}

/* "ascending", "descending", "random:SEED". */
static bool parse_order(const char *text, struct heddle_options *options)
{
    char *end;
    if (!text || strcmp(text, "ascending") == 0)
        return true;
    options->tick_order = ENGINE_DESCENDING;
    if (strcmp(text, "descending") == 0)
        return true;
    options->tick_order = ENGINE_RANDOM;
    errno = 0;
    if (strncmp(text, "random:", 7) == 0 && text[7] >= '0' && text[7] <= '9') {
        options->seed = strtoull(text + 7, &end, 10);
        if (errno == 0 && *end == '\0')
            return true;
    }
    fprintf(stderr, "heddle run: '--tick-order %s': it is ascending, descending or random:SEED\n",
            text);
    return false;
}

/* "timing", "functional". */
static bool parse_mode(const struct options *o, struct heddle_options *options)
{
    if (!o->mode || strcmp(o->mode, "timing") == 0)
        return true;
    if (strcmp(o->mode, "functional") != 0) {
        fprintf(stderr, "heddle run: '--mode %s': it is timing or functional\n", o->mode);
        return false;
    }
    options->mode = PLATFORM_FUNCTIONAL;
    bool has_program = o->program || o->api_trace;
    if (!has_program)
        fprintf(stderr, "heddle run: '--mode functional' executes a program; name one: heddle run "
                        "PLATFORM --mode functional -- PROGRAM ARGS...\n");
    else if (o->trace)
        fprintf(stderr, "heddle run: '--trace' shows messages between components; there are none "
                        "with '--mode functional'\n");
    else if (o->report)
        fprintf(stderr, "heddle run: '--report' tells where time went; there is none with '--mode "
                        "functional'\n");
    return has_program && !o->trace && !o->report;
}

/* Chosen kernels and their warm-up; a profile. */
static bool parse_sampling(const struct options *o, struct heddle_options *options)
{
    struct sampling sampling;
    char mistake[512];
    options->kernels = o->kernels;
    options->warmup = o->warmup;
    options->profile = !o->profile                         ? PLATFORM_PROFILE_NONE
                       : strcmp(o->profile, "blocks") == 0 ? PLATFORM_PROFILE_BLOCKS
                                                           : PLATFORM_PROFILE_MEMORY;
    if (!sampling_parse(o->kernels, o->warmup, &sampling, mistake, sizeof mistake)) {
        fprintf(stderr, "heddle run: %s\n", mistake);
        return false;
    }
    if (o->profile && strcmp(o->profile, "blocks") != 0 && strcmp(o->profile, "memory") != 0)
        fprintf(stderr, "heddle run: '--profile %s': it is blocks or memory\n", o->profile);
    else if (o->kernels && !o->program)
        fprintf(stderr, "heddle run: '--kernels' chooses launches of a program; name one: heddle "
                        "run PLATFORM --kernels LIST -- PROGRAM ARGS...\n");
    else if (o->kernels && options->mode == PLATFORM_FUNCTIONAL)
        fprintf(stderr, "heddle run: '--kernels' chooses what is simulated in detail; nothing is "
                        "with '--mode functional'\n");
    else if (o->profile && options->mode != PLATFORM_FUNCTIONAL)
        fprintf(stderr,
                "heddle run: '--profile' looks at kernels as they are executed with '--mode "
                "functional'; give that, too\n");
    else
        return true;
    return false;
}

/* "0,1,2,3"; whether these GPUs are there is found out when the platform stands. */
static bool parse_unified(const struct options *o, struct heddle_options *options)
{
    const char *text = options->unified = o->unified;
    if (!text)
        return true;
    size_t length = strlen(text), digits = strspn(text, "0123456789,");
    if (digits < length || !length || text[0] == ',' || text[length - 1] == ','
        || strstr(text, ",,")) {
        fprintf(stderr, "heddle run: '--unified %s': it is a list of GPU numbers such as 0,1,2,3\n",
                text);
        return false;
    }
    if (!o->program && !o->api_trace)
        fprintf(stderr,
                "heddle run: '--unified' is for programs; name one: heddle run PLATFORM "
                "--unified %s -- PROGRAM ARGS...\n",
                text);
    return o->program || o->api_trace;
}

/* "sum", "all", "none". */
static bool parse_kernel_stats(const char *text, struct heddle_options *options)
{
    static const char *const names[] = {[PLATFORM_KERNEL_STATS_SUM] = "sum",
                                        [PLATFORM_KERNEL_STATS_ALL] = "all",
                                        [PLATFORM_KERNEL_STATS_NONE] = "none"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!text || strcmp(text, names[i]) == 0) {
            options->kernel_stats = (int)i;
            return true;
        }
    }
    fprintf(stderr, "heddle run: '--kernel-stats %s': it is sum, all or none\n", text);
    return false;
}

/* "5000" or "5000cy": a cycle of the fastest clock; "25us": a time. */
static bool parse_when(const char *text, struct heddle_options *options)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {
        {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000u},
        {"cy", 0}, {"", 0}};
    char *end;
    errno = 0;
    uint64_t n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; n && errno == 0 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) != 0 || (units[i].ps && n > UINT64_MAX / 2 / units[i].ps))
            continue;
        if (units[i].ps)
            options->dump_ps = n * units[i].ps;
        else
            options->dump_cycle = n;
        return true;
    }
    fprintf(stderr,
            "heddle run: '--dump-at %s': it is a cycle of the fastest clock (5000) or a time with "
            "its unit (25us), above 0\n",
            text);
    return false;
}

/* "0x1240": each names a line. */
static bool parse_watch(const struct options *o, struct platform_lines *watch)
{
    if (o->watch.count && o->program) {
        fprintf(stderr, "heddle run: '--watch' is for platforms that drive themselves\n");
        return false;
    }
    if (o->watch.count > PLATFORM_LINES) {
        fprintf(stderr, "heddle run: at most %d lines can be watched\n", PLATFORM_LINES);
        return false;
    }
    for (size_t i = 0; i < o->watch.count; i++) {
        const char *text = o->watch.items[i];
        char *end = NULL;
        errno = 0;
        watch->address[watch->count++] =
            text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;
        if (!end || *end || errno) {
            fprintf(stderr, "heddle run: '--watch %s': it is an address, as in 0x1240\n", text);
            return false;
        }
    }
    return true;
}

/* A trace takes the place of a program. */
static bool parse_sass_trace(const struct options *o)
{
    if (!o->sass_trace || (!o->program && access(o->sass_trace, R_OK) == 0))
        return true;
    if (o->program)
        fprintf(stderr, "heddle run: '--sass-trace' plays a trace instead of a program; leave out "
                        "what stands behind '--'\n");
    else
        fprintf(stderr, "heddle run: cannot read '--sass-trace %s': %s\n", o->sass_trace,
                strerror(errno));
    return false;
}

/* State in files: what belongs together, and what cannot be. */
static bool parse_dump(const struct options *o, struct heddle_options *options)
{
    const char *named = o->dump ? "--dump" : o->dump_at ? "--dump-at" : o->load ? "--load" : NULL;
    if (!named)
        return true;
    if (o->program) {
        fprintf(stderr,
                "heddle run: '%s' is for platforms that drive themselves: half of the state of a "
                "program's run is the program's own\n",
                named);
        return false;
    }
    if (!o->dump != !o->dump_at) {
        fprintf(stderr, "heddle run: '--dump FILE' and '--dump-at WHEN' belong together\n");
        return false;
    }
    return !o->dump_at || parse_when(o->dump_at, options);
}

/* The file appears at its path when it is complete, so a link, pipe or device would be replaced by
 * it. */
static bool can_write(const char *option, const char *path)
{
    if (!path)
        return true;
    struct stat status;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        fprintf(stderr,
                "heddle run: '%s %s': this is a link, pipe or device; give the name of a file\n",
                option, path);
        return false;
    }
    char *copy = strdup(path);
    char *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = '\0';
    bool ok = access(slash ? copy : ".", W_OK) == 0;
    if (!ok)
        fprintf(stderr, "heddle run: '%s %s': cannot write there: %s\n", option, path,
                strerror(errno));
    free(copy);
    return ok;
}

/* More than any machine has; the platform takes as many as it has use for. */
#define THREADS_MOST 1024

/* -1 to go on, or an exit status. */
static int make_options(struct command *c, struct heddle_options *options)
{
    const struct options *o = c->options;
    *options = (struct heddle_options){
        .abi = PLATFORM_ABI,
        .stats_path = absolute(c, o->stats),
        .stats_no_host = o->stats_no_host,
        .trace_path = absolute(c, o->trace),
        .max_cycles = o->max_cycles,
        .stall_limit = o->stall_limit,
        .tick_all = o->tick_all,
        .progress = isatty(STDERR_FILENO) != 0,
        .threads = 1,
        .dump_path = absolute(c, o->dump),
        .load_path = absolute(c, o->load),
        .api_trace = absolute(c, o->api_trace),
        .modules = absolute_all(c, &o->module),
        .module_count = (uint32_t)o->module.count,
        .sass_trace_path = absolute(c, o->sass_trace),
        .sass_no_cache = o->no_cache,
    };
    if (o->threads)
        options->threads = o->threads < THREADS_MOST ? (int)o->threads : THREADS_MOST;
    if (!run_trace_parse(o) || !parse_mode(o, options) || !parse_unified(o, options)
        || !parse_sampling(o, options))
        return EXIT_USAGE;
    if (!parse_order(o->tick_order, options) || !parse_kernel_stats(o->kernel_stats, options)
        || !parse_dump(o, options) || !parse_sass_trace(o) || !parse_watch(o, &options->watch))
        return EXIT_USAGE;
    return can_write("--stats", o->stats) && can_write("--trace", o->trace)
                   && can_write("--dump", o->dump)
               ? -1
               : EXIT_ERRORS;
}

/* Path of the program as the shell would find it, or NULL after a message. */
static const char *find_program(struct command *c, const char *name)
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
    setenv(OPTIONS_ENV_PLATFORM, absolute(c, built->platform_so), 1);
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

static int run_program(struct command *c, const struct build_result *built,
                       struct heddle_options *options, const char *program, char **arguments)
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

static int run_platform(struct command *c, const struct build_result *built,
                        const struct heddle_options *options);

/* A run that failed over a line, again, to show what became of the line. */
static int repeat(struct command *c, const struct build_result *built,
                  const struct heddle_options *options, const struct platform_lines *suspects)
{
    struct heddle_options again = *options;
    again.watch = *suspects;
    again.stats_path = again.trace_path = again.dump_path = NULL;
    fprintf(stderr, "heddle: the messages about the line at");
    for (uint32_t i = 0; i < suspects->count; i++)
        fprintf(stderr, "%s 0x%llx", i ? " =" : "", (unsigned long long)suspects->address[i]);
    fprintf(stderr, " from %llu ps on:\n", (unsigned long long)suspects->since_ps);
    return run_platform(c, built, &again);
}

/* NULL after a message. `*library` is for dlclose(). */
static const struct heddle_platform *open_built(struct command *c, const struct build_result *built,
                                                void **library)
{
    const struct heddle_platform *(*open_platform)(uint32_t abi) = NULL;
    *library = dlopen(absolute(c, built->platform_so), RTLD_NOW | RTLD_LOCAL);
    if (*library) {
        void *symbol = dlsym(*library, "heddle_platform_open");
        memcpy(&open_platform, &symbol, sizeof symbol);
    }
    const struct heddle_platform *platform = open_platform ? open_platform(PLATFORM_ABI) : NULL;
    if (!platform) {
        const char *why = *library ? "it is of another version of heddle" : dlerror();
        fprintf(stderr, "heddle run: cannot open '%s': %s\n", built->platform_so, why);
    }
    return platform;
}

/* The component that plays traces of API calls; other platforms have the HIP library for it. */
#define TRACE_PLAYER "trace_cpu"

static bool plays_itself(struct command *c, const struct build_result *built)
{
    void *library;
    const struct heddle_platform *platform = open_built(c, built, &library);
    bool plays = !platform || platform->has(TRACE_PLAYER);
    if (library)
        dlclose(library);
    return plays;
}

/* A platform that drives itself, or plays a trace. */
static int run_platform(struct command *c, const struct build_result *built,
                        const struct heddle_options *options)
{
    void *library;
    const char *file = c->options->arguments.items[0];
    const struct heddle_platform *platform = open_built(c, built, &library);
    if (!platform)
        return OPTIONS_ENV_NOT_STARTED;
    bool plays = platform->has(TRACE_PLAYER);
    if (plays && (c->options->unified || options->mode != PLATFORM_TIMING)) {
        fprintf(
            stderr,
            "heddle run: this platform plays traces itself, without '--unified' and '--mode'\n");
        return EXIT_USAGE;
    }
    if (plays && !options->api_trace) {
        fprintf(stderr,
                "heddle run: this platform plays traces of API calls: heddle run %s --api-trace "
                "DIR\n",
                file);
        return EXIT_USAGE;
    }
    if (!platform->start(options))
        return OPTIONS_ENV_NOT_STARTED;
    if (platform->driver()) {
        fprintf(stderr,
                "heddle run: this platform's driver needs a program: heddle run %s -- PROGRAM "
                "ARGS...\n",
                file);
        return EXIT_USAGE;
    }
    int status = platform->run();
    if (!platform->finish() && status == 0)
        return OPTIONS_ENV_NOT_STARTED;
    struct platform_lines suspects;
    if (status == OPTIONS_ENV_FAILED && !options->watch.count && platform->suspects(&suspects)) {
        dlclose(library);
        return repeat(c, built, options, &suspects);
    }
    return status;
}

/* A file for the statistics that only the report reads. false: said on standard error. */
static bool make_report_file(char path[sizeof REPORT_FILE])
{
    memcpy(path, REPORT_FILE, sizeof REPORT_FILE);
    int file = mkstemp(path);
    if (file < 0) {
        fprintf(stderr, "heddle run: cannot create a file in /tmp: %s\n", strerror(errno));
        return false;
    }
    close(file);
    return true;
}

/* A run that failed before it had statistics has said why. */
static int print_report(struct command *c, const char *path, int status)
{
    struct stat file;
    if (status != 0 && (stat(path, &file) != 0 || file.st_size == 0))
        return status;
    int report = command_report_run(c, path);
    return status != 0 ? status : report;
}

static int run(struct command *c, const struct build_result *built, struct heddle_options *options,
               const char *program, char **arguments)
{
    char file[sizeof REPORT_FILE];
    bool own_file = c->options->report && !options->stats_path;
    if (own_file && !make_report_file(file))
        return EXIT_ERRORS;
    if (own_file)
        options->stats_path = file;
    int status = program ? run_program(c, built, options, program, arguments)
                         : run_platform(c, built, options);
    if (c->options->report)
        status = print_report(c, options->stats_path, status);
    if (own_file)
        unlink(file);
    return status;
}

int command_run(struct command *c)
{
    struct heddle_options options;
    struct build_result built;
    const char *program = NULL;
    int status = make_options(c, &options);
    if (status >= 0)
        return status;
    if (!command_report_known(c))
        return EXIT_USAGE;
    if (!run_recording_allowed(c->options))
        return EXIT_ERRORS;
    if (c->options->program) {
        if (!c->options->program[0]) {
            fprintf(stderr, "heddle run: there is no program behind '--'\n");
            return EXIT_USAGE;
        }
        program = find_program(c, c->options->program[0]);
        if (!program)
            return EXIT_ERRORS;
    }
    if (!build(c, &built))
        return EXIT_ERRORS;
    options.tables_path = absolute(c, built.tables);
    char **arguments = c->options->program;
    struct run_recording recording;
    if (c->options->api_trace && !plays_itself(c, &built)) {
        status = run_trace_player(c, &program, &arguments);
        if (status != EXIT_CLEAN)
            return status;
    }
    if (!run_recording_begin(c, &recording))
        return EXIT_ERRORS;
    return run_recording_end(c, &recording, run(c, &built, &options, program, arguments));
}
