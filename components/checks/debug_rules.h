/* Breakpoints and watchpoints of a debugged process, and which instructions they hold for. Private
 * to components/checks. */
#ifndef HEDDLE_CHECKS_DEBUG_RULES_H
#define HEDDLE_CHECKS_DEBUG_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "components/checks/debug_channel.h"
#include "components/statistics/execution_observer.h"

void debug_rules_clear(void);
/* false: there are too many. */
bool debug_rules_add(const struct debug_rule *rule);
bool debug_rules_break(uint64_t pc);
/* Does the instruction access bytes that are watched? `at` then says which. */
bool debug_rules_access(const struct observed_instruction *s, struct debug_stopped *at);

#endif
