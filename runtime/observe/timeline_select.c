/* Decides what of a run the timeline shows: the options name instances, a span of time, or
 * launches. timeline_internal.h has the interface. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/state/lookup.h"

#include "path_pattern.h"
#include "timeline_internal.h"

#define LAUNCHES_MAX 64 /* asked for */

struct launch_filter {
    const char *name; /* NULL: a number */
    uint64_t number;
    bool was_seen;
};

/* Known by its component, too: that of a driver's command has an id and a name as well. */
struct launch {
    uint32_t instance;
    const char *name;
    uint64_t id;
    bool is_wanted;
    struct launch *next;
};

static struct {
    const struct platform_table *table;
    bool *instances; /* NULL: all */
    uint64_t from_ps, to_ps;
    struct launch_filter filters[LAUNCHES_MAX];
    uint32_t filter_count, launch_count, open_count;
    struct launch *open;
    uint64_t last_wanted_ps; /* when the last wanted launch ended */
    bool has_ended;
} selection;

static bool select_instances(const char *pattern)
{
    bool has_match = false;
    for (uint32_t i = 0; i < selection.table->instance_count; i++)
        if (path_pattern_matches(pattern, platform_string(selection.table->instances[i].path)))
            has_match = selection.instances[i] = true;
    if (!has_match)
        fprintf(stderr,
                "heddle: '--record-path %s': no component of the platform has this path; "
                "'heddle params' lists them\n",
                pattern);
    return has_match;
}

static bool add_launch_filter(const char *text)
{
    if (selection.filter_count == LAUNCHES_MAX) {
        fprintf(stderr, "heddle: the trace can show at most %d launches by name or number\n",
                LAUNCHES_MAX);
        return false;
    }
    char *end;
    struct launch_filter *w = &selection.filters[selection.filter_count++];
    uint64_t number = strtoull(text, &end, 10);
    *w = (struct launch_filter){.number = number};
    if (*end || end == text)
        w->name = grow_text(text, "a list of launches");
    return true;
}

bool timeline_select_open(const struct platform_table *table)
{
    const char *window = option_text("record-window"); /* "FROM..TO" in picoseconds */
    const char *launches = option_text("record-kernel"), *paths = option_text("record-path");
    memset(&selection, 0, sizeof selection);
    selection.table = table;
    selection.to_ps = UINT64_MAX;
    if (window)
        sscanf(window, "%" SCNu64 "..%" SCNu64, &selection.from_ps, &selection.to_ps);
    if (launches && !path_pattern_each(launches, add_launch_filter))
        return false;
    if (!paths)
        return true;
    selection.instances =
        grow_zeroed(table->instance_count * sizeof *selection.instances, "selection");
    return path_pattern_each(paths, select_instances);
}

bool timeline_select_limits_time(void)
{
    return selection.from_ps || selection.to_ps != UINT64_MAX || selection.filter_count;
}

bool timeline_selects_instance(uint32_t instance)
{
    return !selection.instances || selection.instances[instance];
}

bool timeline_selects_ring(uint32_t ring)
{
    const struct platform_ring *r = &selection.table->rings[ring];
    return timeline_selects_instance(r->sender) || timeline_selects_instance(r->receiver);
}

bool timeline_selects_time(uint64_t time_ps)
{
    return time_ps >= selection.from_ps && time_ps < selection.to_ps;
}

/* "scale" and "scale(float*, int)" both name the latter. */
static bool has_name(const char *launch, const char *name)
{
    size_t n = strlen(name);
    return strncmp(launch, name, n) == 0 && (!launch[n] || launch[n] == '(');
}

static bool matches_filter(const char *name, uint32_t number)
{
    bool has_match = false;
    for (uint32_t i = 0; i < selection.filter_count; i++) {
        struct launch_filter *w = &selection.filters[i];
        if (w->name ? has_name(name, w->name) : w->number == number)
            has_match = w->was_seen = true;
    }
    return has_match;
}

void timeline_select_launch_begin(uint32_t instance, const char *name, uint64_t id)
{
    if (!selection.filter_count)
        return;
    struct launch *k = grow_memory(NULL, sizeof *k, "selection");
    bool is_chosen = matches_filter(name, ++selection.launch_count);
    *k = (struct launch){instance, name, id, is_chosen, selection.open};
    selection.open = k;
    selection.open_count += k->is_wanted;
}

static bool is_launch(const struct launch *k, uint32_t instance, const char *name, uint64_t id)
{
    return k->instance == instance && k->id == id && strcmp(k->name, name) == 0;
}

void timeline_select_launch_end(uint32_t instance, const char *name, uint64_t id, uint64_t now_ps)
{
    struct launch **at = &selection.open;
    while (*at && !is_launch(*at, instance, name, id))
        at = &(*at)->next;
    struct launch *k = *at;
    if (!k)
        return;
    *at = k->next;
    if (k->is_wanted) {
        selection.open_count--;
        selection.has_ended = true;
        selection.last_wanted_ps = now_ps;
    }
    free(k);
}

bool timeline_selects_now(uint64_t now_ps)
{
    return timeline_selects_time(now_ps) && (!selection.filter_count || selection.open_count);
}

bool timeline_selects_span(uint64_t begin_ps, uint64_t now_ps)
{
    bool has_launch = !selection.filter_count || selection.open_count
                      || (selection.has_ended && selection.last_wanted_ps >= begin_ps);
    return has_launch && begin_ps < selection.to_ps && now_ps >= selection.from_ps;
}

bool timeline_select_close(uint64_t now_ps)
{
    bool is_complete = selection.from_ps <= now_ps;
    if (!is_complete)
        fprintf(stderr,
                "heddle: '--record-window': the run ended at %" PRIu64 ".%06" PRIu64
                "us, before the window begins\n",
                now_ps / 1000000, now_ps % 1000000);
    for (uint32_t i = 0; i < selection.filter_count; i++) {
        const struct launch_filter *w = &selection.filters[i];
        if (!w->was_seen && w->name)
            fprintf(stderr,
                    "heddle: the trace was to show '%s', but nothing of this name was launched\n",
                    w->name);
        else if (!w->was_seen)
            fprintf(stderr, "heddle: the trace was to show launch %" PRIu64 " of %" PRIu32 "\n",
                    w->number, selection.launch_count);
        is_complete = is_complete && w->was_seen;
    }
    return is_complete;
}
