/* How many threads a relay is worth, and how many windows it has.
 *
 * That depends on the machine: on how long a line takes from one processor's cache to another's
 * (0.05 to 0.4 us were seen), on what else runs, and on how much shards tell each other. So it
 * is tried. A run begins with one thread, so that nothing is lost where several do not pay. A
 * spell is some relays with one number of threads; from the time it took we know what a tick of
 * work takes, and the least time of some spells is what counts, since whatever disturbs only
 * adds to it; old ones count less and less, as programs have phases. Now and then the next
 * spells are a trial: of all threads, or of one if all were faster. If the trial is faster, it
 * stays; if not, the next one comes after twice as many spells, or many more if it was much
 * slower. One thread is also tried as soon as all take longer than it did for some spells in a
 * row: another program may have taken a processor. What is measured begins some time after a
 * change, when threads have woken up and what shards need has moved to the caches of other
 * processors: relay for relay, changes would cost more than they bring.
 *
 * A relay has as many windows as take RELAY_NS.
 *
 * Only host time is read, and nothing but these two numbers follows from it. */
#include <stdbool.h>

#include "pace.h"

#define WARM_NS    300000u  /* after a change; at least a relay */
#define SPELL_NS   1000000u /* what is measured; at least a relay */
#define TRIAL      2u       /* spells */
#define RELAY_NS   250000u
#define WINDOWS    8u /* of a relay, at first and at least */
#define WINDOWS_TO 128u
#define FIRST      4u /* spells before a trial, */
#define MOST       64u
#define BEGIN      2u   /* and before the first one */
#define MORE       0.95 /* of the time, for all threads in place of one: less may be chance */
#define MUCH       1.25
#define HOPELESS   2.0 /* times as long: a trial ends with the spell */
#define WORSE      4u  /* spells in which all take AS_MUCH longer than one did */
#define AS_MUCH    1.1
#define FADING     1.02
#define LOSSES     50.0  /* trials that fail cost at most one part in so many of the time */
#define LATEST     250.0 /* spells for which a trial is put off for that */

static struct pace {
    uint32_t threads;
    bool alone;       /* one is better, as far as is known */
    bool tries;       /* the other number is tried */
    uint32_t spells;  /* before that changes */
    uint32_t pause;   /* spells between trials, at present */
    uint32_t windows; /* of the next relay */
    uint32_t worse;   /* spells in a row */
    uint32_t failed;  /* trials in a row */
    double tick_ns;   /* the least of the spells before the trial; 0: none */
    double tried_ns;  /* and of the trial */
    double alone_ns;  /* with one thread, when it was tried last; 0: not yet */
    uint64_t warm_ns; /* since the last change, */
    uint64_t ns;      /* and what came behind that in this spell */
    uint64_t work;
    uint64_t trial_ns; /* all of the trial */
    uint64_t trial_work;
    uint64_t switch_ns; /* that the last change of shards took */
    bool fixed;         /* nothing is tried */
    uint64_t seed;      /* of choices by chance; 0: none */
} pace;

static bool is_alone(void)
{
    return pace.alone != pace.tries;
}

uint32_t pace_choose(void)
{
    return is_alone() ? 1 : pace.threads;
}

uint32_t pace_windows(void)
{
    return pace.windows;
}

static void begin_trial(void)
{
    pace.tries = true;
    pace.tried_ns = 0;
    pace.spells = TRIAL;
    pace.worse = 0;
    pace.warm_ns = 0;
    pace.trial_ns = pace.trial_work = 0;
    pace.windows = WINDOWS; /* without a processor for a thread each may take 50 us */
}

/* Spells before the next trial that make up for what this one has lost. */
static uint32_t make_up(void)
{
    double loss = (double)pace.trial_ns - (double)pace.trial_work * pace.tick_ns;
    double spells = ((loss > 0 ? loss : 0) + 2.0 * (double)pace.switch_ns) * LOSSES / SPELL_NS;
    return (uint32_t)(spells < LATEST ? spells : LATEST);
}

static void end_trial(void)
{
    uint32_t later = make_up();
    pace.tries = false;
    if (pace.tried_ns < pace.tick_ns * (pace.alone ? MORE : 1)) {
        pace.alone = !pace.alone;
        pace.pause = FIRST;
        pace.failed = later = 0;
    } else {
        uint32_t pause = pace.pause * (pace.tried_ns > pace.tick_ns * MUCH ? 8 : 2);
        pace.pause = pause < MOST ? pause : MOST;
        pace.warm_ns = 0;
        later = pace.failed++ ? later : 0; /* one may have been disturbed */
    }
    pace.tick_ns = 0;
    pace.spells = pace.pause + later;
}

/* Does something speak for a change before the spells are over? */
static bool is_out_of_place(double tick_ns)
{
    if (pace.tries)
        return tick_ns > pace.tick_ns * HOPELESS;
    bool worse = !pace.alone && pace.alone_ns > 0 && tick_ns > pace.alone_ns * AS_MUCH;
    pace.worse = worse ? pace.worse + 1 : 0;
    if (pace.worse < WORSE)
        return false;
    pace.tick_ns = tick_ns; /* what it took before that is no measure any more */
    return true;
}

static void end_spell(double tick_ns)
{
    double *least = pace.tries ? &pace.tried_ns : &pace.tick_ns;
    *least *= FADING;
    if (*least == 0 || tick_ns < *least)
        *least = tick_ns;
    if (is_alone())
        pace.alone_ns = *least;
    if (!is_out_of_place(tick_ns) && --pace.spells)
        return;
    if (pace.tries)
        end_trial();
    else
        begin_trial();
}

/* As long as the last one, for each window. */
static void choose_windows(uint32_t windows, uint64_t ns)
{
    uint64_t chosen = (uint64_t)windows * RELAY_NS / (ns + 1);
    pace.windows = chosen < WINDOWS ? WINDOWS : chosen < WINDOWS_TO ? (uint32_t)chosen : WINDOWS_TO;
}

/* Test aid: whatever is chosen, and changed, at any time must change nothing. */
static void choose_by_chance(void)
{
    pace.seed = pace.seed * 6364136223846793005u + 1442695040888963407u;
    pace.alone = pace.seed >> 63;
    pace.windows = 1 + (uint32_t)(pace.seed >> 40) % WINDOWS;
}

void pace_note(uint64_t work, uint32_t windows, uint64_t ns)
{
    if (pace.seed) {
        choose_by_chance();
        return;
    }
    choose_windows(windows, ns);
    if (pace.fixed)
        return;
    pace.trial_ns += ns;
    pace.trial_work += work;
    if (pace.warm_ns < WARM_NS) {
        pace.warm_ns += ns + 1;
        return;
    }
    pace.ns += ns;
    pace.work += work;
    if (pace.ns < SPELL_NS || !pace.work)
        return;
    end_spell((double)pace.ns / (double)pace.work);
    pace.ns = 0;
    pace.work = 0;
}

void pace_note_switch(uint64_t ns)
{
    pace.switch_ns = ns;
}

double pace_gain(uint64_t work, uint64_t ns)
{
    return pace.alone_ns > 0 && work && ns ? pace.alone_ns * (double)work / (double)ns : 1;
}

void pace_open_fixed(uint32_t threads)
{
    pace = (struct pace){.threads = threads, .spells = 1, .windows = WINDOWS, .fixed = true};
}

void pace_open(uint32_t threads, uint64_t seed)
{
    pace = (struct pace){.threads = threads,
                         .alone = true,
                         .spells = BEGIN,
                         .pause = FIRST,
                         .windows = WINDOWS,
                         .seed = seed};
}
