/* See cuda_recording.h. Blocks come whole, so each line is written when it comes. */
#include "components/traces/instruction_trace/nvidia/cuda_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_RECORDING_LIST "kernelslist.g"

enum { LAUNCHES = 4096 /* on their way to a GPU: its port takes 128 commands */ };

struct cuda_trace {
    FILE *file;
    uint32_t grid[3];
    char path[PATH_MAX];
};

static struct {
    bool on;
    FILE *list;
    uint32_t stream[LAUNCHES]; /* of a launch, by its number: written before it is sent */
    char folder[PATH_MAX - 64];
    char why[PATH_MAX + 100]; /* the first thing that went wrong */
} record;

static void cannot_write(const char *path, int reason)
{
    if (!record.why[0])
        snprintf(record.why, sizeof record.why, "'%s' cannot be written: %s", path,
                 strerror(reason));
    record.on = false;
}

static void path_of(char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", record.folder, name);
}

bool cuda_recording_open(const char *folder)
{
    char path[PATH_MAX];
    int size = snprintf(record.folder, sizeof record.folder, "%s", folder);
    errno = ENAMETOOLONG;
    if ((size_t)size >= sizeof record.folder)
        return false;
    path_of(path, CUDA_RECORDING_LIST ".part");
    record.list = fopen(path, "we");
    record.on = record.list != NULL;
    return record.on;
}

bool cuda_recording_is_on(void)
{
    return record.on;
}

void cuda_recording_copy(uint64_t address, uint64_t bytes)
{
    if (record.on)
        fprintf(record.list, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", address, bytes);
}

void cuda_recording_launch(uint64_t number, uint32_t stream)
{
    record.stream[number % LAUNCHES] = stream;
    if (record.on)
        fprintf(record.list, "kernel-%" PRIu64 ".traceg\n", number);
}

/* ---- traces ---- */

static void write_header(FILE *to, const struct itrace_header *h)
{
    fprintf(to, "-kernel name = %s\n-kernel id = %" PRIu64 "\n", h->kernel_name, h->kernel_id);
    fprintf(to, "-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n", h->grid[0], h->grid[1],
            h->grid[2], h->block[0], h->block[1], h->block[2]);
    fprintf(to, "-shmem = %" PRIu64 "\n-nregs = %" PRIu64 "\n-binary version = %" PRIu64 "\n",
            h->shared_bytes, h->registers, h->binary_version);
    fprintf(to,
            "-cuda stream id = %" PRIu32 "\n-shmem base_addr = 0x%016" PRIx64
            "\n-local mem base_addr = 0x%016" PRIx64 "\n",
            record.stream[h->kernel_id % LAUNCHES], h->shared_base, h->local_base);
    fprintf(to, "-launch behind = %" PRIu64 "\n-launch delay = %" PRIu64 "\n", h->launch_behind,
            h->launch_delay);
    fprintf(to, "-nvbit version = PTX\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
                "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num "
                "[reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n");
}

struct cuda_trace *cuda_trace_begin(const struct itrace_header *h)
{
    char name[64];
    if (!record.on)
        return NULL;
    struct cuda_trace *t = calloc(1, sizeof *t);
    if (!t) {
        cannot_write(record.folder, ENOMEM);
        return NULL;
    }
    snprintf(name, sizeof name, "kernel-%" PRIu64 ".traceg", h->kernel_id);
    path_of(t->path, name);
    t->file = fopen(t->path, "we");
    if (!t->file) {
        cannot_write(t->path, errno);
        free(t);
        return NULL;
    }
    memcpy(t->grid, h->grid, sizeof t->grid);
    write_header(t->file, h);
    return t;
}

void cuda_trace_block(struct cuda_trace *t, uint64_t number)
{
    fprintf(t->file, "#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            number % t->grid[0], number / t->grid[0] % t->grid[1],
            number / t->grid[0] / t->grid[1]);
}

void cuda_trace_warp(struct cuda_trace *t, uint32_t warp, uint32_t steps)
{
    fprintf(t->file, "\nwarp = %u\ninsts = %u\n", warp, steps);
}

static void write_registers(FILE *to, const uint16_t *registers, unsigned count)
{
    fprintf(to, "%u ", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "R%u ", registers[i]);
}

/* Lanes that follow each other and a stride: form 1; otherwise each address: form 0. */
static void write_addresses(FILE *to, const struct itrace_step *step)
{
    uint64_t lanes = step->mask ? step->mask >> __builtin_ctzll(step->mask) : 0;
    bool together = (lanes & (lanes + 1)) == 0;
    if (!step->count) {
        fprintf(to, "1 0x0 0 ");
        return;
    }
    if (step->mode == ITRACE_MODE_STRIDE && together) {
        fprintf(to, "1 0x%016" PRIx64 " %" PRId64 " ", step->address[0], step->stride);
        return;
    }
    fprintf(to, "0 ");
    for (unsigned i = 0; i < step->count; i++)
        fprintf(to, "0x%016" PRIx64 " ", step->address[i]);
}

void cuda_trace_step(struct cuda_trace *t, const struct itrace_step *step)
{
    const struct itrace_inst *inst = step->inst;
    fprintf(t->file, "%04" PRIx32 " %08" PRIx64 " ", inst->pc, step->mask);
    write_registers(t->file, inst->destinations, inst->destination_count);
    fprintf(t->file, "%s ", inst->name);
    write_registers(t->file, inst->sources, inst->source_count);
    fprintf(t->file, "%u ", inst->width);
    if (inst->width)
        write_addresses(t->file, step);
    for (unsigned i = 0; i < inst->immediate_count; i++)
        fprintf(t->file, "%" PRId64 " ", inst->immediates[i]);
    fputc('\n', t->file);
}

void cuda_trace_block_end(struct cuda_trace *t)
{
    fprintf(t->file, "\n#END_TB\n\n");
}

void cuda_trace_end(struct cuda_trace *t)
{
    if (!t)
        return;
    bool good = !ferror(t->file);
    if (fclose(t->file) != 0 || !good)
        cannot_write(t->path, errno);
    free(t);
}

const char *cuda_recording_finish(bool good)
{
    char part[PATH_MAX], whole[PATH_MAX];
    if (!record.list)
        return NULL;
    path_of(part, CUDA_RECORDING_LIST ".part");
    path_of(whole, CUDA_RECORDING_LIST);
    bool written = !ferror(record.list);
    if (fclose(record.list) != 0 || !written)
        cannot_write(part, errno);
    record.list = NULL;
    record.on = false;
    if (!good && !record.why[0])
        snprintf(record.why, sizeof record.why, "a kernel broke the device");
    if (!record.why[0] && rename(part, whole) != 0)
        cannot_write(whole, errno);
    return record.why[0] ? record.why : NULL;
}
