/* Serves the requests of the debugger while the debugged process is stopped (debug_channel.h).
 * Private to components/checks. */
#ifndef HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_SERVE_H
#define HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_channel.h"

struct debug_thread;
struct page_table;

/* Connects to the socket in the folder. False: it has printed the reason. */
bool debug_serve_open(const char *folder, const struct page_table *pages);
/* The process has stopped at `here`. Sends `answer`, then answers requests until one continues it:
 * *go. */
void debug_serve(const struct debug_stopped *here, const struct debug_stopped *answer,
                 struct debug_request *go);
bool debug_serve_interrupted(void);
/* The program is over. */
void debug_serve_end(const struct debug_stopped *end);

/* Writes a file "KIND-ADDRESS" into the folder. */
void debug_serve_keep(const char *kind, uint64_t address, const void *bytes, size_t size);

/* Copies memory as a lane of the thread sees it. False: not all of it is there. */
bool debug_serve_read(const struct debug_thread *thread, unsigned lane, uint64_t address, void *to,
                      uint64_t bytes);
/* Forgets stores that have come to memory, as the thread sees it; NULL: as the last one did. */
void debug_serve_settle(const struct debug_thread *thread);
/* The first of the threads that have begun, in the order of their beginning, and the thread with a
 * number. NULL: there is none. */
struct debug_thread *debugger_threads(void);
const struct debug_thread *debugger_thread(uint64_t number);
uint64_t debugger_pc(const struct debug_thread *thread);

#endif
