/* Notes on replies (components/sampling/message_note.h) against the times of a second run, in which
 * nothing is cold: of an L2 and a shared TLB the same requests once more, of a first-level cache
 * the same with servers below that lose no time. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/components/memory/cache_types.h"
#include "components/sampling/residency.h"
#include "components/sampling/message_note.h"
#include "components/sampling/sampling_options.h"
#include "tests/components/translations.h"
#include "tlb.gen.h"
#include "tlb_l1.gen.h"

extern const struct unit_type tlb__generic;

enum { READS = 24, DRAM = 100, WALK = 300, LOST_LINE = 80, LOST_PAGE = 360, REPEAT = 20000 };

static struct message_note note_on(const struct harness_message *reply)
{
    struct message m;
    memcpy(m.fields, reply->fields, sizeof m.fields);
    return message_note(&m);
}

static uint32_t cpu;

/* They are kept in runs with chosen kernels. */
static void start(void)
{
    ((struct sampling *)(uintptr_t)platform_sampling())->kernels = "1";
    harness_start();
}

/* Sends the same reads, every `gap` cycles from `start` on, `lines` apart; tags from `tag` on. */
static void send_reads(uint64_t start, uint16_t tag, uint64_t gap, uint64_t apart)
{
    for (uint16_t i = 0; i < READS; i++) {
        struct harness_message m =
            harness_read(start + i * gap, (uint16_t)(tag + i), i * apart / 64 * 64, 64);
        harness_send(cpu, &m);
    }
}

struct burst {
    const char *name;
    uint64_t gap, apart;
    int64_t mshrs, targets;
    uint64_t tolerance; /* cycles that an account may be wrong by */
};

/* ---- an L2 ---- */

static void set_up_l2(const struct burst *b)
{
    struct cache_params params = {.size = 16384,
                                  .ways = 4,
                                  .line = 64,
                                  .above = 64,
                                  .below = 64,
                                  .latency = 10,
                                  .ports = 1,
                                  .mshrs = b->mshrs,
                                  .targets = b->targets,
                                  .write = CACHE_WRITE_BACK,
                                  .sets = 64};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    start();
    uint32_t cache =
        build_instance(&cache_type, 0, "cache", values, NULL, sizeof values / sizeof values[0]);
    cpu = harness_requester();
    uint32_t memory = harness_server(DRAM, harness_answer_memory);
    harness_wire(HARNESS_MEM, (struct build_end){cpu, 0, 0}, (struct build_end){cache, TOP, 0}, 64,
                 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){cache, BOTTOM, 0},
                 (struct build_end){memory, 0, 0}, 64, 1, 1);
    harness_build();
}

static const struct burst bursts[] = {
    {"alone", 200, 64, 16, 16, 0},
    {"side by side", 4, 64, 32, 16, 0},
    {"four of one line", 4, 16, 16, 16, 0},
    {"more than there are MSHRs", 4, 64, 4, 16, 20},
    {"more of one line than may wait", 4, 4, 8, 2, 20},
};

Test(message_note, an_l2_tells_what_a_miss_costs)
{
    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        const struct burst *b = &bursts[i];
        set_up_l2(b);
        send_reads(10, 0, b->gap, b->apart);
        send_reads(REPEAT, 100, b->gap, b->apart);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t lost = 0;
        for (uint16_t r = 0; r < READS; r++) {
            const struct harness_message *cold = harness_reply(cpu, r);
            const struct harness_message *warm = harness_reply(cpu, (uint16_t)(100 + r));
            uint64_t told = note_on(cold).line, late = cold->cycle - 10 - (warm->cycle - REPEAT);
            cr_expect(told + b->tolerance >= late && late + b->tolerance >= told,
                      "%s, read %u: %llu cycles late, %llu told", b->name, r,
                      (unsigned long long)late, (unsigned long long)told);
            cr_expect_eq(note_on(cold).page, 0);
            cr_expect_eq(note_on(warm).line, 0, "%s, read %u: a hit loses nothing", b->name, r);
            lost += told;
        }
        cr_expect_geq(lost, DRAM, "%s", b->name);
    }
}

/* ---- what a warm cache would have missed as well ---- */

static const struct residency_identity nobody;
static char kept_path[] = "/tmp/heddle-test-note-XXXXXX";

/* A launch begins before which instance 0 keeps `count` units of `bytes` from address 0 on. */
static void keep(unsigned bytes, unsigned count)
{
    int file = mkstemp(kept_path);
    cr_assert_geq(file, 0);
    close(file);
    cr_assert(residency_open(kept_path, true, &nobody));
    residency_turn(1);
    for (unsigned i = 0; i < count; i++)
        residency_record(0, (uint64_t)i * bytes, bytes, true);
    residency_record_launch(1, 0);
    cr_assert(residency_close());
    cr_assert(residency_open(kept_path, false, &nobody));
    unlink(kept_path);
    cr_assert_null(residency_begin(1, 0));
}

static void send_leading(uint64_t cycle, uint16_t tag, uint64_t address, uint16_t lead)
{
    struct harness_message m = harness_read(cycle, tag, address, 64);
    memcpy(m.fields + MESSAGE_LEAD_AT, &lead, sizeof lead);
    harness_send(cpu, &m);
}

Test(message_note, a_line_that_was_not_kept_is_no_loss)
{
    const struct burst alone = {"alone", 200, 64, 16, 16, 0};
    keep(64, READS / 2);
    set_up_l2(&alone);
    send_reads(10, 0, 200, 64);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t least = harness_reply(cpu, 0)->cycle;
    for (uint16_t r = 0; r < READS; r++) {
        const struct harness_message *reply = harness_reply(cpu, r);
        cr_expect_eq(reply->cycle, least + r * 200u);
        cr_expect(r < READS / 2 ? note_on(reply).line >= DRAM : note_on(reply).line == 0,
                  "read %u: %d told", r, note_on(reply).line);
    }
}

/* One line, asked for by three that wait for it together: whoever would have been the first has it
 * as long after that as it took, and the others then. */
Test(message_note, who_joins_a_line_on_its_way_is_as_early_as_who_would_have_asked_first)
{
    static const struct {
        uint16_t lead[3];
        int told[3]; /* they are sent 5 cycles apart and answered one a cycle */
    } cases[] = {
        {{0, 0, 0}, {0, 0, 0}},       /* nobody is earlier, nor is the line */
        {{40, 40, 40}, {0, 0, 0}},    /* all are, by their leads */
        {{40, 0, 0}, {0, 40, 40}},    /* the line is, and waits are shorter by that */
        {{0, 40, 0}, {35, -5, 35}},   /* the second would have been first, 35 earlier */
        {{60000, 0, 0}, {0, -1, -1}}, /* it would have been there: -1, all that they waited */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct burst alone = {"alone", 200, 64, 16, 16, 0};
        memcpy(kept_path + strlen(kept_path) - 6, "XXXXXX", 6);
        keep(64, 1);
        set_up_l2(&alone);
        for (uint16_t r = 0; r < 3; r++)
            send_leading(100000 + 5u * r, r, 4096, cases[i].lead[r]);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        for (uint16_t r = 0; r < 3; r++) {
            int told = note_on(harness_reply(cpu, r)).line, want = cases[i].told[r];
            cr_expect(want == -1 ? told >= DRAM - 10 : told == want + r,
                      "case %zu, read %u: %d told, not %d + %u", i, r, told, want, r);
        }
    }
}

/* Closed form: a server that takes 100 cycles, and 10 for each in a queue. */
Test(message_note, a_queue_is_no_faster_but_for_those_who_would_not_have_stood_there)
{
    static const struct {
        const char *name;
        uint64_t lead[4];
        bool spared[4];
        uint64_t early[4]; /* of those that are not spared */
    } cases[] = {
        {"nobody leads", {0, 0, 0, 0}, {false}, {0, 0, 0, 0}},
        {"all do", {50, 50, 50, 50}, {false}, {50, 50, 50, 50}},
        {"the first does not", {0, 50, 50, 50}, {false}, {0, 0, 0, 0}},
        {"only the first does", {50, 0, 0, 0}, {false}, {50, 0, 0, 0}},
        {"half would not be there", {0, 50, 50, 50}, {false, true, false, true}, {0, 0, 10, 0}},
        {"the last alone", {0, 90, 90, 90}, {false, true, true, false}, {0, 0, 0, 20}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct note_server s = {0};
        for (unsigned k = 0; k < 4; k++) { /* all have asked at 1000 */
            uint64_t now = 1100 + 10 * k;
            uint64_t come =
                note_server_answer(&s, 1000, now, 1000 - cases[i].lead[k], cases[i].spared[k]);
            if (cases[i].spared[k])
                cr_expect_eq(come, 0);
            else
                cr_expect_eq(now - come, cases[i].early[k], "%s: %u is %d cycles early",
                             cases[i].name, k, (int)(now - come));
        }
        cr_expect_eq(note_server_answer(&s, 5000, 5100, 4900, false), 5000,
                     "%s: who waits no longer than anybody has to does not stand in a queue",
                     cases[i].name);
    }
}

/* ---- a first-level cache ---- */

static bool is_cold; /* the servers below have lost time */

static void answer_line(const struct harness_message *request, struct harness_message *reply)
{
    struct message_note note = {.line = is_cold ? LOST_LINE : 0};
    harness_answer_memory(request, reply);
    memcpy(reply->fields + MESSAGE_NOTE_AT, &note, sizeof note);
}

static void answer_page(const struct harness_message *request, struct harness_message *reply)
{
    struct message header = {0};
    struct translate_reply *m = (struct translate_reply *)(void *)&header;
    struct message_note note = {.page = is_cold ? LOST_PAGE : 0};
    uint64_t address;
    memcpy(&address, request->fields, 8);
    m->found.physical = address >> 12 << 12;
    m->found.page_bits = 12;
    m->found.valid = m->found.writable = true;
    memcpy(reply->fields, header.fields, sizeof reply->fields);
    memcpy(reply->fields + MESSAGE_NOTE_AT, &note, sizeof note);
}

static void run_l1(const struct burst *b, bool cold)
{
    struct {
        struct cache_params cache;
        struct tlb_l1_params tlb;
    } params = {{.size = 16384,
                 .ways = 4,
                 .line = 64,
                 .above = 64,
                 .below = 64,
                 .latency = 4,
                 .ports = 1,
                 .mshrs = b->mshrs,
                 .targets = b->targets,
                 .write = CACHE_WRITE_AROUND,
                 .sets = 64},
                {.sets = 1, .ways = 16, .latency = 1, .mshrs = 4}};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    is_cold = cold;
    start();
    uint32_t cache = build_instance(&translated_cache_type, 0, "cache", values, NULL,
                                    sizeof values / sizeof values[0]);
    cpu = harness_requester();
    uint32_t memory = harness_server(20 + (cold ? LOST_LINE : 0), answer_line);
    uint32_t walker = harness_server(20 + (cold ? LOST_PAGE : 0), answer_page);
    harness_wire(HARNESS_MEM, (struct build_end){cpu, 0, 0}, (struct build_end){cache, TOP, 0}, 64,
                 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){cache, BOTTOM, 0},
                 (struct build_end){memory, 0, 0}, 64, 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){cache, TRANSLATE, 0},
                 (struct build_end){walker, 0, 0}, 16, 1, 1);
    harness_build();
    send_reads(10, 0, b->gap, b->apart);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

Test(message_note, a_first_level_cache_passes_on_what_was_lost_below)
{
    static const struct burst l1_bursts[] = {
        {"alone", 1000, 64, 16, 16, 0},
        {"a page each", 1000, 4096, 16, 16, 0},
        {"side by side in one page", 4, 64, 32, 32, 40},
        {"a page each, side by side", 4, 4096, 32, 16, 40},
        {"four of one line", 4, 16, 32, 32, 40},
        {"who join when it is nearly here", 40, 16, 32, 32, 32},
    };
    for (size_t i = 0; i < sizeof l1_bursts / sizeof l1_bursts[0]; i++) {
        const struct burst *b = &l1_bursts[i];
        uint64_t warm[READS];
        run_l1(b, false);
        for (uint16_t r = 0; r < READS; r++)
            warm[r] = harness_reply(cpu, r)->cycle;
        run_l1(b, true);
        for (uint16_t r = 0; r < READS; r++) {
            struct message_note note = note_on(harness_reply(cpu, r));
            uint64_t told = (uint64_t)note.line + note.page;
            uint64_t late = harness_reply(cpu, r)->cycle - warm[r];
            cr_expect(told + b->tolerance >= late && late + b->tolerance >= told,
                      "%s, read %u: %llu cycles late, %llu told (%u line, %u page)", b->name, r,
                      (unsigned long long)late, (unsigned long long)told, note.line, note.page);
        }
    }
}

/* ---- a shared TLB ---- */

/* Twelve lookups of six pages, two walks at a time, and once more. */
static uint32_t run_tlb(void)
{
    static const struct build_port ports[] = {
        {"top", BUILD_IN, true}, {"bottom", BUILD_OUT, false}, {"control", BUILD_IN, false}};
    static const struct build_type type = {.unit = &tlb__generic, .ports = ports, .port_count = 3};
    struct tlb_params params = {.sets = 1, .ways = 16, .latency = 4, .mshrs = 2, .width = 4};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    is_cold = false;
    start();
    uint32_t tlb = build_instance(&type, 0, "tlb", values, NULL, sizeof values / sizeof values[0]);
    uint32_t user = harness_requester(), walker = harness_server(WALK, answer_page);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){user, 0, 0}, (struct build_end){tlb, 0, 0},
                 16, 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){tlb, 1, 0}, (struct build_end){walker, 0, 0},
                 16, 1, 1);
    harness_build();
    for (unsigned round = 0; round < 2; round++)
        for (uint16_t i = 0; i < 12; i++)
            look_up(user, 10 + round * REPEAT + i * 3u, (uint16_t)(100 * round + i),
                    (uint64_t)(i / 2) << 12, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    return user;
}

Test(message_note, a_shared_tlb_tells_what_a_walk_costs)
{
    uint32_t user = run_tlb();
    for (uint16_t i = 0; i < 12; i++) {
        const struct harness_message *cold = harness_reply(user, i);
        const struct harness_message *warm = harness_reply(user, (uint16_t)(100 + i));
        uint64_t late = cold->cycle - (warm->cycle - REPEAT);
        cr_expect_eq(note_on(cold).page, late, "lookup %u: %llu late, %u told", i,
                     (unsigned long long)late, note_on(cold).page);
        cr_expect_eq(note_on(warm).page, 0);
    }
}

Test(message_note, a_page_that_was_not_kept_is_no_loss)
{
    keep(4096, 3);
    uint32_t user = run_tlb();
    for (uint16_t i = 0; i < 12; i++) {
        const struct harness_message *cold = harness_reply(user, i);
        const struct harness_message *warm = harness_reply(user, (uint16_t)(100 + i));
        uint64_t late = cold->cycle - (warm->cycle - REPEAT);
        cr_expect_eq(note_on(cold).page, i / 2 < 3 ? (int)late : i % 2,
                     "lookup %u: %llu late, %d told", i, (unsigned long long)late,
                     note_on(cold).page);
    }
}
