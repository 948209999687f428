/* The parts of a state that libraries keep (struct checkpoint_part in checkpoint.h), one behind the
 * other at the end of a file. Of checkpoint.c. */
#ifndef HEDDLE_RUNTIME_CHECKPOINT_PARTS_H
#define HEDDLE_RUNTIME_CHECKPOINT_PARTS_H

#include "checkpoint.h"

/* The target of bytes: `put` gets multiples of 8. */
struct checkpoint_sink {
    void (*put)(struct checkpoint_sink *sink, const void *bytes, size_t size);
    char rest[8];
    uint32_t rest_bytes;
};

/* Before and after the arena is written: what belongs to the process leaves the arena meanwhile. */
void parts_take_out(void);
void parts_put_back(void);

/* Asks all parts how large they are; the sum, with their headers. Then writes as much. */
uint64_t parts_measure(void);
void parts_write(struct checkpoint_sink *to);

/* Readers of a file: part `name`, NULL if there is none. All parts to their owners. */
const void *parts_find(const char *bytes, uint64_t size, const char *name, uint64_t *found);
bool parts_load(const char *bytes, uint64_t size);

#endif
