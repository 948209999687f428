/* The list, the kernels under way, and what goes wrong. */
#include "components/traces/instruction_trace/amd/amd_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/amd/amd_recording_kernel.h"
#include "components/traces/instruction_trace/amd/amd_recording_spool.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#define PART_LIST AMD_RECORDING_LIST ".part"
enum { MOST_GPUS = 64 };

static struct {
    char folder[PATH_MAX];
    FILE *list;
    uint64_t commands;
    bool on;
    bool unwritten;                /* a file could not be written */
    char why[600];                 /* it ended */
    uint32_t started[MOST_GPUS];   /* launches */
    struct record_kernel *kernels; /* given to the driver and not over */
    pthread_mutex_t mutex;         /* of the list of kernels, which wavefronts look into */
} record = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool amd_recording_is_on(void)
{
    return record.on;
}

const struct execution_observer *amd_recording_ops(void)
{
    return &record_spool_ops;
}

static void stop(const char *format, va_list args)
{
    if (record.on)
        vsnprintf(record.why, sizeof record.why, format, args);
    record.on = false;
}

void amd_recording_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    stop(format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static void cannot_write(const char *format, ...)
{
    va_list args;
    record.unwritten |= record.on;
    va_start(args, format);
    stop(format, args);
    va_end(args);
}

bool amd_recording_is_unwritten(void)
{
    return record.unwritten;
}

static bool path_of(char path[PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool path_of(char path[PATH_MAX], const char *format, ...)
{
    size_t at = (size_t)snprintf(path, PATH_MAX, "%s/", record.folder);
    va_list args;
    va_start(args, format);
    int size = at < PATH_MAX ? vsnprintf(path + at, PATH_MAX - at, format, args) : PATH_MAX;
    va_end(args);
    return (size_t)size < PATH_MAX - at;
}

/* ---- the list ---- */

static void add_line(const char *format, va_list args)
{
    if (!record.on)
        return;
    vfprintf(record.list, format, args);
    fputc('\n', record.list);
}

void amd_recording_line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(format, args);
    va_end(args);
}

uint64_t amd_recording_command(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(format, args);
    va_end(args);
    return ++record.commands;
}

/* ---- kernels ---- */

static struct record_kernel *kernel_of(uint64_t number)
{
    struct record_kernel *k = record.kernels;
    while (k && k->number != number)
        k = k->next;
    return k;
}

static struct record_kernel *find(uint32_t gpu, uint32_t dispatch)
{
    pthread_mutex_lock(&record.mutex);
    struct record_kernel *k = record.kernels;
    while (k && !(k->started && k->start.gpu == gpu && k->dispatch == dispatch))
        k = k->next;
    pthread_mutex_unlock(&record.mutex);
    return k;
}

void amd_recording_launch(const struct amd_recording_launch *launch)
{
    if (!record.on)
        return;
    struct record_kernel *k = itrace_allocate(1, sizeof *k);
    k->number = launch->kernel;
    k->symbol = itrace_copy_text(launch->symbol, strlen(launch->symbol));
    k->title = itrace_copy_text(launch->title, strlen(launch->title));
    k->queue = launch->queue;
    k->arguments = (uint8_t *)itrace_copy_text(launch->arguments, launch->argument_bytes);
    k->argument_bytes = launch->argument_bytes;
    pthread_mutex_lock(&record.mutex);
    k->next = record.kernels;
    record.kernels = k;
    pthread_mutex_unlock(&record.mutex);
}

static void count_groups(struct record_kernel *k)
{
    const struct aql_packet *p = &k->packet;
    uint32_t items = 1;
    k->waves = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t block = p->work_group[i] ? p->work_group[i] : 1;
        k->groups[i] = (uint32_t)(((uint64_t)p->grid[i] + block - 1) / block);
        items *= block;
        k->waves *= k->groups[i];
    }
    k->group_waves = (items + ISA_LANES - 1) / ISA_LANES;
    k->waves *= k->group_waves;
}

void amd_recording_start(uint64_t number, const struct amd_recording_start *start)
{
    char path[PATH_MAX];
    struct record_kernel *k = record.on ? kernel_of(number) : NULL;
    uint32_t dispatch = start->gpu < MOST_GPUS ? record.started[start->gpu]++ : UINT32_MAX;
    if (!k)
        return;
    if (!start->code) {
        amd_recording_refuse("kernel '%s' is in no module that the driver knows", k->title);
        return;
    }
    k->start = *start;
    k->packet = *start->packet;
    k->descriptor = *start->descriptor;
    k->dispatch = dispatch;
    count_groups(k);
    k->chain = itrace_allocate(k->waves, sizeof *k->chain);
    k->line_used = itrace_allocate(start->code_bytes / RECORD_LINE + 1, 1);
    k->spool = path_of(path, "spool") ? fopen(path, "w+bxe") : NULL;
    if (!k->spool || unlink(path) != 0)
        cannot_write("no temporary file in '%s': %s", record.folder, strerror(errno));
    pthread_mutex_lock(&record.mutex);
    k->started = k->spool != NULL;
    pthread_mutex_unlock(&record.mutex);
}

static void kernel_free(struct record_kernel *k)
{
    pthread_mutex_lock(&record.mutex);
    struct record_kernel **link = &record.kernels;
    while (*link != k)
        link = &(*link)->next;
    *link = k->next;
    pthread_mutex_unlock(&record.mutex);
    if (k->spool)
        fclose(k->spool);
    itrace_free(k->chain);
    itrace_free(k->line_used);
    itrace_free(k->arguments);
    itrace_free(k->symbol);
    itrace_free(k->title);
    itrace_free(k);
}

void amd_recording_end(uint64_t number)
{
    char path[PATH_MAX];
    const char *wrong = NULL;
    struct record_kernel *k = kernel_of(number);
    int failure = record_spool_failure();
    if (!k)
        return;
    if (failure < 0)
        amd_recording_refuse("kernel '%s' executes code outside of its module", k->title);
    else if (failure)
        cannot_write("the temporary file in '%s': %s", record.folder, strerror(failure));
    if (record.on && k->started
        && (!path_of(path, "kernel-%" PRIu64 ".traceg.zst", number)
            || !record_kernel_write(k, path, &wrong)))
        cannot_write("'%s' cannot be written: %s", path, wrong ? wrong : strerror(errno));
    kernel_free(k);
}

/* ---- beginning and end ---- */

bool amd_recording_open(const char *folder, uint32_t units)
{
    char path[PATH_MAX];
    int size = snprintf(record.folder, sizeof record.folder, "%s", folder);
    errno = ENAMETOOLONG;
    if ((size_t)size >= sizeof record.folder || !path_of(path, PART_LIST))
        return false;
    record.list = fopen(path, "wbxe");
    if (!record.list)
        return false;
    record_spool_open(units, find);
    record.on = true;
    return true;
}

const char *amd_recording_finish(bool good)
{
    char part[PATH_MAX], whole[PATH_MAX];
    if (!record.list)
        return record.why[0] ? record.why : NULL;
    if (!good)
        amd_recording_refuse("a kernel broke the device");
    while (record.kernels)
        kernel_free(record.kernels);
    record_spool_close();
    bool written = !ferror(record.list);
    written = fclose(record.list) == 0 && written;
    record.list = NULL;
    if (!written)
        cannot_write("'%s/" AMD_RECORDING_LIST "' cannot be written: %s", record.folder,
                     strerror(errno));
    if (record.on
        && (!path_of(part, PART_LIST) || !path_of(whole, AMD_RECORDING_LIST)
            || rename(part, whole) != 0))
        cannot_write("'%s/" AMD_RECORDING_LIST "': %s", record.folder, strerror(errno));
    bool complete = record.on;
    record.on = false;
    return complete ? NULL : record.why;
}
