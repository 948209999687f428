/* See dram_rules.h. Every pair of commands closer than the longest time is compared; written from
 * the definitions of the times, not from the model. */
#include "dram_rules.h"

#include <stddef.h>

#define BANKS_MAX 64u

/* Of those that have the bus of row commands: refreshes of a bank find room between others. */
static bool is_row(enum rules_kind k)
{
    return k == RULES_ACT || k == RULES_PRE || k == RULES_PREA || k == RULES_REF;
}

static bool closes(const struct rules_command *c, uint32_t bank)
{
    return c->kind == RULES_PREA
           || ((c->kind == RULES_PRE || c->kind == RULES_PREB) && c->bank == bank);
}

static bool is_column(enum rules_kind k)
{
    return k == RULES_RD || k == RULES_WR;
}

/* First data clock of a column command. */
static uint64_t data(const struct rules_times *t, const struct rules_command *c)
{
    return c->edge + (c->kind == RULES_RD ? t->cl : t->cwl);
}

/* What must lie between an activation `a` and a later command `b`. */
static const char *after_act(const struct rules_times *t, const struct rules_command *a,
                             const struct rules_command *b, uint64_t gap)
{
    bool bank = a->bank == b->bank,
         group = a->bank / t->banks_of_group == b->bank / t->banks_of_group;
    if ((b->kind == RULES_ACT || b->kind == RULES_REFB) && bank && gap < t->rc)
        return "tRC";
    if (b->kind == RULES_ACT && gap < (group ? t->rrd_l : t->rrd_s))
        return "tRRD";
    if (b->kind == RULES_RD && bank && gap < t->rcd_read)
        return "tRCD of a read";
    if (b->kind == RULES_WR && bank && gap < t->rcd_write)
        return "tRCD of a write";
    if (closes(b, a->bank) && gap < t->ras)
        return "tRAS";
    return NULL;
}

/* The same for a read or write `a`. */
static const char *after_column(const struct rules_times *t, const struct rules_command *a,
                                const struct rules_command *b, uint64_t gap)
{
    bool group = a->bank / t->banks_of_group == b->bank / t->banks_of_group;
    uint64_t end = data(t, a) + t->burst; /* first clock behind the data */
    if (closes(b, a->bank)) {
        if (a->kind == RULES_RD && gap < t->rtp)
            return "tRTP";
        if (a->kind == RULES_WR && b->edge < end + t->wr)
            return "tWR";
    }
    if (!is_column(b->kind))
        return NULL;
    if (a->kind == b->kind && gap < (group ? t->ccd_l : t->ccd_s))
        return "tCCD";
    if (data(t, b) < end)
        return "data bus";
    if (a->kind == RULES_WR && b->kind == RULES_RD && b->edge < end + (group ? t->wtr_l : t->wtr_s))
        return "tWTR";
    if (a->kind == RULES_RD && b->kind == RULES_WR && data(t, b) < end + t->rtw)
        return "read to write";
    return NULL;
}

static const char *check_pair(const struct rules_times *t, const struct rules_command *a,
                              const struct rules_command *b)
{
    uint64_t gap = b->edge - a->edge;
    if (!gap
        && ((is_row(a->kind) && is_row(b->kind)) || (is_column(a->kind) && is_column(b->kind))))
        return "command bus";
    if (a->kind == RULES_ACT)
        return after_act(t, a, b, gap);
    if (is_column(a->kind))
        return after_column(t, a, b, gap);
    if (a->kind == RULES_REF)
        return (is_row(b->kind) && b->kind != RULES_PREA && gap < t->rfc) ? "tRFC" : NULL;
    bool same = a->kind == RULES_PREA || a->bank == b->bank || b->kind == RULES_REF,
         next = b->kind == RULES_ACT || b->kind == RULES_REF || b->kind == RULES_REFB;
    if (a->kind == RULES_REFB)
        return same && (next || closes(b, a->bank)) && gap < t->rfc ? "tRFC" : NULL;
    return next && same && gap < t->rp ? "tRP" : NULL;
}

/* Rows that are open before command `c`, which changes them. */
static const char *check_rows(const struct rules_times *t, bool open[BANKS_MAX],
                              uint64_t rows[BANKS_MAX], const struct rules_command *c)
{
    switch (c->kind) {
    case RULES_ACT:
        if (open[c->bank])
            return "activation of an open bank";
        open[c->bank] = true;
        rows[c->bank] = c->row;
        return NULL;
    case RULES_RD:
    case RULES_WR:
        return open[c->bank] && rows[c->bank] == c->row ? NULL : "access to a row that is not open";
    case RULES_PRE:
    case RULES_PREB:
        open[c->bank] = false;
        return NULL;
    case RULES_PREA:
        for (uint32_t i = 0; i < t->banks; i++)
            open[i] = false;
        return NULL;
    case RULES_REF:
    case RULES_REFB:
        for (uint32_t i = 0; i < t->banks; i++)
            if (open[i] && (c->kind == RULES_REF || i == c->bank))
                return "refresh of an open bank";
        return NULL;
    }
    return "unknown command";
}

const char *rules_check(const struct rules_times *t, const struct rules_command *commands,
                        uint32_t count, uint32_t *which)
{
    bool open[BANKS_MAX] = {false};
    uint64_t rows[BANKS_MAX] = {0},
             farthest = t->rfc + t->rc + t->cl + t->burst + t->wr + t->faw + t->rtw;
    for (uint32_t i = 0; i < count; i++) {
        const struct rules_command *c = &commands[i];
        uint32_t activations = 0;
        const char *broken = check_rows(t, open, rows, c);
        for (uint32_t j = i; !broken && j-- > 0 && c->edge - commands[j].edge <= farthest;) {
            broken = check_pair(t, &commands[j], c);
            activations += commands[j].kind == RULES_ACT && c->edge - commands[j].edge < t->faw;
        }
        if (!broken && c->kind == RULES_ACT && activations >= 4)
            broken = "tFAW";
        if (broken) {
            *which = i;
            return broken;
        }
    }
    return NULL;
}
