/* What checkpoint.c is made of: the bytes of a file, and the parts that libraries
 * keep. */
#ifndef HEDDLE_CHECKPOINT_INTERNAL_H
#define HEDDLE_CHECKPOINT_INTERNAL_H

#include "checkpoint.h"

/* The state of this process as bytes of a file. */

extern const char checkpoint_magic[8] __attribute__((visibility("hidden")));

/* Writes the state to a file that is empty: between runs of the engine. false: errno says why. */
bool image_write(int fd, const struct platform_table *table, uint64_t layout);

/* The parts of a state that libraries keep (struct checkpoint_part in checkpoint.h), one behind the
 * other at the end of a file. */

/* The target of bytes: `put` gets multiples of 8. */
struct checkpoint_sink {
    void (*put)(struct checkpoint_sink *sink, const void *bytes, size_t size);
    char rest[8];
    uint32_t rest_bytes;
};

/* Is there nothing that keeps a state from being written? */
bool parts_are_over(void);

/* Before and after the arena is written: what belongs to the process leaves the arena meanwhile. */
void parts_take_out(void);
void parts_put_back(void);

/* Asks all parts how large they are; the sum, with their headers. Then writes as much. */
uint64_t parts_measure(void);
void parts_write(struct checkpoint_sink *to);

/* Readers of a file: part `name`, NULL if there is none. All parts to their owners. */
const void *parts_find(const char *bytes, uint64_t size, const char *name, uint64_t *found);
bool parts_load(const char *bytes, uint64_t size);

/* Takes what is no state out of the arena, pointers and what this build and this run have of their
 * own, and puts it back. */
void image_bare(bool bare);

#endif
