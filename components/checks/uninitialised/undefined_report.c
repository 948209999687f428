/* Reports the use of an undefined value, with the instruction that read it. */
#include "undefined_report.h"

#include <stdio.h>

enum { ORIGINS = 1 << 12 };

static struct origin {
    uint32_t instruction;
    enum finding_space space; /* FINDING_NOWHERE: the entry is free */
    uint64_t address;
} origins[ORIGINS];

void undefined_note(uint32_t instruction, enum finding_space space, uint64_t address)
{
    origins[instruction % ORIGINS] = (struct origin){instruction, space, address};
}

bool undefined_is_noted(uint32_t instruction)
{
    const struct origin *o = &origins[instruction % ORIGINS];
    return o->space != FINDING_NOWHERE && o->instruction == instruction;
}

void undefined_report(enum finding_kind kind, const struct check_place *use,
                      const struct check_place *read)
{
    const struct origin *o = read ? &origins[read->instruction % ORIGINS] : NULL;
    struct finding f;
    if (!check_found(kind, use, read, &f))
        return;
    if (read && undefined_is_noted(read->instruction))
        check_address(use->identity, o->space, o->address, &f);
    snprintf(f.detail, sizeof f.detail, "%s",
             read ? "the second place is where it was read"
                  : "it comes from a register that nothing has written");
    finding_report(&f);
}
