/* Statistics of this rank at the ends of windows where ranks do not meet. A span (stats_span.h)
 * that begins or ends at another rank needs them, and this rank learns of it when ranks meet.
 *
 * A stretch is logged when stats_log_add() is called at the end of each of its windows but the
 * last. When ranks meet, stats_log_show() gives the blocks (stats_span.h) their contents at the end
 * of such a window, stats_log_hide() gives them their present contents back, and stats_log_forget()
 * begins the next stretch. */
#ifndef HEDDLE_RUNTIME_OBSERVE_STATS_LOG_H
#define HEDDLE_RUNTIME_OBSERVE_STATS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define STATS_LOG_WINDOWS 62 /* windows of one stretch besides the last */

/* Bit i of word w: the component of that id has ticked since the last end of a window. Set by the
 * shards that run, a word by one shard only; NULL: nothing is logged. */
extern uint64_t *stats_log_ticked __attribute__((visibility("hidden")));

/* Called when statistics are opened: nothing is logged until then. */
void stats_log_open(void);
void stats_log_close(void);
/* A run begins; what the host has done before counts. */
void stats_log_begin(void);
/* At the end of window `number` of the stretch, in ascending order. */
void stats_log_add(uint32_t number);
void stats_log_show(uint32_t number);
void stats_log_hide(void);
void stats_log_forget(void);

#endif
