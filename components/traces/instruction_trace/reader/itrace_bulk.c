/* Transfers are folded while they are read, so a copy takes no more memory than its runs. */
#include "itrace_bulk.h"

#include <string.h>

#include "base/number.h"

#include "itrace_text.h"

bool itrace_bulk_names(const char *opcode)
{
    static const char *const names[] = {"UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF",
                                        "UBLKCP",  "UBLKRED", "UBLKPF"};
    size_t size = strcspn(opcode, ".");
    if (*opcode == 'U')
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            if (strlen(names[i]) == size && memcmp(names[i], opcode, size) == 0)
                return true;
    return strncmp(opcode, "cp.async.bulk.global", 20) == 0
           || strncmp(opcode, "cp.async.bulk.shared", 20) == 0;
}

/* The common form has a mode and an address there; transfers have a barrier and 0 or 1. */
bool itrace_bulk_follows(const char *at)
{
    uint64_t value;
    if (!itrace_parse_base(&at, &value))
        return false;
    return (*at == '0' || *at == '1') && itrace_ends_token(at[1]) && itrace_skip_blanks(at + 1)[0];
}

/* A row that is whole: one more of the last run, or a new run. */
static void add_row(struct itrace_bulk *copy, uint64_t start, uint32_t bytes)
{
    struct itrace_bulk_run *last = &copy->run[copy->runs ? copy->runs - 1 : 0];
    if (copy->runs && last->bytes == bytes) {
        int64_t distance = (int64_t)(start - last->base);
        if (last->rows == 1 && distance == (int32_t)distance) {
            last->stride = (int32_t)distance;
            last->rows = 2;
            return;
        }
        if (last->rows > 1 && distance == (int64_t)last->stride * last->rows) {
            last->rows++;
            return;
        }
    }
    if (copy->runs < ITRACE_BULK_RUNS) {
        copy->run[copy->runs++] = (struct itrace_bulk_run){start, 0, 1, bytes};
        return;
    }
    copy->is_short = true;
    last->rows += divide_up(bytes, last->bytes);
}

/* A row under way. */
struct row {
    uint64_t start;
    uint32_t bytes;
};

static void add_transfer(struct itrace_bulk *copy, struct row *row, uint64_t address,
                         uint32_t width)
{
    if (row->bytes && address == row->start + row->bytes) {
        row->bytes += width;
        return;
    }
    if (row->bytes)
        add_row(copy, row->start, row->bytes);
    *row = (struct row){address, width};
}

/* From the count on; mode 3 has an address for each transfer, mode 4 a base before the count. */
static const char *take_transfers(const char **at, uint32_t width, bool differences,
                                  struct itrace_bulk *copy)
{
    uint64_t address = 0, count;
    int64_t difference;
    struct row row = {0};
    if (differences && !itrace_parse_base(at, &address))
        return "the base address of the transfers";
    const char *written = *at;
    if (!itrace_parse_decimal(at, &count) || count > ITRACE_BULK_BYTES / width) {
        *at = written;
        return "how many transfers follow, 256 KiB in all at most";
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!differences && !itrace_parse_base(at, &address))
            return "the address of each transfer";
        if (differences && i) {
            if (!itrace_parse_signed(at, &difference))
                return "the difference of each transfer from the one before";
            address += (uint64_t)difference;
        }
        if (address > UINT64_MAX - 2 * (uint64_t)ITRACE_BULK_BYTES)
            return "an address at which memory can lie";
        add_transfer(copy, &row, address, width);
    }
    if (row.bytes)
        add_row(copy, row.start, row.bytes);
    return NULL;
}

const char *itrace_bulk_take_barrier(const char **at, struct itrace_bulk *copy)
{
    uint64_t need;
    *copy = (struct itrace_bulk){0};
    if (!itrace_parse_base(at, &copy->barrier))
        return "the address of a barrier";
    if (!itrace_parse_decimal(at, &need) || need > UINT32_MAX)
        return "how many copies and arrivals a wait is for";
    copy->need = (uint32_t)need;
    return NULL;
}

const char *itrace_bulk_take(const char **at, uint32_t width, struct itrace_bulk *copy)
{
    uint64_t multicast, value;
    *copy = (struct itrace_bulk){0};
    if (!itrace_parse_base(at, &copy->barrier))
        return "the address of the copy's barrier";
    if (!itrace_parse_decimal(at, &multicast) || multicast > 1)
        return "0, or 1 for a copy to several blocks";
    copy->multicast = multicast != 0;
    if (multicast && !itrace_parse_base(at, &value))
        return "the blocks of the cluster that get the copy";
    if (!itrace_parse_decimal(at, &value) || !itrace_parse_decimal(at, &value))
        return "the bytes of the copy, and those out of bounds";
    if (!itrace_parse_decimal(at, &value) || (value != 3 && value != 4))
        return "how transfers are written (3 all, 4 differences)";
    return take_transfers(at, width, value == 4, copy);
}
