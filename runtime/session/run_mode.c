/* See run_mode.h. Libraries of components link it without a platform, so it needs nothing of one.
 */
#include "runtime/session/run_mode.h"

#include "runtime/engine/options.h"
#include "runtime/state/platform.h"

static enum platform_mode mode;
static uint64_t max_cycles, max_instructions;

enum platform_mode platform_mode(void)
{
    return mode;
}

uint64_t platform_max_cycles(void)
{
    return max_cycles;
}

uint64_t platform_max_instructions(void)
{
    return max_instructions || mode == PLATFORM_TIMING ? max_instructions : max_cycles;
}

void run_mode_open(void)
{
    static const char *const names[] = {[PLATFORM_TIMING] = "timing",
                                        [PLATFORM_FUNCTIONAL] = "functional",
                                        [PLATFORM_SAMPLED] = "sampled"};
    mode = (enum platform_mode)option_word("mode", names, sizeof names / sizeof names[0]);
    max_cycles = option_number("max-cycles");
    max_instructions = option_number("max-instructions");
}
