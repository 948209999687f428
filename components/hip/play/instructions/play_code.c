/* Machine code from the headers of the kernels. Each piece is kept once: the kernels of a module,
 * and the launches of a kernel, share it. A later piece at an address replaces an earlier one only
 * when it is other code, that is, when a module was unloaded in between. The player needs the code
 * for reports only, since compute units take instructions from the trace itself. */
#include "play_instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

struct piece {
    uint64_t address, size;
    uint8_t *bytes;
};

static struct piece *pieces; /* by address */
static size_t count, capacity;

/* The first piece whose address is not below. */
static size_t lower_bound(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pieces[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void keep(const struct itrace_code *code)
{
    size_t at = lower_bound(code->address);
    if (at < count && pieces[at].address == code->address && pieces[at].size >= code->bytes)
        return;
    if (at == count || pieces[at].address != code->address) {
        pieces = itrace_reserve(pieces, count + 1, &capacity, sizeof *pieces);
        memmove(&pieces[at + 1], &pieces[at], (count++ - at) * sizeof *pieces);
        pieces[at] = (struct piece){.address = code->address};
    }
    itrace_free(pieces[at].bytes);
    pieces[at].bytes = itrace_allocate(code->bytes, 1);
    pieces[at].size = code->bytes;
    memcpy(pieces[at].bytes, code->data, code->bytes);
}

struct complaint {
    char text[512];
};

static void note(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    struct complaint *complaint = context;
    if (is_error && !*complaint->text && line)
        snprintf(complaint->text, sizeof complaint->text, "%s:%llu: %s", path,
                 (unsigned long long)line, text);
    else if (is_error && !*complaint->text)
        snprintf(complaint->text, sizeof complaint->text, "%s: %s", path, text);
}

struct play_kernel play_code_learn(const struct itrace_command *kernel)
{
    struct complaint complaint = {""};
    const struct itrace_options options = {.report = note, .context = &complaint};
    struct play_kernel found = {.gpu = 0};
    struct itrace trace;
    bool good = itrace_open(&trace, kernel->path, &options);
    const struct itrace_header *header = &trace.header;
    if (!good)
        play_fail(kernel->line, "%s", complaint.text);
    if (!itrace_header_is_amd(header))
        play_fail(kernel->line,
                  "%s is a trace of a CUDA program, which --play sass plays on a platform with a "
                  "trace_player",
                  kernel->path);
    if (itrace_header_lacks(header))
        play_fail(kernel->line, "%s: the header has no '-%s = ...'", kernel->path,
                  itrace_header_lacks(header));
    memcpy(found.isa, header->isa, sizeof found.isa);
    found.gpu = (uint32_t)header->gpu;
    for (size_t i = 0; i < header->code_count; i++)
        keep(&header->code[i]);
    itrace_close(&trace);
    return found;
}

bool play_code_fill(uint64_t address, uint64_t size, uint8_t *bytes)
{
    bool any = false;
    for (size_t i = lower_bound(address); i < count && pieces[i].address < address + size; i++) {
        uint64_t offset = pieces[i].address - address, fits = size - offset;
        memcpy(bytes + offset, pieces[i].bytes, pieces[i].size < fits ? pieces[i].size : fits);
        any = true;
    }
    return any;
}

void play_code_release(void)
{
    for (size_t i = 0; i < count; i++)
        itrace_free(pieces[i].bytes);
    itrace_free(pieces);
    pieces = NULL;
    count = capacity = 0;
}
