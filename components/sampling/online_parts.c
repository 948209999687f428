/* See online_parts.h. Notes of all command processors go to one list, whose order depends on the
 * host's threads; it is sorted before anybody looks at it. */
#include "online_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/statistics/kernel_stats.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "estimate_write.h"
#include "stratified_sampler.h"

enum {
    NOTES_MAX = 2 * (PARTS_MOST_GROUPS + PARTS_MOST_RESIDENT),
    LAUNCHES_MAX = 1 << 16,
    WINDOWS_MAX = 1 << 22
};

struct note {
    uint64_t time_ps;
    uint64_t instructions; /* 0: it was placed */
    uint32_t leaf;
};

/* A launch that is over. */
struct whole {
    uint64_t number, groups, detailed, instructions, detailed_instructions;
    struct cut_estimate estimate[SAMPLER_QUANTITIES];
    double generation, differences, drain;
    uint32_t pairs;
    uint32_t windows; /* and the first of them in `windows` */
    uint32_t first;
};

bool parts_logged;

static struct note *notes;
static uint32_t note_count;
static struct part_end *ends;
static struct whole *wholes;
static uint32_t whole_count;
static struct part_window *windows; /* of all launches */
static uint32_t window_count;
static struct launch_parts parts;
static uint64_t present;             /* launch; 0: none */
static struct sampler_work executed; /* without timing */
static bool is_on;
static bool full; /* which was said */
static double aim;

static void note_work_group(const struct component *c, uint64_t instructions)
{
    uint32_t number = __atomic_fetch_add(&note_count, 1, __ATOMIC_RELAXED);
    if (number < NOTES_MAX)
        notes[number] = (struct note){component_now_ps(c), instructions, c->leaf};
}

void parts_note_placed(const struct component *c)
{
    note_work_group(c, 0);
}

void parts_note_ended(const struct component *c, uint64_t instructions)
{
    note_work_group(c, instructions ? instructions : 1);
}

void online_parts_open(bool on, double wanted)
{
    is_on = on;
    aim = wanted;
    parts_logged = false;
    whole_count = window_count = 0;
    full = false;
    present = 0;
    if (!on || notes)
        return;
    notes = arena_reserve(NOTES_MAX * sizeof *notes);
    ends = arena_reserve(NOTES_MAX * sizeof *ends);
    wholes = arena_reserve(LAUNCHES_MAX * sizeof *wholes);
    windows = arena_reserve(WINDOWS_MAX * sizeof *windows);
}

bool online_parts_begin(uint64_t number, uint64_t groups, uint32_t resident)
{
    bool room = whole_count < LAUNCHES_MAX && window_count + PARTS_MAX <= WINDOWS_MAX;
    if (!is_on || !parts_fit(groups, resident))
        return false;
    if (!room) {
        if (!full)
            fprintf(stderr,
                    "heddle: %" PRIu32 " launches were simulated in parts, as many as can be; "
                    "later ones are simulated whole\n",
                    whole_count);
        full = true;
        return false;
    }
    parts_begin(&parts, groups, resident, aim);
    executed = (struct sampler_work){0};
    present = number;
    return true;
}

bool online_parts_next(struct sampled_part *next)
{
    return parts_next(&parts, next);
}

void online_parts_start(void)
{
    note_count = 0;
    parts_logged = true;
}

/* By time; at one time those that end come first. What is left equal is interchangeable. */
static int by_time(const void *a, const void *b)
{
    const struct note *x = a, *y = b;
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->instructions != y->instructions)
        return x->instructions > y->instructions ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

void online_parts_timed(void)
{
    struct kernel_times times;
    struct part_log log = {.ends = ends};
    if (!kernel_times_of((uint32_t)present, &times) || note_count > NOTES_MAX)
        bug("launch %" PRIu64 ": nothing is known of its part", present);
    parts_logged = false;
    qsort(notes, note_count, sizeof *notes, by_time);
    double clock = times.end_ps > times.start_ps
                       ? (double)times.cycles / (double)(times.end_ps - times.start_ps)
                       : 1;
    uint32_t placed = 0;
    log.end = times.cycles;
    log.bytes[SAMPLER_READ] = (double)times.traffic.read;
    log.bytes[SAMPLER_WRITTEN] = (double)times.traffic.written;
    for (uint32_t i = 0; i < note_count; i++) {
        uint64_t cycle = (uint64_t)((double)(notes[i].time_ps - times.start_ps) * clock + 0.5);
        if (notes[i].instructions)
            ends[log.count++] = (struct part_end){cycle, notes[i].instructions};
        else
            log.placed = cycle;
        placed += !notes[i].instructions;
        if (placed - log.count > log.resident)
            log.resident = placed - log.count;
    }
    parts_timed(&parts, &log);
}

void online_parts_executed(uint64_t groups, uint64_t instructions, const struct sampler_work *work)
{
    sampler_work_add(&executed, work);
    parts_executed(&parts, groups, instructions);
}

bool online_parts_has(uint64_t number)
{
    return present && present == number;
}

bool online_parts_result(uint64_t number, struct sampler_measure *measure,
                         struct sampler_work *work)
{
    struct sampled_part next;
    if (!online_parts_has(number) || parts_next(&parts, &next))
        return false;
    struct whole *w = &wholes[whole_count++];
    *w = (struct whole){.number = number,
                        .groups = parts.groups,
                        .detailed = parts.detailed,
                        .instructions = parts.instructions,
                        .detailed_instructions = parts.detailed_instructions,
                        .estimate = {parts_estimate(&parts), parts_bytes(&parts, SAMPLER_READ),
                                     parts_bytes(&parts, SAMPLER_WRITTEN)},
                        .generation = parts.generation,
                        .differences = parts.differences,
                        .pairs = parts.pairs,
                        .drain = parts.drain,
                        .first = window_count,
                        .windows = parts.count};
    memcpy(windows + window_count, parts.window, parts.count * sizeof *windows);
    window_count += parts.count;
    cut_measure(w->estimate, measure);
    sampler_work_add(work, &executed);
    present = 0;
    return true;
}

/* For each part in detail its first work-group, how many there were, the instructions and cycles of
 * its window, instructions of work-groups in no window before it, the rate, and of how many
 * generations that is the mean; then the instructions without timing since the part before, its
 * own, and the bytes that memory read and wrote for them. The estimate can be computed again from
 * these. */
static void write_windows(struct json *j, const struct whole *w)
{
    json_open(j, "windows", '[');
    for (uint32_t i = 0; i < w->windows; i++) {
        const struct part_window *window = &windows[w->first + i];
        char text[256];
        snprintf(text, sizeof text,
                 "%" PRIu64 " %" PRIu64 " %.12g %.12g %.12g %.12g %" PRIu32
                 " %.12g %.12g %.12g %.12g",
                 window->first, window->groups, window->instructions, window->cycles,
                 window->before, window->rate, window->rates, window->skipped, window->timed,
                 window->bytes[SAMPLER_READ], window->bytes[SAMPLER_WRITTEN]);
        json_text(j, NULL, text);
    }
    json_close(j, ']');
}

/* Differences and pairs, instructions of a generation, and the drain: see struct launch_parts. */
static void write_scatter(struct json *j, const struct whole *w)
{
    char text[128];
    snprintf(text, sizeof text, "%.12g %" PRIu32 " %.12g %.12g", w->differences, w->pairs,
             w->generation, w->drain);
    json_text(j, "scatter", text);
}

void online_parts_write(struct json *j)
{
    json_open(j, "in_parts", '[');
    for (uint32_t i = 0; i < whole_count; i++) {
        const struct whole *w = &wholes[i];
        json_open(j, NULL, '{');
        json_uint(j, "launch", w->number);
        json_uint(j, "work_groups", w->groups);
        json_uint(j, "detailed_work_groups", w->detailed);
        json_uint(j, "wavefront_instructions", w->instructions);
        json_uint(j, "detailed_wavefront_instructions", w->detailed_instructions);
        estimate_write_cut(j, w->estimate);
        write_scatter(j, w);
        write_windows(j, w);
        json_close(j, '}');
    }
    json_close(j, ']');
}
