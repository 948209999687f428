/* Plays a trace of API calls on a device that takes packets (mmio), line after line.
 * trace_cpu_play.c makes packets of a line, trace_cpu_packet.c moves bytes and packets. */
#include "base/wide.h"
#include "runtime/engine/component_failure.h"

#include "trace_cpu_state.h"

static void trace_cpu_init(struct trace_cpu *c)
{
    uint32_t lines = trace_cpu_params(c)->lines;
    c->slots_at = arena_allocate(lines * sizeof(struct cpu_slot));
    index_pool_init(&c->free_slots, lines);
    c->next_byte = CPU_PACKET_BYTES;
}

static void report_mistake(void *context, uint32_t line, const char *text)
{
    const char *path = context;
    if (line)
        fprintf(stderr, "%s:%" PRIu32 ": error: %s\n", path, line, text);
    else
        fprintf(stderr, "%s: error: %s\n", path, text);
}

/* Packets have what CUDA's runtime has; recordings of whole programs have more: peers, devices that
 * the program makes, clusters. */
static bool has_all_calls(struct trace_cpu *c)
{
    for (uint32_t i = 0; i < c->trace.call_count; i++) {
        if (play_has_call(&c->trace.calls[i]))
            continue;
        engine_fail(&c->io.base,
                    "%s%s%s:%" PRIu32 ": no packet says this call; play the trace on a platform "
                    "without a trace_cpu; nothing was played",
                    c->trace.folder, *c->trace.folder ? "/" : "", API_TRACE_FILE,
                    c->trace.calls[i].line);
        return false;
    }
    return true;
}

static bool open_trace(struct trace_cpu *c)
{
    char place[CPU_PATH_MAX];
    const char *path = option_text("play api");
    if (!path) {
        engine_fail(&c->io.base, "there is no trace to play; name one: --play api=DIR");
        c->phase = CPU_OVER;
        return true;
    }
    size_t size = strlen(path), end = strlen(API_TRACE_FILE);
    bool file = size >= end && strcmp(path + size - end, API_TRACE_FILE) == 0;
    snprintf(place, sizeof place, "%s%s%s", path, file ? "" : "/", file ? "" : API_TRACE_FILE);
    const struct api_trace_sink sink = {report_mistake, place};
    c->trace.folder = "";
    if (!api_trace_read(&c->trace, path, &sink)) {
        engine_fail(&c->io.base, "the trace '%s' has errors; nothing was played", path);
        c->phase = CPU_OVER;
        return true;
    }
    c->phase = has_all_calls(c) ? CPU_PLAY : CPU_OVER;
    c->call = CPU_NONE; /* modules first */
    return true;
}

/* The code objects of --module. */
static bool play_modules(struct trace_cpu *c)
{
    char path[CPU_PATH_MAX];
    if (!option_line("module", c->module_file, path, sizeof path))
        return true;
    if (register_file(c, path)) {
        c->module_file++;
        c->stage = 0;
    }
    return false;
}

/* Memory of the host has run out, or the trace is over: waits for everything and compares. */
static bool drain(struct trace_cpu *c)
{
    if (c->drain_stage++ == 0) {
        packet_begin(c, API_CALL_DEVICE_SYNCHRONIZE);
        packet_write(c);
        return false;
    }
    if (!compare_copies(c))
        return false;
    c->next_byte = CPU_PACKET_BYTES;
    c->drain_stage = 0;
    return true;
}

/* Prints the sums, and fails if bytes were wrong. */
static void end_trace(struct trace_cpu *c)
{
    uint64_t total = c->io.stats.total, correct = c->io.stats.correct;
    /* 1.000000 only when every byte is right: rounded down. */
    uint64_t ratio = total ? divide_wide(correct, 1000000, total) : 1000000;
    c->io.stats.ratio = ratio;
    printf("api trace: %" PRIu32 " calls, total %" PRIu64 ", correct %" PRIu64 ", ratio %" PRIu64
           ".%06" PRIu64 "\n",
           c->trace.call_count, total, correct, ratio / 1000000, ratio % 1000000);
    fflush(stdout);
    if (*c->first_wrong)
        engine_fail(&c->io.base, "%s%s%s: %s", c->trace.folder, *c->trace.folder ? "/" : "",
                    API_TRACE_FILE, c->first_wrong);
    c->phase = CPU_OVER;
}

/* Nothing is under way: begins the next thing. */
static void play(struct trace_cpu *c)
{
    if (c->is_draining) {
        c->is_draining = !drain(c);
        return;
    }
    if (c->call == CPU_NONE) {
        if (play_modules(c)) {
            c->call = 0;
            c->stage = 0;
        }
        return;
    }
    if (c->call == c->trace.call_count) {
        if (drain(c))
            end_trace(c);
        return;
    }
    const struct api_trace_call *call = &c->trace.calls[c->call];
    bool made = call->kind == API_TRACE_STREAM_CREATE;
    if (!made && !c->has_made_stream && make_new_stream(c, call->stream)) {
        c->has_made_stream = true;
        return;
    }
    if (c->has_made_stream) {
        name_set(&c->streams, stream_name(c, call->stream), c->answer.stream_create.stream);
        c->has_made_stream = false;
        if (!check_call(c, "making a stream"))
            return;
    }
    if (play_line(c, call)) {
        c->io.stats.calls++;
        c->call++;
        c->stage = c->item = 0;
    }
}

/* A move is over: continues what it was part of. */
static void end_move(struct trace_cpu *c)
{
    if (c->phase == CPU_WRITE_PACKET) {
        timeline_end(&c->io.base, c->sequence, "1 write the packet to memory");
        end_step(c, 0);
        c->phase = CPU_RING;
    } else if (c->phase == CPU_READ_ANSWER) {
        end_packet(c);
    } else {
        c->phase = CPU_PLAY;
    }
}

static bool receive_replies(struct trace_cpu *c)
{
    const struct mem_reply *m;
    bool progress = false;
    while ((m = trace_cpu_mem_peek_reply(c))) {
        const uint8_t *line = message_kind(m) == MEM_DATA
                                  ? mem_data_data(trace_cpu_mem_reply_payload(c), CPU_LINE)
                                  : NULL;
        if (m->tag == CPU_TAG_DEVICE)
            accept_device_answer(c, line);
        else
            move_receive(c, m->tag, line);
        trace_cpu_mem_pop_reply(c);
        progress = true;
    }
    return progress;
}

static bool is_moving(const struct trace_cpu *c)
{
    return c->phase == CPU_MOVE || c->phase == CPU_WRITE_PACKET || c->phase == CPU_READ_ANSWER;
}

static bool trace_cpu_tick(struct trace_cpu *c)
{
    bool progress = receive_replies(c);
    if (is_moving(c)) {
        progress |= move_send(c);
        if (!move_is_over(c))
            return progress;
        end_move(c);
        return true;
    }
    switch ((enum cpu_phase)c->phase) {
    case CPU_START:
        return open_trace(c);
    case CPU_PLAY:
        play(c);
        return true;
    case CPU_RING:
        return ring_device(c) || progress;
    case CPU_ASK:
        return ask_device(c) || progress;
    case CPU_BLOCKED:
        if (trace_cpu_now(c) < c->wait_until) {
            trace_cpu_wake_at(c, c->wait_until);
            return progress;
        }
        packet_write(c);
        return true;
    default:
        return progress;
    }
}

static unsigned trace_cpu_outstanding(const struct trace_cpu *c, struct hang_report *report)
{
    if (report && c->phase != CPU_OVER && c->call != CPU_NONE)
        hang_note(report, "plays line %" PRIu32 " of the trace", cpu_line_of_call(c));
    return c->phase != CPU_OVER && c->phase != CPU_START;
}
