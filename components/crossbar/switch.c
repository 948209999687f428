/* Network switch: a message that has arrived from its link stays `latency` cycles before it can
 * leave by another. See interconnect.h. */
#include "switch.gen.h"

#define INTERCONNECT(name) switch__##name
#define INTERCONNECT_TYPE  switch_
#include "interconnect_state.h"

struct switch_ {
    struct switch__io io;
    struct interconnect interconnect;
};

#include "interconnect.h"

static void switch__init(struct switch_ *c)
{
    switch__setup(c, (uint32_t)switch__params(c)->latency, false, 0);
}

static bool switch__tick(struct switch_ *c)
{
    return switch__move(c);
}

static unsigned switch__outstanding(const struct switch_ *c, struct hang_report *report)
{
    return switch__unfinished(c, report);
}
