/* LLVM 19 as an oracle. See oracle.h. */
#include "oracle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct oracle {
    void *disassembler;
};

typedef void initialise(void);
typedef void *create(const char *triple, const char *cpu, void *info, int tag, void *operands,
                     void *symbols);
typedef size_t disassemble(void *context, uint8_t *bytes, uint64_t size, uint64_t pc, char *text,
                           size_t text_size);

static void *library;
static disassemble *disassemble_one;

/* Function pointers from dlsym, without a cast that ISO C does not have. */
static void find(void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static bool open_library(void)
{
    static const char *const steps[] = {
        "LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTarget",
        "LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUDisassembler"};
    const char *name = getenv("HEDDLE_LIBLLVM");
    if (library)
        return true;
    library = dlopen(name ? name : "libLLVM.so.19.1", RTLD_NOW);
    if (!library)
        return false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        initialise *step = NULL;
        find(&step, steps[i]);
        step();
    }
    find(&disassemble_one, "LLVMDisasmInstruction");
    return true;
}

struct oracle *oracle_open(enum isa_target target)
{
    static struct oracle oracles[ISA_TARGET_COUNT];
    create *make = NULL;
    if (!open_library())
        return NULL;
    find(&make, "LLVMCreateDisasmCPU");
    oracles[target].disassembler = make("amdgcn--", isa_target_name(target), NULL, 0, NULL, NULL);
    return &oracles[target];
}

unsigned oracle_decode(struct oracle *oracle, const uint32_t word[3], char text[ORACLE_TEXT])
{
    uint8_t bytes[16] = {0};
    char raw[ORACLE_TEXT] = "";
    size_t length = 0;
    memcpy(bytes, word, 12);
    size_t size = disassemble_one(oracle->disassembler, bytes, 16, 0, raw, sizeof raw);
    for (const char *c = raw; *c && *c != '\n'; c++) {
        bool space = *c == ' ' || *c == '\t';
        if (c[0] == ';' && length && text[length - 1] == ' ')
            break;
        if (!space)
            text[length++] = *c;
        else if (length && text[length - 1] != ' ')
            text[length++] = ' ';
    }
    while (length && text[length - 1] == ' ')
        length--;
    text[length] = 0;
    return (unsigned)size;
}

bool oracle_is_unsafe(const uint32_t word[3])
{
    uint32_t w = word[1];
    if (word[0] >> 31 || (word[0] & 511) != 249)
        return false;
    /* Selectors 7 and unused 3 of sub-dword addressing. */
    return (w >> 8 & 7) == 7 || (w >> 11 & 3) == 3 || (w >> 16 & 7) == 7 || (w >> 24 & 7) == 7;
}

/* ---- words ---- */

/* clang-format off */
static const struct oracle_format formats[] = {
#define FORMAT(name, fixed, free, shift, bits, has_opcodes, second, flags, ...) \
    {name, fixed, free, shift, bits, has_opcodes, second, flags, {__VA_ARGS__}},
#define FLAGS(...)                 {__VA_ARGS__}
#define REGISTER(low, count)      {low, count, ORACLE_REGISTER, 0, {0}}
#define CONSTANT(low, count)      {low, count, ORACLE_CONSTANT, 0, {0}}
#define LITERAL(low, count)       {low, count, ORACLE_LITERAL, 0, {0}}
#define VOP3(low, neg, abs)       {low, 9, ORACLE_CONSTANT, 0, {neg, abs}}
#define SDWA(low, scalar, ...)    {low, 8, ORACLE_CONSTANT, scalar, {__VA_ARGS__}}
#define DPP(low, neg, abs)        {low, 8, ORACLE_REGISTER, 0, {neg, abs}}
#include "oracle_formats.tab"
};
/* clang-format on */

size_t oracle_format_count(void)
{
    return sizeof formats / sizeof *formats;
}

const struct oracle_format *oracle_format(size_t index)
{
    return &formats[index];
}

static uint32_t random32(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* A source as compilers write them: mostly vector registers, then scalars and constants. */
static uint32_t plausible_source(uint64_t *state)
{
    uint32_t r = random32(state);
    switch (r >> 28 & 7) {
    case 0:
        return r & 127;
    case 1:
        return 128 + (r & 127);
    case 2:
        return r & 0x1fe;
    default:
        return 256 + (r & 255);
    }
}

static uint32_t plausible_second(const struct oracle_format *format, uint64_t *state)
{
    uint32_t r = random32(state), sparse = random32(state) & random32(state) & random32(state);
    if (format->fixed >> 26 == 0x34)
        return plausible_source(state) | plausible_source(state) << 9
               | plausible_source(state) << 18 | (sparse & 0xf8000000);
    if ((format->fixed & 0x1ff) == 0xf9)
        return (r & 0xff) | (r >> 8 & 255) % 7 << 8 | (r >> 16 & 255) % 3 << 11
               | (sparse & 0xf8f8e000) | random32(state) % 7 << 16 | random32(state) % 7 << 24;
    if ((format->fixed & 0x1ff) == 0xfa) {
        static const uint16_t controls[] = {0x101, 0x10f, 0x111, 0x11f, 0x121, 0x12f, 0x130, 0x134,
                                            0x138, 0x13c, 0x140, 0x141, 0x142, 0x143, 0x150, 0x15f};
        uint32_t control = r >> 8 & 1 ? r >> 9 & 255 : controls[r >> 9 & 15];
        return (r & 0xff0000ff) | (sparse & 0x00fe0000) | control << 8;
    }
    return r & 0xfefefefe & ~(sparse << 24);
}

void oracle_words(const struct oracle_format *format, unsigned opcode, unsigned round,
                  uint64_t *state, uint32_t word[3])
{
    uint32_t first = random32(state), second = random32(state);
    switch (round & 7) {
    case 0:
        first = second = 0;
        break;
    case 1:
    case 2:
        first &= random32(state) & random32(state);
        second &= random32(state) & random32(state);
        break;
    case 3:
    case 4:
        first &= random32(state) & random32(state) & random32(state);
        second = plausible_second(format, state);
        break;
    case 5:
    case 6:
        second = plausible_second(format, state);
        break;
    default:
        break;
    }
    /* Every other round one bit of all is turned over. */
    if (round & 8) {
        uint32_t bit = random32(state) >> 16 & 63;
        first ^= bit < 32 ? 1u << bit : 0;
        second ^= bit < 32 ? 0 : 1u << (bit - 32);
    }
    word[0] = format->fixed | (first & format->free) | opcode << format->shift;
    word[1] = second;
    word[2] = random32(state);
}
