/* The mode of a run. Libraries of components link it without a platform, so it needs nothing of
 * one.
 */
#include "run_mode.h"

#include "base/number.h"
#include "runtime/engine/options.h"
#include "runtime/state/platform.h"

static enum platform_mode mode;
/* More than any machine has; the platform takes as many as it has use for. */
#define THREADS_MAX 1024

static uint64_t max_cycles, max_instructions;
static uint32_t threads;

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

uint32_t platform_threads(void)
{
    return threads ? threads : 1;
}

/* State files, the lines that are watched and checks are for finding mistakes, in one thread. */
static uint32_t allowed_threads(void)
{
    uint64_t thread_option = option_number("threads");
    bool needs_one_thread = option_text("checkpoint") || option_text("restore")
                            || option_text("watch") || option_text("check");
    return needs_one_thread || !thread_option ? 1
           : thread_option < THREADS_MAX      ? (uint32_t)thread_option
                                              : THREADS_MAX;
}

void run_mode_open(void)
{
    static const char *const names[] = {[PLATFORM_TIMING] = "timing",
                                        [PLATFORM_FUNCTIONAL] = "functional",
                                        [PLATFORM_SAMPLED] = "sampled"};
    mode = (enum platform_mode)option_word("mode", names, ARRAY_COUNT(names));
    max_cycles = option_number("max-cycles");
    max_instructions = option_number("max-instructions");
    threads = allowed_threads();
}
