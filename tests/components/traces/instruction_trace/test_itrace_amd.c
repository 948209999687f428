/* Traces of AMD programs: what docs/reference/traces.md allows beyond NVIDIA's, in a fixture
 * written by hand, and what is wrong, with the words and the line. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/cache/itrace_cache.h"
#include "components/traces/instruction_trace/reader/itrace_list.h"
#include "components/traces/instruction_trace/tools/itrace_stats.h"

struct story {
    char text[8192], said[2048];
    size_t size, said_size;
};

__attribute__((format(printf, 2, 3))) static void tell(struct story *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->size += (size_t)vsnprintf(s->text + s->size, sizeof s->text - s->size, format, args);
    va_end(args);
    cr_assert_lt(s->size, sizeof s->text);
}

static void hear(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    struct story *s = context;
    (void)path;
    s->said_size += (size_t)snprintf(s->said + s->said_size, sizeof s->said - s->said_size,
                                     "%c%" PRIu64 ": %s\n", is_error ? 'e' : 'w', line, text);
    cr_assert_lt(s->said_size, sizeof s->said);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    cr_assert(value, "%s is not set: run this test through meson", name);
    return value;
}

static void tell_registers(struct story *s, const uint16_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        tell(s, " %u*%u", ITRACE_AMD_REGISTER(numbers[i]), ITRACE_AMD_REGISTERS(numbers[i]));
}

static void tell_step(struct story *s, const struct itrace *t)
{
    const struct itrace_step *step = &t->step;
    const struct itrace_inst *inst = step->inst;
    static const char *const spaces[] = {"none", "global", "shared", "local", "generic"};
    tell(s, "%x %" PRIx64 " %s/%s", inst->pc, step->mask, inst->name,
         sass_class_name(inst->opcode.unit));
    tell_registers(s, inst->destinations, inst->destination_count);
    tell(s, " <-");
    tell_registers(s, inst->sources, inst->source_count);
    tell(s, " [%u", inst->width);
    for (unsigned i = 0; i < step->count && i < 3; i++)
        tell(s, " %" PRIx64 "(%s)", step->address[i],
             spaces[itrace_space(t, inst, step->address[i])]);
    tell(s, "]");
    for (unsigned i = 0; i < inst->immediate_count; i++)
        tell(s, " %" PRId64, inst->immediates[i]);
    tell(s, "\n");
}

static void tell_header(struct story *s, const struct itrace_header *h)
{
    tell(s,
         "%s '%s' id %" PRIu64 " %s gpu %" PRIu64 " queue %" PRIu64 " entry %" PRIx64
         " packet at %" PRIx64 " code from %" PRIx64 "\n",
         h->kernel_name, h->title, h->kernel_id, h->isa, h->gpu, h->stream, h->entry,
         h->packet_address, h->code_base);
    tell(s,
         "ring %" PRIx64 "+%" PRIu64 " scratch %" PRIx64 "+%" PRIu64 " packet %02x..%02x "
         "descriptor %02x..%02x arguments %zu:%02x..%02x\n",
         h->ring[0], h->ring[1], h->scratch[0], h->scratch[1], h->packet[0], h->packet[56],
         h->descriptor[1], h->descriptor[56], h->argument_bytes, h->arguments[5],
         h->arguments[h->argument_bytes - 1]);
    for (size_t i = 0; i < h->code_count; i++)
        tell(s, "code %" PRIx64 " %u:%02x..%02x\n", h->code[i].address, h->code[i].bytes,
             h->code[i].data[0], h->code[i].data[h->code[i].bytes - 1]);
}

static void tell_all(struct story *s, struct itrace *t)
{
    enum itrace_event event;
    while ((event = itrace_next(t)) != ITRACE_END) {
        if (event == ITRACE_BLOCK)
            tell(s, "block %u\n", t->block[0]);
        else if (event == ITRACE_WARP)
            tell(s, "warp %u: %" PRIu64 "\n", t->warp, t->warp_steps);
        else if (event == ITRACE_STEP)
            tell_step(s, t);
        else
            tell(s, event == ITRACE_ERROR ? "error\n" : "end\n");
    }
    itrace_report_unknown(t);
}

static const char wanted[] =
    "_Z4demoPf 'demo(float*)' id 11 gfx906 gpu 1 queue 3 entry 200000001100 packet at 200000021000 "
    "code from 200000000000\n"
    "ring 200000021000+4194304 scratch 200000500000+65536 packet 02..00 descriptor 10..0b "
    "arguments "
    "10:20..a0\n"
    "code 200000001100 4:00..bf\n"
    "code 200000001140 8:7f..bf\n"
    "block 0\n"
    "warp 0: 18\n"
    "1100 ffffffffffffffff v_mov_b32_e32/alu 256*1 <- [0]\n"
    "1104 1 s_buffer_load_dwordx4/load 0*4 <- 4*4 [12 200000021040(global)] 0\n"
    "110c ffffffffffffffff s_memtime/alu 0*2 <- [0]\n"
    "1114 ffffffffffffffff s_dcache_wb/membar <- [0]\n"
    "111c ffffffff v_cmpx_gt_i32_e32/int 258*1 106*2 253*1 126*2 <- 256*1 0*1 124*1 106*2 126*2 "
    "253*1 102*2 113*1 [0] 255\n"
    "1124 ff global_load_dwordx3/load 260*3 <- 258*2 0*2 [12 200000100000(global) "
    "20000010000c(global) 200000100018(global)] -16\n"
    "112c 8000000000000001 buffer_load_dwordx4/load 260*4 <- 257*1 0*4 7*1 [16 "
    "200000500000(local) 200000500400(local)] 8 256\n"
    "1134 0 flat_load_ubyte/load 260*1 <- 258*2 [1] 0\n"
    "113c 5 flat_store_short/store <- 258*2 260*1 [2 1000000000040(shared) "
    "200000100040(global)] 0\n"
    "1144 3 ds_read_b64/load 259*1 <- 257*1 [8 100(shared) 108(shared)] 16\n"
    "114c 1 ds_add_rtn_u32/atomic 259*1 <- 257*1 259*1 [4 20(shared)] 4\n"
    "1154 ffffffffffffffff v_rcp_f32_e32/sfu 259*1 <- 259*1 [0]\n"
    "1158 ffffffffffffffff v_fma_f64/dp 258*2 <- 258*2 260*2 262*2 [0]\n"
    "1160 ffffffffffffffff v_add_f32_sdwa/sp 258*1 <- 258*1 259*1 [0]\n"
    "1164 0 s_add_u32/uniform 0*1 253*1 <- 0*1 1*1 [0]\n"
    "1168 ffffffffffffffff s_waitcnt/membar <- [0] 127\n"
    "116c ffffffffffffffff s_frobnicate/unknown <- [0]\n"
    "1170 ffffffffffffffff s_endpgm/exit <- [0] 0\n"
    "end\n"
    "block 1\n"
    "warp 0: 1\n"
    "1170 ffffffffffffffff s_endpgm/exit <- [0] 0\n"
    "end\n";
static const char complaint[] = "w0: opcode 's_frobnicate' is in no table and counted as unknown: "
                                "executed 1 times, first at PC 116c\n";

static bool read_file(struct story *s, const char *path)
{
    struct itrace t;
    struct itrace_options options = {.report = hear, .context = s, .use_cache = true};
    memset(s, 0, sizeof *s);
    if (itrace_open(&t, path, &options)) {
        tell_header(s, &t.header);
        tell_all(s, &t);
    }
    bool cached = t.is_cached;
    itrace_close(&t);
    return cached;
}

/* From the text, then from the copy that the first reading left. */
Test(sass_amd, every_form_is_read)
{
    static struct story s;
    char copy[512], cache[600], command[1600];
    snprintf(copy, sizeof copy, "%s/amd-%d.traceg", environment("SCRATCH"), (int)getpid());
    snprintf(cache, sizeof cache, "%s" ITRACE_CACHE_SUFFIX, copy);
    snprintf(command, sizeof command, "cp '%s/amd.traceg' '%s'", environment("FIXTURE"), copy);
    cr_assert_eq(system(command), 0);
    for (unsigned round = 0; round < 2; round++) {
        cr_expect_eq(read_file(&s, copy), round == 1);
        cr_expect_str_eq(s.text, wanted, "%s", s.text);
        cr_expect_str_eq(s.said, complaint, "%s", s.said);
    }
    unlink(cache);
    unlink(copy);
}

#define HEADER                                                                                     \
    "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (128,1,1)\n-accelsim tracer version = "   \
    "5\n-isa = gfx803\n"
#define LACKS "w0: the header has no '-entry = ...': such a trace cannot be played\n"
#define STEP(line)                                                                                 \
    HEADER "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n" line "\n#END_TB\n"

static const struct {
    const char *text, *said;
} mistakes[] = {
    {"-isa = gfx1030\n",
     "e1: 'isa' wants gfx803, gfx900, gfx906, gfx908, gfx90a or gfx942, not 'gfx1030'\n"},
    {"-steps = some\n", "e1: 'steps' wants memory, not 'some'\n"},
    {"-packet = 00ff\n", "e1: 'packet' wants 64 bytes (128 digits), not '00ff'\n"},
    {"-ring = 0x10\n", "e1: 'ring' wants an address and a size (0x...,BYTES), not '0x10'\n"},
    {"-code = 0x10\n", "e1: 'code' wants an address and 1 to 1024 bytes (0x... and pairs of "
                       "digits), not '0x10'\n"},
    {"-code = 0x10 0\n", "e1: 'code' wants an address and 1 to 1024 bytes (0x... and pairs of "
                         "digits), not '0x10 0'\n"},
    {"-code = 0x10 0011\n-code = 0x11 00\n",
     "e2: 'code' wants addresses that rise, not '0x11 00'\n"},
    {"-arguments = 0g\n", "e1: 'arguments' wants 1 to 1024 bytes (pairs of digits), not '0g'\n"},
    {STEP("0000 ffffffff 0 s_endpgm 0 0"),
     LACKS "e10: neither an instruction nor anything else of a trace: '0000 ffffffff 0 s_endpgm "
           "0 0'\n"},
    {STEP("0000 ffffffffffffffff 0 S_ENDPGM 0 0"),
     LACKS "e10: an opcode expected, not 'S_ENDPGM'\n"},
    {STEP("0000 ffffffffffffffff 1 R1 v_mov_b32 0 0"),
     LACKS "e10: a register (v0 to v255, s[0:1], vcc ...) expected, not 'R1'\n"},
    {STEP("0000 ffffffffffffffff 1 v256 v_mov_b32 0 0"),
     LACKS "e10: a register (v0 to v255, s[0:1], vcc ...) expected, not 'v256'\n"},
    {STEP("0000 ffffffffffffffff 1 v[3:2] v_mov_b32 0 0"),
     LACKS "e10: a register (v0 to v255, s[0:1], vcc ...) expected, not 'v[3:2]'\n"},
    {STEP("0000 ffffffffffffffff 1 s[100:102] s_mov_b64 0 0"),
     LACKS "e10: a register (v0 to v255, s[0:1], vcc ...) expected, not 's[100:102]'\n"},
    {STEP("0000 ffffffffffffffff 5 v0 v1 v2 v3 v4 v_mov_b32 0 0"),
     LACKS "e10: 5 destination registers: there are at most 4\n"},
    {STEP("0000 ffffffffffffffff 0 v_mov_b32 9 v0 v1 v2 v3 v4 v5 v6 v7 v8 0"),
     LACKS "e10: 9 source registers: there are at most 8\n"},
    {STEP("0000 0000000000000001 0 flat_load_dword 0 6 0 0x10"),
     LACKS "e10: an access 6 bytes wide: there are 1, 2, and multiples of 4 up to 64\n"},
    {STEP("0000 8000000000000001 0 flat_load_dword 0 4 1 0x10 4"),
     LACKS "e10: a stride, but the active lanes are not contiguous (mask 8000000000000001)\n"},
    {STEP("0000 0000000000000001 0 flat_load_dword 0 4 0 0x10 1 2 3"),
     LACKS "e10: more than 2 immediates behind the instruction\n"},
    {HEADER "#BEGIN_TB\nthread block = 0,0,0\nwarp = 2\ninsts = 0\n#END_TB\n",
     LACKS "e8: warp 2: a block of this kernel has 2\n"
           "e9: 'insts =' stands behind 'warp =' only\n"},
};

Test(sass_amd, every_mistake_is_named_with_its_line)
{
    static struct story s;
    struct itrace t;
    struct itrace_options options = {.report = hear, .context = &s};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        memset(&s, 0, sizeof s);
        if (itrace_open_memory(&t, "memory", mistakes[i].text, strlen(mistakes[i].text), &options))
            tell_all(&s, &t);
        itrace_close(&t);
        cr_expect_str_eq(s.said, mistakes[i].said, "%s\nsaid: %s", mistakes[i].text, s.said);
    }
}

/* By hand from the ISA manual's chapters, not from our tables. */
static const struct {
    const char *name;
    enum sass_class unit;
    enum isa_unit amd;
} classes[] = {
    {"v_add_f32_e32", SASS_CLASS_SP, ISA_UNIT_VALU},
    {"v_mac_f32_dpp", SASS_CLASS_SP, ISA_UNIT_VALU},
    {"v_mad_f16", SASS_CLASS_SP, ISA_UNIT_VALU},
    {"v_add_u32_e32", SASS_CLASS_INT, ISA_UNIT_VALU},
    {"v_mul_lo_u32", SASS_CLASS_INT, ISA_UNIT_VALU},
    {"v_cmp_lt_i32_e64", SASS_CLASS_INT, ISA_UNIT_VALU},
    {"v_fma_f64", SASS_CLASS_DP, ISA_UNIT_VALU},
    {"v_rcp_f64_e32", SASS_CLASS_DP, ISA_UNIT_VALU},
    {"v_sqrt_f32_e32", SASS_CLASS_SFU, ISA_UNIT_VALU},
    {"v_cndmask_b32_e64", SASS_CLASS_ALU, ISA_UNIT_VALU},
    {"v_readlane_b32", SASS_CLASS_ALU, ISA_UNIT_VALU},
    {"v_cvt_f32_u32_e32", SASS_CLASS_ALU, ISA_UNIT_VALU},
    {"s_add_u32", SASS_CLASS_UNIFORM, ISA_UNIT_SALU},
    {"s_cmp_lg_u32", SASS_CLASS_UNIFORM, ISA_UNIT_SALU},
    {"s_load_dwordx8", SASS_CLASS_LOAD, ISA_UNIT_SMEM},
    {"s_store_dword", SASS_CLASS_STORE, ISA_UNIT_SMEM},
    {"s_memtime", SASS_CLASS_ALU, ISA_UNIT_SMEM},
    {"flat_load_dwordx4", SASS_CLASS_LOAD, ISA_UNIT_VMEM},
    {"buffer_store_byte", SASS_CLASS_STORE, ISA_UNIT_VMEM},
    {"global_atomic_add", SASS_CLASS_ATOMIC, ISA_UNIT_VMEM},
    {"buffer_wbinvl1", SASS_CLASS_MEMBAR, ISA_UNIT_VMEM},
    {"ds_read2_b32", SASS_CLASS_LOAD, ISA_UNIT_LDS},
    {"ds_write_b8", SASS_CLASS_STORE, ISA_UNIT_LDS},
    {"ds_add_u32", SASS_CLASS_ATOMIC, ISA_UNIT_LDS},
    {"ds_cmpst_rtn_b32", SASS_CLASS_ATOMIC, ISA_UNIT_LDS},
    {"ds_bpermute_b32", SASS_CLASS_ALU, ISA_UNIT_LDS},
    {"ds_swizzle_b32", SASS_CLASS_ALU, ISA_UNIT_LDS},
    {"s_cbranch_execz", SASS_CLASS_BRANCH, ISA_UNIT_BRANCH},
    {"s_swappc_b64", SASS_CLASS_BRANCH, ISA_UNIT_BRANCH},
    {"s_barrier", SASS_CLASS_BARRIER, ISA_UNIT_SPECIAL},
    {"s_waitcnt", SASS_CLASS_MEMBAR, ISA_UNIT_SPECIAL},
    {"s_nop", SASS_CLASS_ALU, ISA_UNIT_SPECIAL},
    {"s_endpgm", SASS_CLASS_EXIT, ISA_UNIT_SPECIAL},
};

Test(sass_amd, opcodes_have_classes_and_units)
{
    static const char *const none[] = {"", "v", "v_", "v_add_f32_e3", "EXIT", "_e32", "s_endpgm_x"};
    struct sass_opcode opcode;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        cr_expect(amd_opcode_find(classes[i].name, &opcode), "%s", classes[i].name);
        cr_expect_eq(opcode.unit, classes[i].unit, "%s is %s", classes[i].name,
                     sass_class_name(opcode.unit));
        cr_expect_eq(opcode.amd_unit, classes[i].amd, "%s is of unit %d", classes[i].name,
                     (int)opcode.amd_unit);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        cr_expect_not(amd_opcode_find(none[i], &opcode), "'%s'", none[i]);
}

Test(sass_amd, statistics_are_by_unit)
{
    static struct story s;
    struct itrace t;
    struct itrace_stats_run run = {.line_bytes = 64};
    struct itrace_options options = {.report = hear, .context = &s};
    char path[512];
    snprintf(path, sizeof path, "%s/amd.traceg", environment("FIXTURE"));
    cr_assert(itrace_open(&t, path, &options) && itrace_stats_add(&run, &t));
    const struct itrace_stats *k = &run.kernels[0];
    static const uint64_t units[ISA_UNIT_COUNT] = {
        [ISA_UNIT_SALU] = 1, [ISA_UNIT_VALU] = 5, [ISA_UNIT_SMEM] = 3,
        [ISA_UNIT_VMEM] = 4, [ISA_UNIT_LDS] = 2,  [ISA_UNIT_SPECIAL] = 3};
    for (unsigned i = 0; i < ISA_UNIT_COUNT; i++)
        cr_expect_eq(k->by_unit[i], units[i], "unit %u: %" PRIu64, i, k->by_unit[i]);
    cr_expect_eq(k->steps, 19);
    cr_expect_eq(k->references[ITRACE_SPACE_LOCAL], 2);
    cr_expect_eq(k->references[ITRACE_SPACE_SHARED], 4); /* one of them by a flat address */
    cr_expect_eq(k->references[ITRACE_SPACE_GLOBAL], 10);
    /* 8 lanes of 12 bytes from a line's start: 2 lines; a store: 1; a scalar load: 1 more. */
    cr_expect_eq(k->vector_line_references, 3);
    cr_expect_eq(k->line_references, 4);
    itrace_close(&t);
    itrace_stats_release(&run);
}

static const struct {
    enum itrace_command_kind kind;
    uint64_t address, source, bytes;
    uint32_t queue, gpu, peer;
    uint64_t number, awaited;
} commands[] = {
    {ITRACE_COMMAND_STREAM, 0, 0, 0, 2, 1, 0, 0, 0},
    {ITRACE_COMMAND_MALLOC, 0x200000000000, 0, 4096, 0, 0, 0, 0, 0},
    {ITRACE_COMMAND_MALLOC, 0x200000001000, 0, 8192, 0, 1, 0, 0, 0},
    {ITRACE_COMMAND_MALLOC, 0x200000003000, 0, 8192, 0, 1, 0, 0, 0},
    {ITRACE_COMMAND_WRITE, 0x200000000000, 0, 4096, 0, 0, 0, 1, 0},
    {ITRACE_COMMAND_WRITE, 0x200000001000, 0, 100, 2, 0, 0, 2, 0},
    {ITRACE_COMMAND_PEER, 0, 0, 0, 0, 0, 1, 0, 0},
    {ITRACE_COMMAND_MARK, 0, 0, 0, 2, 0, 0, 3, 0},
    {ITRACE_COMMAND_AFTER, 0, 0, 0, 0, 0, 0, 4, 3},
    {ITRACE_COMMAND_KERNEL, 0, 0, 0, 0, 0, 0, 5, 0},
    {ITRACE_COMMAND_FILL, 0x200000001000, 0, 64, 2, 0, 0, 6, 0},
    {ITRACE_COMMAND_COPY, 0x200000001000, 0x200000000000, 32, 0, 0, 0, 7, 0},
    {ITRACE_COMMAND_READ, 0x200000001000, 0, 32, 0, 0, 0, 8, 0},
    {ITRACE_COMMAND_QUERY, 0, 0, 0, 0, 0, 0, 0, 5},
    {ITRACE_COMMAND_POLL, 0, 0, 0, 0, 0, 0, 0, 0},
    {ITRACE_COMMAND_WAIT, 0, 0, 0, 0, 0, 0, 0, 5},
    {ITRACE_COMMAND_FREE, 0x200000000000, 0, 0, 0, 0, 0, 0, 0},
    {ITRACE_COMMAND_STREAM_END, 0, 0, 0, 2, 0, 0, 0, 0},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

Test(sass_amd, lists_have_all_commands)
{
    static struct story s;
    struct itrace_list list;
    char path[512];
    snprintf(path, sizeof path, "%s/kernelslist-amd.g", environment("FIXTURE"));
    cr_assert(itrace_list_read(&list, &(struct itrace_list_reader){path, hear, &s, true, NULL}));
    cr_expect_str_eq(s.said,
                     "w10: neither 'MemcpyHtoD,0xADDRESS,BYTES' nor the name of a trace, left out: "
                     "'amd.traceg'\n");
    cr_assert_eq(list.count, COMMANDS);
    cr_expect_eq(list.numbers, 8);
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct itrace_command *c = &list.commands[i];
        cr_expect(c->kind == commands[i].kind && c->address == commands[i].address
                      && c->source == commands[i].source && c->bytes == commands[i].bytes
                      && c->queue == commands[i].queue && c->gpu == commands[i].gpu
                      && c->peer == commands[i].peer && c->number == commands[i].number
                      && c->awaited == commands[i].awaited,
                  "command %zu: %s", i, c->text ? c->text : c->name);
        cr_expect_eq(c->managed, i == 3);
        cr_expect_eq(c->on, c->kind == ITRACE_COMMAND_PEER);
    }
    itrace_list_release(&list);
}

/* Each of these is no command. */
Test(sass_amd, wrong_commands_are_left_out)
{
    static const char *const wrong[] = {"Malloc,0x10",
                                        "Malloc,10,20",
                                        "Malloc,0x10,20,0,unmanaged",
                                        "Free",
                                        "Free,0x10,1",
                                        "MemcpyDtoD,0x10,20",
                                        "Peer,0,1,2",
                                        "Mark",
                                        "Wait,1",
                                        "After,0,0",
                                        "Query,1",
                                        "Stream,4294967296,0",
                                        "MemcpyHtoD,0x10,4,-1",
                                        "Memset,0x10,4,1,1",
                                        "Poll,1,"};
    static struct story s;
    struct itrace_list list;
    char path[512];
    snprintf(path, sizeof path, "%s/list-%d.g", environment("SCRATCH"), (int)getpid());
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FILE *file = fopen(path, "w");
        fprintf(file, "%s\nkernel-1.traceg\n", wrong[i]);
        fclose(file);
        memset(&s, 0, sizeof s);
        cr_expect(
            itrace_list_read(&list, &(struct itrace_list_reader){path, hear, &s, true, NULL}));
        cr_expect(list.count == 1 && strstr(s.said, "w1: neither"), "%s: %s", wrong[i], s.said);
        itrace_list_release(&list);
    }
    unlink(path);
}
