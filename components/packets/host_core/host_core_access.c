/* Accesses of the device's registers, which are part of the program's address space only meanwhile:
 * a fence, the system call that maps them, the access, a fence, the system call that unmaps them. A
 * core that executes out of order would otherwise touch them unasked, or write the packet's address
 * before the packet ("Balar In Depth", custom CUDA runtime library). Calls take turns, in the order
 * in which they want the registers. */
#include "host_core_state.h"

static void access_request(struct host_core *c, struct core_call *k, enum core_phase phase)
{
    k->phase = phase;
    k->turn_number = c->turns++;
}

/* A fence waits for the call's accesses, which have all been answered when it wants the registers,
 * and drains the core. */
static void begin_fence(struct host_core *c, enum core_step step)
{
    c->step = step;
    c->due = host_core_now(c) + host_core_params(c)->fence;
    c->io.stats.fences++;
    timeline_begin(&c->io.base, call_at(c, c->owner)->order,
                   step == STEP_FENCE ? "fence before the registers"
                                      : "fence behind the registers");
}

static bool begin_turn(struct host_core *c)
{
    uint32_t best = UINT32_MAX;
    if (!c->used_calls)
        return false;
    for (uint32_t i = 0; i < call_count(c); i++) {
        const struct core_call *k = call_at(c, i);
        if ((k->phase == CORE_RING || k->phase == CORE_LOOK)
            && (best == UINT32_MAX || k->turn_number < call_at(c, best)->turn_number))
            best = i;
    }
    if (best == UINT32_MAX)
        return false;
    c->owner = best;
    begin_fence(c, STEP_FENCE);
    return true;
}

static bool end_fence(struct host_core *c, const char *span, enum core_step next)
{
    if (host_core_now(c) < c->due) {
        host_core_wake_at(c, c->due);
        return false;
    }
    timeline_end(&c->io.base, call_at(c, c->owner)->order, span);
    c->step = next;
    return true;
}

static bool ask_system(struct host_core *c, bool map)
{
    uint64_t page = host_core_params(c)->device_register;
    if (!host_core_os_can_send(c))
        return false;
    if (map)
        host_core_os_send_map(c, 0, page, pid_of(c));
    else
        host_core_os_send_unmap(c, 0, page, pid_of(c));
    timeline_begin(&c->io.base, call_at(c, c->owner)->order,
                   map ? "map the registers" : "unmap the registers");
    c->step = map ? STEP_MAPPING : STEP_UNMAPPING;
    return true;
}

static bool accept_system_answer(struct host_core *c, bool map)
{
    struct core_call *k = call_at(c, c->owner);
    if (!host_core_os_peek_reply(c))
        return false;
    host_core_os_pop_reply(c);
    timeline_end(&c->io.base, k->order, map ? "map the registers" : "unmap the registers");
    c->step = map ? STEP_SEND : STEP_NONE;
    if (!map)
        access_end(c, k);
    return true;
}

static bool send_access(struct host_core *c)
{
    const struct core_call *k = call_at(c, c->owner);
    uint64_t device = host_core_params(c)->device_register;
    uint64_t address = address_of(c, c->owner);
    uint16_t tag = (uint16_t)(c->owner * CORE_LINES + CORE_DEVICE);
    if (!host_core_mem_can_send(c))
        return false;
    if (k->phase == CORE_LOOK) {
        host_core_mem_send_read(c, tag, device, sizeof address, pid_of(c), false);
        timeline_begin(&c->io.base, k->order, "look at the status");
        c->io.stats.polls++;
    } else {
        void *payload = host_core_mem_send_write(c, tag, device, pid_of(c), SCOPE_WAVEFRONT);
        mem_mask_store(mem_write_mask(payload, CORE_LINE),
                       mem_mask_range(0, sizeof address, CORE_LINE), CORE_LINE);
        memcpy(mem_write_data(payload, CORE_LINE), &address, sizeof address);
        timeline_begin(&c->io.base, k->order, "2 write its address to the device");
    }
    c->step = STEP_SENT;
    return true;
}

static void access_accept_answer(struct host_core *c)
{
    const struct core_call *k = call_at(c, c->owner);
    timeline_end(&c->io.base, k->order,
                 k->phase == CORE_LOOK ? "look at the status"
                                       : "2 write its address to the device");
    c->step = STEP_OVER;
}

static bool access_step(struct host_core *c)
{
    switch ((enum core_step)c->step) {
    case STEP_NONE:
        return begin_turn(c);
    case STEP_FENCE:
        return end_fence(c, "fence before the registers", STEP_MAP);
    case STEP_MAP:
        return ask_system(c, true);
    case STEP_MAPPING:
        return accept_system_answer(c, true);
    case STEP_SEND:
        return send_access(c);
    case STEP_OVER:
        begin_fence(c, STEP_FENCE_AFTER);
        return true;
    case STEP_FENCE_AFTER:
        return end_fence(c, "fence behind the registers", STEP_UNMAP);
    case STEP_UNMAP:
        return ask_system(c, false);
    case STEP_UNMAPPING:
        return accept_system_answer(c, false);
    default:
        return false;
    }
}
