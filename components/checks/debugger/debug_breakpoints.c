/* Keeps breakpoints and watched bytes as a list of rules, and compares each instruction and access
 * with them. */
#include "debug_breakpoints.h"

enum { RULES_MAX = 256 };

static struct debug_rule rules[RULES_MAX];
static uint64_t rule_count;

void debug_breakpoints_clear(void)
{
    rule_count = 0;
}

bool debug_breakpoints_add(const struct debug_rule *rule)
{
    if (rule_count == RULES_MAX)
        return false;
    rules[rule_count++] = *rule;
    return true;
}

bool debug_breakpoints_break(uint64_t pc)
{
    for (uint64_t i = 0; i < rule_count; i++)
        if (rules[i].kind == DEBUG_BREAK && rules[i].address == pc)
            return true;
    return false;
}

bool debug_breakpoints_any(void)
{
    return rule_count;
}

static bool access_meets_rule(const struct debug_access *a, const struct debug_rule *r)
{
    const uint32_t *offset = a->address;
    const uint64_t *address = a->address;
    for (uint64_t mask = a->mask; mask; mask &= mask - 1) {
        int lane = __builtin_ctzll(mask);
        for (unsigned i = 0; i < a->count; i++) {
            uint64_t at = a->base[i] + (a->is_short ? offset[lane] : address[lane]);
            if (at < r->address + r->bytes && r->address < at + a->span)
                return true;
        }
    }
    return false;
}

bool debug_breakpoints_access(const struct debug_access *a, struct debug_stopped *at)
{
    for (uint64_t i = 0; i < rule_count; i++) {
        const struct debug_rule *r = &rules[i];
        if (r->kind == DEBUG_BREAK || (r->kind == DEBUG_WRITE && !a->writes)
            || (r->kind == DEBUG_READS && !a->reads) || !access_meets_rule(a, r))
            continue;
        at->address = r->address;
        at->rule = r->kind;
        return true;
    }
    return false;
}
