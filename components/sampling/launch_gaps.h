/* One launch simulated with gaps: its wavefronts are simulated in detail in windows, and go on
 * without timing between them. Decided while the launch runs. Pure: no clock, no random numbers, no
 * other module; components/sampling/online_gaps.h is between this and a run.
 *
 * Time. A launch begins in detail, until two windows in a row are alike. A window is measured once
 * all is in flow: how many instructions all compute units issue in how much time. Then they pause,
 * and what is under way comes back; every wavefront executes some instructions without timing; and
 * the machine goes on. Until queues are full again nothing is measured; then comes the next window.
 * The end of the launch, where wavefronts run out, is in detail.
 *
 * Estimate. Time in detail is what it is, without that from a pause to the next window. What was
 * executed in that time takes its instructions, which are known, times the mean of the rates of the
 * windows before and behind it; of the one before where the machine has fewer wavefronts behind it,
 * since it was full for nearly all of that time. (Wunderlich and others, SMARTS, ISCA 2003, sample
 * programs on one processor like this.)
 *
 * Interval. Rates scatter about that line; how much is told by differences of successive ones (as
 * in stratified_sampler.h). In squares come the launch's own scatter, since it would begin at
 * another moment, and the scatter of windows, each with what it stands for; linear: what windows
 * cannot tell. */
#ifndef HEDDLE_SAMPLING_LAUNCH_GAPS_H
#define HEDDLE_SAMPLING_LAUNCH_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "stratified_sampler.h"

enum { GAPS_MOST = 512 /* windows */ };

/* Times are in cycles of the launch, from any origin. */
struct gap_window {
    double cycles, instructions; /* of the window */
    double before;               /* instructions since the window before, or 0: none was left out */
    uint64_t running;            /* wavefronts at its end */
    bool thin;                   /* the machine is less full than in the window before */
};

struct launch_gaps {
    double aim;               /* half of the interval that is enough, as a share */
    double mark, mark_at;     /* when the present window began, and instructions then */
    double paused, paused_at; /* the same of the last pause */
    double resumed;           /* when that was over */
    double left_out;          /* cycles from pauses to windows */
    double open;              /* instructions that were executed without timing */
    double executed;          /* the same of all gaps */
    double origin;            /* when the launch was begun, */
    double origin_at;         /* and instructions then */
    uint64_t most_running;    /* wavefronts */
    double last_rate;         /* of a window at the begin of the launch */
    uint32_t begun;           /* such windows */
    uint32_t small;           /* gaps that came to less than they should have */
    bool settling;            /* a gap is over, and the next window has not begun */
    bool ends;                /* nothing has to settle: the launch runs out of work */
    bool measuring, flows;    /* flows: wavefronts have issued something */
    bool rest;                /* no more gaps */
    uint32_t count;
    struct gap_window window[GAPS_MOST];
};

/* A launch is about to begin. `instructions`: that were issued in time so far. Returns when to look
 * for the first time. */
double gaps_begin(struct launch_gaps *g, double aim, double now, double instructions);
/* `running`: wavefronts. True: the machine is to pause. Otherwise *next is when to look again;
 * INFINITY: never. */
bool gaps_look(struct launch_gaps *g, double now, double instructions, uint64_t running,
               double *next);
/* How many instructions to leave out, and how many of them, the last ones, touch caches. */
double gaps_wanted(const struct launch_gaps *g, double *touching);
/* What came of it. */
struct gap_result {
    double executed;  /* instructions */
    double resumed;   /* when the machine goes on */
    uint64_t running; /* wavefronts then */
};
/* Returns when to look next. */
double gaps_executed(struct launch_gaps *g, double wanted, const struct gap_result *result);
/* The launch is over. */
void gaps_end(struct launch_gaps *g);

/* `cycles`: what the launch took, with all pauses. */
struct cut_estimate gaps_estimate(const struct launch_gaps *g, double cycles);
/* What memory reads or writes for a launch of so many instructions, of which it was so many bytes
 * in detail: the rest takes as many for an instruction. Windows say nothing of how that scatters,
 * so the allowance is for this, too. */
struct cut_estimate gaps_bytes(const struct launch_gaps *g, double instructions, double bytes);

#endif
