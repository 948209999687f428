/* The protocol by which a dispatcher and a compute unit agree before a work-group runs.
 *
 * A protocol says which compute units the dispatcher may try, how much time an attempt costs beside
 * the work of dispatching, and when a dispatcher that found no room tries again. Calls come from
 * the command processor's tick, for one dispatcher; setup() first, once. */
#ifndef HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCH_PROTOCOL_H
#define HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCH_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

struct part;

/* Result of an attempt. */
enum dispatch_result {
    DISPATCH_PLACED, /* the work-group has its place */
    DISPATCH_NEXT,   /* no room there; another compute unit may be tried in the same cycle */
    DISPATCH_REFUSED /* no room there, and finding out took time */
};

struct dispatch_protocol_ops {
    /* `round_trip`: cycles to a compute unit and back. */
    void (*setup)(struct part *self, uint32_t compute_units, uint32_t round_trip);
    /* A kernel begins. */
    void (*start)(struct part *self);
    /* True if the dispatcher may try this compute unit. */
    bool (*may_try)(const struct part *self, uint32_t cu);
    /* The dispatcher has tried the compute unit, and there was room or not. *cycles: after how many
     * the dispatcher may continue, as far as the protocol is concerned. */
    enum dispatch_result (*tried)(struct part *self, uint32_t cu, bool room, uint32_t *cycles);
    /* A work-group has ended on `cu`: one of this dispatcher's (`is_own`), or of another. */
    void (*ended)(struct part *self, uint32_t cu, bool is_own);
    /* No compute unit had room when `ends` work-groups of the GPU had ended; now `now` have. True
     * if there is a reason to try again. */
    bool (*may_retry)(const struct part *self, uint64_t ends, uint64_t now);
};

#endif
