/* Passes on what the driver reports of the program: to the checks, which have its memory, code and
 * commands, and to the debugger. */
#include <stdio.h>

#include "components/checks/debugger/debugger.h"
#include "components/checks/races/command_order.h"
#include "components/checks/races/race_copies.h"
#include "components/checks/uninitialised/uninitialised.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/host_call/program_call.h"

#include "check_code.h"
#include "checks.h"

static void open_observer(uint32_t instances, const struct page_table *pages)
{
    bool has_debugger = debugger_open(pages);
    if (finding_any_is_wanted() || has_debugger)
        checks_open(instances, has_debugger);
}

static void load_code(uint64_t address, const void *file, uint64_t size)
{
    check_code(address, file, size);
    debugger_code("code", address, file, size);
}

static bool needs_calls(void)
{
    return finding_is_wanted(FINDING_CHECK_RACES);
}

static void place_call(const struct driver_call *call, struct finding_place *place)
{
    *place = (struct finding_place){.pc = call->code, .lane = FINDING_LANE_NONE};
    snprintf(place->text, sizeof place->text, "%s", call->name);
    snprintf(place->source, sizeof place->source, "%s", call->source);
    if (call->code) {
        check_host_code(call->base, call->file);
        check_source(call->code - 1, place->source, sizeof place->source);
    }
}

static void name_move(uint64_t ticket, const struct driver_call *call)
{
    struct finding_place place;
    place_call(call, &place);
    check_copy_called(ticket, &place);
}

static void end_move(const struct observed_move *m)
{
    const struct program_allocation *a = NULL;
    if (m->to)
        debugger_written(m->to, m->bytes);
    if (m->to && m->from)
        check_memory_copied(m->to, m->from, m->bytes);
    if (finding_is_wanted(FINDING_CHECK_RACES))
        a = program_find(m->program, m->to ? m->to : m->from);
    if (a)
        check_copy_done(m->ticket, a->pid, m->to, m->from, m->bytes, m->program);
}

static void await_command(uint64_t ticket)
{
    check_command_seen(ticket);
    debugger_waited();
}

static void await_queue(uint32_t queue)
{
    check_queue_seen(queue);
    debugger_waited();
}

static void report_mistake(uint32_t kind, const struct driver_call *calls, uint32_t count,
                           uint64_t address, const char *text)
{
    static const enum finding_kind kinds[] = {
        [DRIVER_MISTAKE_LEAK] = FINDING_LEAK,
        [DRIVER_MISTAKE_FREED_TWICE] = FINDING_FREED_TWICE,
        [DRIVER_MISTAKE_FREED_WRONG] = FINDING_FREED_WRONG,
        [DRIVER_MISTAKE_USED_FREED] = FINDING_USED_FREED,
        [DRIVER_MISTAKE_CAPTURE_UNJOINED] = FINDING_CAPTURE_UNJOINED,
        [DRIVER_MISTAKE_CAPTURE_OPEN] = FINDING_CAPTURE_OPEN,
    };
    struct finding mistake = {.kind = kinds[kind], .places = count, .address = address};
    if (finding_any_is_wanted()) /* else the report drops it, so that no source is looked up */
        for (uint32_t i = 0; i < count; i++)
            place_call(&calls[i], &mistake.place[i]);
    snprintf(mistake.detail, sizeof mistake.detail, "%s", text);
    finding_report(&mistake);
}

const struct program_observer check_program = {
    .open = open_observer,
    .memory_allocated = check_memory_new,
    .memory_written = check_memory_written,
    .code_loaded = load_code,
    .code_unloaded = check_code_gone,
    .constant_loaded = check_constant,
    .command_enqueued = check_command_given,
    .needs_calls = needs_calls,
    .move_called = name_move,
    .move_done = end_move,
    .launch_started = check_command_starts,
    .command_awaited = await_command,
    .queue_awaited = await_queue,
    .mistake_made = report_mistake,
};
