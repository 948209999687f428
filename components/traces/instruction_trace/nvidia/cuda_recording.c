/* Writes the files of a recording. Blocks come whole, so each line is written when it comes. */
#include "cuda_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/tools/itrace_filter.h"

struct cuda_trace {
    FILE *file, *memory; /* memory: of a raw recording */
    struct itrace_header header;
    uint64_t block[3], warp; /* where the next step is */
    uint64_t instructions;
    char path[PATH_MAX];
};

static struct {
    bool on;
    struct cuda_recording_form form;
    FILE *list, *stats;
    uint32_t *streams; /* by number of the launch */
    size_t stream_capacity;
    char folder[PATH_MAX - 64];
    char error[PATH_MAX + 100]; /* the first thing that went wrong */
} record;

static void cannot_write(const char *path, int reason)
{
    if (!record.error[0])
        snprintf(record.error, sizeof record.error, "'%s' cannot be written: %s", path,
                 strerror(reason));
    record.on = false;
}

static void path_of(char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", record.folder, name);
}

/* The list appears under its name when all is written. */
static const char *list_name(void)
{
    return record.form.raw ? "kernelslist" : "kernelslist.g";
}

static FILE *open_in(const char *name)
{
    char path[PATH_MAX];
    path_of(path, name);
    return fopen(path, "we");
}

bool cuda_recording_open(const char *folder, struct cuda_recording_form form)
{
    int size = snprintf(record.folder, sizeof record.folder, "%s", folder);
    errno = ENAMETOOLONG;
    if ((size_t)size >= sizeof record.folder)
        return false;
    record.form = form;
    record.list = open_in("kernelslist.part");
    record.stats = record.list ? open_in("stats.csv") : NULL;
    record.on = record.stats != NULL;
    if (record.on)
        fputs("kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, "
              "block_dimX, block_dimY, block_dimZ, #threads, total_insts, total_reported_insts\n",
              record.stats);
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
    if (!record.on)
        return;
    fprintf(record.list, "kernel-%" PRIu64 ".trace%s\n", number, record.form.raw ? "" : "g");
    grow_list(record.streams, number + 1, record.stream_capacity, ITRACE_MEMORY);
    record.streams[number] = stream;
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
            record.streams[h->kernel_id], h->shared_base, h->local_base);
    fprintf(to, "-launch behind = %" PRIu64 "\n-launch delay = %" PRIu64 "\n", h->launch_behind,
            h->launch_delay);
    fprintf(to,
            "-nvbit version = PTX\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
            "#traces format = %s[line_num] PC mask dest_num [reg_dests] opcode src_num "
            "[reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n",
            record.form.raw ? "threadblock_x threadblock_y threadblock_z warpid_tb " : "");
}

static FILE *open_trace(struct cuda_trace *t, const char *kind)
{
    char name[64];
    snprintf(name, sizeof name, "kernel-%s%" PRIu64 ".trace%s", kind, t->header.kernel_id,
             record.form.raw ? "" : "g");
    path_of(t->path, name);
    FILE *file = fopen(t->path, "we");
    if (file)
        write_header(file, &t->header);
    else
        cannot_write(t->path, errno);
    return file;
}

struct cuda_trace *cuda_trace_begin(const struct itrace_header *h)
{
    if (!record.on)
        return NULL;
    struct cuda_trace *t = calloc(1, sizeof *t);
    if (!t) {
        cannot_write(record.folder, ENOMEM);
        return NULL;
    }
    t->header = *h;
    t->memory = record.form.raw ? open_trace(t, "mem-") : NULL;
    t->file = open_trace(t, "");
    if (t->file && (t->memory || !record.form.raw))
        return t;
    if (t->file)
        fclose(t->file);
    if (t->memory)
        fclose(t->memory);
    free(t);
    return NULL;
}

void cuda_trace_block(struct cuda_trace *t, uint64_t number)
{
    const uint32_t *grid = t->header.grid;
    t->block[0] = number % grid[0];
    t->block[1] = number / grid[0] % grid[1];
    t->block[2] = number / grid[0] / grid[1];
    if (!record.form.raw)
        fprintf(t->file, "#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                t->block[0], t->block[1], t->block[2]);
}

void cuda_trace_warp(struct cuda_trace *t, uint32_t warp, uint32_t steps)
{
    t->warp = warp;
    t->instructions += steps;
    if (!record.form.raw)
        fprintf(t->file, "\nwarp = %u\ninsts = %u\n", warp, steps);
}

static void write_registers(FILE *to, const uint16_t *registers, unsigned count)
{
    fprintf(to, "%u ", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "R%u ", registers[i]);
}

/* Lanes that follow each other and a stride: mode 1. */
static bool has_stride(const struct itrace_step *step)
{
    uint64_t lanes = step->mask ? step->mask >> __builtin_ctzll(step->mask) : 0;
    return step->mode == ITRACE_MODE_STRIDE && (lanes & (lanes + 1)) == 0;
}

static void write_addresses(FILE *to, const struct itrace_step *step)
{
    enum cuda_recording_addresses form = record.form.addresses;
    if (!step->count) {
        fprintf(to, "1 0x0 0 ");
    } else if (form == CUDA_ADDRESSES_STRIDE && has_stride(step)) {
        fprintf(to, "1 0x%016" PRIx64 " %" PRId64 " ", step->address[0], step->stride);
    } else if (form == CUDA_ADDRESSES_DIFFERENCES) {
        fprintf(to, "2 0x%016" PRIx64 " ", step->address[0]);
        for (unsigned i = 1; i < step->count; i++)
            fprintf(to, "%" PRId64 " ", (int64_t)(step->address[i] - step->address[i - 1]));
    } else {
        fprintf(to, "0 ");
        for (unsigned i = 0; i < step->count; i++)
            fprintf(to, "0x%016" PRIx64 " ", step->address[i]);
    }
}

/* One transfer at most. */
static void write_bulk(FILE *to, const struct itrace_bulk *copy)
{
    uint32_t bytes = copy->runs ? copy->run[0].bytes : 16;
    fprintf(to, "%" PRIu32 " 0x%" PRIx64 " 0 %" PRIu32 " 0 3 %" PRIu32 " ", bytes, copy->barrier,
            bytes, copy->runs);
    if (copy->runs)
        fprintf(to, "0x%016" PRIx64 " ", copy->run[0].base);
}

/* In a raw recording each line says where it belongs. */
static void write_place(const struct cuda_trace *t, FILE *to)
{
    if (record.form.raw)
        fprintf(to, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", t->block[0], t->block[1],
                t->block[2], t->warp);
}

void cuda_trace_part(struct cuda_trace *t, uint32_t part)
{
    write_place(t, t->file);
    fprintf(t->file, "part = %" PRIu32 "\n", part);
}

static void write_step(const struct cuda_trace *t, FILE *to, const struct itrace_step *step)
{
    const struct itrace_inst *inst = step->inst;
    write_place(t, to);
    fprintf(to, "%04" PRIx32 " %08" PRIx64 " ", inst->pc, step->mask);
    write_registers(to, inst->destinations, inst->destination_count);
    fprintf(to, "%s ", inst->name);
    write_registers(to, inst->sources, inst->source_count);
    if (itrace_bulk_names(inst->name))
        write_bulk(to, &step->copy);
    else if (inst->at_barrier)
        fprintf(to, "%u 0x%" PRIx64 " %" PRIu32 " ", inst->width, step->copy.barrier,
                step->copy.need);
    else
        fprintf(to, "%u ", inst->width);
    if (inst->width && !itrace_bulk_names(inst->name) && !inst->at_barrier)
        write_addresses(to, step);
    for (unsigned i = 0; i < inst->immediate_count; i++)
        fprintf(to, "%" PRId64 " ", inst->immediates[i]);
    fputc('\n', to);
}

void cuda_trace_step(struct cuda_trace *t, const struct itrace_step *step)
{
    write_step(t, t->file, step);
    if (t->memory && itrace_filter_keeps(step->inst))
        write_step(t, t->memory, step);
}

void cuda_trace_block_end(struct cuda_trace *t)
{
    if (!record.form.raw)
        fprintf(t->file, "\n#END_TB\n\n");
}

static void close_trace(const struct cuda_trace *t, FILE *file)
{
    bool good = !ferror(file);
    if (fclose(file) != 0 || !good)
        cannot_write(t->path, errno);
}

void cuda_trace_end(struct cuda_trace *t)
{
    if (!t)
        return;
    const struct itrace_header *h = &t->header;
    uint64_t blocks = (uint64_t)h->grid[0] * h->grid[1] * h->grid[2];
    uint64_t threads = (uint64_t)h->block[0] * h->block[1] * h->block[2];
    if (record.stats)
        fprintf(record.stats,
                "kernel-%" PRIu64 ".trace, %s, %u, %u, %u, %" PRIu64 ", %u, %u, %u, %" PRIu64
                ", %" PRIu64 ", %" PRIu64 "\n",
                h->kernel_id, h->kernel_name, h->grid[0], h->grid[1], h->grid[2], blocks,
                h->block[0], h->block[1], h->block[2], blocks * threads, t->instructions,
                t->instructions);
    close_trace(t, t->file);
    if (t->memory)
        close_trace(t, t->memory);
    free(t);
}

const char *cuda_recording_finish(bool good)
{
    char part[PATH_MAX], whole[PATH_MAX];
    if (!record.list)
        return NULL;
    path_of(part, "kernelslist.part");
    path_of(whole, list_name());
    bool written = !ferror(record.list) && !ferror(record.stats);
    written &= fclose(record.stats) == 0;
    if (fclose(record.list) != 0 || !written)
        cannot_write(part, errno);
    record.list = record.stats = NULL;
    record.on = false;
    if (!good && !record.error[0])
        snprintf(record.error, sizeof record.error, "a kernel broke the device");
    if (!record.error[0] && rename(part, whole) != 0)
        cannot_write(whole, errno);
    return record.error[0] ? record.error : NULL;
}
