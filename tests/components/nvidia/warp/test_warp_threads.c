/* Threads that part, meet, wait for each other, exchange and fail. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_run.h"

#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
/* %i: the thread's number, %p: the buffer, %q: the thread's own word in it. */
#define BEGIN(name)                                                                                \
    ".visible .entry " name "(.param .u64 p) {\n"                                                  \
    ".reg .b64 %p, %q, %d<9>; .reg .b32 %i, %r<20>; .reg .pred %c<4>; .reg .f32 %f<9>;\n"          \
    "ld.param.u64 %p, [p]; mov.u32 %i, %tid.x; mov.u32 %r18, %ctaid.x; mov.u32 %r19, %ntid.x;\n"   \
    "mad.lo.u32 %i, %r18, %r19, %i; mad.wide.u32 %q, %i, 4, %p;\n"
#define STORE(r) "st.global.u32 [%q], " r ";\n"
#define END      "ret;\n}\n"

static struct ptx_run r;
static uint64_t buffer = PTX_RUN_BUFFER;
static uint32_t *words;

static void open_text(const char *text)
{
    cr_assert(ptx_run_open(&r, "threads.ptx", text, 1 << 20), "%s", r.text);
    words = (uint32_t *)(void *)r.buffer;
}

static void run(const char *name, uint32_t blocks, uint32_t threads)
{
    enum warp_end end = ptx_run_launch(&r, name, blocks, threads, 0, &buffer);
    cr_assert_eq(end, WARP_DONE, "%s: %s", name, end == WARP_FAULT ? r.fault.text : r.text);
}

Test(warp_threads, parted_lanes_meet_behind_both_sides)
{
    open_text(HEAD BEGIN("k") "and.b32 %r0, %i, 3; setp.eq.u32 %c0, %r0, 0;\n"
                              "@%c0 bra A; setp.eq.u32 %c1, %r0, 1; @%c1 bra B;\n"
                              "mov.u32 %r1, 5; bra C;\nA: mov.u32 %r1, 7; bra C;\n"
                              "B: mov.u32 %r1, 9;\nC: activemask.b32 %r2;\n"
                              "add.u32 %r1, %r1, %r2;\n" STORE("%r1") END);
    run("k", 1, 64);
    for (uint32_t i = 0; i < 64; i++)
        cr_expect_eq(words[i], (i % 4 == 0 ? 7u : i % 4 == 1 ? 9u : 5u) + 0xffffffffu);
    ptx_run_close(&r);
}

Test(warp_threads, a_lock_inside_a_warp_ends)
{
    open_text(HEAD BEGIN("k") "L: atom.global.cas.b32 %r0, [%p], 0, 1; setp.ne.u32 %c0, %r0, 0;\n"
                              "@%c0 bra L;\n"
                              "ld.global.u32 %r1, [%p+4]; add.u32 %r1, %r1, 1;\n"
                              "st.global.u32 [%p+4], %r1; membar.gl;\n"
                              "atom.global.exch.b32 %r0, [%p], 0;\n" END);
    run("k", 3, 96);
    cr_assert_eq(words[1], 3 * 96);
    ptx_run_close(&r);
}

Test(warp_threads, a_block_that_spins_lets_the_next_one_begin)
{
    open_text(HEAD BEGIN("k") "mov.u32 %r0, %ctaid.x; setp.eq.u32 %c0, %r0, 3; @%c0 bra S;\n"
                              "W: ld.volatile.global.u32 %r1, [%p]; setp.eq.u32 %c1, %r1, 0;\n"
                              "@%c1 bra W; bra E;\nS: st.global.u32 [%p], 42;\nE: " END);
    run("k", 4, 64);
    cr_assert_eq(words[0], 42);
    ptx_run_close(&r);
}

/* What a block executes while it waits is bounded: some 10,000 instructions are its own. */
Test(warp_threads, blocks_that_meet_through_memory_give_way_soon)
{
    open_text(HEAD BEGIN("k") "mov.u32 %r5, 0; mov.u32 %r0, %tid.x; setp.ne.u32 %c0, %r0, 0;\n"
                              "L: add.u32 %r5, %r5, 24; @%c0 bra B;\n"
                              "atom.global.add.u32 %r1, [%p], 1;\n"
                              "W: ld.volatile.global.u32 %r1, [%p]; setp.lt.u32 %c1, %r1, %r5;\n"
                              "@%c1 bra W;\n"
                              "B: bar.sync 0; setp.lt.u32 %c2, %r5, 72; @%c2 bra L;\n" END);
    r.launch.resident = 24;
    run("k", 24, 64);
    cr_assert_eq(words[0], 72);
    cr_assert_lt(r.launch.instructions, 200000);
    ptx_run_close(&r);
}

/* Lanes that count while they wait are not known to spin. */
Test(warp_threads, lanes_that_count_while_they_wait_let_others_go_on)
{
    open_text(HEAD BEGIN("k") "mov.u32 %r5, 0; setp.eq.u32 %c0, %i, 77; @%c0 bra S;\n"
                              "W: add.u32 %r5, %r5, 1; ld.volatile.global.u32 %r1, [%p];\n"
                              "setp.eq.u32 %c1, %r1, 0; @%c1 bra W; bra E;\n"
                              "S: st.global.u32 [%p], 42;\nE: st.global.u32 [%q+4], %r5;\n" END);
    run("k", 1, 96);
    cr_assert_eq(words[0], 42);
    ptx_run_close(&r);
}

/* Groups of lanes that stand at one instruction each have a result of their own. */
Test(warp_threads, lanes_that_name_different_lanes_are_groups)
{
    open_text(HEAD BEGIN(
        "k") "and.b32 %r0, %i, 3; match.any.sync.b32 %r1, %r0, -1;\n"
             "redux.sync.add.s32 %r2, %i, %r1; setp.lt.u32 %c0, %i, 9;\n"
             "vote.sync.ballot.b32 %r3, %c0, %r1; mad.lo.u32 %r2, %r2, 1024, %r3;\n" STORE("%r2")
                  END);
    run("k", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t sum = 8 * (i % 4) + 4 * 28, ballot = 0x111u << i % 4 & 0x1ff;
        cr_expect_eq(words[i], sum * 1024 + ballot, "lane %u: %u", i, words[i]);
    }
    ptx_run_close(&r);
}

/* Lanes that wait for some do not count as waiting for others. */
Test(warp_threads, lanes_wait_for_those_that_wait_with_them)
{
    open_text(
        HEAD BEGIN("k") "setp.lt.u32 %c0, %i, 16; @%c0 bra A; bar.warp.sync -1;\n"
                        "ld.global.u32 %r3, [%q-64]; bra E;\n"
                        "A: setp.lt.u32 %c1, %i, 8; @%c1 bra C; bar.warp.sync 0xffff; bra D;\n"
                        "C: bar.warp.sync 0xffff;\nD: add.u32 %r3, %i, 7;\n" STORE(
                            "%r3") "bar.warp.sync -1;\nE: " STORE("%r3") END);
    run("k", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[i], i % 16 + 7, "lane %u: %u", i, words[i]);
    ptx_run_close(&r);
}

static const char exchanges[] = HEAD BEGIN(
    "sum") "mov.u32 %r0, %i;\n"
           "shfl.sync.down.b32 %r1, %r0, 16, 31, -1; add.u32 %r0, %r0, %r1;\n"
           "shfl.sync.down.b32 %r1, %r0, 8, 31, -1; add.u32 %r0, %r0, %r1;\n"
           "shfl.sync.bfly.b32 %r1, %r0, 4, 31, -1; add.u32 %r0, %r0, %r1;\n"
           "shfl.sync.bfly.b32 %r1, %r0, 2, 31, -1; add.u32 %r0, %r0, %r1;\n"
           "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; add.u32 %r0, %r0, %r1;\n" STORE("%r0")
               END BEGIN(
                   "up") "shfl.sync.up.b32 %r0|%c0, %i, 3, 0x1800, -1;\n"
                         "@!%c0 add.u32 %r0, %r0, 100;\n" STORE("%r0") END BEGIN(
                             "vote") "setp.lt.u32 %c0, %i, 5; vote.sync.ballot.b32 %r0, %c0, "
                                     "-1;\n"
                                     "vote.sync.any.pred %c1, !%c0, -1; @%c1 add.u32 %r0, %r0, "
                                     "1000;\n"
                                     "vote.sync.all.pred %c2, %c0, -1; @%c2 add.u32 %r0, %r0, "
                                     "5000;\n" STORE("%r0") END BEGIN(
                                         "match") "shr.u32 %r0, %i, 3;\n"
                                                  "match.any.sync.b32 %r1, %r0, -1;\n" STORE("%r1")
                                                      END BEGIN(
                                                          "redux") "redux.sync.add.s32 %r1, "
                                                                   "%i, -1;\n" STORE("%r1")
                                                                       END BEGIN(
                                                                           "halves") "setp.lt."
                                                                                     "u32 %c0, "
                                                                                     "%i, 16; "
                                                                                     "@%c0 bra "
                                                                                     "A;\n"
                                                                                     "shfl."
                                                                                     "sync.idx."
                                                                                     "b32 %r0, "
                                                                                     "%i, 20, "
                                                                                     "31, "
                                                                                     "0xffff000"
                                                                                     "0; bra "
                                                                                     "E;\n"
                                                                                     "A: "
                                                                                     "shfl."
                                                                                     "sync.idx."
                                                                                     "b32 %r0, "
                                                                                     "%i, 7, "
                                                                                     "31, "
                                                                                     "0x0000fff"
                                                                                     "f;\nE:"
                                                                                     " " STORE(
                                                                                         "%r0") END;

Test(warp_threads, lanes_exchange_and_vote)
{
    open_text(exchanges);
    run("sum", 1, 32);
    cr_expect_eq(words[0], 496);
    run("up", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[i], i % 8 < 3 ? i + 100 : i - 3);
    run("vote", 1, 32);
    cr_expect_eq(words[9], 31 + 1000);
    run("match", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[i], 0xffu << i / 8 * 8);
    run("redux", 1, 32);
    cr_expect_eq(words[3], 496);
    run("halves", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[i], i < 16 ? 7 : 20);
    ptx_run_close(&r);
}

Test(warp_threads, barriers_count_and_reduce)
{
    open_text(HEAD BEGIN(
        "red") "setp.lt.u32 %c0, %i, 37; bar.red.popc.u32 %r0, 0, %c0;\n"
               "bar.red.and.pred %c1, 0, %c0; @%c1 add.u32 %r0, %r0, 1000;\n"
               "bar.red.or.pred %c2, 0, %c0; @%c2 add.u32 %r0, %r0, 5000;\n" STORE("%r0") END BEGIN(
                   "pipe") ".shared .b32 s[2];\n"
                           "mov.u32 %r9, %tid.x; setp.ge.u32 %c1, %r9, 64; @%c1 bra E;\n"
                           "setp.ge.u32 %c0, %r9, 32; @%c0 bra T;\n"
                           "mov.u32 %r1, 77; st.shared.u32 [s], %r1; bar.arrive 3, 64; bra E;\n"
                           "T: bar.sync 3, 64; ld.shared.u32 %r2, [s];\n" STORE(
                               "%r2") "E: bar.sync 0;\n" END);
    run("red", 1, 128);
    for (uint32_t i = 0; i < 128; i++)
        cr_expect_eq(words[i], 37 + 5000);
    run("pipe", 1, 96);
    cr_expect_eq(words[40], 77);
    ptx_run_close(&r);
}

Test(warp_threads, lanes_call_different_functions_at_different_depths)
{
    open_text(HEAD
              ".func (.param .b32 o) fib(.param .b32 n) {\n.reg .b32 %r<6>; .reg .pred %c;\n"
              "ld.param.u32 %r0, [n]; setp.lt.s32 %c, %r0, 2; @%c bra L;\n"
              "add.s32 %r1, %r0, -1;\n"
              "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call (b), fib, (a);"
              " ld.param.b32 %r2, [b]; }\n"
              "add.s32 %r1, %r0, -2;\n"
              "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call (b), fib, (a);"
              " ld.param.b32 %r3, [b]; }\n"
              "add.s32 %r0, %r2, %r3;\nL: st.param.b32 [o], %r0; ret;\n}\n"
              ".func (.param .b32 o) neg(.param .b32 n) {\n.reg .b32 %r<2>;\n"
              "ld.param.u32 %r0, [n]; neg.s32 %r0, %r0; st.param.b32 [o], %r0; ret;\n}\n" BEGIN(
                  "k") "mov.b64 %d0, fib; mov.b64 %d1, neg; and.b32 %r0, %i, 1; setp.eq.u32 %c0, "
                       "%r0, 0;\n"
                       "selp.b64 %d2, %d0, %d1, %c0; rem.u32 %r1, %i, 14;\n"
                       "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b;\n"
                       "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                       "call (b), %d2, (a), P; ld.param.b32 %r2, [b]; }\n" STORE("%r2") END);
    run("k", 1, 32);
    uint32_t fib[14] = {0, 1};
    for (unsigned i = 2; i < 14; i++)
        fib[i] = fib[i - 1] + fib[i - 2];
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[i], i % 2 ? 0 - i % 14 : fib[i % 14], "thread %u: %d", i, words[i]);
    ptx_run_close(&r);
}

static void fails(const char *name, enum warp_fault_kind kind, const char *text)
{
    enum warp_end end = ptx_run_launch(&r, name, 1, 64, 0, &buffer);
    cr_assert_eq(end, WARP_FAULT, "%s ends with %d %s", name, end, r.text);
    cr_expect_eq(r.fault.kind, kind);
    cr_expect(strstr(r.fault.text, text), "%s", r.fault.text);
}

Test(warp_threads, faults_name_kernel_line_thread_and_address)
{
    open_text(HEAD BEGIN(
        "outside") "setp.eq.u32 %c0, %i, 37; mov.b64 %d0, 0x5000;\n"
                   "@%c0 ld.global.u32 %r0, [%d0];\n" END
                       BEGIN("odd") "add.u64 %d0, %q, 2; st.global.u32 [%d0], 1;\n" END BEGIN(
                           "shared") ".shared .b32 s[4];\nmov.u32 %r0, 4096; st.shared.u32 "
                                     "[%r0], 1;\n" END BEGIN(
                                         "traps") "setp.eq.u32 %c0, %i, 3; @%c0 trap;\n" END
                                         BEGIN("stuck") "setp.lt.u32 %c0, %i, 32; @%c0 bra E; "
                                                        "bar.sync 0, 96;\nE: " END);
    fails("outside", WARP_FAULT_ADDRESS, "threads.ptx:");
    cr_expect(strstr(r.fault.text, "kernel outside"), "%s", r.fault.text);
    cr_expect(strstr(r.fault.text, "0x5000 (block 0,0,0 thread 37,0,0)"), "%s", r.fault.text);
    fails("odd", WARP_FAULT_MISALIGNED, "misaligned");
    fails("shared", WARP_FAULT_ADDRESS, "shared memory");
    fails("traps", WARP_FAULT_TRAP, "thread 3,0,0");
    fails("stuck", WARP_FAULT_INSTRUCTION, "waits for ever");
    ptx_run_close(&r);
}

/* ---- matrices ---- */

static uint16_t half_of(float x) /* for small integers */
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    if (!(u << 1))
        return 0;
    return (uint16_t)((u >> 16 & 0x8000) | (((u >> 23 & 255) - 112) << 10) | (u >> 13 & 0x3ff));
}

/* a: 16x16 by rows, b: 16 by n by rows; both of small integers, which halves hold exactly. */
static void fill(int a[16][16], int b[16][16])
{
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            a[i][k] = (i * 7 + k * 3) % 11 - 5, b[i][k] = (i * 5 + k * 2) % 13 - 6;
}

Test(warp_threads, mma_multiplies_fragments_as_the_manual_lays_them_out)
{
    int a[16][16], b[16][16];
    open_text(HEAD BEGIN(
        "k") "mad.wide.u32 %d0, %i, 16, %p; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];\n"
             "mad.wide.u32 %d1, %i, 8, %p; ld.global.v2.u32 {%r4, %r5}, [%d1+1024];\n"
             "mov.f32 %f0, 0f3F800000;\n"
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
             "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f0, %f0, %f0};\n"
             "st.global.v4.f32 [%d0+2048], {%f1, %f2, %f3, %f4};\n" END);
    fill(a, b);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned g = lane / 4, t = lane % 4;
        for (unsigned i = 0; i < 8; i++) { /* a0 to a7 */
            unsigned row = i / 2 % 2 ? g + 8 : g, column = t * 2 + i % 2 + (i >= 4 ? 8 : 0);
            uint16_t h = half_of((float)a[row][column]);
            memcpy(r.buffer + 16 * lane + 2 * i, &h, 2);
        }
        for (unsigned i = 0; i < 4; i++) { /* b0 to b3 */
            uint16_t h = half_of((float)b[t * 2 + i % 2 + (i >= 2 ? 8 : 0)][g]);
            memcpy(r.buffer + 1024 + 8 * lane + 2 * i, &h, 2);
        }
    }
    run("k", 1, 32);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < 4; i++) {
            unsigned row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
            int sum = 1;
            float d;
            for (unsigned k = 0; k < 16; k++)
                sum += a[row][k] * b[k][column];
            memcpy(&d, r.buffer + 2048 + 16 * lane + 4 * i, 4);
            cr_expect_eq((int)d, sum, "row %u column %u: %f, not %d", row, column, (double)d, sum);
        }
    }
    ptx_run_close(&r);
}

Test(warp_threads, wmma_loads_multiplies_and_stores)
{
    int a[16][16], b[16][16];
    open_text(HEAD BEGIN("k") "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                              "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%p], 16;\n"
                              "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 "
                              "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, [%p+512], 24;\n"
                              "mov.f32 %f0, 0f40000000;\n"
                              "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
                              "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, "
                              "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
                              "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
                              "{%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};\n"
                              "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p+2048], "
                              "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 20;\n" END);
    fill(a, b);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++) {
            uint16_t x = half_of((float)a[i][k]), y = half_of((float)b[i][k]);
            memcpy(r.buffer + 2 * (16 * i + k), &x, 2);
            memcpy(r.buffer + 512 + 2 * (24 * k + i), &y, 2);
        }
    run("k", 1, 32);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++) {
            int sum = 2;
            float d;
            for (unsigned j = 0; j < 16; j++)
                sum += a[i][j] * b[j][k];
            memcpy(&d, r.buffer + 2048 + 4 * (20 * i + k), 4);
            cr_expect_eq((int)d, sum, "row %u column %u: %f, not %d", i, k, (double)d, sum);
        }
    ptx_run_close(&r);
}

Test(warp_threads, ldmatrix_gives_each_lane_two_columns)
{
    open_text(HEAD BEGIN("k") ".shared .align 16 .b16 s[128];\n"
                              "mov.u32 %r0, s; mad.lo.u32 %r1, %i, 4, %r0; shl.b32 %r2, %i, 1;\n"
                              "add.u32 %r3, %r2, 1; prmt.b32 %r2, %r2, %r3, 0x5410;\n"
                              "st.shared.b32 [%r1], %r2; bar.warp.sync -1;\n"
                              "and.b32 %r4, %i, 7; mad.lo.u32 %r4, %r4, 16, %r0;\n"
                              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];\n" STORE(
                                  "%r5") "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, "
                                         "[%r4];\nst.global.u32 [%q+128], %r5;\n" END);
    run("k", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t row = i / 4, column = i % 4 * 2;
        cr_expect_eq(words[i], (8 * row + column) | (8 * row + column + 1) << 16);
        cr_expect_eq(words[32 + i], (8 * column + row) | (8 * (column + 1) + row) << 16);
    }
    ptx_run_close(&r);
}

/* Block 1 of each cluster stores into the shared memory of block 0, which waits for the bytes. */
Test(warp_threads, blocks_of_a_cluster_reach_each_others_memory)
{
    open_text(HEAD
              ".visible .entry k(.param .u64 p) .reqnctapercluster 2 {\n"
              ".reg .b64 %p; .reg .b32 %r<9>; .reg .pred %c<3>;\n"
              ".shared .align 8 .b64 m; .shared .b32 s[2];\n"
              "ld.param.u64 %p, [p]; mov.u32 %r0, %ctaid.x; mad.wide.u32 %p, %r0, 16, %p;\n"
              "mov.u32 %r1, m; mov.u32 %r2, s; mov.u32 %r3, %cluster_ctarank;\n"
              "setp.eq.u32 %c0, %r3, 1; st.shared.b32 [s+4], 5;\n"
              "@!%c0 mbarrier.init.shared.b64 [m], 1;\n"
              "@!%c0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 8;\n"
              "barrier.cluster.arrive; barrier.cluster.wait;\n"
              "@!%c0 bra W; mapa.shared::cluster.u32 %r4, %r1, 0;\n"
              "mapa.shared::cluster.u32 %r5, %r2, 0; add.u32 %r6, %r0, 40;\n"
              "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r6, [%r4];\n"
              "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
              "[%r5+4], 2, [%r4];\n"
              "getctarank.shared::cluster.u32 %r7, %r5; st.global.u32 [%p], %r7; bra E;\n"
              "W: mbarrier.try_wait.parity.shared.b64 %c1, [m], 0; @!%c1 bra W;\n"
              "ld.shared.b32 %r4, [s]; st.global.u32 [%p], %r4;\n"
              "ld.shared.b32 %r4, [s+4]; st.global.u32 [%p+4], %r4;\n"
              "E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n");
    run("k", 4, 1);
    for (uint32_t cluster = 0; cluster < 2; cluster++) {
        const uint32_t *of = words + 8 * cluster;
        cr_expect(of[0] == 41 + 2 * cluster && of[1] == 7, "%u %u", of[0], of[1]);
        cr_expect_eq(of[4], 0, "its rank is %u", of[4]);
    }
    ptx_run_launch(&r, "k", 3, 1, 0, &buffer);
    cr_assert(strstr(r.text, "a grid of 3 x 1 x 1 blocks in clusters of 2"), "%s", r.text);
    ptx_run_close(&r);
}

/* Outside of the cluster, and in a block that is over. */
Test(warp_threads, memory_that_no_block_of_the_cluster_has_is_a_fault)
{
    open_text(HEAD
              ".visible .entry k(.param .u64 p) .reqnctapercluster 2 {\n"
              ".reg .b32 %r<4>; .reg .pred %c; .shared .b32 s; mov.u32 %r0, %ctaid.x;\n"
              "setp.eq.u32 %c, %r0, 0; @%c ret; barrier.cluster.arrive; barrier.cluster.wait;\n"
              "mov.u32 %r1, s; mapa.shared::cluster.u32 %r1, %r1, 0;\n"
              "ld.shared::cluster.b32 %r2, [%r1]; ret;\n}\n");
    cr_assert_eq(ptx_run_launch(&r, "k", 2, 1, 0, &buffer), WARP_FAULT);
    cr_assert(strstr(r.fault.text, "shared memory of a block that is over"), "%s", r.fault.text);
    ptx_run_close(&r);
}

Test(warp_threads, asynchronous_copies_complete_an_mbarrier)
{
    open_text(HEAD BEGIN("k") ".shared .align 16 .b32 s[64];\n.shared .align 8 .b64 m;\n"
                              "setp.eq.u32 %c0, %i, 0; @%c0 mbarrier.init.shared.b64 [m], 32;\n"
                              "bar.sync 0; mov.u32 %r0, s; mad.lo.u32 %r0, %i, 4, %r0;\n"
                              "cp.async.ca.shared.global [%r0], [%q], 4;\n"
                              "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\n"
                              "W: mbarrier.test_wait.parity.shared.b64 %c1, [m], 0; @!%c1 bra W;\n"
                              "xor.b32 %r1, %i, 1; mov.u32 %r2, s; mad.lo.u32 %r1, %r1, 4, %r2;\n"
                              "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%q+256], %r3;\n" END);
    for (uint32_t i = 0; i < 32; i++)
        words[i] = 100 + i;
    run("k", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        cr_expect_eq(words[64 + i], 100 + (i ^ 1));
    ptx_run_close(&r);
}

/* All opcodes and forms that are not executed, each in a kernel of its own. */
static const char *const missing[] = {
    "multimem.ld_reduce.relaxed.gpu.global.add.f32 %f1, [%d1]",
    "multimem.st.relaxed.gpu.global.v2.f32 [%d1], {%f1, %f2}",
    "multimem.red.relaxed.sys.global.add.u64 [%d1], %d2",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1],"
    " [%d2], 1024, [%r3], %h1",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [%r2], 128",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1],"
    " [%d2, {%r3, %r4}], [%r5]",
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%d1, {%r2}], [%r3]",
    "cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%d1, {%r1, %r2, %r3}]",
    "tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1],"
    " [%d2], 128",
    "istypep.texref %c1, %d1",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%d1],"
    " [%d2]",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %c1, %x1",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5, %r6},"
    " {%r1, %r2}, %r7, 0",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3,"
    " %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 1",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8},"
    " {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %r1, 0,"
    " %c1, 1, 1, 0, 0",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r1, %r2, %r3, %r4}, %d1, %d2, %c1",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3]",
    "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r1], {%r2}",
    "tcgen05.wait::ld.sync.aligned",
    "tcgen05.wait::st.sync.aligned",
    "tcgen05.cp.cta_group::1.128x256b [%r1], %d1",
    "tcgen05.shift.cta_group::1.down [%r1]",
    "tcgen05.mma.cta_group::1.kind::tf32 [%r1], %d1, %d2, %r2, %c1",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %c1",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1]",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.fence::after_thread_sync",
    "stacksave.u64 %d1",
    "stackrestore.u64 %d1",
    "alloca.u64 %d1, %d2",
    "fma.rn.oob.f16 %h1, %h2, %h3, %h1",
    "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2",
    "cvt.rz.satfinite.ue8m0x2.f32 %h1, %f1, %f2",
    "cvt.rn.bf16x2.ue8m0x2 %r1, %h1",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r3]",
    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r2}",
    "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], {%f3, %f4}, {%f3, %f4}",
    "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], {%f3, %f4}, {%f5, %f6}",
    "txq.channel_order.b32 %r1, [%d1]",
    "sust.p.2d.b32.trap [%d1, {%r1, %r2}], %r3"};

/* The launch says where and what; other kernels of the module are launched. */
Test(warp_threads, what_is_not_executed_is_refused_with_its_line)
{
    enum { COUNT = sizeof missing / sizeof *missing, KERNEL = 700 };
    char *text = malloc(COUNT * KERNEL);
    size_t at = (size_t)sprintf(text, ".version 8.8\n.target sm_100a\n.address_size 64\n");
    for (size_t i = 0; i < COUNT; i++)
        at += (size_t)sprintf(text + at,
                              ".visible .entry k%zu(.param .u64 p) {\n.reg .b64 %%d<4>; .reg .b32"
                              " %%r<8>; .reg .pred %%c<3>; .reg .f32 %%f<9>; .reg .b16 %%h<4>;"
                              " .reg .b128 %%x<2>;\n%s;\nret;\n}\n",
                              i, missing[i]);
    sprintf(text + at, ".visible .entry good(.param .u64 p) {\nret;\n}\n");
    open_text(text);
    for (size_t i = 0; i < COUNT; i++) {
        char name[16], place[32];
        size_t stem = strcspn(missing[i], ".");
        snprintf(name, sizeof name, "k%zu", i);
        snprintf(place, sizeof place, "threads.ptx:%zu: ", 6 + 5 * i);
        cr_expect_eq(ptx_run_launch(&r, name, 1, 1, 0, &buffer), WARP_INTERRUPTED, "%s",
                     missing[i]);
        cr_expect(strstr(r.text, place)
                      && !strncmp(strstr(r.text, place) + strlen(place), missing[i], stem)
                      && strstr(r.text, " is not executed"),
                  "%s: %s", missing[i], r.text);
    }
    run("good", 1, 1);
    ptx_run_close(&r);
    free(text);
}
