/* Re-timing (cu_retime.c) of the answers at one port. */
#ifndef HEDDLE_COMPUTE_UNIT_RETIME_PORT_H
#define HEDDLE_COMPUTE_UNIT_RETIME_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/work/work_cycles.h"
#include "components/sampling/message_note.h"

struct retime_lead {
    uint64_t by[WORK_RETIMES]; /* cycles, or a cycle */
};

struct cu_retime_port {
    bool known;              /* an answer has come */
    uint64_t least;          /* cycles that an answer took, less what it lost */
    struct retime_lead lead; /* of the last one that lost something, when it came */
    uint64_t at;             /* cycle in which it did */
};

/* Cycles of a note; those of both may be less than 0. */
static inline struct retime_lead retime_noted(struct message_note note)
{
    int64_t line = note.line, page = note.page;
    return (struct retime_lead){
        {line > 0 ? (uint64_t)line : 0, page > 0 ? (uint64_t)page : 0, (uint64_t)(line + page)}};
}

/* Re-timed cycle of something that came at `now`, to who had `lead` when he asked. Nothing is later
 * than it was. */
static inline uint64_t retime_came(uint64_t now, uint64_t lead, uint64_t lost)
{
    return (int64_t)(lead + lost) > 0 ? now - lead - lost : now;
}

/* What an answer at a port would have come earlier to a request with `lead`: what its note says,
 * and, of the time that nothing explains but requests in front of it, as much as it takes to be as
 * early as the last of those that came meanwhile and lost something. */
static inline struct retime_lead retime_lost(struct cu_retime_port *p, uint64_t ready,
                                             const struct retime_lead *lead,
                                             struct message_note note, uint64_t now)
{
    uint64_t waited = now - ready;
    struct retime_lead lost = retime_noted(note);
    if ((int64_t)lost.by[WORK_RETIME_BOTH] < 0)
        return lost;
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        lost.by[s] = lost.by[s] < waited ? lost.by[s] : waited;
    uint64_t rest = waited - lost.by[WORK_RETIME_BOTH];
    p->least = p->known && p->least < rest ? p->least : rest;
    p->known = true;
    uint64_t before = p->at > ready ? p->at - ready : 0;
    before = before < rest - p->least ? before : rest - p->least;
    for (unsigned s = 0; s < WORK_RETIMES; s++) {
        uint64_t own = lead->by[s] + lost.by[s];
        uint64_t behind = p->lead.by[s] > own ? p->lead.by[s] - own : 0;
        lost.by[s] += before < behind ? before : behind;
    }
    if (!lost.by[WORK_RETIME_BOTH])
        return lost;
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        p->lead.by[s] = lead->by[s] + lost.by[s];
    p->at = now;
    return lost;
}

#endif
