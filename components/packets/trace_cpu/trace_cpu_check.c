/* Reads the files of the trace, gives out the host's memory, and compares bytes of the device with
 * those of the trace. */
#include <errno.h>
#include <string.h>

#include "base/number.h"

#include "trace_cpu_state.h"

/* One more zeroed item at the end of a list in a blob, which grows; the blob's number may change.
 */
static void *list_add(uint32_t *blob, uint32_t *count, size_t size)
{
    struct blob *old = blob_at(*blob);
    if (!old || old->size < (*count + 1) * size) {
        struct blob *larger = blob_new((*count < 8 ? 16 : (size_t)*count * 2) * size);
        if (old) {
            memcpy(larger->bytes, old->bytes, *count * size);
            blob_free(*blob);
        }
        *blob = larger->number;
    }
    return blob_at(*blob)->bytes + (*count)++ * size;
}

static void release_file(struct trace_cpu *c)
{
    if (c->bytes != BLOB_NONE)
        blob_free(c->bytes);
    c->bytes = BLOB_NONE;
}

/* The first `size` bytes (0: all) of a file, beside the trace unless its path is absolute. */
static bool read_file(struct trace_cpu *c, const char *name, uint64_t size)
{
    char path[CPU_PATH_MAX];
    bool is_path = name[0] == '/' || !*c->trace.folder;
    snprintf(path, sizeof path, "%s%s%s", is_path ? "" : c->trace.folder, is_path ? "" : "/", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        cpu_fail(c, cpu_line_of_call(c), "cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    fseek(file, 0, SEEK_END);
    long all = ftell(file);
    rewind(file);
    uint64_t wanted = size ? size : all > 0 ? (uint64_t)all : 0;
    release_file(c);
    c->bytes = blob_new(wanted)->number;
    bool is_complete = fread(blob_at(c->bytes)->bytes, 1, wanted, file) == wanted;
    fclose(file);
    if (!is_complete)
        cpu_fail(c, cpu_line_of_call(c), "'%s' is shorter than %" PRIu64 " bytes", path, wanted);
    return is_complete;
}

/* ---- comparison ---- */

/* `size` bytes at `address` are to be those of the call's file from byte `from` on. */
static void check_add(struct trace_cpu *c, const struct api_trace_call *call, uint64_t address,
                      uint64_t size, uint64_t from)
{
    struct cpu_check *check = list_add(&c->checks, &c->check_count, sizeof *check);
    *check = (struct cpu_check){address, size, call->file, from, call->line, call->stream};
    c->io.stats.total += size;
}

static struct cpu_check *check_at(const struct trace_cpu *c, uint32_t i)
{
    return (struct cpu_check *)(void *)blob_at(c->checks)->bytes + i;
}

static void compare_bytes(struct trace_cpu *c, const struct cpu_check *check, const uint8_t *bytes)
{
    const uint8_t *expected = blob_at(c->bytes)->bytes + check->from;
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = check->size; i-- > 0;) {
        if (bytes[i] == expected[i])
            continue;
        wrong++;
        first = i;
    }
    c->io.stats.correct += check->size - wrong;
    if (wrong && !*c->first_wrong)
        snprintf(c->first_wrong, sizeof c->first_wrong,
                 "line %" PRIu32 ": '%.200s': byte %" PRIu64 " is 0x%02x, expected 0x%02x; %" PRIu64
                 " of %" PRIu64 " bytes are wrong",
                 check->line, check->file, check->from + first, bytes[first], expected[first],
                 wrong, check->size);
}

/* Reads and compares the bytes of one copy after the other; called again when a move is over. True:
 * none is left. */
static bool compare_copies(struct trace_cpu *c)
{
    if (c->received != BLOB_NONE) {
        const struct cpu_check *check = check_at(c, c->compared_count);
        if (read_file(c, check->file, check->from + check->size))
            compare_bytes(c, check, blob_at(c->received)->bytes);
        blob_free(c->received);
        c->received = BLOB_NONE;
        release_file(c);
        c->compared_count++;
    }
    if (c->phase == CPU_OVER)
        return false;
    if (c->compared_count == c->check_count) {
        c->compared_count = c->check_count = 0;
        c->next_byte = CPU_PACKET_BYTES;
        return true;
    }
    const struct cpu_check *check = check_at(c, c->compared_count);
    struct blob *answer = blob_new(check->size);
    c->received = answer->number;
    move_begin(c, false, check->address, answer->bytes, check->size);
    c->phase = CPU_MOVE;
    return false;
}

/* `size` bytes of the host's memory for a copy. They are free again when nothing is under way,
 * which is waited for when there are none left: then false is returned, and the caller is called
 * again. */
static bool allocate_bytes(struct trace_cpu *c, uint64_t size, uint64_t *address)
{
    uint64_t all = trace_cpu_params(c)->memory_size - c->pinned_bytes;
    if (size > all - CPU_PACKET_BYTES) {
        cpu_fail(c, cpu_line_of_call(c),
                 "%" PRIu64 " bytes do not fit into the host's memory of %" PRIu64 "; enlarge it",
                 size, all);
        return false;
    }
    if (size <= all - c->next_byte) {
        *address = memory_base(c) + c->next_byte;
        c->next_byte += round_up(size, CPU_LINE);
        if (c->next_byte > all)
            c->next_byte = all;
        return true;
    }
    c->is_draining = true;
    return false;
}
