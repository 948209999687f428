/* Keeps reports in a list in the order in which they were made. A hash finds them by kind and
 * instructions. */
#include "finding.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/observe/json.h"

enum { REPORTS_MAX = 1 << 15, KEPT = 1000, RULE_TEXT = 256 };

struct finding_facts {
    enum finding_check check;
    const char *name, *what, *fix;
};

static const char *const check_names[] = {
#define CHECK(id, name) name,
#define FINDING(id, check, name, what, fix)
#include "finding.def"
#undef CHECK
#undef FINDING
};

static const struct finding_facts facts[] = {
#define CHECK(id, name)
#define FINDING(id, check, name, what, fix) {FINDING_CHECK_##check, name, what, fix},
#include "finding.def"
#undef CHECK
#undef FINDING
};

/* A line of a file of suppressions. */
struct rule {
    char kind[RULE_TEXT], kernel[RULE_TEXT], source[RULE_TEXT]; /* globs */
    uint64_t count;
};

struct report {
    struct finding finding;
    uint64_t count;
    bool is_suppressed;
};

struct known {
    uint64_t key, report; /* report: an index */
};

static const struct hash_kind known_kind = HASH_KIND(struct known, key, "findings");
static bool is_wanted[FINDING_CHECKS];
static struct report *reports; /* in the order in which they were made */
static size_t report_count, report_capacity, suppressed_count;
static struct hash_table reports_by_key;
static struct rule *rules;
static size_t rule_count, rule_capacity;

bool finding_is_wanted(enum finding_check check)
{
    return is_wanted[check];
}

bool finding_any_is_wanted(void)
{
    bool any = false;
    for (unsigned i = 0; i < FINDING_CHECKS; i++)
        any |= is_wanted[i];
    return any;
}

uint64_t finding_count(void)
{
    return report_count - suppressed_count;
}

/* ---- the option ---- */

/* False: the line is wrong, and a message says so. */
static bool add_rule(char *line, const char *file, unsigned number)
{
    grow_slots(rules, rule_count, rule_capacity, "checks");
    struct rule *r = &rules[rule_count];
    *r = (struct rule){.kernel = "*", .source = "*"};
    char *parts[] = {r->kind, r->kernel, r->source};
    unsigned count = 0;
    for (char *word = strtok(line, ";\n"); word; word = strtok(NULL, ";\n")) {
        word += strspn(word, " \t");
        size_t size = strlen(word);
        while (size && strchr(" \t\r", word[size - 1]))
            size--;
        if (count == 3 || size >= RULE_TEXT || !size) {
            fprintf(stderr, "heddle: %s:%u: a line is 'KIND; KERNEL; FILE:LINE', all patterns\n",
                    file, number);
            return false;
        }
        memcpy(parts[count], word, size);
        parts[count++][size] = '\0';
    }
    rule_count += count > 0;
    return true;
}

static bool read_rules(const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    if (!in) {
        fprintf(stderr, "heddle: --check: cannot read '%s': %s\n", path, strerror(errno));
        return false;
    }
    bool is_valid = true;
    for (unsigned number = 1; getline(&line, &room, in) >= 0; number++)
        if (line[strspn(line, " \t\r\n")] && line[strspn(line, " \t")] != '#')
            is_valid &= add_rule(line, path, number);
    free(line);
    fclose(in);
    return is_valid;
}

/* False: the word is no check and no readable file, and a message says so. */
static bool select_check(const char *word, size_t size)
{
    static const char suppress[] = "suppress=";
    if (size == 3 && memcmp(word, "all", 3) == 0) {
        memset(is_wanted, true, sizeof is_wanted);
        return true;
    }
    for (unsigned i = 0; i < FINDING_CHECKS; i++)
        if (strlen(check_names[i]) == size && memcmp(check_names[i], word, size) == 0)
            return is_wanted[i] = true;
    if (size > sizeof suppress - 1 && memcmp(word, suppress, sizeof suppress - 1) == 0) {
        char *path = strndup(word + sizeof suppress - 1, size - (sizeof suppress - 1));
        bool is_valid = path && read_rules(path);
        free(path);
        return is_valid;
    }
    fprintf(stderr, "heddle: --check: there is no check '%.*s'; there are all", (int)size, word);
    for (unsigned i = 0; i < FINDING_CHECKS; i++)
        fprintf(stderr, ", %s", check_names[i]);
    fprintf(stderr, ", and suppress=FILE\n");
    return false;
}

bool finding_open(const char *text)
{
    bool is_valid = true;
    for (size_t size; *text; text += size + (text[size] == ',')) {
        size = strcspn(text, ",");
        is_valid &= select_check(text, size);
    }
    if (is_valid && !finding_any_is_wanted()) {
        fprintf(stderr, "heddle: --check names no check; 'all' checks everything\n");
        return false;
    }
    return is_valid;
}

/* ---- reports ---- */

/* The key of two places, the same in both orders. */
static uint64_t key_of(enum finding_kind kind, uint64_t one, uint64_t other)
{
    uint64_t first = min(one, other), second = max(one, other);
    return hash_multiply(hash_multiply(first + 1) ^ (second << 8 | (uint64_t)kind)) | 1;
}

bool finding_seen(enum finding_kind kind, uint64_t first, uint64_t second)
{
    uint64_t key = key_of(kind, first, second);
    const struct known *known = hash_table_find(&reports_by_key, &known_kind, &key);
    if (known)
        reports[known->report].count++;
    return known || report_count >= REPORTS_MAX; /* so many that more are no help */
}

static bool is_suppressed(const struct finding *f)
{
    for (size_t i = 0; i < rule_count; i++) {
        struct rule *r = &rules[i];
        bool here = false;
        for (uint32_t p = 0; p < f->places; p++)
            here |= fnmatch(r->kernel, f->place[p].kernel, 0) == 0
                    && fnmatch(r->source, f->place[p].source, 0) == 0;
        if (here && fnmatch(r->kind, facts[f->kind].name, 0) == 0) {
            r->count++;
            return true;
        }
    }
    return false;
}

void finding_report(const struct finding *f)
{
    uint64_t key =
        key_of(f->kind, f->places > 0 ? f->place[0].pc : 0, f->places > 1 ? f->place[1].pc : 0);
    bool known = f->places > 0 && f->place[0].pc
                 && finding_seen(f->kind, f->place[0].pc, f->places > 1 ? f->place[1].pc : 0);
    if (known || !is_wanted[facts[f->kind].check])
        return;
    grow_slots(reports, report_count, report_capacity, "checks");
    struct report *r = &reports[report_count++];
    *r = (struct report){.finding = *f, .count = 1, .is_suppressed = is_suppressed(f)};
    suppressed_count += r->is_suppressed;
    if (f->places == 0 || !f->place[0].pc)
        return;
    struct known *added = hash_table_add(&reports_by_key, &known_kind, &key);
    added->report = report_count - 1;
}

/* ---- summary at the end ---- */

static const char *const space_names[] = {"", "global memory", "LDS", "private memory"};

static void print_place(FILE *out, const struct finding_place *p, const char *arrow)
{
    fprintf(out, "  %s %s", arrow, p->text);
    if (p->source[0])
        fprintf(out, "  (%s)", p->source);
    if (p->kernel[0])
        fprintf(out, "\n      kernel '%s', launch %" PRIu64 ", pc 0x%" PRIx64, p->kernel, p->launch,
                p->pc);
    if (p->kernel[0])
        fprintf(out, ", work-group (%u,%u,%u), wavefront %u", p->group[0], p->group[1], p->group[2],
                p->wavefront);
    if (p->kernel[0] && p->lane != FINDING_LANE_NONE)
        fprintf(out, ", lane %u", p->lane);
    fprintf(out, "\n");
}

static void print_report(FILE *out, const struct report *r)
{
    const struct finding *f = &r->finding;
    fprintf(out, "heddle: %s: %s", facts[f->kind].name, facts[f->kind].what);
    if (r->count > 1)
        fprintf(out, " (%" PRIu64 " times)", r->count);
    fprintf(out, "\n");
    for (uint32_t i = 0; i < f->places; i++)
        print_place(out, &f->place[i], i ? "and" : "-->");
    if (f->space == FINDING_GLOBAL)
        fprintf(out, "  = address 0x%" PRIx64 ": %s\n", f->address, f->memory);
    else if (f->space != FINDING_NOWHERE)
        fprintf(out, "  = byte %" PRIu64 " of %s%s%s\n", f->address, space_names[f->space],
                f->memory[0] ? ": " : "", f->memory);
    if (f->detail[0])
        fprintf(out, "  = %s\n", f->detail);
    fprintf(out, "  = help: %s\n", facts[f->kind].fix);
}

void finding_print_last(FILE *out)
{
    uint64_t i = report_count;
    while (i && reports[i - 1].is_suppressed)
        i--;
    if (i)
        print_report(out, &reports[i - 1]);
}

void finding_print(void)
{
    uint64_t printed = 0;
    for (uint64_t i = 0; i < report_count; i++)
        if (!reports[i].is_suppressed && printed++ < KEPT)
            print_report(stderr, &reports[i]);
    if (printed > KEPT)
        fprintf(stderr, "heddle: %" PRIu64 " more findings stand in the statistics\n",
                printed - KEPT);
    if (report_count >= REPORTS_MAX)
        fprintf(stderr,
                "heddle: --check: findings at more than %d places are not reported: correct "
                "some of them, or suppress them, and run again\n",
                REPORTS_MAX);
    if (suppressed_count)
        fprintf(stderr, "heddle: %" PRIu64 " findings are suppressed\n", suppressed_count);
    for (size_t i = 0; i < rule_count; i++) {
        if (!rules[i].count)
            fprintf(stderr, "heddle: note: nothing was suppressed by '%s; %s; %s'\n", rules[i].kind,
                    rules[i].kernel, rules[i].source);
    }
}

static void write_place(struct json *out, const struct finding_place *p)
{
    json_open(out, NULL, '{');
    json_text(out, "kernel", p->kernel[0] ? p->kernel : NULL);
    json_text(out, "text", p->text);
    json_text(out, "source", p->source[0] ? p->source : NULL);
    if (p->kernel[0]) {
        json_uint(out, "launch", p->launch);
        json_uint(out, "gpu", p->gpu);
        json_uint(out, "pc", p->pc);
        json_open(out, "work_group", '[');
        for (unsigned i = 0; i < 3; i++)
            json_uint(out, NULL, p->group[i]);
        json_close(out, ']');
        json_uint(out, "wavefront", p->wavefront);
    }
    if (p->kernel[0] && p->lane != FINDING_LANE_NONE)
        json_uint(out, "lane", p->lane);
    if (p->bytes)
        json_uint(out, "bytes", p->bytes);
    json_close(out, '}');
}

void finding_write(struct json *out)
{
    json_open(out, "findings", '[');
    for (uint64_t i = 0; i < report_count; i++) {
        const struct report *r = &reports[i];
        json_open(out, NULL, '{');
        json_text(out, "kind", facts[r->finding.kind].name);
        json_uint(out, "count", r->count);
        json_bool(out, "suppressed", r->is_suppressed);
        if (r->finding.space != FINDING_NOWHERE) {
            json_text(out, "space", space_names[r->finding.space]);
            json_uint(out, "address", r->finding.address);
            json_text(out, "memory", r->finding.memory[0] ? r->finding.memory : NULL);
        }
        json_text(out, "detail", r->finding.detail[0] ? r->finding.detail : NULL);
        json_open(out, "places", '[');
        for (uint32_t p = 0; p < r->finding.places; p++)
            write_place(out, &r->finding.place[p]);
        json_close(out, ']');
        json_close(out, '}');
    }
    json_close(out, ']');
}
