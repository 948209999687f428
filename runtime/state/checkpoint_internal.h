/* The parts of checkpoint.c: the bytes of a file, the parts that libraries keep, and restoring with
 * other parameters. */
#ifndef HEDDLE_RUNTIME_STATE_CHECKPOINT_INTERNAL_H
#define HEDDLE_RUNTIME_STATE_CHECKPOINT_INTERNAL_H

#include "checkpoint.h"

/* The state of this process as bytes of a file. */

extern const char checkpoint_magic[8] __attribute__((visibility("hidden")));

/* Writes the state to a file that is empty: between runs of the engine. False: errno says why. */
bool image_write(int fd, const struct platform_table *table, uint64_t layout);

/* The parts of a state that libraries keep (struct checkpoint_part in checkpoint.h), one after
 * the other at the end of a file. */

/* The target of bytes: `put` gets multiples of 8. */
struct checkpoint_sink {
    void (*put)(struct checkpoint_sink *sink, const void *bytes, size_t size);
    char rest[8];
    uint32_t rest_bytes;
};

/* True if nothing keeps a state from being written. */
bool parts_are_over(void);

/* Before and after the arena is written: what belongs to the process leaves the arena meanwhile. */
void parts_detach(void);
void parts_reattach(void);

/* Asks all parts how large they are; the sum, with their headers. Then writes as much. */
uint64_t parts_measure(void);
void parts_write(struct checkpoint_sink *to);

/* Readers of a file: part `name`, NULL if there is none. All parts to their owners. */
const void *parts_find(const char *bytes, uint64_t size, const char *name, uint64_t *found);
bool parts_load(const char *bytes, uint64_t size);

/* Restoring with other parameters than those of the run that wrote the state.
 *
 * What components keep was partly made from parameters when the platform started. A state holds the
 * arena of that start, too. A word of the arena that is another one at the start with today's
 * parameters is made of them: if the run has left it as it was, it gets today's value; if the run
 * has changed it, what it would be today is unknown, and the state is refused. Only times and rates
 * may differ, and only those that leave the layout of the arena as it is: another number of sets
 * would find a cache's lines in the wrong places. The messages name the parameters. */

/* The part that says what a state is of. */
#define MERGE_PART "platform"
/* The part that says which pages held something at the start. Pages that have not changed since are
 * not in the file twice. */
#define MERGE_MAP  "start"

struct merge_file {
    const char *name;
    const void *description; /* MERGE_PART */
    const uint8_t *map;      /* MERGE_MAP */
    uint64_t map_bytes;
    const struct checkpoint_page *pages;
    uint64_t page_count;
};

/* Takes what is no state out of the arena, or puts it back: pointers, and data of this build or
 * this run alone. */
void merge_strip(bool strip);

/* At the end of the start; `set`: what the user has set, a line each. With `keeps_start`, the pages
 * of the arena up to `bytes` are kept for a state that is to be written. */
void merge_open(const struct platform_table *table, const char *set, uint64_t bytes,
                bool keeps_start);
const struct checkpoint_page *merge_start_pages(uint64_t *count);

/* The file's model is not this one; `fits`: its layout is. Finds the words that are to be changed.
 * False: message on stderr. Before anything has run. */
bool merge_prepare(const struct platform_table *table, const struct merge_file *file, bool fits);
/* Called when the file's pages are in place. */
void merge_apply(void);
/* A state of that time and model has been put in place. */
void merge_record_origin(uint64_t time_ps, const char *model);

#endif
