/* Copies of the host that a list of traces names, and the lines that they leave in the L2. */
#include "base/number.h"

#include "trace_player_state.h"

/* A copy waits for the kernels before it and holds up later commands, as a copy of the null stream
 * does.
 */
static bool copy_accept(struct trace_player *p, const struct itrace_command *command)
{
    bool fills = player_fills(p) && platform_mode() != PLATFORM_FUNCTIONAL;
    if (command->kind != ITRACE_COMMAND_WRITE) { /* nothing that is simulated here */
        p->command++;
        return true;
    }
    if (fills && p->order_count)
        return false;
    if (fills && command->bytes) {
        p->fill_at = command->address;
        p->fill_end = command->address + command->bytes;
    }
    p->io.stats.copies_done++;
    p->command++;
    return true;
}

static bool copy_fill(struct trace_player *p)
{
    bool progress = false;
    while (trace_player_l2_is_connected(p) && trace_player_l2_peek_reply(p)) {
        trace_player_l2_pop_reply(p);
        p->fills--;
        progress = true;
    }
    while (p->fill_at != p->fill_end && trace_player_l2_can_send(p)) {
        uint64_t line = p->fill_at & ~(uint64_t)127, end = line + 128;
        end = min(end, p->fill_end);
        unsigned first = (unsigned)(p->fill_at - line) / 32, last = (unsigned)(end - 1 - line) / 32;
        uint8_t sectors = (uint8_t)((2u << last) - (1u << first));
        trace_player_l2_send_fill(p, 0, line, sectors);
        p->fill_at = end;
        p->fills++;
        progress = true;
    }
    return progress;
}
