/* Hangs: what is a deadlock, a stall, a limit, and whether the report names the guilty. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/hang.h"
#include "runtime/scheduler/run.h"
#include "tests/runtime/probe.h"

static uint32_t core;
static uint32_t protocol;

static void start(void)
{
    build_start("hang");
    core = build_domain("core", 1000000000);
    protocol = probe_protocol(16, true);
}

static void connect(uint32_t from, uint32_t to)
{
    build_connect((struct build_end){from, PROBE_OUT, 0}, (struct build_end){to, PROBE_IN, 0},
                  probe_wire(protocol, 2, 1, 1));
}

static void expect(const char *text)
{
    cr_assert(strstr(hang_last_report(), text) != NULL, "'%s' is missing in:\n%s", text,
              hang_last_report());
}

Test(hang, a_cycle_of_full_rings_is_marked)
{
    start();
    uint32_t outside = probe_instance(core, "outside", PROBE_SOURCE, 5, 0, false);
    uint32_t a = probe_instance(core, "a", PROBE_RELAY, 3, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_RELAY, 3, 0, false);
    uint32_t c = probe_instance(core, "c", PROBE_RELAY, 3, 0, false);
    connect(a, b);
    connect(b, c);
    connect(c, a);
    (void)outside;
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_DEADLOCK);
    expect("heddle: deadlock");
    expect("=> a cannot send to b: the ring of a.out[0] is full (2 messages)");
    expect("=> b cannot send to c: the ring of b.out[0] is full (2 messages)");
    expect("=> c cannot send to a: the ring of c.out[0] is full (2 messages)");
    expect("the 3 lines marked => are a cycle");
    cr_assert(!strstr(hang_last_report(), "=> outside"));
}

Test(hang, a_chain_into_a_cycle_marks_the_cycle_only)
{
    start();
    uint32_t outside = probe_instance(core, "outside", PROBE_SOURCE, 50, 0, false);
    uint32_t a = probe_instance(core, "a", PROBE_RELAY, 3, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_RELAY, 3, 0, false);
    build_connect((struct build_end){outside, PROBE_OUT, 0}, (struct build_end){a, PROBE_IN, 1},
                  probe_wire(protocol, 2, 1, 1));
    connect(a, b);
    connect(b, a);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_DEADLOCK);
    expect("   outside cannot send to a");
    expect("=> a cannot send to b");
    expect("=> b cannot send to a");
    expect("the 2 lines marked => are a cycle");
}

Test(hang, a_reply_that_never_comes_leads_to_who_owes_it)
{
    start();
    uint32_t a = probe_instance(core, "client", PROBE_SOURCE, 1, 0, true);
    uint32_t b = probe_instance(core, "server", PROBE_SILENT, 0, 0, false);
    connect(a, b);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_DEADLOCK);
    expect("client waits for 1 reply at client.out[0] from server");
    expect("server waits for no other component: look there");
    expect("server: 1 replies are owed");
    cr_assert(!strstr(hang_last_report(), "=>"));
}

Test(hang, untaken_messages_are_counted)
{
    start();
    uint32_t a = probe_instance(core, "client", PROBE_SOURCE, 2, 0, false);
    uint32_t b = probe_instance(core, "server", PROBE_STUBBORN, 0, 0, false);
    connect(a, b);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_DEADLOCK);
    cr_assert_eq(hang_outstanding(), 2);
    expect("server waits for no other component: look there; 2 untaken at client.out[0]");
    expect("2 messages in rings");
}

Test(hang, nothing_moving_for_long_is_a_stall)
{
    start();
    probe_instance(core, "restless", PROBE_RESTLESS, 0, 3, false);
    probe_build();
    engine_set_limits(&(struct engine_limits){.stall_limit = 1000});
    cr_assert_eq(engine_run(), ENGINE_STALL);
    expect("heddle: stall");
    cr_assert_geq(engine.time_ps, 1000 * 1000);
    cr_assert_leq(engine.time_ps, 3000 * 1000);
}

Test(hang, the_limit_of_cycles_ends_the_run)
{
    start();
    probe_instance(core, "ticker", PROBE_TICKER, 1000000, 0, false);
    probe_build();
    engine_set_limits(&(struct engine_limits){.max_cycles = 5000});
    cr_assert_eq(engine_run(), ENGINE_LIMIT);
    cr_assert_eq(engine.time_ps, 5000000);
    expect("--max-cycles");
}

Test(hang, finished_work_is_no_deadlock)
{
    start();
    uint32_t a = probe_instance(core, "client", PROBE_SOURCE, 20, 0, true);
    uint32_t b = probe_instance(core, "server", PROBE_SINK, 0, 1, true);
    connect(a, b);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_str_eq(hang_last_report(), "");
}
