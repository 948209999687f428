/* A recording, read back: wavefronts that were told of in any order must come out as they went in.
 * The code object is made here, of a few instructions whose text is known. */
#include <criterion/criterion.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/amd/amd_recording.h"
#include "components/traces/instruction_trace/reader/itrace.h"

enum { GROUPS = 3, GROUP_WAVES = 2, WAVES = GROUPS * GROUP_WAVES, CODE_AT = 0x4000 };

/* s_waitcnt 127; flat_load_dword v2, v[0:1]; buffer_load_dwordx4 v[4:7], v0, s[0:3], 0 offen
 * offset:16; s_load_dwordx2 s[4:5], s[6:7], 0x8; ds_read_b32 v1, v2 offset:4; s_endpgm: words from
 * llvm-mc -mcpu=gfx803. */
static const uint32_t code[] = {0xbf8c007f, 0xdc500000, 0x02000000, 0xe05c1010, 0x80000400,
                                0xc0060103, 0x00000008, 0xd86c0004, 0x01000002, 0xbf810000};
enum { WAIT, FLAT, BUFFER, SCALAR, LDS, END, KINDS };
static const struct {
    uint32_t at, size, bytes;
    const char *name;
} insts[KINDS] = {[WAIT] = {0, 4, 0, "s_waitcnt"},
                  [FLAT] = {4, 8, 4, "flat_load_dword"},
                  [BUFFER] = {12, 8, 16, "buffer_load_dwordx4"},
                  [SCALAR] = {20, 8, 8, "s_load_dwordx2"},
                  [LDS] = {28, 8, 4, "ds_read_b32"},
                  [END] = {36, 4, 0, "s_endpgm"}};

struct told {
    unsigned kind;
    uint64_t mask, address[64];
};

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 20 ^ random_state >> 44;
}

static char folder[512];
static struct aql_packet packet;
static struct aql_descriptor descriptor;

static void begin(uint32_t units)
{
    char command[1200];
    snprintf(folder, sizeof folder, "%s/record-%d", getenv("SCRATCH"), (int)getpid());
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", folder, folder);
    cr_assert_eq(system(command), 0);
    cr_assert(amd_recording_open(folder, units));
    packet = (struct aql_packet){.work_group = {100, 1, 1},
                                 .grid = {100 * GROUPS, 1, 1},
                                 .private_bytes = 8,
                                 .group_bytes = 12};
    descriptor = (struct aql_descriptor){.rsrc1 = 3};
}

static void remove_all(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static void launch(uint64_t kernel, uint32_t gpu)
{
    static const uint8_t arguments[] = {1, 2, 3};
    char title[32];
    snprintf(title, sizeof title, "title %" PRIu64, kernel);
    amd_recording_launch(&(struct amd_recording_launch){kernel, "symbol", title, 5, arguments, 3});
    amd_recording_start(kernel, &(struct amd_recording_start){.gpu = gpu,
                                                              .target = ISA_GFX803,
                                                              .packet = &packet,
                                                              .descriptor = &descriptor,
                                                              .entry = CODE_AT,
                                                              .packet_address = 0x9000,
                                                              .ring = {0x9000, 4096},
                                                              .scratch = {0x100000, 65536},
                                                              .code = (const uint8_t *)code,
                                                              .code_address = CODE_AT,
                                                              .code_bytes = sizeof code});
}

/* What wavefront `wave` of a kernel does at step `n`: made anew whenever it is asked for. */
static void make(uint64_t kernel, unsigned wave, unsigned n, unsigned last, struct told *t)
{
    random_state = kernel * 1000003 + wave * 7919 + n * 104729;
    t->kind = n == last ? END : (unsigned)(random_number() % END);
    unsigned shape = (unsigned)(random_number() % 4);
    t->mask = shape == 0   ? UINT64_MAX
              : shape == 1 ? random_number() << 32 ^ random_number()
              : shape == 2 ? (uint64_t)1 << random_number() % 64
                           : 0;
    uint64_t base = random_number() << 20, stride = random_number() % 100;
    bool wild = random_number() % 3 == 0;
    for (unsigned lane = 0; lane < 64; lane++)
        t->address[lane] = wild ? random_number() << 30 ^ random_number() : base + lane * stride;
    if (t->kind == SCALAR)
        t->mask = 1;
}

static void tell(uint32_t unit, uint32_t wave, const struct told *t)
{
    bool access = insts[t->kind].bytes > 0;
    amd_recording_ops()->step(
        unit, wave,
        &(struct observed_instruction){.pc = CODE_AT + insts[t->kind].at,
                                       .mask = t->mask,
                                       .address = access ? t->address : NULL,
                                       .bytes = t->kind == LDS ? 0 : insts[t->kind].bytes,
                                       .apart = t->kind == BUFFER ? 256 : 0,
                                       .size = insts[t->kind].size});
}

static void begin_wave(uint32_t unit, uint32_t wave, uint32_t gpu, uint32_t dispatch)
{
    amd_recording_ops()->begin(unit, wave,
                               &(struct observed_wavefront){.gpu = gpu,
                                                            .dispatch = dispatch,
                                                            .group = {wave / GROUP_WAVES, 0, 0},
                                                            .number = wave % GROUP_WAVES});
}

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    (void)context;
    cr_expect_fail("%s:%" PRIu64 ": %d %s", path, line, is_error, text);
}

static void compare(const struct itrace_step *got, const struct told *want, uint64_t place)
{
    unsigned count = 0;
    cr_assert_str_eq(got->inst->name, insts[want->kind].name, "step %" PRIu64, place);
    cr_assert_eq(got->inst->pc, insts[want->kind].at);
    cr_assert_eq(got->mask, want->mask);
    cr_assert_eq(got->inst->width, insts[want->kind].bytes);
    cr_expect_eq(got->inst->immediate_count, want->kind == BUFFER ? 2 : 1);
    if (want->kind == BUFFER)
        cr_expect(got->inst->immediates[0] == 16 && got->inst->immediates[1] == 256);
    if (!insts[want->kind].bytes)
        return;
    for (unsigned lane = 0; lane < 64; lane++)
        if (want->mask >> lane & 1)
            cr_assert_eq(got->address[count++], want->address[lane], "step %" PRIu64, place);
    cr_assert_eq(got->count, count);
}

/* The trace of a kernel; `last`: the number of a wavefront's last step. */
static void read_back(uint64_t kernel, unsigned last)
{
    char path[600];
    struct itrace t;
    struct itrace_options options = {.report = hear};
    static struct told want;
    uint64_t seen = 0;
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/kernel-%" PRIu64 ".traceg.zst", folder, kernel);
    cr_assert(itrace_open(&t, path, &options));
    const struct itrace_header *h = &t.header;
    cr_expect(h->grid[0] == GROUPS && h->block[0] == 100 && h->registers == 16
              && h->shared_bytes == 12 && h->stream == 5 && h->kernel_id == kernel);
    cr_expect(h->entry == CODE_AT && h->code_base == CODE_AT && h->packet_address == 0x9000
              && h->scratch[1] == 65536 && h->argument_bytes == 3 && h->arguments[2] == 3);
    cr_expect_eq(memcmp(h->packet, &packet, sizeof packet), 0);
    cr_expect_eq(memcmp(h->descriptor, &descriptor, sizeof descriptor), 0);
    cr_expect(h->code_count == 1 && h->code[0].bytes == sizeof code
              && !memcmp(h->code[0].data, code, sizeof code));
    for (enum itrace_event event; (event = itrace_next(&t)) != ITRACE_END;) {
        unsigned wave = t.block[0] * GROUP_WAVES + t.warp;
        cr_assert_neq(event, ITRACE_ERROR);
        if (event == ITRACE_WARP) {
            cr_expect_eq(t.warp_steps, last + 1);
            n = 0;
        }
        if (event != ITRACE_STEP)
            continue;
        make(kernel, wave, n, last, &want);
        compare(&t.step, &want, seen++);
        n++;
    }
    cr_expect_eq(seen, (uint64_t)WAVES * (last + 1));
    itrace_close(&t);
}

/* Two kernels on two GPUs, all their wavefronts side by side; blocks of the spool fill up often. */
Test(amd_recording, what_went_in_comes_out)
{
    enum { LAST = 400, KERNELS = 2 };
    static struct told t;
    begin(KERNELS + 1);
    for (uint32_t k = 0; k < KERNELS; k++)
        launch(k + 1, k);
    for (unsigned n = 0; n <= LAST; n++)
        for (uint32_t k = 0; k < KERNELS; k++)
            for (uint32_t wave = WAVES; wave-- > 0;) {
                if (n == 0)
                    begin_wave(k, wave, k, 0);
                make(k + 1, wave, n, LAST, &t);
                tell(k, wave, &t);
                if (n == LAST)
                    amd_recording_ops()->end(k, wave);
            }
    for (uint32_t k = 0; k < KERNELS; k++)
        amd_recording_end(k + 1);
    amd_recording_line("Malloc,0x%x,%d", 16, 4);
    cr_expect_eq(amd_recording_command("Mark,0"), 1);
    cr_expect_eq(amd_recording_command("Mark,1"), 2);
    cr_expect_null(amd_recording_finish(true));
    for (uint32_t k = 0; k < KERNELS; k++)
        read_back(k + 1, LAST);
    char path[600], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, AMD_RECORDING_LIST);
    FILE *list = fopen(path, "r");
    cr_assert(list);
    cr_expect_eq(fread(text, 1, sizeof text - 1, list), 28);
    cr_expect_str_eq(text, "Malloc,0x10,4\nMark,0\nMark,1\n");
    fclose(list);
    remove_all();
}

static void *run_unit(void *context)
{
    enum { LAST = 300 };
    uint32_t unit = *(uint32_t *)context;
    struct told *t = malloc(sizeof *t);
    for (uint32_t wave = unit; wave < WAVES; wave += 2)
        begin_wave(unit, wave, 0, 0);
    for (unsigned n = 0; n <= LAST; n++)
        for (uint32_t wave = unit; wave < WAVES; wave += 2) {
            *t = (struct told){.kind = n == LAST ? END : FLAT, .mask = UINT64_MAX};
            for (unsigned lane = 0; lane < 64; lane++)
                t->address[lane] = (uint64_t)wave << 32 | n << 16 | lane * lane;
            tell(unit, wave, t);
        }
    for (uint32_t wave = unit; wave < WAVES; wave += 2)
        amd_recording_ops()->end(unit, wave);
    free(t);
    return NULL;
}

/* Units of two threads; the blocks of their wavefronts mix as they like. */
Test(amd_recording, units_of_several_threads_are_told_of_at_once)
{
    pthread_t threads[2];
    uint32_t units[2] = {0, 1};
    struct itrace t;
    struct itrace_options options = {.report = hear};
    char path[600];
    uint64_t steps = 0;
    begin(2);
    launch(1, 0);
    for (unsigned i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run_unit, &units[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    amd_recording_end(1);
    cr_expect_null(amd_recording_finish(true));
    snprintf(path, sizeof path, "%s/kernel-1.traceg.zst", folder);
    cr_assert(itrace_open(&t, path, &options));
    uint64_t n = 0;
    for (enum itrace_event event; (event = itrace_next(&t)) != ITRACE_END;) {
        n = event == ITRACE_WARP ? 0 : n;
        if (event != ITRACE_STEP)
            continue;
        uint64_t wave = t.block[0] * GROUP_WAVES + t.warp;
        for (unsigned lane = 0; lane < t.step.count; lane++)
            cr_assert_eq(t.step.address[lane], wave << 32 | n << 16 | lane * lane);
        n++;
        steps++;
    }
    cr_expect_eq(steps, 301 * WAVES);
    itrace_close(&t);
    remove_all();
}

Test(amd_recording, what_cannot_be_recorded_ends_it)
{
    char path[600];
    begin(1);
    cr_expect(amd_recording_is_on());
    amd_recording_refuse("of %s", "this");
    amd_recording_refuse("something else");
    cr_expect_not(amd_recording_is_on());
    launch(1, 0);
    begin_wave(0, 0, 0, 0); /* nobody cares any more */
    amd_recording_ops()->end(0, 0);
    amd_recording_end(1);
    cr_expect_str_eq(amd_recording_finish(true), "of this");
    snprintf(path, sizeof path, "%s/%s", folder, AMD_RECORDING_LIST);
    cr_expect_neq(access(path, F_OK), 0);
    remove_all();
}

Test(amd_recording, code_outside_of_the_module_ends_it)
{
    begin(1);
    launch(1, 0);
    begin_wave(0, 0, 0, 0);
    amd_recording_ops()->step(
        0, 0, &(struct observed_instruction){.pc = CODE_AT + sizeof code, .size = 4});
    amd_recording_ops()->end(0, 0);
    amd_recording_end(1);
    const char *why = amd_recording_finish(true);
    cr_assert(why);
    cr_expect_str_eq(why, "kernel 'title 1' executes code outside of its module");
    remove_all();
}

Test(amd_recording, one_process_records)
{
    begin(1);
    cr_expect_not(amd_recording_open(folder, 1));
    cr_expect_eq(errno, EEXIST);
    remove_all();
}

Test(amd_recording, a_broken_device_leaves_nothing)
{
    begin(1);
    launch(1, 0);
    begin_wave(0, 0, 0, 0);
    cr_expect_str_eq(amd_recording_finish(false), "a kernel broke the device");
    remove_all();
}
