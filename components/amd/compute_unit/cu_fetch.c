/* Instruction fetch: one line request a cycle, round robin over the wavefronts that want one.
 *
 * A wavefront's instruction buffer holds lines of 64 bytes: the line of its pc and the next
 * lines_ahead lines. A requested line keeps its slot until the answer is there, even if the
 * wavefront no longer needs it; there are two slots more than lines, so that a branch need not wait
 * for such a line. Lines are asked for only inside allocations: fetching ahead over the end of the
 * code is no fault, getting there is. */
#include "cu_fetch.h"

#include "compute_unit.gen.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"

static bool fetch_is_allocated(struct compute_unit *c, const struct cu_wave *w, uint64_t line)
{
    const struct program_table *program = compute_unit_program(c);
    if (c->code_table_version != program->version || line < c->code_start || line >= c->code_end) {
        const struct program_allocation *a =
            program_find_in(program, cu_group_at(c, w->group)->pid, line);
        if (!a)
            return false;
        /* An answer holds for one process only: it is not kept if several share addresses. */
        c->code_table_version = program->named ? program->version - 1 : program->version;
        c->code_start = a->start;
        c->code_end = a->end;
    }
    return true;
}

/* A slot for a new line: an empty slot, or else the slot whose unwanted line is furthest from the
 * pc. */
static int fetch_victim(const struct compute_unit *c, const struct cu_wave *w)
{
    uint64_t window = (uint64_t)c->lines_ahead * CU_LINE, furthest = 0;
    int victim = -1;
    for (unsigned i = 0; i < c->line_slots; i++) {
        if (w->line_state[i] == LINE_EMPTY)
            return (int)i;
        if (w->line_state[i] != LINE_VALID || w->line[i] - w->line_address <= window)
            continue;
        uint64_t distance = w->line[i] > w->line_address ? w->line[i] - w->line_address
                                                         : w->line_address - w->line[i];
        if (distance > furthest) {
            furthest = distance;
            victim = (int)i;
        }
    }
    return victim;
}

/* First line of the window that is neither there nor coming; UINT64_MAX: none. Those before number
 * `from` are. */
static uint64_t fetch_missing(struct compute_unit *c, struct cu_wave *w, unsigned from)
{
    for (unsigned i = from; i <= c->lines_ahead; i++) {
        uint64_t line = w->line_address + (uint64_t)i * CU_LINE;
        if (wave_find_line(c, w, line) >= 0)
            continue;
        if (i == 0 || fetch_is_allocated(c, w, line))
            return line;
        break;
    }
    w->complete_version = compute_unit_program(c)->version + 1;
    return UINT64_MAX;
}

/* True if the last search found none and a new one would find none either. Lines of the buffer's
 * span stay until it moves. */
static inline bool fetch_is_complete(const struct compute_unit *c, const struct cu_wave *w)
{
    return w->complete_version && w->complete_version == compute_unit_program(c)->version + 1;
}

/* The wavefront wants no line. */
static void fetch_forget(struct compute_unit *c, unsigned simd, unsigned slot)
{
    c->simd[simd].fetch_wanted &= ~((uint64_t)1 << slot);
    if (!c->simd[simd].fetch_wanted)
        c->fetch_simds &= ~(1u << simd);
}

/* Picks the next wavefront that wants a line, round robin by SIMD and slot. */
static bool fetch_pick(struct compute_unit *c, unsigned *simd, unsigned *slot)
{
    unsigned simds = compute_unit_params(c)->simds;
    for (unsigned i = 0; i <= simds; i++) {
        unsigned s = (c->fetch_simd + i) % simds;
        uint64_t bits = c->simd[s].fetch_wanted;
        if (i == 0)
            bits &= c->fetch_slot < 64 ? UINT64_MAX << c->fetch_slot : 0;
        if (bits) {
            *simd = s;
            *slot = (unsigned)__builtin_ctzll(bits);
            return true;
        }
    }
    return false;
}

/* Sends one request, if any is wanted and possible. Wavefronts that need no line leave the set on
 * the way, and so does a wavefront that has asked for its last line. True: a request was sent, and
 * there may be more in the next cycle. */
static bool fetch_send(struct compute_unit *c)
{
    unsigned simd, slot;
    while (fetch_pick(c, &simd, &slot)) {
        struct cu_wave *w = cu_wave_in(c, simd, slot);
        uint64_t line = fetch_missing(c, w, 0);
        int victim = line == UINT64_MAX ? -1 : fetch_victim(c, w);
        if (victim < 0) {
            fetch_forget(c, simd, slot);
            continue;
        }
        if (line == w->line_address && !fetch_is_allocated(c, w, line)) {
            char cause[WORK_FAULT_CAUSE_BYTES];
            uint64_t pc = cu_scalars(c, w)->pc;
            work_fault_fetch(compute_unit_program(c), pc, cause, sizeof cause);
            fetch_forget(c, simd, slot);
            cu_fault(c, w, NULL, pc, UINT32_MAX, cause);
            return true;
        }
        if (!compute_unit_imem_can_send(c))
            return false;
        compute_unit_imem_send_read(
            c, (uint16_t)(cu_wave_number(c, w) * c->line_slots + (unsigned)victim), line, CU_LINE,
            cu_group_at(c, w->group)->pid, false);
        w->line[victim] = line;
        w->line_state[victim] = LINE_COMING;
        c->fetch_simd = slot == 63 ? (simd + 1) % compute_unit_params(c)->simds : simd;
        c->fetch_slot = (uint8_t)((slot + 1) % 64);
        if (fetch_missing(c, w, (unsigned)((line - w->line_address) / CU_LINE) + 1) == UINT64_MAX)
            fetch_forget(c, simd, slot);
        return c->fetch_simds != 0;
    }
    return false;
}

/* The version of the code that a line has brought. */
static uint32_t fetch_code_version(const struct compute_unit *c, uint64_t address,
                                   const uint8_t *bytes)
{
    struct cu_code *code = cu_code(c);
    struct cu_code_line *line = &code->lines[address / CU_LINE % CU_CODE_LINES];
    if (line->address == address && !memcmp(line->bytes, bytes, CU_LINE))
        return code->version;
    if (line->address) {
        cu_count_on(&code->version);
        cu_count_on(&code->epoch);
    }
    line->address = address;
    memcpy(line->bytes, bytes, CU_LINE);
    return code->version;
}

static void fetch_receive(struct compute_unit *c, uint64_t now)
{
    const struct mem_reply *m;
    while ((m = compute_unit_imem_peek_reply(c))) {
        unsigned slot = m->tag % c->line_slots;
        struct cu_wave *w = cu_wave_at(c, m->tag / c->line_slots);
        if (w->line_state[slot] == LINE_COMING) {
            const uint8_t *bytes = mem_data_data(compute_unit_imem_reply_payload(c), CU_LINE);
            memcpy(cu_line_bytes(c, w, slot), bytes, CU_LINE);
            w->line_state[slot] = LINE_VALID;
            w->line_version[slot] = fetch_code_version(c, w->line[slot], bytes);
        } else {
            w->line_state[slot] = LINE_EMPTY;
        }
        compute_unit_imem_pop_reply(c);
        if (w->state != WAVE_FREE) {
            if (!fetch_is_complete(c, w) && fetch_missing(c, w, 0) != UINT64_MAX)
                wave_want_lines(c, w);
            wave_receive_code(c, w, now);
        }
    }
}
