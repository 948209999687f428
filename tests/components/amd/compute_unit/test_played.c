/* A work-group that plays a recorded trace against one that executes the same instructions: the
 * trace is written by hand, and what is compared is all that the dispatcher and memory see of it.
 */
#include "cu_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "components/traces/replay/replay.h"

/* Lanes 4 bytes apart in DATA, and in the LDS from there on; a loop of two turns. */
static const uint32_t words[] = {
    V_MOV_V1,                /* 00 */
    V_SHIFT_2,               /* 04 */
    DS_WRITE,    0x00000100, /* 08 ds_write_b32 v0, v1 */
    V_ADD_DATA,  DATA,       /* 10 */
    S_LOAD,      0,          /* 18 */
    S_WAIT_LGKM,             /* 20 */
    FLAT_LOAD,   0x02000000, /* 24 flat_load_dword v2, v[0:1] */
    S_WAIT_VM,               /* 2c */
    S_CMP_EQ,                /* 30 */
    S_BRANCH_1,              /* 34 */
    S_NOP,                   /* 38 */
    FLAT_STORE,  0x00000100  /* 3c flat_store_dword v[0:1], v1 */
};                           /* 44 s_endpgm */

#define ALL "ffffffffffffffff"

static const char steps[] = "0000 " ALL " 0 v_mov_b32_e32 0 0\n"
                            "0004 " ALL " 0 v_lshlrev_b32_e32 0 0\n"
                            "0008 " ALL " 0 ds_write_b32 0 4 1 0x0 4 0\n"
                            "0010 " ALL " 0 v_add_u32_e32 0 0\n"
                            "0018 0000000000000001 0 s_load_dword 0 4 0 0x10000 0\n"
                            "0020 " ALL " 0 s_waitcnt 0 0 127\n"
                            "0024 " ALL " 0 flat_load_dword 0 4 1 0x10000 4 0\n"
                            "002c " ALL " 0 s_waitcnt 0 0 3952\n"
                            "0030 " ALL " 0 s_cmp_eq_u32 0 0\n"
                            "0034 " ALL " 0 s_branch 0 0 1\n"
                            "003c " ALL " 0 flat_store_dword 0 4 1 0x10000 4 0\n"
                            "0044 " ALL " 0 s_endpgm 0 0\n";

static void put_bytes(FILE *file, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(file, "%02x", ((const uint8_t *)bytes)[i]);
}

/* The trace of one work-group of two wavefronts; in its steps `from` is replaced by `to`. */
static void write_trace(const char *path, const char *from, const char *to)
{
    FILE *file = fopen(path, "w");
    const uint32_t end = S_ENDPGM;
    cr_assert_not_null(file, "%s", path);
    fprintf(file,
            "-kernel name = test\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (128,1,1)\n"
            "-shmem = 0\n-nregs = 8\n-cuda stream id = 0\n-accelsim tracer version = 5\n"
            "-isa = gfx803\n-title = test\n-gpu = 0\n-entry = 0x20000\n"
            "-packet address = 0x90000\n-packet = %0128d\n-descriptor = %0128d\n"
            "-code base = 0x20000\n-code = 0x20000 ",
            0, 0);
    put_bytes(file, words, sizeof words);
    put_bytes(file, &end, sizeof end);
    fprintf(file, "\n#BEGIN_TB\nthread block = 0,0,0\n");
    for (unsigned i = 0; i < 2; i++) {
        const char *edit = strstr(steps, from);
        fprintf(file, "warp = %u\ninsts = 12\n%.*s%s%s", i, (int)(edit - steps), steps, to,
                edit + strlen(from));
    }
    fprintf(file, "#END_TB\n");
    fclose(file);
}

struct outcome {
    int end; /* enum engine_end */
    struct harness_message reply;
    uint8_t data[512]; /* of memory */
};

static struct outcome run_it(const char *trace)
{
    static const struct work_wavefront two[] = {{.simd = 0, .slot = 0}, {.simd = 1, .slot = 0}};
    struct outcome o = {.end = 0};
    set_up();
    memset(harness_memory + DATA, 0x5a, sizeof o.data);
    memset(harness_memory + CODE, 0, sizeof words + 4);
    played_launch = trace != NULL;
    replay_reset(4 * REPLAY_GROUPS);
    if (trace)
        replay_launch(1, trace, false);
    else
        load(0, words, sizeof words / 4);
    launch(ARRIVAL - 1, 0, 0, 2, two, 0);
    o.end = (int)harness_run();
    const struct harness_message *reply = harness_reply(dispatcher, 0);
    if (reply)
        o.reply = *reply;
    memcpy(o.data, harness_memory + DATA, sizeof o.data);
    replay_reset(0);
    return o;
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("SCRATCH"), name);
    return path;
}

Test(played, a_played_work_group_is_seen_as_one_that_executes)
{
    const char *path = path_of("played.traceg");
    write_trace(path, "0000 ", "0000 ");
    struct outcome executed = run_it(NULL), played = run_it(path);
    cr_assert_eq(executed.end, ENGINE_IDLE);
    cr_assert_eq(played.end, ENGINE_IDLE);
    cr_expect_eq(executed.data[0], 0, "execution stores v1");
    cr_expect_arr_eq(&played.reply, &executed.reply, sizeof executed.reply,
                     "the same cycle, instructions and accounts");
}

/* Each edit of the trace must be seen. */
Test(played, another_trace_is_seen_as_another)
{
    static const char *const edits[][2] = {
        {"flat_load_dword 0 4 1 0x10000 4", "flat_load_dword 0 4 1 0x10004 4"}, /* a line more */
        {"flat_load_dword 0 4 1 0x10000 4", "flat_load_dword 0 4 1 0x10000 64"},
        {"0024 " ALL, "0024 00000000000000ff"},
        {"ds_write_b32 0 4 1 0x0 4", "ds_write_b32 0 4 1 0x0 128"},
        {"s_branch 0 0 1\n003c", "s_branch 0 0 1\n0038 " ALL " 0 s_nop 0 0\n003c"},
        {"s_load_dword 0 4 0 0x10000", "s_load_dword 0 0"},
    };
    write_trace(path_of("first.traceg"), "0000 ", "0000 ");
    struct outcome first = run_it(path_of("first.traceg"));
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const char *path = path_of("other.traceg");
        write_trace(path, edits[i][0], edits[i][1]);
        if (strstr(edits[i][1], "s_nop")) { /* a step more */
            char command[8192];
            snprintf(command, sizeof command, "sed -i 's/insts = 12/insts = 13/' '%s'", path);
            cr_assert_eq(system(command), 0);
        }
        struct outcome other = run_it(path);
        cr_assert_eq(other.end, ENGINE_IDLE, "%s", edits[i][1]);
        cr_expect_neq(memcmp(&other.reply, &first.reply, sizeof first.reply), 0, "%s", edits[i][1]);
    }
}

Test(played, what_cannot_be_played_ends_the_run)
{
    static const struct {
        const char *from, *to, *says;
    } edits[] = {
        {"flat_load_dword 0 4 1 0x10000 4", "flat_load_dword 0 4 1 0x50000 4", "0x50000"},
        {"0020 " ALL, "0024 " ALL, "'s_waitcnt' in the trace, but 'flat_load_dword' in '-code'"},
        {"0020 " ALL " 0 s_waitcnt 0 0 127\n", "0024 " ALL " 0 flat_load_dword 0 0\n",
         "does not follow the step before, which goes on at 0020"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const char *path = path_of("wrong.traceg");
        write_trace(path, edits[i].from, edits[i].to);
        cr_assert_eq(run_it(path).end, ENGINE_FAILED, "%s", edits[i].to);
        cr_expect(strstr(engine_failure(), edits[i].says), "%s", engine_failure());
    }
    cr_assert_eq(run_it(path_of("nowhere.traceg")).end, ENGINE_FAILED);
    cr_expect(strstr(engine_failure(), "cannot be read"), "%s", engine_failure());
}
