/* See debug_rules.h. */
#include "debug_rules.h"

#include "components/amd/isa/isa.h"

enum { RULES_MOST = 256 };

static struct debug_rule rules[RULES_MOST];
static uint64_t rule_count;

/* What each active lane accesses. */
struct accessed {
    bool writes, reads;
    unsigned count;      /* of pieces */
    uint64_t base[2];    /* of a piece, beside the lane's address */
    uint64_t span;       /* bytes of a piece */
    const void *address; /* of each lane: uint64_t, or uint32_t with `is_short` */
    bool is_short;
};

void debug_rules_clear(void)
{
    rule_count = 0;
}

bool debug_rules_add(const struct debug_rule *rule)
{
    if (rule_count == RULES_MOST)
        return false;
    rules[rule_count++] = *rule;
    return true;
}

bool debug_rules_break(uint64_t pc)
{
    for (uint64_t i = 0; i < rule_count; i++)
        if (rules[i].kind == DEBUG_BREAK && rules[i].address == pc)
            return true;
    return false;
}

/* An instruction of LDS alone has offsets in it. */
static bool describe_local(const struct observed_instruction *s, struct accessed *a)
{
    struct isa_local local;
    uint64_t aperture = s->context->shared_aperture;
    if (!isa_local_describe(s->inst, &local))
        return false;
    unsigned number = isa_register(s->context, s->inst->src[0]);
    *a = (struct accessed){.writes = local.kind != ISA_MEMORY_LOAD,
                           .reads = local.kind != ISA_MEMORY_STORE,
                           .count = local.count,
                           .base = {aperture + local.offset[0], aperture + local.offset[1]},
                           .span = local.bytes,
                           .address = s->context->vgpr + (size_t)number * ISA_LANES,
                           .is_short = true};
    return true;
}

static bool describe(const struct observed_instruction *s, struct accessed *a)
{
    if (s->inst && s->inst->unit == ISA_UNIT_LDS)
        return describe_local(s, a);
    uint64_t bytes = s->bytes ? s->bytes : s->memory ? s->memory->bytes : 0;
    *a = (struct accessed){.writes = s->memory && s->memory->kind != ISA_MEMORY_LOAD,
                           .reads = !s->memory || s->memory->kind != ISA_MEMORY_STORE,
                           .count = 1,
                           .span = s->apart ? (uint64_t)s->apart * ((bytes + 3) / 4) : bytes,
                           .address = s->address};
    return s->address;
}

static bool touches(const struct accessed *a, uint64_t mask, const struct debug_rule *r)
{
    const uint32_t *offset = a->address;
    const uint64_t *address = a->address;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctzll(mask);
        for (unsigned i = 0; i < a->count; i++) {
            uint64_t at = a->base[i] + (a->is_short ? offset[lane] : address[lane]);
            if (at < r->address + r->bytes && r->address < at + a->span)
                return true;
        }
    }
    return false;
}

bool debug_rules_access(const struct observed_instruction *s, struct debug_stopped *at)
{
    struct accessed a;
    if (!rule_count || !s->mask || !describe(s, &a))
        return false;
    for (uint64_t i = 0; i < rule_count; i++) {
        const struct debug_rule *r = &rules[i];
        if (r->kind == DEBUG_BREAK || (r->kind == DEBUG_WRITE && !a.writes)
            || (r->kind == DEBUG_READS && !a.reads) || !touches(&a, s->mask, r))
            continue;
        at->address = r->address;
        at->rule = r->kind;
        return true;
    }
    return false;
}
