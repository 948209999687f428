/* Finds stores to memory that may only be read: code and constants (check_code.h), arguments of
 * kernels, and variables that the executor names. */
#include "readonly.h"

#include <stdio.h>

#include "components/memory/page_table/program_table.h"

#include "check_code.h"

static void check_store(const struct check_place *place, uint64_t address, uint32_t bytes)
{
    const struct check_identity *identity = place->identity;
    uint64_t name = program_name(identity->program, identity->pid, address);
    const struct program_allocation *a = program_find(identity->program, name);
    const char *constant =
        identity->executor->constant ? identity->executor->constant(identity, address) : NULL;
    const char *target = constant ? constant : check_is_constant(name);
    struct finding f;
    if (!constant && a && a->use == PROGRAM_ARGUMENTS)
        target = "a kernel's arguments";
    if (!target || !check_found(FINDING_READONLY_STORE, place, NULL, &f))
        return;
    f.place[0].bytes = bytes;
    check_address(identity, FINDING_GLOBAL, address, &f);
    snprintf(f.detail, sizeof f.detail, "what lies there: %s%s", target,
             constant ? ", a variable in constant memory" : "");
    finding_report(&f);
}

void check_stores(struct check_place place, const uint64_t *address, uint64_t mask, uint32_t bytes)
{
    bool by_lane = place.lane != FINDING_LANE_NONE;
    uint64_t last = UINT64_MAX;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(mask);
        place.lane = by_lane ? lane : FINDING_LANE_NONE;
        if (address[lane] / 16 != last)
            check_store(&place, address[lane], bytes);
        last = address[lane] / 16;
    }
}
