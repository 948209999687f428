/* Runs all kernels of compiled objects and compares what they write with the host's.
 *
 *   run_corpus [-k KERNEL] [-x KERNEL...] HOST_LIBRARY CODE_OBJECT...
 *
 * The host's library is the same source (corpus.h). Device addresses are host addresses, a
 * work-group is one wavefront, memory instructions are carried out at once. Prints a line for each
 * object; fails if a kernel is refused, does not end, or writes something else. -k runs one kernel,
 * -x leaves one out. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "components/amd/execute/wavefront_start.h"
#include "components/amd/isa/object/code_object.h"
#include "components/amd/isa/object/kernarg.h"

enum {
    ITEMS = 256,
    WORDS = 8,
    PRIVATE = 16384, /* bytes a lane: there are kernels that recurse */
    SCRATCH = PRIVATE * 64,
    LDS = 65536,
    FILE_MAX = 8 << 20,
    STEPS_MAX = 2000000,
    LEFT_OUT_MAX = 16,
    LOWEST = 65536 /* below are no addresses */
};

typedef void host_kernel(const uint32_t *in, uint32_t *out, uint32_t items);

static uint32_t input[ITEMS * WORDS], output[ITEMS * WORDS], expected[ITEMS * WORDS];
static _Alignas(64) uint32_t vgpr[512 * 64];
static _Alignas(64) uint8_t lds[LDS];
static uint8_t *scratch, *image;
static struct isa_inst *decoded; /* by word of the image */
static enum isa_target target;
static const char *why; /* the kernel under way cannot go on */
static const char *only, *left_out[LEFT_OUT_MAX];
static unsigned left_out_count;

/* ---- memory ---- */

static void access_lane(const struct isa_memory *m, unsigned lane, uint8_t data[16],
                        const uint8_t *compare)
{
    if (m->kind == ISA_MEMORY_ATOMIC) {
        isa_atomic_apply((enum isa_atomic)m->atomic, m->bytes, (void *)(uintptr_t)m->address[lane],
                         data, compare, data);
        return;
    }
    for (unsigned i = 0; i < m->bytes; i++) {
        uint8_t *at = (uint8_t *)(uintptr_t)isa_memory_byte(m, lane, i);
        if (m->kind == ISA_MEMORY_LOAD)
            data[i] = *at;
        else
            *at = data[i];
    }
}

static void vector_memory(struct isa_context *ctx, struct isa_wave *wave,
                          const struct isa_inst *inst)
{
    static struct isa_memory m;
    uint8_t data[64][16] = {{0}}, compare[64][16] = {{0}};
    if (isa_memory_addresses(ctx, wave, inst, &m) != ISA_OK) {
        why = "has no addresses";
        return;
    }
    if (m.kind == ISA_MEMORY_STORE || m.kind == ISA_MEMORY_ATOMIC)
        isa_memory_store(ctx, inst, &m, data, 16);
    if (m.kind == ISA_MEMORY_ATOMIC && m.atomic == ISA_ATOMIC_CMPSWAP)
        isa_memory_compare_data(ctx, inst, m.mask, compare, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        if (m.mask >> lane & 1 && m.address[lane] < LOWEST)
            why = "accesses memory near address 0";
    for (unsigned lane = 0; lane < 64 && !why; lane++)
        if (m.mask >> lane & 1)
            access_lane(&m, lane, data[lane], compare[lane]);
    if (m.kind == ISA_MEMORY_LOAD || m.returns)
        isa_memory_load(ctx, inst, &m, data, 16);
    if (m.lds_mask)
        isa_memory_lds(ctx, inst, &m);
}

static void scalar_memory(const struct isa_context *ctx, struct isa_wave *wave,
                          const struct isa_inst *inst)
{
    struct isa_scalar s;
    uint32_t data[16] = {0};
    if (isa_scalar_address(ctx, wave, inst, &s) != ISA_OK)
        why = "has no address";
    else if (s.kind == ISA_SCALAR_LOAD && s.address < LOWEST)
        why = "loads from near address 0";
    else if (s.kind == ISA_SCALAR_LOAD)
        memcpy(data, (const void *)(uintptr_t)s.address, 4u * s.valid);
    else if (s.kind == ISA_SCALAR_STORE)
        why = "stores";
    if (s.kind == ISA_SCALAR_LOAD || s.kind == ISA_SCALAR_TIME)
        isa_scalar_load(wave, inst, data);
}

/* ---- a wavefront ---- */

/* The instruction at the pc, or NULL. */
static const struct isa_inst *fetch(const struct isa_wave *wave, uint64_t span)
{
    uint64_t offset = wave->pc - (uint64_t)(uintptr_t)image;
    if (offset >= span) {
        why = "leaves the code";
        return NULL;
    }
    struct isa_inst *inst = &decoded[offset / 4];
    if (!inst->size && isa_decode(target, image + offset, 12, inst) <= 0) {
        static char text[320], instruction[ISA_TEXT_MAX];
        isa_format(inst, wave->pc, instruction, sizeof instruction);
        snprintf(text, sizeof text, "holds '%s' at 0x%llx, which is refused", instruction,
                 (unsigned long long)offset);
        why = text;
        return NULL;
    }
    return inst;
}

static void run_wave(struct isa_context *ctx, struct isa_wave *wave, uint64_t span)
{
    for (unsigned steps = 0; !why; steps++) {
        const struct isa_inst *inst = fetch(wave, span);
        if (!inst || inst->flags & ISA_IS_ENDPGM)
            return;
        if (steps == STEPS_MAX)
            why = "does not end";
        else if (inst->unit == ISA_UNIT_VMEM)
            vector_memory(ctx, wave, inst);
        else if (inst->unit == ISA_UNIT_SMEM)
            scalar_memory(ctx, wave, inst);
        else if (isa_execute(ctx, wave, inst) != ISA_OK)
            why = isa_mnemonic(inst);
        if (inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_SMEM)
            wave->pc += inst->size;
    }
}

/* ---- a kernel ---- */

static void run_kernel(const struct code_object *object, const struct code_object_kernel *kernel)
{
    static _Alignas(16) uint8_t arguments[CODE_OBJECT_KERNARG_MAX];
    static uint8_t packet[64], queue[256];
    const uint64_t buffers[2] = {(uint64_t)(uintptr_t)input, (uint64_t)(uintptr_t)output};
    const struct isa_traits *traits = &isa_traits[target];
    struct kernarg_geometry geometry = {
        .grid = {ITEMS, 1, 1}, .block = {64, 1, 1}, .queue = (uint64_t)(uintptr_t)queue};
    struct work_placement p = {.entry = (uint64_t)(uintptr_t)image + kernel->entry_address,
                               .kernarg = (uint64_t)(uintptr_t)arguments,
                               .packet = (uint64_t)(uintptr_t)packet,
                               .queue = (uint64_t)(uintptr_t)queue,
                               .scratch = (uint64_t)(uintptr_t)scratch,
                               .scratch_bytes_per_wavefront = SCRATCH,
                               .private_bytes = PRIVATE,
                               .grid = {ITEMS, 1, 1},
                               .block = {64, 1, 1},
                               .items = {64, 1, 1},
                               .lds_bytes = LDS,
                               .wavefronts = 1};
    const uint16_t sizes[3] = {64, 1, 1};
    memcpy(packet + 4, sizes, sizeof sizes);
    memcpy(packet + 12, p.grid, sizeof p.grid);
    memcpy(queue + WORK_QUEUE_SHARED_APERTURE, &traits->shared_aperture, 4);
    memcpy(queue + WORK_QUEUE_PRIVATE_APERTURE, &traits->private_aperture, 4);
    kernarg_set_apertures(&geometry, object->target.gfx);
    kernarg_fill_packed(kernel, buffers, sizeof buffers, &geometry, arguments);
    uint8_t descriptor[64];
    kernarg_make_descriptor(object, kernel, descriptor);
    struct kernel_words words = kernel_words_read(descriptor);
    p.rsrc1 = words.rsrc1, p.rsrc2 = words.rsrc2;
    p.properties = words.properties, p.preload = words.preload;
    for (uint32_t group = 0; group < ITEMS / 64 && !why; group++) {
        struct isa_wave wave;
        struct isa_context ctx = {.vgpr = vgpr, .lds = lds, .lds_size = LDS};
        ctx.vgpr_count = kernel->registers.accum_offset ? kernel->registers.accum_offset
                                                        : kernel->registers.vgprs;
        ctx.agpr_count = traits->accumulators ? 512 - ctx.vgpr_count : 0;
        wavefront_set_apertures(target, p.scratch, &ctx);
        wavefront_start(target, &wave, vgpr, &p, (const uint32_t[3]){group, 0, 0}, 0);
        run_wave(&ctx, &wave, object->span);
    }
}

static bool check_kernel(const struct code_object *object, const struct code_object_kernel *kernel,
                         void *host, const char *path)
{
    host_kernel *reference;
    void *symbol = dlsym(host, kernel->name);
    memcpy(&reference, &symbol, sizeof reference);
    if (!symbol) {
        fprintf(stderr, "%s: the host has no '%s'\n", path, kernel->name);
        return false;
    }
    memset(output, 0, sizeof output);
    memset(expected, 0, sizeof expected);
    reference(input, expected, ITEMS);
    why = NULL;
    run_kernel(object, kernel);
    for (unsigned i = 0; i < ITEMS * WORDS && !why; i++) {
        static char text[160];
        if (output[i] == expected[i])
            continue;
        snprintf(text, sizeof text, "wrote %08x to word %u of item %u, expected %08x", output[i],
                 i % WORDS, i / WORDS, expected[i]);
        why = text;
    }
    if (why)
        fprintf(stderr, "%s: %s %s\n", path, kernel->name, why);
    return !why;
}

/* Half of the words at edges. */
static void fill_input(void)
{
    static const uint32_t edges[] = {
        0,      1,      2,       31,     32,      0x7f,       0x80,       0xff,       0x7fff,
        0x8000, 0xffff, 0x10000, 100000, 0x12345, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
    uint64_t state = 88172645463325252u;
    for (unsigned i = 0; i < ITEMS * WORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        input[i] = state % 3 ? (uint32_t)(state >> 32) >> (state >> 8) % 20 * (state >> 20 & 1)
                             : edges[(state >> 8) % (sizeof edges / sizeof *edges)];
    }
}

static bool is_wanted(const char *kernel)
{
    for (unsigned i = 0; i < left_out_count; i++)
        if (!strcmp(kernel, left_out[i]))
            return false;
    return !only || !strcmp(only, kernel);
}

static bool check_object(const char *path, void *host)
{
    static uint8_t bytes[FILE_MAX];
    struct code_object object;
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in)
        fclose(in);
    if (!code_object_read(&object, bytes, size)
        || isa_target_by_name(object.target.gfx, &target) != 0) {
        fprintf(stderr, "%s: %s\n", path, object.error[0] ? object.error : "unknown target");
        code_object_release(&object);
        return false;
    }
    image = aligned_alloc(CODE_OBJECT_PAGE, object.span);
    decoded = calloc(object.span / 4, sizeof *decoded);
    if (!image || !decoded)
        abort();
    code_object_load(&object, (uint64_t)(uintptr_t)image, image);
    unsigned passed = 0, run = 0;
    for (size_t i = 0; i < object.kernel_count; i++) {
        if (!is_wanted(object.kernels[i].name))
            continue;
        run++;
        passed += check_kernel(&object, &object.kernels[i], host, path);
    }
    printf("%s: %u of %u kernels\n", path, passed, run);
    free(image);
    free(decoded);
    code_object_release(&object);
    return run && passed == run;
}

int main(int argc, char **argv)
{
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2)
        if (!strcmp(argv[first], "-k"))
            only = argv[first + 1];
        else if (left_out_count < LEFT_OUT_MAX)
            left_out[left_out_count++] = argv[first + 1];
    void *host = argc > first + 1 ? dlopen(argv[first], RTLD_NOW) : NULL;
    if (!host) {
        fprintf(stderr, "run_corpus: %s\n",
                argc > first + 1 ? dlerror() : "usage: [-k KERNEL] HOST_LIBRARY CODE_OBJECT...");
        return 2;
    }
    fill_input();
    scratch = aligned_alloc(4096, SCRATCH * 2);
    bool good = scratch;
    for (int i = first + 1; i < argc && scratch; i++)
        good &= check_object(argv[i], host);
    free(scratch);
    return !good;
}
