/* Explains a hang: which component waits, on which port, for which other component.
 *
 * The graph has an edge from component A to component B when a full ring that B should empty has
 * refused A, or when B owes A replies. Following first edges from a waiting component ends in a
 * cycle, which is the deadlock, or at a component that waits for no other, which is the culprit.
 * All is found by counting in the rings; components add notes. run.c asks between steps; the report
 * is composed in a static buffer and kept. */
#include "hang.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/link/ring.h"
#include "runtime/link/shard_cut.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

#define REPORT_BYTES     32768
#define NOTES_PER_REPORT 48
#define WAITS_PER_REPORT 100

struct hang_report {
    char text[REPORT_BYTES];
    size_t used;
    uint32_t notes;
    const char *path; /* path of the component in question */
};

/* One reason why `from` waits. */
struct wait {
    uint32_t from; /* instances */
    uint32_t to;
    uint32_t ring;
    uint32_t owed; /* replies; 0: the ring is full */
};

static struct hang_report report;

static void append(struct hang_report *r, const char *format, va_list arguments)
{
    size_t space = sizeof r->text - r->used;
    int written = vsnprintf(r->text + r->used, space, format, arguments);
    if (written > 0)
        r->used += (size_t)written < space ? (size_t)written : space - 1;
}

static void line(struct hang_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void line(struct hang_report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(r, format, arguments);
    va_end(arguments);
}

void hang_note(struct hang_report *r, const char *format, ...)
{
    if (!r || r->notes++ >= NOTES_PER_REPORT)
        return;
    line(r, "  %s: ", r->path);
    va_list arguments;
    va_start(arguments, format);
    append(r, format, arguments);
    va_end(arguments);
    line(r, "\n");
}

/* Messages in ring `number`; of one between shards the receiver's half has them. */
static uint32_t messages_in(uint32_t number)
{
    const struct ring *r = ring_at(shard_cut_far(number));
    uint32_t count = 0;
    for (uint32_t slot = r->first; slot != r->end; slot += r->step)
        count += ring_slot(slot)->stamp >> 63;
    return count;
}

static unsigned count_unfinished(uint32_t leaf, struct hang_report *r)
{
    return platform_unit_of(leaf)->outstanding(platform_component(leaf), r);
}

uint64_t hang_outstanding_except(uint32_t leaf, const uint8_t *excluded)
{
    const struct platform_table *t = engine_base.platform;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->ring_count; i++)
        if (!excluded || !(excluded[t->rings[i].sender] | excluded[t->rings[i].receiver]))
            sum += messages_in(i);
    for (uint32_t i = 0; i < t->instance_count; i++)
        sum += i == leaf || (excluded && excluded[i]) ? 0 : count_unfinished(i, NULL);
    return sum;
}

uint64_t hang_outstanding(void)
{
    const struct platform_table *t = engine_base.platform;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->ring_count; i++)
        sum += messages_in(i);
    for (uint32_t i = 0; i < t->instance_count; i++)
        sum += rank_has(component_shard(platform_component(i))) ? count_unfinished(i, NULL) : 0;
    return sum;
}

/* First reason of `leaf` in order of rings; full rings are reasons nearer to the cause than owed
 * replies. */
static bool find_wait(uint32_t leaf, struct wait *found)
{
    const struct platform_table *t = engine_base.platform;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct ring *r = ring_at(i);
        if (t->rings[i].sender == leaf && r->sender_waits
            && (ring_slot(r->tail)->stamp & RING_FULL)) {
            *found = (struct wait){leaf, t->rings[i].receiver, i, 0};
            return true;
        }
    }
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct ring *r = ring_at(i);
        if (t->rings[i].sender != leaf || t->rings[i].is_reply || t->rings[i].peer == RING_NONE)
            continue;
        /* A request may have more replies than the one that ends it (work.sync). */
        int32_t owed = (int32_t)(r->awaited - (uint32_t)ring_at(t->rings[i].peer)->messages);
        if (owed > 0) {
            *found = (struct wait){leaf, t->rings[i].receiver, i, (uint32_t)owed};
            return true;
        }
    }
    return false;
}

static const char *path_of(uint32_t leaf)
{
    return platform_string(engine_base.platform->instances[leaf].path);
}

static void describe_wait(const struct wait *w, const char *mark)
{
    const char *port = platform_string(engine_base.platform->rings[w->ring].name);
    if (w->owed)
        line(&report, "%s %s waits for %u repl%s at %s from %s\n", mark, path_of(w->from), w->owed,
             w->owed == 1 ? "y" : "ies", port, path_of(w->to));
    else
        line(&report, "%s %s cannot send to %s: the ring of %s is full (%u messages)\n", mark,
             path_of(w->from), path_of(w->to), port,
             (unsigned)engine_base.platform->rings[w->ring].depth);
}

/* Messages that `leaf` could take and does not. */
static uint32_t untaken(uint32_t leaf)
{
    const struct platform_table *t = engine_base.platform;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->ring_count; i++)
        sum += t->rings[i].receiver == leaf ? messages_in(i) : 0;
    return sum;
}

static void describe_idle(uint32_t leaf)
{
    const struct platform_table *t = engine_base.platform;
    line(&report, "   %s waits for no other component: look there", path_of(leaf));
    for (uint32_t i = 0; i < t->ring_count; i++) {
        uint32_t count = t->rings[i].receiver == leaf ? messages_in(i) : 0;
        if (count)
            line(&report, "; %u untaken at %s", count, platform_string(t->rings[i].name));
    }
    line(&report, "\n");
}

/* No component waits: describes those that leave messages lying. */
static void describe_untaken(void)
{
    uint32_t found = 0;
    line(&report, "no component waits for another\n");
    for (uint32_t leaf = 0; leaf < engine_base.platform->instance_count && found < 8; leaf++) {
        if (untaken(leaf)) {
            describe_idle(leaf);
            found++;
        }
    }
}

/* Follows first reasons from `leaf`. `seen[i]` = 1 + position in the chain. */
static uint32_t follow(uint32_t leaf, struct wait *chain, uint32_t *seen, uint32_t *length)
{
    memset(seen, 0, engine_base.platform->instance_count * sizeof *seen);
    *length = 0;
    while (!seen[leaf] && find_wait(leaf, &chain[*length])) {
        seen[leaf] = ++*length;
        leaf = chain[*length - 1].to;
    }
    return leaf;
}

static void describe_chain_in(struct wait *chain, uint32_t *seen)
{
    const struct platform_table *t = engine_base.platform;
    uint32_t length = 0;
    uint32_t start = 0;
    uint32_t best = UINT32_MAX;
    uint32_t best_length = 0;
    /* The first start that leads into a cycle; without any, the longest chain. */
    for (; start < t->instance_count; start++) {
        uint32_t end = follow(start, chain, seen, &length);
        if (length && seen[end])
            break;
        if (length > best_length) {
            best_length = length;
            best = start;
        }
    }
    if (start == t->instance_count && best == UINT32_MAX) {
        describe_untaken();
        return;
    }
    uint32_t end = follow(start < t->instance_count ? start : best, chain, seen, &length);
    uint32_t cycle = seen[end] ? seen[end] - 1 : length;
    for (uint32_t i = 0; i < length; i++)
        describe_wait(&chain[i], i >= cycle ? "=>" : "  ");
    if (cycle < length)
        line(&report, "   the %u lines marked => are a cycle\n", length - cycle);
    else
        describe_idle(end);
}

static void describe_chain(void)
{
    uint32_t count = engine_base.platform->instance_count + 1;
    struct wait *chain = grow_zeroed(count * sizeof *chain, "explanation");
    uint32_t *seen = grow_zeroed(count * sizeof *seen, "explanation");
    describe_chain_in(chain, seen);
    free(chain);
    free(seen);
}

/* The first reason of each component that waits. */
static void describe_waits(void)
{
    struct wait wait;
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine_base.platform->instance_count; i++)
        if (find_wait(i, &wait) && count++ < WAITS_PER_REPORT)
            describe_wait(&wait, "  ");
    if (count > WAITS_PER_REPORT)
        line(&report, "  and %u more\n", count - WAITS_PER_REPORT);
}

static void describe_notes(void)
{
    const struct platform_table *t = engine_base.platform;
    uint64_t messages = 0;
    line(&report, "unfinished:\n");
    for (uint32_t i = 0; i < t->instance_count; i++) {
        report.path = path_of(i);
        uint32_t notes = report.notes;
        unsigned count = count_unfinished(i, &report);
        if (count && report.notes == notes)
            hang_note(&report, "%u", count);
    }
    if (report.notes > NOTES_PER_REPORT)
        line(&report, "  and %u more\n", report.notes - NOTES_PER_REPORT);
    for (uint32_t i = 0; i < t->ring_count; i++)
        messages += messages_in(i);
    line(&report, "  %" PRIu64 " messages in rings\n", messages);
}

void hang_explain(enum hang_reason reason)
{
    static const char *const titles[] = {
        [HANG_DEADLOCK] = "deadlock: work is unfinished and nothing will ever happen again",
        [HANG_STALL] = "stall: for too long no message has moved and no instruction has retired "
                       "(--stall-limit)",
        [HANG_LIMIT] = "the limit of simulated cycles or instructions was reached (--max-cycles, "
                       "--max-instructions)",
    };
    report.used = 0;
    report.notes = 0;
    report.text[0] = '\0';
    line(&report, "heddle: %s, at %" PRIu64 ".%06" PRIu64 " us\n", titles[reason],
         engine.time_ps / 1000000, engine.time_ps % 1000000);
    describe_chain();
    describe_notes();
    fputs(report.text, stderr);
}

const char *hang_describe(void)
{
    static struct hang_report saved_report;
    static char text[REPORT_BYTES];
    saved_report = report;
    report = (struct hang_report){0};
    line(&report, "the longest chain:\n");
    describe_chain();
    line(&report, "all that wait:\n");
    describe_waits();
    describe_notes();
    memcpy(text, report.text, sizeof text);
    report = saved_report;
    return text;
}

const char *hang_last_report(void)
{
    return report.text;
}
