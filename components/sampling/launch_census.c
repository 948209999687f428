/* Counts launches by kernel, the first KINDS of them by name. A bitmap has the elements of the list
 * that a launch has met. */
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
static uint8_t met_elements[ELEMENTS / 8];

void census_open(void)
{
    kind_count = 0;
    launches = 0;
    memset(met_elements, 0, sizeof met_elements);
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
    if (s->automatic)
        return;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        int chosen = sampling_element(s, i, number, name, symbol);
        if (chosen < 0)
            return;
        if (chosen)
            met_elements[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

static void print_kinds(void)
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

/* Prints the elements of `--kernels` that no launch was. Returns how many there are; in *met_some
 * whether a launch was one of the others. */
static uint32_t print_unmet(const struct sampling *s, bool *met_some)
{
    uint32_t unmet = 0;
    char text[NAME];
    *met_some = false;
    for (uint32_t i = 0; i < ELEMENTS && sampling_element_text(s, i, text, sizeof text); i++) {
        if (met_elements[i / 8] >> i % 8 & 1) {
            *met_some = true;
            continue;
        }
        fprintf(stderr, "heddle: '--kernels %s': no launch is '%s'\n", s->kernels, text);
        unmet++;
    }
    return unmet;
}

bool census_close(const struct sampling *s)
{
    bool met_some = false;
    if (!s->kernels || (s->automatic && launches))
        return true;
    if (s->automatic)
        fprintf(stderr, "heddle: '--kernels auto' had nothing to choose from\n");
    if (s->automatic || print_unmet(s, &met_some))
        print_kinds();
    return met_some;
}
