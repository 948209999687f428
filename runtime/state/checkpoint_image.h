/* The state of this process as bytes of a file. A part of checkpoint.c. */
#ifndef HEDDLE_RUNTIME_CHECKPOINT_IMAGE_H
#define HEDDLE_RUNTIME_CHECKPOINT_IMAGE_H

#include "checkpoint.h"

extern const char checkpoint_magic[8] __attribute__((visibility("hidden")));

/* Writes the state to a file that is empty: between runs of the engine. false: errno says why. */
bool image_write(int fd, const struct platform_table *table, uint64_t layout);

#endif
