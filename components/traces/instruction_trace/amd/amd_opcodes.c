/* Classes come from the tables of components/amd/isa, by unit and timing; the search happens once
 * for each static instruction. */
#include "components/traces/instruction_trace/amd/amd_opcodes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/isa.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/reader/itrace_text.h"

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Full-rate vector instructions: moves and conversions, floating point, the rest is integers. */
static enum sass_class vector_class(const struct isa_row *row)
{
    static const char *const moves[] = {"_mov_",  "_cndmask_", "lane_b32", "_cvt_",
                                        "_swap_", "_perm_",    "_nop"};
    switch (row->timing) {
    case ISA_TIMING_MULTIPLY:
    case ISA_TIMING_QUARTER:
        return SASS_CLASS_INT;
    case ISA_TIMING_TRANS:
        return SASS_CLASS_SFU;
    case ISA_TIMING_F64_ADD:
    case ISA_TIMING_F64_MUL:
    case ISA_TIMING_F64_TRANS:
        return SASS_CLASS_DP;
    default:
        for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
            if (has(row->mnemonic, moves[i]))
                return SASS_CLASS_ALU;
        return has(row->mnemonic, "f32") || has(row->mnemonic, "f16") ? SASS_CLASS_SP
                                                                      : SASS_CLASS_INT;
    }
}

/* By the verb of the name. Cache operations and prefetches have no lanes. */
static enum sass_class memory_class(const char *name)
{
    static const struct {
        const char *part;
        enum sass_class unit;
    } verbs[] = {{"_atomic_", SASS_CLASS_ATOMIC},   {"_load", SASS_CLASS_LOAD},
                 {"_read", SASS_CLASS_LOAD},        {"_store", SASS_CLASS_STORE},
                 {"_write", SASS_CLASS_STORE},      {"_dcache_", SASS_CLASS_MEMBAR},
                 {"_wbinvl1", SASS_CLASS_MEMBAR},   {"_invl2", SASS_CLASS_MEMBAR},
                 {"buffer_inv", SASS_CLASS_MEMBAR}, {"_wbl2", SASS_CLASS_MEMBAR},
                 {"_memtime", SASS_CLASS_ALU},      {"_memrealtime", SASS_CLASS_ALU},
                 {"_permute_", SASS_CLASS_ALU},     {"_bpermute_", SASS_CLASS_ALU},
                 {"_swizzle_", SASS_CLASS_ALU},     {"ds_nop", SASS_CLASS_ALU}};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (has(name, verbs[i].part))
            return verbs[i].unit;
    return strncmp(name, "ds_", 3) == 0 ? SASS_CLASS_ATOMIC : SASS_CLASS_LOAD;
}

static enum sass_class special_class(const char *name)
{
    return !strcmp(name, "s_endpgm") ? SASS_CLASS_EXIT
           : has(name, "s_barrier")  ? SASS_CLASS_BARRIER
           : has(name, "s_waitcnt")  ? SASS_CLASS_MEMBAR
                                     : SASS_CLASS_ALU;
}

static struct sass_opcode opcode_of(const struct isa_row *row)
{
    struct sass_opcode o = {SASS_CLASS_ALU, ITRACE_SPACE_NONE, (uint8_t)row->unit};
    switch (row->unit) {
    case ISA_UNIT_VALU:
        o.unit = vector_class(row);
        break;
    case ISA_UNIT_SALU:
        o.unit = SASS_CLASS_UNIFORM;
        break;
    case ISA_UNIT_BRANCH:
        o.unit = SASS_CLASS_BRANCH;
        break;
    case ISA_UNIT_SMEM:
        o.unit = memory_class(row->mnemonic);
        o.space = ITRACE_SPACE_GLOBAL;
        break;
    case ISA_UNIT_VMEM:
        o.unit = memory_class(row->mnemonic);
        o.space = ITRACE_SPACE_GENERIC;
        break;
    case ISA_UNIT_LDS:
        o.unit = memory_class(row->mnemonic);
        o.space = ITRACE_SPACE_SHARED;
        break;
    default:
        o.unit = special_class(row->mnemonic);
        break;
    }
    return o;
}

/* Rows by name, the first of each: there are more than a thousand, and every kernel of a trace asks
 * for each of its instructions. */
static struct named_row {
    const char *name;
    size_t row;
} * rows;
static size_t row_count;
static pthread_once_t rows_made = PTHREAD_ONCE_INIT;

static int by_name(const void *a, const void *b)
{
    const struct named_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void make_rows(void)
{
    row_count = isa_row_count();
    rows = itrace_allocate(row_count, sizeof *rows);
    for (size_t i = 0; i < row_count; i++)
        rows[i] = (struct named_row){isa_row(i).mnemonic, i};
    qsort(rows, row_count, sizeof *rows, by_name);
}

static bool is_row(const char *name, size_t size, struct sass_opcode *opcode)
{
    size_t low = 0, high;
    pthread_once(&rows_made, make_rows);
    for (high = row_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(rows[middle].name, name, size);
        if (order < 0)
            low = middle + 1;
        else
            high = middle; /* names that begin so, too, stand behind it */
    }
    if (low == row_count || strncmp(rows[low].name, name, size) != 0 || rows[low].name[size])
        return false;
    struct isa_row row = isa_row(rows[low].row);
    *opcode = opcode_of(&row);
    return true;
}

bool amd_opcode_find(const char *name, struct sass_opcode *opcode)
{
    static const char *const encodings[] = {"_e32", "_e64", "_sdwa", "_dpp"};
    size_t size = strlen(name);
    *opcode = (struct sass_opcode){SASS_CLASS_UNKNOWN, ITRACE_SPACE_NONE, ISA_UNIT_COUNT};
    if (is_row(name, size, opcode))
        return true;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        size_t tail = strlen(encodings[i]);
        if (size > tail && strcmp(name + size - tail, encodings[i]) == 0)
            return is_row(name, size - tail, opcode);
    }
    return false;
}

/* "7" or "[2:5]" behind the name of a bank with registers 0 .. most - 1. */
static bool take_range(const char *at, unsigned most, unsigned *first, unsigned *count)
{
    char *end;
    bool is_range = *at == '[';
    at += is_range;
    if (*at < '0' || *at > '9')
        return false;
    unsigned long last, from = strtoul(at, &end, 10);
    last = from;
    if (is_range) {
        if (*end != ':' || end[1] < '0' || end[1] > '9')
            return false;
        last = strtoul(end + 1, &end, 10);
        if (*end++ != ']')
            return false;
    }
    *first = (unsigned)from;
    *count = (unsigned)(last - from + 1);
    return !*end && from <= last && last < most && last - from < 32;
}

bool amd_register(const char *text, size_t size, uint16_t *number)
{
    static const struct {
        const char *name;
        uint16_t code, count;
    } named[] = {{"flat_scratch", 102, 2},
                 {"flat_scratch_lo", 102, 1},
                 {"flat_scratch_hi", 103, 1},
                 {"xnack_mask", 104, 2},
                 {"xnack_mask_lo", 104, 1},
                 {"xnack_mask_hi", 105, 1},
                 {"vcc", 106, 2},
                 {"vcc_lo", 106, 1},
                 {"vcc_hi", 107, 1},
                 {"tba", 108, 2},
                 {"tba_lo", 108, 1},
                 {"tba_hi", 109, 1},
                 {"tma", 110, 2},
                 {"tma_lo", 110, 1},
                 {"tma_hi", 111, 1},
                 {"m0", 124, 1},
                 {"exec", 126, 2},
                 {"exec_lo", 126, 1},
                 {"exec_hi", 127, 1},
                 {"src_shared_base", 235, 2},
                 {"src_shared_limit", 236, 2},
                 {"src_private_base", 237, 2},
                 {"src_private_limit", 238, 2},
                 {"src_pops_exiting_wave_id", 239, 1},
                 {"src_vccz", 251, 1},
                 {"src_execz", 252, 1},
                 {"src_scc", 253, 1},
                 {"scc", 253, 1}};
    static const struct {
        const char *bank;
        unsigned first, most;
    } banks[] = {{"v", 256, 256}, {"a", 512, 256}, {"s", 0, 102}, {"ttmp", 108, 16}};
    char word[32];
    if (size >= sizeof word)
        return false;
    memcpy(word, text, size);
    word[size] = '\0';
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (strcmp(named[i].name, word) == 0) {
            *number = (uint16_t)(named[i].code | (named[i].count - 1u) << 10);
            return true;
        }
    for (size_t i = 0; i < sizeof banks / sizeof banks[0]; i++) {
        size_t bank = strlen(banks[i].bank);
        unsigned first, count;
        if (strncmp(word, banks[i].bank, bank) == 0
            && take_range(word + bank, banks[i].most, &first, &count)) {
            *number = (uint16_t)((banks[i].first + first) | (count - 1) << 10);
            return true;
        }
    }
    return false;
}

uint64_t amd_shared_aperture(enum itrace_arch arch)
{
    return (uint64_t)isa_traits[itrace_arch_target(arch)].shared_aperture << 32;
}

bool amd_width(uint64_t width)
{
    return width <= 2 || (width <= 64 && width % 4 == 0);
}
