/* The trace of a kernel that is over: its header, then what its wavefronts did, read back from the
 * chains of blocks. The text goes through zstd. */
#include "components/traces/instruction_trace/amd/amd_recording_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "components/amd/isa/kernel_registers.h"
#include "components/traces/instruction_trace/amd/amd_opcodes.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

enum {
    OUT_BYTES = 1 << 16,
    /* More than the longest line: 64 addresses of 20 characters, registers, 1 KiB of code. */
    LINE_MOST = 4096
};

struct writer {
    const struct record_kernel *k;
    FILE *file;
    ZSTD_CCtx *zstd;
    const char *wrong;
    int reason;
    size_t used;
    char text[OUT_BYTES + LINE_MOST];
    char packed[OUT_BYTES];
    struct record_text **texts; /* by place in the code object, in units of 4 bytes */
    /* The state of the wavefront that is read. */
    uint64_t next_pc, mask, address;
    uint32_t next_block, left;
    const uint8_t *at;
    uint8_t block[RECORD_BLOCK];
};

static bool flush(struct writer *w, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {w->text, w->used, 0};
    for (size_t left = 1; left > 0;) {
        ZSTD_outBuffer out = {w->packed, sizeof w->packed, 0};
        left = ZSTD_compressStream2(w->zstd, &out, &in, how);
        if (ZSTD_isError(left)) {
            w->wrong = ZSTD_getErrorName(left);
            return false;
        }
        if (fwrite(w->packed, 1, out.pos, w->file) != out.pos) {
            w->reason = errno;
            return false;
        }
        if (how == ZSTD_e_continue)
            left = in.size - in.pos;
    }
    w->used = 0;
    return true;
}

__attribute__((format(printf, 2, 3))) static void print(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->used += (size_t)vsnprintf(w->text + w->used, LINE_MOST, format, args);
    va_end(args);
}

/* Ends a line, and writes the text when it is long enough. */
static bool end_line(struct writer *w)
{
    w->text[w->used++] = '\n';
    return w->used < OUT_BYTES || flush(w, ZSTD_e_continue);
}

static void print_bytes(struct writer *w, const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++) {
        w->text[w->used++] = digits[at[i] >> 4];
        w->text[w->used++] = digits[at[i] & 15];
    }
}

/* ---- header ---- */

static bool write_code(struct writer *w)
{
    const struct amd_recording_start *s = &w->k->start;
    for (uint64_t at = 0, end; at < s->code_bytes; at = end) {
        end = at + RECORD_LINE;
        if (!w->k->line_used[at / RECORD_LINE])
            continue;
        while (end < s->code_bytes && end - at < ITRACE_AMD_LINE_BYTES
               && w->k->line_used[end / RECORD_LINE])
            end += RECORD_LINE;
        end = end < s->code_bytes ? end : s->code_bytes;
        print(w, "-code = 0x%" PRIx64 " ", s->code_address + at);
        print_bytes(w, s->code + at, end - at);
        if (!end_line(w))
            return false;
    }
    return true;
}

static bool write_arguments(struct writer *w)
{
    for (size_t at = 0, part; at < w->k->argument_bytes; at += part) {
        part = w->k->argument_bytes - at;
        part = part < ITRACE_AMD_LINE_BYTES ? part : ITRACE_AMD_LINE_BYTES;
        print(w, "-arguments = ");
        print_bytes(w, w->k->arguments + at, part);
        if (!end_line(w))
            return false;
    }
    return true;
}

static bool write_header(struct writer *w)
{
    const struct record_kernel *k = w->k;
    const struct amd_recording_start *s = &k->start;
    const struct aql_packet *p = &k->packet;
    const struct aql_descriptor *d = &k->descriptor;
    struct kernel_registers registers;
    const struct kernel_words words = kernel_words_read(d);
    kernel_registers_decode(&registers, isa_traits[s->target].registers, &words);
    print(w,
          "-kernel name = %.1000s\n-kernel id = %" PRIu64 "\n-grid dim = (%" PRIu32 ",%" PRIu32
          ",%" PRIu32 ")\n-block dim = (%u,%u,%u)\n",
          k->symbol, k->number, k->groups[0], k->groups[1], k->groups[2], p->work_group[0],
          p->work_group[1], p->work_group[2]);
    print(w,
          "-shmem = %" PRIu32 "\n-nregs = %" PRIu32 "\n-cuda stream id = %" PRIu32
          "\n-accelsim tracer version = 5\n-isa = %s\n-title = %.1000s\n-gpu = %" PRIu32 "\n",
          p->group_bytes, registers.vgprs, k->queue, isa_target_name(s->target), k->title, s->gpu);
    print(w, "-entry = 0x%" PRIx64 "\n-packet address = 0x%" PRIx64 "\n-packet = ", s->entry,
          s->packet_address);
    print_bytes(w, p, sizeof *p);
    print(w, "\n-descriptor = ");
    print_bytes(w, &k->descriptor, sizeof k->descriptor);
    if (!end_line(w) || !write_arguments(w))
        return false;
    print(w, "-ring = 0x%" PRIx64 ",%" PRIu64 "\n", s->ring[0], s->ring[1]);
    if (s->scratch[1])
        print(w, "-scratch = 0x%" PRIx64 ",%" PRIu64 "\n", s->scratch[0], s->scratch[1]);
    print(w, "-code base = 0x%" PRIx64, s->code_address);
    if (!end_line(w) || !write_code(w))
        return false;
    print(w, "\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
             "[adrrescompress?] [mem_addresses] [immediates]\n");
    return end_line(w);
}

/* ---- steps ---- */

static uint64_t get(struct writer *w)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *w->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static uint64_t get_signed(struct writer *w)
{
    uint64_t value = get(w);
    return value >> 1 ^ (0 - (value & 1));
}

static bool read_block(struct writer *w, uint32_t number)
{
    uint64_t from = (uint64_t)(number - 1) * RECORD_BLOCK;
    size_t size = 0, want = RECORD_HEAD;
    while (size < want) {
        ssize_t got =
            pread(fileno(w->k->spool), w->block + size, RECORD_BLOCK - size, (off_t)(from + size));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            w->reason = got < 0 ? errno : EIO;
            return false;
        }
        size += (size_t)got;
        if (want == RECORD_HEAD && size >= RECORD_HEAD) {
            memcpy(&w->next_block, w->block, sizeof w->next_block);
            memcpy(&w->left, w->block + 4, sizeof w->left);
            want = RECORD_HEAD + w->left;
        }
    }
    w->at = w->block + RECORD_HEAD;
    return true;
}

static const struct record_text *text_at(struct writer *w, uint64_t pc)
{
    const struct amd_recording_start *s = &w->k->start;
    uint64_t offset = pc - s->code_address;
    struct record_text **text = &w->texts[offset / 4];
    if (!*text) {
        *text = itrace_allocate(1, sizeof **text);
        if (!record_text_make(s->target, s->code + offset, s->code_bytes - offset, *text)) {
            w->wrong = "a kernel has executed code that was not loaded with its module";
            return NULL;
        }
    }
    return *text;
}

static void print_text(struct writer *w, const char *text)
{
    size_t size = strlen(text);
    memcpy(w->text + w->used, text, size);
    w->used += size;
}

static void print_hex(struct writer *w, uint64_t value, unsigned digits)
{
    static const char names[] = "0123456789abcdef";
    for (unsigned i = digits; i-- > 0;)
        w->text[w->used++] = names[value >> (4 * i) & 15];
}

static unsigned hex_digits(uint64_t value)
{
    return value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
}

static void print_decimal(struct writer *w, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    memcpy(w->text + w->used, digits + at, sizeof digits - at);
    w->used += sizeof digits - at;
}

static void print_address(struct writer *w, uint64_t address)
{
    print_text(w, " 0x");
    print_hex(w, address, hex_digits(address));
}

static void print_addresses(struct writer *w, unsigned flags)
{
    if (!w->mask) {
        print_text(w, " 1 0x0 0");
        return;
    }
    unsigned count = (unsigned)__builtin_popcountll(w->mask);
    print_text(w, flags & STEP_STRIDE ? " 1" : count == 1 ? " 0" : " 2");
    w->address += get_signed(w);
    print_address(w, w->address);
    /* The first address counts for the next access, as it does where it was written. */
    for (unsigned i = 1; i < count; i++) {
        w->text[w->used++] = ' ';
        print_decimal(w, (int64_t)get_signed(w));
        if (flags & STEP_STRIDE)
            break;
    }
}

static bool write_step(struct writer *w)
{
    unsigned flags = *w->at++;
    uint64_t pc = w->next_pc;
    if (!(flags & STEP_FOLLOWS))
        pc += get_signed(w);
    if (!(flags & STEP_SAME_MASK)) {
        memcpy(&w->mask, w->at, sizeof w->mask);
        w->at += sizeof w->mask;
    }
    const struct record_text *text = text_at(w, pc);
    if (!text)
        return false;
    uint64_t offset = pc - w->k->start.code_address;
    print_hex(w, offset, hex_digits(offset) > 4 ? hex_digits(offset) : 4);
    w->text[w->used++] = ' ';
    print_hex(w, w->mask, 16);
    w->text[w->used++] = ' ';
    print_text(w, text->head);
    uint64_t apart = 0;
    w->text[w->used++] = ' ';
    if (flags & STEP_ACCESS) {
        uint64_t bytes = get(w);
        apart = flags & STEP_APART ? get(w) : 0;
        print_decimal(w, (int64_t)(bytes ? bytes : text->bytes));
        print_addresses(w, flags);
    } else {
        w->text[w->used++] = '0';
    }
    print_text(w, text->immediates);
    if (apart) {
        w->text[w->used++] = ' ';
        print_decimal(w, (int64_t)apart);
    }
    w->next_pc = pc + text->size;
    return end_line(w);
}

static bool write_wave(struct writer *w, const struct record_chain *chain, uint32_t number)
{
    print(w, "warp = %" PRIu32 "\ninsts = %" PRIu64, number, chain->steps);
    if (!end_line(w) || !read_block(w, chain->first))
        return false;
    w->next_pc = w->mask = w->address = 0;
    for (uint64_t i = 0; i < chain->steps; i++) {
        if (w->at == w->block + RECORD_HEAD + w->left && !read_block(w, w->next_block))
            return false;
        if (!write_step(w))
            return false;
    }
    return true;
}

static bool write_group(struct writer *w, uint64_t number)
{
    const uint32_t *groups = w->k->groups;
    uint64_t y = number / groups[0];
    print(w, "#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
          number % groups[0], y % groups[1], y / groups[1]);
    if (!end_line(w))
        return false;
    for (uint32_t i = 0; i < w->k->group_waves; i++) {
        const struct record_chain *chain = &w->k->chain[number * w->k->group_waves + i];
        if (chain->first && !write_wave(w, chain, i))
            return false;
    }
    print(w, "\n#END_TB\n");
    return end_line(w);
}

static bool write_all(struct writer *w)
{
    uint64_t groups = (uint64_t)w->k->groups[0] * w->k->groups[1] * w->k->groups[2];
    if (!write_header(w))
        return false;
    for (uint64_t i = 0; i < groups; i++)
        if (!write_group(w, i))
            return false;
    return flush(w, ZSTD_e_end);
}

bool record_kernel_write(const struct record_kernel *k, const char *path, const char **wrong)
{
    struct writer *w = itrace_allocate(1, sizeof *w);
    size_t places = k->start.code_bytes / 4 + 1;
    w->k = k;
    w->texts = itrace_allocate(places, sizeof *w->texts);
    w->zstd = ZSTD_createCCtx();
    w->file = w->zstd ? fopen(path, "wbxe") : NULL;
    bool ok = w->file != NULL;
    w->reason = ok ? 0 : errno;
    if (ok)
        ok = write_all(w);
    if (w->file && fclose(w->file) != 0 && ok) {
        w->reason = errno;
        ok = false;
    }
    ZSTD_freeCCtx(w->zstd);
    for (size_t i = 0; i < places; i++)
        itrace_free(w->texts[i]);
    itrace_free(w->texts);
    *wrong = w->wrong;
    errno = w->reason;
    itrace_free(w);
    return ok;
}
