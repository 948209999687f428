/* Compiled kernels, executed instruction by instruction, for tests.
 *
 * The loader and the functional wavefront here are as small as they can be: device addresses are
 * host addresses, a work-group is one wavefront, memory instructions are carried out at once. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_KERNEL_WAVE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_KERNEL_WAVE_H

#include <elf.h>
#include <sys/types.h>

#include "machine.h"

enum { SCRATCH_PER_LANE = 32768, STEPS_MAX = 4000000, CODE_WORDS = 1 << 18 };

static const uint64_t shared_aperture = UINT64_C(0x1000000000000),
                      private_aperture = UINT64_C(0x2000000000000);

/* ---- the code object ---- */

static uint8_t *image; /* as loaded; addresses in the file are offsets into it */
static uint8_t *file;
static struct isa_inst *decoded; /* by word offset; size 0: not yet */

static inline bool load_code_object(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    free(file);
    free(image);
    free(decoded);
    file = calloc(1, 4 << 20);
    image = aligned_alloc(4096, 4 << 20);
    decoded = calloc(CODE_WORDS, sizeof *decoded);
    memset(image, 0, 4 << 20);
    size_t size = fread(file, 1, 4 << 20, in);
    fclose(in);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    cr_assert_gt(size, sizeof *header);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, file + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD)
            memcpy(image + segment.p_vaddr, file + segment.p_offset, segment.p_filesz);
    }
    return true;
}

/* The kernel descriptor, or NULL. */
static inline const uint8_t *find_descriptor(const char *kernel)
{
    char name[128];
    snprintf(name, sizeof name, "%s.kd", kernel);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section, strings;
        memcpy(&section, file + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_DYNSYM)
            continue;
        memcpy(&strings, file + header->e_shoff + section.sh_link * sizeof strings, sizeof strings);
        for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, file + section.sh_offset + at, sizeof symbol);
            if (!strcmp((const char *)file + strings.sh_offset + symbol.st_name, name))
                return image + symbol.st_value;
        }
    }
    return NULL;
}

/* ---- one wavefront ---- */

static enum isa_target target;
static struct machine m;
static uint8_t *scratch;
static uint8_t lds[65536];

static inline uint32_t field32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

static inline uint8_t *place(const struct isa_memory *memory, unsigned lane, unsigned byte)
{
    return (uint8_t *)(uintptr_t)isa_memory_byte(memory, lane, byte);
}

static inline void do_vector_memory(const struct isa_inst *inst)
{
    static struct isa_memory memory;
    uint8_t data[64][16] = {0}, compare[64][16] = {0};
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, inst, &memory), ISA_OK);
    if (memory.kind == ISA_MEMORY_CACHE_OP)
        return;
    if (memory.kind != ISA_MEMORY_LOAD)
        isa_memory_store(&m.ctx, inst, &memory, data, 16);
    if (memory.kind == ISA_MEMORY_ATOMIC && memory.atomic == ISA_ATOMIC_CMPSWAP)
        isa_memory_compare_data(&m.ctx, inst, memory.mask, compare, 16);
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(memory.mask >> lane & 1))
            continue;
        if (memory.kind == ISA_MEMORY_ATOMIC) {
            isa_atomic_apply((enum isa_atomic)memory.atomic, memory.bytes, place(&memory, lane, 0),
                             data[lane], compare[lane], data[lane]);
            continue;
        }
        for (unsigned byte = 0; byte < memory.bytes; byte++)
            if (memory.kind == ISA_MEMORY_LOAD)
                data[lane][byte] = *place(&memory, lane, byte);
            else
                *place(&memory, lane, byte) = data[lane][byte];
    }
    if (memory.kind == ISA_MEMORY_LOAD || memory.returns)
        isa_memory_load(&m.ctx, inst, &memory, data, 16);
    if (memory.lds_mask)
        isa_memory_lds(&m.ctx, inst, &memory);
}

static inline void do_scalar_memory(const struct isa_inst *inst)
{
    struct isa_scalar scalar;
    uint32_t data[16] = {0};
    cr_assert_eq(isa_scalar_address(&m.ctx, &m.wave, inst, &scalar), ISA_OK);
    if (scalar.kind == ISA_SCALAR_LOAD)
        memcpy(data, (const void *)(uintptr_t)scalar.address, 4 * scalar.valid);
    if (scalar.kind == ISA_SCALAR_LOAD || scalar.kind == ISA_SCALAR_TIME)
        isa_scalar_load(&m.wave, inst, data);
}

/* If it is set: called before (done: false) and after each instruction that is no access of memory.
 */
static void (*watch)(const struct isa_inst *inst, bool done);

static inline void execute_step(const struct isa_inst *inst)
{
    if (watch)
        watch(inst, false);
    cr_assert_eq(isa_execute(&m.ctx, &m.wave, inst), ISA_OK, "%s", isa_mnemonic(inst));
    if (watch)
        watch(inst, true);
}

static inline void step(void)
{
    uint64_t offset = m.wave.pc - (uint64_t)(uintptr_t)image;
    cr_assert_lt(offset / 4, CODE_WORDS, "the pc left the code");
    struct isa_inst *inst = &decoded[offset / 4];
    if (!inst->size) {
        int size = isa_decode(target, image + offset, 12, inst);
        cr_assert_gt(size, 0, "%s at %llx: %d", isa_mnemonic(inst), (unsigned long long)offset,
                     size);
    }
    if (inst->unit == ISA_UNIT_VMEM)
        do_vector_memory(inst);
    else if (inst->unit == ISA_UNIT_SMEM)
        do_scalar_memory(inst);
    else
        execute_step(inst);
    if (inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_SMEM)
        m.wave.pc += inst->size;
}

/* The registers that LLVM's AMDGPU guide ("Initial Kernel Execution State") prescribes for the
 * descriptor's bits. */
static inline void start_wave(const uint8_t *kd, unsigned group, const void *kernarg,
                              const void *packet, const void *queue)
{
    uint32_t rsrc2 = field32(kd + 52), properties = field32(kd + 56) & 0xffff;
    uint32_t next = 0;
    uint64_t base = (uint64_t)(uintptr_t)scratch;
    machine_init(&m);
    memset(lds, 0, sizeof lds);
    m.ctx.lds = lds;
    m.ctx.lds_size = sizeof lds;
    m.ctx.shared_aperture = shared_aperture;
    m.ctx.private_aperture = private_aperture;
    m.ctx.scratch_base = base;
    m.wave.mode = field32(kd + 48) >> 12 & 0xff;
    m.wave.mode |= (field32(kd + 48) >> 21 & 1) << 8 | (field32(kd + 48) >> 23 & 1) << 9;
    if (properties & 1) {
        m.wave.sgpr[next++] = (uint32_t)base;
        m.wave.sgpr[next++] = (uint32_t)(base >> 32) | 0x80000000u;
        m.wave.sgpr[next++] = SCRATCH_PER_LANE * 64;
        m.wave.sgpr[next++] = 1u << 19 | 3u << 21 | 1u << 23;
    }
    const uint64_t pairs[5] = {(uint64_t)(uintptr_t)packet, (uint64_t)(uintptr_t)queue,
                               (uint64_t)(uintptr_t)kernarg, 0,
                               target == ISA_GFX803 ? (uint64_t)SCRATCH_PER_LANE << 32 : base};
    for (unsigned i = 0; i < 5; i++) {
        if (properties >> (1 + i) & 1) {
            isa_wave_set_pair(&m.wave, next, pairs[i]);
            next += 2;
        }
    }
    if (properties >> 6 & 1)
        m.wave.sgpr[next++] = SCRATCH_PER_LANE;
    if (rsrc2 >> 7 & 1)
        m.wave.sgpr[next++] = group;
    next += (rsrc2 >> 8 & 1) + (rsrc2 >> 9 & 1) + (rsrc2 >> 10 & 1); /* y, z, info: 0 */
    if (rsrc2 & 1)
        m.wave.sgpr[next++] = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[lane] = lane;
    m.wave.sgpr[ISA_M0] = 0xffffffff;
    int64_t entry;
    memcpy(&entry, kd + 16, 8);
    m.wave.pc = (uint64_t)(uintptr_t)kd + (uint64_t)entry;
}

static inline bool at_end(void)
{
    uint32_t word;
    memcpy(&word, (const void *)(uintptr_t)m.wave.pc, 4);
    return word == 0xbf810000;
}

/* A kernel of two sources and a destination, on groups of 64 work-items; `round` is its rounding of
 * all formats (isa_wave.mode). */
static inline void run_kernel(const char *name, unsigned groups, unsigned round, const void *xs,
                              const void *ys, void *all)
{
    const uint8_t *kd = find_descriptor(name);
    cr_assert_not_null(kd, "no kernel %s", name);
    uint64_t kernarg[32] = {(uint64_t)(uintptr_t)xs, (uint64_t)(uintptr_t)ys,
                            (uint64_t)(uintptr_t)all};
    uint16_t packet[32] = {0, 1, 64, 1, 1};
    uint32_t queue[64] = {
        [16] = (uint32_t)(shared_aperture >> 32), [17] = (uint32_t)(private_aperture >> 32)};
    const uint32_t grid[3] = {groups * 64, 1, 1};
    memcpy(&packet[6], grid, sizeof grid);
    for (unsigned group = 0; group < groups; group++) {
        start_wave(kd, group, kernarg, packet, queue);
        m.wave.mode = (m.wave.mode & ~15u) | round | round << 2;
        unsigned steps = 0;
        for (; !at_end() && steps < STEPS_MAX; steps++)
            step();
        cr_assert_lt(steps, STEPS_MAX, "%s does not end", name);
    }
}

#endif
