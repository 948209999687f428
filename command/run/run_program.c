/* A program under `heddle run`: found, started with our HIP and OpenCL libraries or our kernel
 * driver and the platform named in the environment, supervised. Three outcomes are combined: what
 * the program returned, how simulations ended, and whether their files are there
 * (runtime/session/run_ledger.h). */
#define _GNU_SOURCE /* memmem */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path_search.h"
#include "codegen/build/cache.h"
#include "command/command_say.h"
#include "command/options/options_table.h"
#include "command/supervise.h"
#include "runtime/engine/options.h"
#include "runtime/engine/rank.h"
#include "runtime/session/run_ledger.h"

#include "hand_over.h"
#include "run.h"
#include "run_rocm.h"

const char *run_find_program(struct command *c, const char *name)
{
    struct stat status;
    char path[PATH_MAX];
    if (strchr(name, '/')) {
        if (stat(name, &status) != 0)
            command_say("cannot find the program '%s': %s", name, strerror(errno));
        else if (!S_ISREG(status.st_mode) || access(name, X_OK) != 0)
            command_say("'%s' is not a program: it is %s", name,
                        S_ISDIR(status.st_mode) ? "a folder" : "not executable");
        else
            return name;
        return NULL;
    }
    if (path_search(name, path, sizeof path))
        return region_strdup(c->region, path);
    command_say("cannot find the program '%s' on the PATH", name);
    if (access(name, X_OK) == 0)
        fprintf(stderr, "help: for the file in this folder write './%s'\n", name);
    return NULL;
}

/* True if the program's file names the library, as it does where it needs the library or opens it.
 */
static bool names_library(const char *program, const char *library)
{
    struct stat status;
    int file = open(program, O_RDONLY | O_CLOEXEC);
    bool names_library = false;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        names_library = bytes != MAP_FAILED && memmem(bytes, size, library, strlen(library));
        if (bytes != MAP_FAILED)
            munmap(bytes, size);
    }
    if (file >= 0)
        close(file);
    return names_library;
}

/* Nothing can take the place of a CUDA runtime inside of the program. */
static bool has_cuda_inside(const char *program)
{
    return names_library(program, ".nv_fatbin") && names_library(program, "libcuda.so.1")
           && !names_library(program, "libcudart.so.");
}

static bool lacks_opencl(const struct command *c, const char *program)
{
    return !c->toolkit.opencl_library && !run_uses_rocm(c->options)
           && names_library(program, "libOpenCL.so");
}

/* The system's loader of OpenCL opens our driver only. */
static void offer_opencl(struct command *c)
{
    if (!c->toolkit.opencl_library)
        return;
    setenv("HEDDLE_CACHE", run_absolute(c, cache_folder(c->region)), 1);
    setenv("OCL_ICD_VENDORS", c->toolkit.opencl_library, 1);
    setenv("OCL_ICD_FILENAMES", c->toolkit.opencl_library, 1); /* Khronos' loader reads it */
}

/* The libraries of OpenCL and CUDA come too late to order the threads of the program, which the HIP
 * library does from the front. */
static void preload_hip(struct command *c, const char *program)
{
    if (!names_library(program, "libOpenCL.so") && !names_library(program, "libcudart.so."))
        return;
    const char *before = getenv("LD_PRELOAD");
    setenv("LD_PRELOAD",
           region_printf(c->region, "%s/libamdhip64.so.5%s%s", c->toolkit.hip_folder,
                         before && *before ? ":" : "", before ? before : ""),
           1);
}

/* Managed pages move when the host touches them, in an order that must be one on all hosts. The C
 * library copies several pages at a time from a size on that follows from the processor's caches,
 * and takes the string instructions of processors that have fast ones, which touch the first page
 * and the last one in another order than its loops. */
static void order_copies(struct command *c)
{
    static const char *const never[] = {"x86_non_temporal_threshold=0xfffffffffffffff",
                                        "x86_rep_movsb_threshold=0xffffffffffffffff",
                                        "x86_rep_stosb_threshold=0xffffffffffffffff", NULL};
    const char *before = getenv("GLIBC_TUNABLES"), *all = before ? before : "";
    for (const char *const *one = never; *one; one++)
        all = region_printf(c->region, "%s%sglibc.cpu.%s", all, *all ? ":" : "", *one);
    setenv("GLIBC_TUNABLES", all, 1);
}

void run_put_libraries(struct command *c, const char *program)
{
    const char *old = getenv("LD_LIBRARY_PATH"), *cuda = c->toolkit.cuda_folder;
    setenv("LD_LIBRARY_PATH",
           region_printf(c->region, "%s%s%s%s%s", c->toolkit.hip_folder, cuda ? ":" : "",
                         cuda ? cuda : "", old && *old ? ":" : "", old ? old : ""),
           1);
    offer_opencl(c);
    preload_hip(c, program);
    order_copies(c);
}

static void set_environment(struct command *c, const struct build_result *built,
                            const struct handed *handed, const char *program)
{
    setenv(OPTIONS_ENV_PLATFORM, run_absolute(c, built->platform_so), 1);
    setenv(OPTIONS_ENV_OPTIONS, handed_text(handed), 1);
    if (!run_uses_rocm(c->options))
        run_put_libraries(c, program);
}

/* ---- what became of it ---- */

/* The first output that the run has, for messages. */
static const char *first_output(const struct options *o)
{
    for (size_t i = 0; i < option_spec_count; i++) {
        const struct option_spec *spec = &option_specs[i];
        struct option_given given;
        if (!option_is_written(spec) || !option_belongs(spec, COMMAND_RUN))
            continue;
        option_given(o, spec, &given);
        if (given.count)
            return given.value;
    }
    const char *instructions = run_profiles_instructions(o) ? strchr(o->profile, '=') : NULL;
    return instructions                   ? instructions + 1
           : run_profiles_instructions(o) ? "the profile"
           : o->report                    ? "the report"
           : run_is_sampled(o)            ? "the estimate"
                                          : NULL;
}

static void read_outcome(struct command *c, int ledger, struct run_outcome *outcome)
{
    struct run_ledger_place place = {0};
    struct run_ledger_line line;
    while (run_ledger_next(ledger, &place, &line)) {
        struct run_process *p = line.process && line.process <= outcome->processes.count
                                    ? &outcome->processes.items[line.process - 1]
                                    : NULL;
        if (line.kind == RUN_LEDGER_OPENED)
            vector_push(c->region, &outcome->processes,
                        ((struct run_process){.name = region_strdup(c->region, line.name)}));
        else if (line.kind == RUN_LEDGER_STATUS)
            outcome->status = outcome->status ? outcome->status : line.status;
        else if (p)
            p->is_closed = line.kind == RUN_LEDGER_DONE,
            p->is_partial = line.kind == RUN_LEDGER_PARTIAL;
    }
}

/* True if the program needs a loader, which is what finds our library for it. */
static bool is_static(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    FILE *file = fopen(path, "rb");
    bool is_elf = file && fread(&header, sizeof header, 1, file) == 1
                  && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0
                  && header.e_ident[EI_CLASS] == ELFCLASS64;
    bool loaded = !is_elf;
    for (unsigned i = 0; !loaded && i < header.e_phnum; i++)
        loaded = fseek(file, (long)(header.e_phoff + i * header.e_phentsize), SEEK_SET) != 0
                 || fread(&segment, sizeof segment, 1, file) != 1 || segment.p_type == PT_INTERP;
    if (file)
        fclose(file);
    return !loaded;
}

/* The interface by whose use a process becomes one of the simulation's, for messages. */
static const char *used_by(const struct options *o)
{
    return run_uses_rocm(o) ? "a GPU" : "HIP, CUDA or OpenCL";
}

/* Files that are not there, or not whole: an exit status. */
static int report_missing(const struct options *o, const struct run_outcome *outcome,
                          const char *program)
{
    const char *output = first_output(o);
    int status = EXIT_CLEAN;
    if (!output)
        return status;
    if (!outcome->processes.count) {
        command_say("nothing was written to '%s': no process of '%s' has used %s%s", output,
                    program, used_by(o),
                    is_static(program)
                        ? "; it is linked statically: if there is a HIP library in it, "
                          "heddle's cannot take its place"
                        : "");
        status = EXIT_MISSED;
    }
    for (unsigned i = 0; i < outcome->processes.count; i++) {
        const struct run_process *p = &outcome->processes.items[i];
        if (p->is_closed)
            continue;
        if (!p->is_partial && !outcome->status)
            command_say("nothing was written to '%s' for '%s' (process %u), which did not come to "
                        "its end: it was ended by a signal, by _exit(), or by exec",
                        output, p->name, i + 1);
        status = EXIT_MISSED;
    }
    return status;
}

static void report_processes(struct command *c, const struct run_outcome *outcome)
{
    const char *output = first_output(c->options);
    if (output && outcome->processes.count > 1)
        command_say("%u processes have used %s; files of process 2 and later have '.process2' and "
                    "so on in their names",
                    (unsigned)outcome->processes.count, used_by(c->options));
}

int run_program(struct command *c, const struct build_result *built, const struct handed *handed,
                const char *program, char **arguments, struct run_outcome *outcome)
{
    if (!c->toolkit.hip_folder && !run_uses_rocm(c->options)) {
        command_say("this installation has no libamdhip64.so.5");
        return EXIT_ERRORS;
    }
    if (has_cuda_inside(program)) {
        command_say("CUDA's runtime library is linked into '%s', and heddle's cannot take its "
                    "place: link it as a shared library (nvcc: -cudart shared; CMake: "
                    "CUDA_RUNTIME_LIBRARY Shared; clang: -lcudart)",
                    program);
        return EXIT_ERRORS;
    }
    if (lacks_opencl(c, program)) {
        command_say(
            "'%s' uses OpenCL, and this heddle was built without its OpenCL library, so the "
            "program would run on another platform: install ocl-icd-opencl-dev and build again",
            program);
        return EXIT_ERRORS;
    }
    int ledger = run_ledger_begin();
    if (ledger < 0) {
        command_say("cannot make a file in memory: %s", strerror(errno));
        return EXIT_ERRORS;
    }
    set_environment(c, built, handed, program);
    struct supervise child = {.program = program,
                              .name = program,
                              .arguments = arguments,
                              .apart = getenv(RANK_ENVIRONMENT) != NULL,
                              .ledger = ledger};
    if (run_has_server(c->options) && !run_rocm_start(c, &child))
        return EXIT_ERRORS;
    int status = supervise(&child);
    read_outcome(c, ledger, outcome);
    close(ledger);
    report_processes(c, outcome);
    int missing = report_missing(c->options, outcome, program);
    bool yields = status && outcome->status == EXIT_FOUND; /* to the program's own failure */
    return outcome->status && !yields ? outcome->status : status ? status : missing;
}
