/* Mistakes in calls of the program, which the front end has seen, as findings of the run. */
#include <stdio.h>

#include "components/checks/check_code.h"
#include "components/checks/finding.h"

#include "driver_program.h"

static void mistake_place(const struct driver_call *call, struct finding_place *place)
{
    *place = (struct finding_place){.pc = call->code, .lane = FINDING_NO_LANE};
    snprintf(place->text, sizeof place->text, "%s", call->name);
    snprintf(place->source, sizeof place->source, "%s", call->source);
    if (call->code) {
        check_host_code(call->base, call->file);
        check_source(call->code - 1, place->source, sizeof place->source);
    }
}

static void api_mistake(enum driver_mistake kind, const struct driver_call *calls, uint32_t count,
                        uint64_t address, const char *text)
{
    static const enum finding_kind kinds[] = {
        [DRIVER_MISTAKE_LEAK] = FINDING_LEAK,
        [DRIVER_MISTAKE_FREED_TWICE] = FINDING_FREED_TWICE,
        [DRIVER_MISTAKE_FREED_WRONG] = FINDING_FREED_WRONG,
        [DRIVER_MISTAKE_USED_FREED] = FINDING_USED_FREED,
        [DRIVER_MISTAKE_CAPTURE_UNJOINED] = FINDING_CAPTURE_UNJOINED,
        [DRIVER_MISTAKE_CAPTURE_OPEN] = FINDING_CAPTURE_OPEN,
    };
    struct finding mistake = {.kind = kinds[kind], .places = count, .address = address};
    if (finding_any_is_wanted()) /* else the report drops it, so that no source is looked up */
        for (uint32_t i = 0; i < count; i++)
            mistake_place(&calls[i], &mistake.place[i]);
    snprintf(mistake.detail, sizeof mistake.detail, "%s", text);
    finding_report(&mistake);
}
