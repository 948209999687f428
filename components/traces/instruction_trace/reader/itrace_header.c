/* One table of keys. Facts: Accel-Sim, util/tracer_nvbit/tracer_tool, which writes these lines. */
#include "itrace_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "itrace_memory.h"
#include "itrace_text.h"

#define WINDOW           (UINT64_C(1) << 24)
/* CUDA C programming guide, compute capabilities: most registers of a thread, most threads and
 * bytes of shared memory of a block. Larger ones are garbage, which real headers do hold. */
#define REGISTERS_MAX    255
#define THREADS_MAX      1024
#define SHARED_BYTES_MAX (228 * 1024)
#define BLOCKS_MAX       (UINT64_C(1) << 62)
#define DELAY_MAX        (UINT64_C(1) << 48) /* days */

enum kind { NAME, NUMBER, HEX, DIM, VERSION, SHORT_TEXT, FLAG };

#define FIELD(member) offsetof(struct itrace_header, member)

static const struct field {
    const char *key;
    enum kind kind;
    size_t offset;
} fields[ITRACE_HEADER_FIELDS] = {
    {"kernel name", NAME, FIELD(kernel_name)},
    {"kernel id", NUMBER, FIELD(kernel_id)},
    {"grid dim", DIM, FIELD(grid)},
    {"block dim", DIM, FIELD(block)},
    {"shmem", NUMBER, FIELD(shared_bytes)},
    {"nregs", NUMBER, FIELD(registers)},
    {"binary version", NUMBER, FIELD(binary_version)},
    {"cuda stream id", NUMBER, FIELD(stream)},
    {"shmem base_addr", HEX, FIELD(shared_base)},
    {"local mem base_addr", HEX, FIELD(local_base)},
    {"launch behind", NUMBER, FIELD(launch_behind)},
    {"launch delay", NUMBER, FIELD(launch_delay)},
    {"nvbit version", SHORT_TEXT, FIELD(nvbit_version)},
    {"accelsim tracer version", VERSION, FIELD(tracer_version)},
    {"enable lineinfo", FLAG, FIELD(has_line_info)},
};

/* "(x,y,z)", none of them 0. */
static bool take_dim(const char *at, uint32_t dim[3])
{
    char inner[64];
    const char *close = strchr(at, ')');
    if (*at != '(' || !close || close - at > 60 || *itrace_skip_blanks(close + 1))
        return false;
    snprintf(inner, sizeof inner, "%.*s", (int)(close - at - 1), at + 1);
    return itrace_is_triple(inner, dim) && dim[0] && dim[1] && dim[2];
}

static bool take_version(const char *at, uint32_t *major, uint32_t *minor)
{
    int size = 0;
    *minor = 0;
    if (sscanf(at, "%9" SCNu32 "%n", major, &size) != 1 || !(*at >= '0' && *at <= '9'))
        return false;
    at += size;
    return *at == '\0' || itrace_is_blank(*at)
           || (*at == '.' && at[1] >= '0' && at[1] <= '9'
               && sscanf(at + 1, "%9" SCNu32, minor) == 1);
}

static void copy(char *to, size_t room, const char *text)
{
    snprintf(to, room, "%s", text);
    for (size_t size = strlen(to); size > 0 && itrace_is_blank(to[size - 1]); size--)
        to[size - 1] = '\0';
}

static const char *take_value(struct itrace_header *header, const struct field *field,
                              const char *at)
{
    void *to = (char *)header + field->offset;
    uint64_t number;
    switch (field->kind) {
    case NAME:
        copy(to, sizeof header->kernel_name, at);
        return NULL;
    case SHORT_TEXT:
        copy(to, sizeof header->nvbit_version, at);
        return NULL;
    case NUMBER:
        return itrace_parse_decimal(&at, to) && !*at ? NULL : "a whole number";
    case HEX:
        return itrace_parse_base(&at, to) && !*at ? NULL : "an address (0x...)";
    case DIM:
        return take_dim(at, to) ? NULL : "three positive numbers: (x,y,z)";
    case VERSION:
        return take_version(at, &header->tracer_version, &header->tracer_minor) ? NULL
                                                                                : "a version";
    case FLAG:
        if (!itrace_parse_decimal(&at, &number) || *at || number > 1)
            return "0 or 1";
        header->has_line_info = number == 1;
        return NULL;
    }
    return NULL;
}

int itrace_header_take(struct itrace_header *header, const char *line, char error[200])
{
    const char *key = itrace_skip_blanks(line + 1);
    for (unsigned i = 0; i < ITRACE_HEADER_FIELDS; i++) {
        size_t size = strlen(fields[i].key);
        if (strncmp(key, fields[i].key, size) != 0)
            continue;
        const char *at = itrace_skip_blanks(key + size);
        if (*at != '=')
            continue;
        const char *wanted = take_value(header, &fields[i], itrace_skip_blanks(at + 1));
        if (wanted) {
            snprintf(error, 200, "'%s' wants %s, not '%.40s'", fields[i].key, wanted,
                     itrace_skip_blanks(at + 1));
            return -1;
        }
        if (header->present >> i & 1) {
            snprintf(error, 200, "'%s' stands in the header twice", fields[i].key);
            return -1;
        }
        header->present |= 1u << i;
        return 1;
    }
    snprintf(error, 200, "unknown header line '%.80s'", line);
    return 0;
}

static bool has_member(const struct itrace_header *header, const void *member)
{
    size_t offset = (size_t)((const char *)member - (const char *)header);
    for (unsigned i = 0; i < ITRACE_HEADER_FIELDS; i++)
        if (fields[i].offset == offset)
            return header->present >> i & 1;
    return false;
}

enum itrace_arch itrace_header_arch(const struct itrace_header *h)
{
    return itrace_arch_of(h->binary_version);
}

/* Keys for what a kernel takes of an SM, and where it runs: without them, others are simulated than
 * were traced. The tracer has written these lines since its first version. */
static const char *needed_field(const struct itrace_header *h)
{
    const struct {
        const void *member;
        const char *key;
    } needed[] = {{h->kernel_name, "kernel name"},
                  {&h->shared_bytes, "shmem"},
                  {&h->registers, "nregs"},
                  {&h->binary_version, "binary version"},
                  {&h->stream, "cuda stream id"}};
    for (size_t i = 0; i < ARRAY_COUNT(needed); i++)
        if (!has_member(h, needed[i].member))
            return needed[i].key;
    return NULL;
}

/* Blocks of the grid; UINT64_MAX: more than have a number. */
static uint64_t grid_blocks(const struct itrace_header *h)
{
    uint64_t blocks = (uint64_t)h->grid[0] * h->grid[1];
    return h->grid[2] && blocks > BLOCKS_MAX / h->grid[2] ? UINT64_MAX : blocks * h->grid[2];
}

const char *itrace_header_complaint(const struct itrace_header *header, unsigned n,
                                    enum itrace_complaint *kind, char text[200])
{
    const struct itrace_header *h = header;
    uint64_t threads = (uint64_t)h->block[0] * h->block[1];
    threads =
        h->block[2] && threads > UINT64_MAX / h->block[2] ? UINT64_MAX : threads * h->block[2];
#define COMPLAIN(condition, severity, ...)                                                         \
    if ((condition) && n-- == 0) {                                                                 \
        *kind = ITRACE_COMPLAINT_##severity;                                                       \
        snprintf(text, 200, __VA_ARGS__);                                                          \
        return text;                                                                               \
    }
    COMPLAIN(!has_member(h, h->grid), ERROR, "the header has no '-grid dim = (x,y,z)'")
    COMPLAIN(!has_member(h, h->block), ERROR, "the header has no '-block dim = (x,y,z)'")
    COMPLAIN(grid_blocks(h) > BLOCKS_MAX, ERROR, "a grid of more than 2^62 thread blocks")
    COMPLAIN(needed_field(h), MISSING, "the header has no '-%s = ...'", needed_field(h))
    COMPLAIN(!has_member(h, &h->tracer_version), WARNING,
             "the header has no '-accelsim tracer version': read as the newest")
    COMPLAIN(has_member(h, &h->tracer_version) && (h->tracer_version == 0 || h->tracer_version > 6),
             WARNING,
             "tracer version %" PRIu32 " is none that is known (1 to 6): read as the newest",
             h->tracer_version)
    COMPLAIN(h->registers > REGISTERS_MAX, IMPOSSIBLE,
             "'nregs = %" PRIu64 "' is more than the %d that a thread can have", h->registers,
             REGISTERS_MAX)
    COMPLAIN(h->shared_bytes > SHARED_BYTES_MAX, IMPOSSIBLE,
             "'shmem = %" PRIu64 "' is more than the %d bytes that a block can have",
             h->shared_bytes, SHARED_BYTES_MAX)
    COMPLAIN(threads > THREADS_MAX, ERROR, "a block of %" PRIu64 " threads: there are at most %d",
             threads, THREADS_MAX)
    COMPLAIN(h->launch_delay > DELAY_MAX, ERROR, "a launch %" PRIu64 " cycles later: at most 2^48",
             h->launch_delay)
    COMPLAIN(itrace_header_arch(h) == ITRACE_ARCH_UNKNOWN, WARNING,
             "'binary version = %" PRIu64 "' is no architecture from Kepler (30) to Blackwell "
             "(121): opcodes are read as the newest's",
             h->binary_version)
#undef COMPLAIN
    return NULL;
}

struct itrace_layout itrace_header_layout(const struct itrace_header *header)
{
    uint32_t version = header->tracer_version;
    bool newest = version == 0 || version > 6;
    return (struct itrace_layout){
        .has_line = header->has_line_info,
        .immediates = newest || version >= 5 ? 2
                      : version == 4         ? 1
                                             : 0,
        .has_values = newest || version == 6,
    };
}

uint64_t itrace_header_warps(const struct itrace_header *header)
{
    uint64_t threads = (uint64_t)header->block[0] * header->block[1] * header->block[2];
    return divide_up(threads, 32);
}

enum itrace_space itrace_header_space(const struct itrace_header *header, uint64_t address)
{
    if (address < WINDOW || (header->shared_base && address - header->shared_base < WINDOW))
        return ITRACE_SPACE_SHARED;
    if (header->local_base && address - header->local_base < WINDOW)
        return ITRACE_SPACE_LOCAL;
    return ITRACE_SPACE_GLOBAL;
}
