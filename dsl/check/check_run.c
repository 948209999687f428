/* Runs the checks in order. The table is the single list of them. */
#include "base/number.h"

#include "check.h"

static const struct check *const checks[] = {
    &check_conditions,
    &check_clocks,
    &check_protocols,
    &check_unbound,
    &check_unconnected,
    &check_two_latencies,
    &check_latency,
    &check_clock_crossing,
    &check_shallow,
    &check_interconnect_cycles,
    &check_deadlock,
    &check_stores,
    &check_wires,
    &check_coherence_facts,
    &check_coherence,
    &check_unused_parameters,
    &check_unused_components,
    &check_origins,
};

#define CHECK_COUNT ARRAY_COUNT(checks)

static bool all_passed(const struct check *check, const bool *failed)
{
    for (size_t i = 0; i < 3 && check->prerequisites[i]; i++)
        for (size_t k = 0; k < CHECK_COUNT; k++)
            if (checks[k] == check->prerequisites[i] && failed[k])
                return false;
    return true;
}

void checks_run(struct elaboration *e)
{
    bool failed[CHECK_COUNT] = {false};
    for (size_t i = 0; i < CHECK_COUNT && !e->must_stop; i++) {
        if ((e->is_standalone && !checks[i]->in_standalone) || !all_passed(checks[i], failed)) {
            failed[i] = !e->is_standalone;
            continue;
        }
        uint32_t errors = e->diagnostics->error_count;
        checks[i]->run(e);
        failed[i] = e->diagnostics->error_count != errors;
    }
}
