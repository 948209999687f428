/* Claims progress at every edge without ever sending anything: the test of the stall report. */
#include "spinner.gen.h"

#include "runtime/observe/hang.h"

struct spinner {
    struct spinner_io io;
};

static bool spinner_tick(struct spinner *c)
{
    (void)c;
    return true;
}

static unsigned spinner_outstanding(const struct spinner *c, struct hang_report *report)
{
    (void)c;
    if (report)
        hang_note(report, "spins");
    return 1;
}
