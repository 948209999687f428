/* Named checks on the elaborated tree. Each is a record under its function; one runs when those it
 * builds on have passed, and has passed when it reported no error. */
#ifndef HEDDLE_DSL_CHECK_CHECK_H
#define HEDDLE_DSL_CHECK_CHECK_H

#include "dsl/elaborate/elaborate.h"

struct check {
    const char *name; /* as in codes.def */
    enum diagnostic_code code;
    void (*run)(struct elaboration *e);
    const struct check *prerequisites[3]; /* NULL-terminated unless full */
    bool in_standalone;                   /* means something for a component by itself, too */
};

/* check_values.c */
extern const struct check check_conditions;
/* check_connections.c */
extern const struct check check_protocols, check_unbound, check_unconnected, check_two_latencies,
    check_latency, check_clock_crossing, check_clocks;
/* check_depth.c */
extern const struct check check_shallow;
/* check_deadlock.c */
extern const struct check check_deadlock;
/* check_interconnect_cycles.c */
extern const struct check check_interconnect_cycles;
/* check_stores.c */
extern const struct check check_stores;
/* check_wires.c */
extern const struct check check_wires;
/* coherence_facts.c */
extern const struct check check_coherence_facts;
/* check_coherence.c */
extern const struct check check_coherence;
/* check_unused.c */
extern const struct check check_unused_parameters, check_unused_components;
/* check_origins.c */
extern const struct check check_origins;

void checks_run(struct elaboration *e);

#endif
