/* See online_gaps.h. */
#include "online_gaps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "instruction_recorder.h"
#include "estimate_write.h"
#include "kernel_stats.h"
#include "launch_gaps.h"
#include "runtime/engine/arena.h"
#include "sampling_options.h"
#include "sampling_thresholds.h"

enum { MOST_LAUNCHES = 1 << 16, MOST_WINDOWS = 1 << 20 };

/* A launch that is over. */
struct whole {
    uint64_t number;
    double instructions, executed, left_out, open;
    struct cut_estimate estimate[SAMPLER_QUANTITIES];
    uint32_t windows, first;
};

static struct launch_gaps gaps;
static struct whole *wholes;
static struct gap_window *windows;
static uint32_t whole_count, window_count;
static uint64_t present; /* launch; 0: none */
static uint64_t vectors[SAMPLER_VECTOR];
static double executed; /* without timing, in all launches */
static double wanted;
static double cycle_ps;
static uint64_t issued_at_begin;
static bool is_on, is_over;
static double aim;

void online_gaps_open(bool on, double wanted_aim)
{
    is_on = on;
    aim = wanted_aim;
    present = 0;
    whole_count = window_count = 0;
    executed = 0;
    if (!on || wholes)
        return;
    wholes = arena_reserve(MOST_LAUNCHES * sizeof *wholes);
    windows = arena_reserve(MOST_WINDOWS * sizeof *windows);
}

bool online_gaps_choose(uint64_t number)
{
    bool room = whole_count < MOST_LAUNCHES && window_count + GAPS_MOST <= MOST_WINDOWS;
    if (!is_on || aim < GAPS_AIM || !room || instruction_recorder || platform_profile()
        || engine.tracing)
        return false;
    present = number;
    is_over = false;
    memset(vectors, 0, sizeof vectors);
    return true;
}

static double issued(void)
{
    return (double)engine_instructions() - executed;
}

static uint64_t to_ps(double cycles)
{
    return isinf(cycles) ? ENGINE_NEVER : (uint64_t)(cycles * cycle_ps + 0.5);
}

uint64_t online_gaps_begin(uint64_t now_ps, uint32_t clock)
{
    cycle_ps = 1e12 / (double)engine.domains[clock].hz;
    issued_at_begin = (uint64_t)issued();
    return to_ps(gaps_begin(&gaps, aim, (double)now_ps / cycle_ps, issued()));
}

bool online_gaps_look(uint64_t now_ps, uint64_t running, uint64_t *next_ps)
{
    double next;
    bool pause = gaps_look(&gaps, (double)now_ps / cycle_ps, issued(), running, &next);
    *next_ps = to_ps(next);
    return pause;
}

uint64_t online_gaps_wanted(uint64_t *touching)
{
    double touched;
    wanted = gaps_wanted(&gaps, &touched);
    *touching = (uint64_t)touched;
    return (uint64_t)wanted;
}

uint64_t online_gaps_executed(const struct gaps_done *done, const uint64_t *vector)
{
    const struct gap_result result = {.executed = (double)done->instructions,
                                      .resumed = (double)done->resumed_ps / cycle_ps,
                                      .running = done->running};
    executed += (double)done->instructions;
    for (uint32_t i = 0; i < SAMPLER_VECTOR; i++)
        vectors[i] += vector[i];
    return to_ps(gaps_executed(&gaps, wanted, &result));
}

void online_gaps_end(void)
{
    gaps_end(&gaps);
    is_over = true;
}

bool online_gaps_has(uint64_t number)
{
    return present && present == number;
}

bool online_gaps_result(uint64_t number, struct sampler_measure *measure, uint64_t *vector)
{
    struct kernel_times taken;
    if (!online_gaps_has(number) || !is_over || !kernel_times_of((uint32_t)number, &taken))
        return false;
    double instructions = issued() - (double)issued_at_begin + gaps.executed;
    struct whole *w = &wholes[whole_count++];
    *w =
        (struct whole){.number = number,
                       .instructions = instructions,
                       .executed = gaps.executed,
                       .left_out = gaps.left_out,
                       .open = gaps.open,
                       .estimate = {gaps_estimate(&gaps, (double)taken.cycles),
                                    gaps_bytes(&gaps, instructions, (double)taken.traffic.read),
                                    gaps_bytes(&gaps, instructions, (double)taken.traffic.written)},
                       .windows = gaps.count,
                       .first = window_count};
    memcpy(windows + window_count, gaps.window, gaps.count * sizeof *windows);
    window_count += gaps.count;
    cut_measure(w->estimate, measure);
    for (uint32_t i = 0; i < SAMPLER_VECTOR; i++)
        vector[i] += vectors[i];
    present = 0;
    return true;
}

/* For each window its instructions and cycles, and what was executed since the one before: for
 * whoever wants to compute the estimate again. */
static void write_windows(struct json *j, const struct whole *w)
{
    json_open(j, "windows", '[');
    for (uint32_t i = 0; i < w->windows; i++) {
        const struct gap_window *at = &windows[w->first + i];
        char text[96];
        snprintf(text, sizeof text, "%.12g %.12g %.12g%s", at->instructions, at->cycles, at->before,
                 at->thin ? " thin" : "");
        json_text(j, NULL, text);
    }
    json_close(j, ']');
}

void online_gaps_write(struct json *j)
{
    json_open(j, "with_gaps", '[');
    for (uint32_t i = 0; i < whole_count; i++) {
        const struct whole *w = &wholes[i];
        json_open(j, NULL, '{');
        json_uint(j, "launch", w->number);
        json_uint(j, "wavefront_instructions", (uint64_t)w->instructions);
        json_uint(j, "detailed_wavefront_instructions", (uint64_t)(w->instructions - w->executed));
        estimate_write_cut(j, w->estimate);
        json_decimal(j, "left_out", w->left_out);
        json_decimal(j, "behind", w->open);
        write_windows(j, w);
        json_close(j, '}');
    }
    json_close(j, ']');
}
