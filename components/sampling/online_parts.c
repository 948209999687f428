/* Records of all command processors, from which each part in detail is measured. They go to one
 * list, whose order depends on the host's threads; it is sorted before it is read. */
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
    EVENTS_MAX = 2 * (LAUNCH_PARTS_GROUPS_MAX + LAUNCH_PARTS_RESIDENT_MAX),
    LAUNCHES_MAX = 1 << 16,
    WINDOWS_MAX = 1 << 22
};

/* A work-group is placed or ends. */
struct work_group_event {
    uint64_t time_ps;
    uint64_t instructions; /* 0: it is placed */
    uint32_t leaf;
};

/* The result of a launch that is over, for the statistics. */
struct launch_result {
    uint64_t number, groups, detailed, instructions, detailed_instructions;
    struct cut_estimate estimate[SAMPLER_QUANTITIES];
    double generation, differences, drain;
    uint32_t pairs;
    uint32_t window_count;
    uint32_t first_window; /* its index in `windows` */
};

bool online_parts_recording;

static struct work_group_event *events;
static uint32_t event_count;
static struct work_group_end *ends;
static struct launch_result *results;
static uint32_t result_count;
static struct launch_part_window *windows; /* windows of all launches */
static uint32_t window_count;
static struct launch_parts parts;
static uint64_t current_launch;      /* number of the launch in parts; 0: none */
static struct sampler_work executed; /* in parts without timing */
static bool is_on;
static bool has_warned; /* that results are full */
static double aim;

static void record_work_group(const struct component *c, uint64_t instructions)
{
    uint32_t number = __atomic_fetch_add(&event_count, 1, __ATOMIC_RELAXED);
    if (number < EVENTS_MAX)
        events[number] = (struct work_group_event){component_now_ps(c), instructions, c->leaf};
}

void online_parts_record_placed(const struct component *c)
{
    record_work_group(c, 0);
}

void online_parts_record_ended(const struct component *c, uint64_t instructions)
{
    record_work_group(c, instructions ? instructions : 1);
}

void online_parts_open(bool on, double share)
{
    is_on = on;
    aim = share;
    online_parts_recording = false;
    result_count = window_count = 0;
    has_warned = false;
    current_launch = 0;
    if (!on || events)
        return;
    events = arena_reserve(EVENTS_MAX * sizeof *events);
    ends = arena_reserve(EVENTS_MAX * sizeof *ends);
    results = arena_reserve(LAUNCHES_MAX * sizeof *results);
    windows = arena_reserve(WINDOWS_MAX * sizeof *windows);
}

bool online_parts_begin(uint64_t number, uint64_t groups, uint32_t resident)
{
    bool room = result_count < LAUNCHES_MAX && window_count + LAUNCH_PARTS_MAX <= WINDOWS_MAX;
    if (!is_on || !launch_parts_fit(groups, resident))
        return false;
    if (!room) {
        if (!has_warned)
            fprintf(stderr,
                    "heddle: %" PRIu32 " launches were simulated in parts, as many as can be; "
                    "later ones are simulated whole\n",
                    result_count);
        has_warned = true;
        return false;
    }
    launch_parts_begin(&parts, groups, resident, aim);
    executed = (struct sampler_work){0};
    current_launch = number;
    return true;
}

bool online_parts_next(struct sampled_launch_part *next)
{
    return launch_parts_next(&parts, next);
}

void online_parts_begin_timed(void)
{
    event_count = 0;
    online_parts_recording = true;
}

/* By time; at one time the work-groups that end come first. Equal events are interchangeable. */
static int by_time(const void *a, const void *b)
{
    const struct work_group_event *x = a, *y = b;
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->instructions != y->instructions)
        return x->instructions > y->instructions ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

void online_parts_end_timed(void)
{
    struct kernel_times times;
    struct launch_part_record record = {.ends = ends};
    if (!kernel_times_of((uint32_t)current_launch, &times) || event_count > EVENTS_MAX)
        bug("launch %" PRIu64 ": its part was not recorded", current_launch);
    online_parts_recording = false;
    qsort(events, event_count, sizeof *events, by_time);
    double clock = times.end_ps > times.start_ps
                       ? (double)times.cycles / (double)(times.end_ps - times.start_ps)
                       : 1;
    uint32_t placed = 0;
    record.end = times.cycles;
    record.bytes[SAMPLER_READ] = (double)times.traffic.read;
    record.bytes[SAMPLER_WRITTEN] = (double)times.traffic.written;
    for (uint32_t i = 0; i < event_count; i++) {
        uint64_t cycle = (uint64_t)((double)(events[i].time_ps - times.start_ps) * clock + 0.5);
        if (events[i].instructions)
            ends[record.count++] = (struct work_group_end){cycle, events[i].instructions};
        else
            record.placed = cycle;
        placed += !events[i].instructions;
        if (placed - record.count > record.resident)
            record.resident = placed - record.count;
    }
    launch_parts_add_timed(&parts, &record);
}

void online_parts_end_untimed(uint64_t groups, uint64_t instructions,
                              const struct sampler_work *work)
{
    sampler_work_add(&executed, work);
    launch_parts_add_untimed(&parts, groups, instructions);
}

bool online_parts_has(uint64_t number)
{
    return current_launch && current_launch == number;
}

bool online_parts_result(uint64_t number, struct sampler_measure *measure,
                         struct sampler_work *work)
{
    struct sampled_launch_part next;
    if (!online_parts_has(number) || launch_parts_next(&parts, &next))
        return false;
    struct launch_result *w = &results[result_count++];
    *w = (struct launch_result){.number = number,
                                .groups = parts.groups,
                                .detailed = parts.detailed_groups,
                                .instructions = parts.instructions,
                                .detailed_instructions = parts.detailed_instructions,
                                .estimate = {launch_parts_estimate(&parts),
                                             launch_parts_bytes(&parts, SAMPLER_READ),
                                             launch_parts_bytes(&parts, SAMPLER_WRITTEN)},
                                .generation = parts.generation_instructions,
                                .differences = parts.squared_differences,
                                .pairs = parts.difference_count,
                                .drain = parts.drain_cycles,
                                .first_window = window_count,
                                .window_count = parts.window_count};
    memcpy(windows + window_count, parts.windows, parts.window_count * sizeof *windows);
    window_count += parts.window_count;
    cut_measure(w->estimate, measure);
    sampler_work_add(work, &executed);
    current_launch = 0;
    return true;
}

/* Writes the members of struct launch_part_window for each part in detail, a line each. The
 * estimate can be computed again from these numbers. */
static void write_windows(struct json *j, const struct launch_result *w)
{
    json_open(j, "windows", '[');
    for (uint32_t i = 0; i < w->window_count; i++) {
        const struct launch_part_window *window = &windows[w->first_window + i];
        char text[256];
        snprintf(text, sizeof text,
                 "%" PRIu64 " %" PRIu64 " %.12g %.12g %.12g %.12g %" PRIu32
                 " %.12g %.12g %.12g %.12g",
                 window->first_group, window->groups, window->instructions, window->cycles,
                 window->instructions_before, window->rate, window->generations,
                 window->skipped_instructions, window->timed_instructions,
                 window->bytes[SAMPLER_READ], window->bytes[SAMPLER_WRITTEN]);
        json_text(j, NULL, text);
    }
    json_close(j, ']');
}

/* Writes the members of struct launch_parts that the interval depends on. */
static void write_scatter(struct json *j, const struct launch_result *w)
{
    char text[128];
    snprintf(text, sizeof text, "%.12g %" PRIu32 " %.12g %.12g", w->differences, w->pairs,
             w->generation, w->drain);
    json_text(j, "scatter", text);
}

void online_parts_write(struct json *j)
{
    json_open(j, "in_parts", '[');
    for (uint32_t i = 0; i < result_count; i++) {
        const struct launch_result *w = &results[i];
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
