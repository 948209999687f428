/* Watching lines: every message about one of a few addresses, as text on stderr, hop by hop.
 *
 * `heddle run --watch ADDRESS` asks for it. A tester that finds a wrong value names the line and
 * the time from which on its way matters; `heddle run` then repeats the run, which is the same to
 * the last cycle, and watches. */
#ifndef HEDDLE_RUNTIME_OBSERVE_WATCH_H
#define HEDDLE_RUNTIME_OBSERVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_LINE 64 /* bytes: an address stands for the line that it lies in */

/* In addition to engine_fail(): what happened to the line that holds `address`, virtual or
 * physical, from `since_ps` on explains the failure. The first few addresses and the earliest time
 * count. */
void watch_suspect(uint64_t address, uint64_t since_ps);

/* ---- for the runtime ---- */

struct message;
struct platform_lines;
struct platform_table;
struct ring;
void watch_open(const struct platform_table *table);
void watch_message(const struct ring *r, const struct message *m, uint64_t time_ps);
/* At the end of a run: what has not been printed yet. */
void watch_close(void);
/* False: no line is suspected. */
bool watch_suspects(struct platform_lines *lines);

#endif
