/* The state of a simulation in a file: `heddle run --checkpoint` writes it between two steps,
 * `--restore` continues from it in another process, whose statistics are those of an unbroken run,
 * byte for byte.
 *
 * State is what lies in the arena, in simulated DRAM, and in the clocks of the engine, and what
 * libraries keep in addition (struct checkpoint_part); tables of pointers are not state and lie
 * elsewhere (arena_derive()). A file belongs to one version of the toolkit and one layout of
 * instances; it does not depend on the order of ticks, on options for traces, or on whether the
 * build is generic; with statistics it has their spans. That a component's C file has changed
 * without changing its size is not noticed.
 *
 * Parameters may differ from those of the run that wrote the state, as long as they change no sizes
 * and nothing that has been in use: checkpoint_merge.c. The statistics' stamp says so.
 *
 * On a platform with a driver half of the state is the host program's. Such a state is loaded in
 * two steps: checkpoint_open() checks the file, the driver lets the program do once more what it
 * did before (components/host/driver/program/driver_journal.h), then checkpoint_resume() puts the
 * state in place.
 *
 * A state is that of one process: several ranks have none. */
#ifndef HEDDLE_RUNTIME_STATE_CHECKPOINT_H
#define HEDDLE_RUNTIME_STATE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"

#include "checkpoint_format.h"
#include "platform.h"

/* State that a library keeps outside of the arena and of simulated memory.
 * Registered before checkpoint_open(), once a process. */
struct checkpoint_sink;
struct checkpoint_part {
    const char *name; /* shorter than CHECKPOINT_PART_NAME */
    /* The number of bytes that save() is going to put, and save() itself. */
    uint64_t (*size)(void);
    void (*save)(struct checkpoint_sink *to);
    /* Called when the pages are in place. False: message on stderr. */
    bool (*load)(const void *bytes, uint64_t size);
    /* Around the writing of the arena: takes out of it what belongs to the process, such as
     * addresses, and puts it back. NULL: there is nothing. */
    void (*detach)(void);
    void (*reattach)(void);
};
void checkpoint_register(const struct checkpoint_part *part);
/* Registers a function that says whether nothing is under way that no state can hold. A state is
 * written only when all such functions agree. Once a process. */
void checkpoint_wait_for(bool (*is_over)(void));
void checkpoint_put(struct checkpoint_sink *to, const void *bytes, uint64_t size);

/* Called by the driver of the platform. `why` is a sentence if it cannot do without its program;
 * NULL: it can. */
void checkpoint_set_driver(const char *why);

/* At the end of the start of a platform: remembers what is wanted, and loads the file of
 * `restore_path` if there is one; on a platform with a driver it only checks it. False: message on
 * stderr. */
bool checkpoint_open(const struct platform_table *table);

/* Replaces the state by that in `bytes`; `name` is for messages. Checks everything first: false
 * (message on stderr) has changed nothing. */
bool checkpoint_apply(const void *bytes, size_t size, const char *name);

/* A state was checked and is not in place yet; its part `name`, NULL if it has none. */
bool checkpoint_is_pending(void);
const void *checkpoint_pending_part(const char *name, uint64_t *size);
/* Puts the pending state in place. False: message on stderr. */
bool checkpoint_resume(void);

/* Runs as engine_run() does; on the way writes the state when its time has come, and goes on. */
enum engine_result checkpoint_run(void);
/* A state is wanted and not written yet. */
bool checkpoint_is_wanted(void);
/* The state is to be written now, at the end of this window. */
void checkpoint_now(void);
/* The launch of --checkpoint-at, or NULL. */
const char *checkpoint_kernel(void);
/* At the end: what became of the file that was asked for; or a message was printed. */
enum checkpoint_end { CHECKPOINT_DONE, CHECKPOINT_MISSED, CHECKPOINT_FAILED };
enum checkpoint_end checkpoint_end(void);

/* The origin of a state that was loaded with other parameters than it was written with: its time,
 * model and what was set then, a line each. False: there is none. */
struct checkpoint_origin {
    uint64_t time_ps;
    const char *model, *set;
};
bool checkpoint_origin(struct checkpoint_origin *origin);

#endif
