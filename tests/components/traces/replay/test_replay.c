/* Recorded work-groups as compute units get them: steps against a small trace whose machine code
 * was assembled by llvm-mc, order of work-groups, and traces with mistakes. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/traces/replay/replay.h"
#include "tests/components/traces/damage.h"

/*  0000 s_load_dwordx2 s[0:1], s[4:5], 0x0
 *  0008 s_waitcnt lgkmcnt(0)
 *  000c v_lshlrev_b32_e32 v1, 2, v0
 *  0010 ds_write_b32 v1, v0
 *  0018 flat_load_dword v2, v[1:2]
 *  0020 s_waitcnt vmcnt(0)
 *  0024 s_sub_u32 s2, s2, 1
 *  0028 s_cbranch_scc0 -5
 *  002c flat_store_dword v[1:2], v0
 *  0034 s_endpgm */
#define CODE                                                                                       \
    "020006c000000000"                                                                             \
    "7f008cbf"                                                                                     \
    "82000224"                                                                                     \
    "00001ad801000000"                                                                             \
    "000050dc01000002"                                                                             \
    "700f8cbf"                                                                                     \
    "02818280"                                                                                     \
    "fbff84bf"                                                                                     \
    "000070dc01000000"                                                                             \
    "000081bf"
#define BASE   0x10000
#define BLOCKS 300 /* more than a reader keeps */

static const char header[] = "-kernel name = demo\n-kernel id = 1\n-grid dim = (%u,1,1)\n"
                             "-block dim = (64,1,1)\n-shmem = 256\n-nregs = 4\n"
                             "-cuda stream id = 0\n-accelsim tracer version = 5\n-isa = gfx803\n"
                             "-title = demo\n-gpu = 0\n-entry = 0x10000\n"
                             "-packet address = 0x20000\n-packet = %0128d\n-descriptor = %0128d\n"
                             "-ring = 0x20000,4096\n-scratch = 0x30000,8192\n"
                             "-code base = 0x10000\n-code = 0x10000 " CODE "\n\n";

/* A turn more of the loop in odd work-groups; addresses depend on the work-group. */
static unsigned write_steps(FILE *file, unsigned block)
{
    unsigned turns = 1 + block % 2, steps = 6 + 4 * turns;
    fprintf(file, "warp = 0\ninsts = %u\n", steps);
    fprintf(file, "0000 0000000000000001 1 s[0:1] s_load_dwordx2 1 s[4:5] 8 1 0x20040 0 0\n"
                  "0008 ffffffffffffffff 0 s_waitcnt 0 0 127\n"
                  "000c ffffffffffffffff 1 v1 v_lshlrev_b32_e32 1 v0 0\n"
                  "0010 00000000ffff0000 0 ds_write_b32 2 v1 v0 4 1 0x0 0 0\n");
    for (unsigned i = 0; i < turns; i++)
        fprintf(file,
                "0018 8000000000000005 1 v2 flat_load_dword 1 v[1:2] 4 2 0x%x 8 -4 0\n"
                "0020 ffffffffffffffff 0 s_waitcnt 0 0 3952\n"
                "0024 ffffffffffffffff 1 s2 s_sub_u32 1 s2 0\n"
                "0028 ffffffffffffffff 0 s_cbranch_scc0 0 0 -5\n",
                0x40000 + 4096 * block + i);
    fprintf(file,
            "002c 0000000000000003 0 flat_store_dword 2 v[1:2] v0 4 0 0x50000 0x123456789abc 0\n"
            "0034 ffffffffffffffff 0 s_endpgm 0 0\n");
    return steps;
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("SCRATCH"), name);
    return path;
}

static FILE *begin(const char *path, unsigned blocks)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fprintf(file, header, blocks, 0, 0);
    return file;
}

static const char *write_trace(const char *name, unsigned blocks)
{
    const char *path = path_of(name);
    FILE *file = begin(path, blocks);
    for (unsigned i = 0; i < blocks; i++) {
        fprintf(file, "#BEGIN_TB\nthread block = %u,0,0\n", i);
        write_steps(file, i);
        fprintf(file, "#END_TB\n");
    }
    fclose(file);
    return path;
}

static struct replay_group group(unsigned number)
{
    return (struct replay_group){.launch = 1, .id = {number, 0, 0}, .wavefronts = 1};
}

static void take(uint32_t place, unsigned number)
{
    struct replay_group wanted = group(number);
    char text[REPLAY_TEXT];
    cr_assert(replay_take(place, &wanted, text), "%u: %s", number, text);
}

/* The first address of the load says which work-group it is. */
static unsigned number_at(uint32_t place)
{
    struct replay_cursor cursor = replay_first(place, 0);
    uint64_t address[ISA_LANES];
    while (replay_pc(place, &cursor) != BASE + 0x18)
        cr_assert(replay_advance(place, &cursor));
    replay_addresses(place, &cursor, address);
    return (unsigned)(address[0] - 0x40000) / 4096;
}

Test(replay, steps_are_those_of_the_trace)
{
    static const uint32_t pcs[] = {0,    8,    0xc,  0x10, 0x18, 0x20, 0x24,
                                   0x28, 0x18, 0x20, 0x24, 0x28, 0x2c, 0x34};
    uint64_t address[ISA_LANES], at;
    uint32_t bytes;
    size_t size;
    replay_reset(4);
    replay_launch(1, write_trace("steps.traceg", 2), false);
    take(3, 1);
    struct replay_cursor cursor = replay_first(3, 0);
    cr_assert(replay_scalar(3, &cursor, &at, &bytes));
    cr_expect_eq(at, 0x20040);
    cr_expect_eq(bytes, 8);
    for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
        cr_assert_eq(replay_pc(3, &cursor), BASE + pcs[i], "step %zu: 0x%" PRIx64, i,
                     replay_pc(3, &cursor));
        switch (pcs[i]) {
        case 8:
            cr_expect_not(replay_scalar(3, &cursor, &at, &bytes));
            cr_expect_eq(replay_addresses(3, &cursor, address), 0);
            break;
        case 0x10:
            cr_expect_eq(replay_addresses(3, &cursor, address), 0xffff0000);
            cr_expect_eq(address[31], 0);
            break;
        case 0x18:
            cr_assert_eq(replay_addresses(3, &cursor, address), 0x8000000000000005);
            at = 0x40000 + 4096 + (i > 4);
            cr_expect(address[0] == at && address[2] == at + 8 && address[63] == at + 4);
            break;
        case 0x2c:
            cr_assert_eq(replay_addresses(3, &cursor, address), 3);
            cr_expect(address[0] == 0x50000 && address[1] == 0x123456789abc);
            break;
        default:
            break;
        }
        const uint8_t *code = replay_code(3, replay_pc(3, &cursor), &size);
        cr_expect_eq(size, sizeof CODE / 2 - pcs[i]);
        if (pcs[i] == 0x34)
            cr_expect(!memcmp(code, "\0\0\x81\xbf", 4));
        cr_assert_eq(replay_advance(3, &cursor), i + 1 < sizeof pcs / sizeof pcs[0]);
    }
    struct replay_layout layout = replay_layout(3);
    cr_expect(layout.packet == 0x20000 && layout.ring == 0x20000 && layout.ring_bytes == 4096
              && layout.pool == 0x30000 && layout.pool_bytes == 8192);
    replay_give(3);
    replay_end(1);
}

/* How work-groups begin: in the order of the file; each half by itself; backwards; shuffled; and
 * how many at a time. */
static unsigned in_order(unsigned i)
{
    return i;
}
static unsigned in_halves(unsigned i)
{
    return i % 2 * (BLOCKS / 2) + i / 2;
}
static unsigned backwards(unsigned i)
{
    return BLOCKS - 1 - i;
}
static unsigned shuffled(unsigned i)
{
    return i * 7 % BLOCKS; /* 7 and 300 have no common factor */
}
static unsigned far_apart(unsigned i)
{
    return i * 97 % BLOCKS;
}

static const struct order {
    const char *name;
    unsigned (*number)(unsigned i);
} orders[] = {{"in order", in_order},
              {"halves", in_halves},
              {"backwards", backwards},
              {"shuffled", shuffled},
              {"far apart", far_apart}};

Test(replay, work_groups_come_in_any_order)
{
    const char *path = write_trace("orders.traceg", BLOCKS);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        enum { HELD = 5 };
        replay_reset(HELD);
        replay_launch(1, path, false);
        for (unsigned n = 0; n < BLOCKS; n++) {
            if (n >= HELD)
                replay_give(n % HELD);
            take(n % HELD, orders[i].number(n));
            cr_assert_eq(number_at(n % HELD), orders[i].number(n), "%s, %u", orders[i].name, n);
        }
        replay_reset(0); /* gives back what stands */
    }
}

Test(replay, the_cache_gives_the_same)
{
    const char *path = write_trace("cached.traceg", 3);
    for (unsigned turn = 0; turn < 2; turn++) {
        replay_reset(3);
        replay_launch(1, path, true);
        for (unsigned n = 0; n < 3; n++) {
            take(n, n);
            cr_expect_eq(number_at(n), n);
        }
        replay_reset(0);
    }
}

/* A trace of one work-group, one of whose lines is replaced; "": removed. */
static const struct mistake {
    const char *line, *by, *text;
} mistakes[] = {
    {"0034 ", "", "ends without EXIT"},
    {"insts = 10", "insts = 11", "ends 1 instructions before"},
    {"0008 ", "0008 ffffffffffffffff 0 s_barrier 0 0",
     "'s_barrier' in the trace, but 's_waitcnt' in '-code'"},
    {"0008 ", "",
     "PC 000c (v_lshlrev_b32_e32) does not follow the step before, which goes on at 0008"},
    {"000c ", "0020 ffffffffffffffff 0 s_waitcnt 0 0 3952", "does not follow the step before"},
    {"002c ", "1000 ffffffffffffffff 0 s_nop 0 0",
     "PC 1000 is 0x11000, where the header's '-code' has nothing"},
    {"002c ", "0004 ffffffffffffffff 0 s_nop 0 0", "PC 0004"},
    {"warp = 0", "warp = 1", "a block of this kernel has 1"},
    {"thread block = ", "thread block = 1,0,0", "lies outside of the grid"},
    {"-entry", "-entry = 0x90000", "the kernel begins at 0x90000"},
    {"-entry", "", "no '-entry = ...'"},
    {"-isa", "", "the header has no"},
};

/* All in one test: each writes files and reads them back. */
static void expect_mistake(unsigned number)
{
    const struct mistake *m = &mistakes[number];
    char name[64], good[4096], line[4096], text[REPLAY_TEXT];
    bool found = false;
    snprintf(name, sizeof name, "good-%u.traceg", number);
    snprintf(good, sizeof good, "%s", write_trace(name, 1));
    snprintf(name, sizeof name, "mistake-%u.traceg", number);
    FILE *from = fopen(good, "r"), *to = fopen(path_of(name), "w");
    cr_assert(from && to);
    bool fewer = !*m->by && m->line[0] == '0'; /* steps */
    while (fgets(line, sizeof line, from)) {
        if (fewer && !strcmp(line, "insts = 10\n"))
            strcpy(line, "insts = 9\n");
        bool here = !found && !strncmp(line, m->line, strlen(m->line));
        found |= here;
        if (!here)
            fputs(line, to);
        else if (*m->by)
            fprintf(to, "%s\n", m->by);
    }
    fclose(from);
    fclose(to);
    cr_assert(found, "%s", m->line);
    struct replay_group wanted = group(0);
    replay_reset(1);
    replay_launch(1, path_of(name), false);
    cr_expect_not(replay_take(0, &wanted, text));
    cr_expect(strstr(text, m->text), "'%s' is to contain '%s'", text, m->text);
    cr_expect(strstr(text, name), "the file is named: %s", text);
    replay_reset(0);
}

Test(replay, mistakes_are_said)
{
    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        expect_mistake(i);
}

Test(replay, what_is_asked_for_must_be_there)
{
    const char *path = write_trace("asked.traceg", 2);
    struct replay_group wanted = group(0);
    char text[REPLAY_TEXT];
    replay_reset(1);
    replay_launch(1, path, false);
    wanted.wavefronts = 2;
    cr_expect_not(replay_take(0, &wanted, text));
    cr_expect(strstr(text, "thread block 0,0,0 has 1 warps, but is launched with 2 wavefronts"),
              "%s", text);
    wanted = group(2);
    cr_expect_not(replay_take(0, &wanted, text));
    cr_expect(strstr(text, "there is no thread block 2,0,0 in it"), "%s", text);
    wanted = group(1);
    wanted.launch = 7;
    cr_expect_not(replay_take(0, &wanted, text));
    wanted.launch = 1;
    cr_expect(replay_take(0, &wanted, text), "%s", text);
    cr_expect_eq(number_at(0), 1);
    replay_reset(1);
    replay_launch(1, path_of("missing.traceg"), false);
    cr_expect_not(replay_take(0, &wanted, text));
    cr_expect(strstr(text, "cannot be read"), "%s", text);
    replay_reset(0);
}

/* ---- damage ---- */

enum { FEW = 5 };

/* How often work-group `number` begins in the text. */
static unsigned count_block(const char *text, unsigned number)
{
    char line[40];
    unsigned count = 0;
    snprintf(line, sizeof line, "\nthread block = %u,0,0\n", number);
    for (const char *at = text; (at = strstr(at, line)); at++)
        count++;
    return count;
}

/* Takes all work-groups and walks through their steps. False: `said` is why not. */
static bool plays(const char *path, unsigned *steps, char said[REPLAY_TEXT])
{
    bool good = true;
    *steps = 0;
    replay_reset(1);
    replay_launch(1, path, false);
    for (unsigned i = 0; i < FEW && good; i++) {
        struct replay_group wanted = group(i);
        good = replay_take(0, &wanted, said);
        if (!good)
            break;
        struct replay_cursor cursor = replay_first(0, 0);
        do
            ++*steps;
        while (replay_advance(0, &cursor));
        replay_give(0);
    }
    replay_end(1);
    return good;
}

/* The lines of steps in the text. */
static unsigned count_steps(const char *text)
{
    unsigned count = 0;
    for (const char *at = text; at; at = (at = strchr(at, '\n')) ? at + 1 : NULL)
        count += strspn(at, "0123456789abcdef") == 4 && at[4] == ' ';
    return count;
}

/* Each is refused, with the file and mostly a line, or plays; then it has each work-group of the
 * grid once, and each of its steps is played. */
Test(replay, damaged_traces_are_refused_or_have_each_work_group_once)
{
    char *text = NULL;
    size_t size = 0;
    unsigned refused = 0, named = 0;
    FILE *in = fopen(write_trace("whole.traceg", FEW), "r");
    cr_assert_gt(getdelim(&text, &size, '\0', in), 0);
    fclose(in);
    for (unsigned seed = 1; seed <= damage_seeds(); seed++) {
        char what[256], said[REPLAY_TEXT] = "";
        unsigned steps;
        char *damaged = damage_text(text, seed, what);
        const char *path = path_of("damaged.traceg");
        FILE *out = fopen(path, "w");
        fputs(damaged, out);
        fclose(out);
        if (plays(path, &steps, said)) {
            for (unsigned i = 0; i < FEW; i++)
                cr_expect_eq(count_block(damaged, i), 1, "seed %u: %s", seed, what);
            cr_expect_eq(steps, count_steps(damaged), "seed %u: %s", seed, what);
        } else {
            refused++;
            cr_expect_not_null(strstr(said, "damaged.traceg"), "seed %u: %s: %s", seed, what, said);
            named += strstr(said, "damaged.traceg:") && strstr(said, ": ");
        }
        free(damaged);
    }
    free(text);
    cr_expect(refused > damage_seeds() / 2 && named > refused / 2, "%u refused, %u named", refused,
              named);
}
