/* Mistakes in calls of the program, which the front end has seen, as findings of the run. */
#include "driver_program.h"

#include <stdio.h>

#include "components/checks/check_code.h"
#include "components/checks/finding.h"

static void mistake_report(enum driver_mistake kind, const struct driver_call *calls,
                           uint32_t count, uint64_t address, const char *text)
{
    static const enum finding_kind kinds[] = {
        [DRIVER_MISTAKE_LEAK] = FINDING_LEAK,
        [DRIVER_MISTAKE_FREED_TWICE] = FINDING_FREED_TWICE,
        [DRIVER_MISTAKE_FREED_WRONG] = FINDING_FREED_WRONG,
        [DRIVER_MISTAKE_USED_FREED] = FINDING_USED_FREED,
        [DRIVER_MISTAKE_CAPTURE_UNJOINED] = FINDING_CAPTURE_UNJOINED,
        [DRIVER_MISTAKE_CAPTURE_OPEN] = FINDING_CAPTURE_OPEN,
    };
    struct finding found = {.kind = kinds[kind], .places = count, .address = address};
    for (uint32_t i = 0; i < count && finding_wanted_any(); i++) {
        struct finding_place *place = &found.place[i];
        place->pc = calls[i].code;
        place->lane = FINDING_NO_LANE;
        snprintf(place->text, sizeof place->text, "%s", calls[i].name);
        snprintf(place->source, sizeof place->source, "%s", calls[i].source);
        if (calls[i].code) {
            check_host_code(calls[i].base, calls[i].file);
            check_source(calls[i].code - 1, place->source, sizeof place->source);
        }
    }
    snprintf(found.detail, sizeof found.detail, "%s", text);
    finding_report(&found);
}
