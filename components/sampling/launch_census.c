/* See launch_census.h. Elements that were met are counted off in a bitmap, by their place in the
 * list; kernels are kept by name, the first KINDS of them. */
#include "launch_census.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sampling_options.h"

enum { KINDS = 64, SHOWN = 16, NAME = 96, ELEMENTS = 1 << 15 };

static struct {
    char name[NAME];
    uint64_t first, count;
} kinds[KINDS];
static unsigned kind_count;
static uint64_t launches;
static uint8_t met[ELEMENTS / 8];

void census_open(void)
{
    kind_count = 0;
    launches = 0;
    memset(met, 0, sizeof met);
}

static void note_kind(const char *name)
{
    char plain[NAME];
    unsigned i = 0;
    sampling_plain_name(name, plain, sizeof plain);
    while (i < kind_count && strcmp(kinds[i].name, plain) != 0)
        i++;
    if (i == KINDS)
        return;
    if (i == kind_count) {
        strcpy(kinds[i].name, plain);
        kinds[i].first = launches;
        kinds[i].count = 0;
        kind_count++;
    }
    kinds[i].count++;
}

void census_note(const struct sampling *s, uint64_t number, const char *name, const char *symbol)
{
    launches++;
    note_kind(*name ? name : symbol);
    for (uint32_t i = 0; !s->automatic && i < ELEMENTS; i++) {
        int chosen = sampling_element(s, i, number, name, symbol);
        if (chosen < 0)
            return;
        if (chosen)
            met[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

static void say_kinds(void)
{
    if (!launches) {
        fprintf(stderr, "heddle: no kernel was launched\n");
        return;
    }
    fprintf(stderr, "heddle: there were %" PRIu64 " launches:", launches);
    for (unsigned i = 0; i < kind_count && i < SHOWN; i++)
        fprintf(stderr, "%s %s (%" PRIu64 ", the first is %" PRIu64 ")", i ? "," : "",
                kinds[i].name, kinds[i].count, kinds[i].first);
    fprintf(stderr, "%s\n", kind_count > SHOWN ? ", ..." : "");
}

bool census_close(const struct sampling *s)
{
    bool all = !s->automatic || launches, any = s->automatic && launches;
    if (!s->kernels)
        return true;
    for (uint32_t i = 0; !s->automatic && i < ELEMENTS; i++) {
        char text[NAME];
        if (!sampling_element_text(s, i, text, sizeof text))
            break;
        if (met[i / 8] >> i % 8 & 1) {
            any = true;
            continue;
        }
        fprintf(stderr, "heddle: '--kernels %s': no launch is '%s'\n", s->kernels, text);
        all = false;
    }
    if (s->automatic && !all)
        fprintf(stderr, "heddle: '--kernels auto' had nothing to choose from\n");
    if (!all)
        say_kinds();
    return any;
}
