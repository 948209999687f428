/* The state of this process as bytes: what a file of one process is, and of several ranks each has
 * one. A part of checkpoint.c. */
#ifndef HEDDLE_RUNTIME_CHECKPOINT_IMAGE_H
#define HEDDLE_RUNTIME_CHECKPOINT_IMAGE_H

#include "checkpoint.h"

extern const char checkpoint_magic[8] __attribute__((visibility("hidden")));

/* The target of an image. `failed`: the rest need not be put. */
struct image_target {
    void (*put)(struct image_target *to, const void *bytes, size_t size);
    bool failed;
};

/* What the header of an image says that is known before its contents are: sizes that parts are
 * asked for once. `layout` and `placement` as in struct checkpoint_header. */
struct checkpoint_header image_begin(const struct platform_table *table, uint64_t layout,
                                     uint64_t placement);
/* Puts `header` and the contents; returns the header with what they have told: the number of pages
 * and the checksum. Between runs of the engine; nothing may change until the last image is put. */
struct checkpoint_header image_put(struct image_target *to, const struct checkpoint_header *header);
/* Writes an image to a file, from its current offset on; the header is that of the contents. false:
 * errno says why. */
bool image_write(int fd, const struct checkpoint_header *begun, uint64_t *bytes);
/* Writes all bytes; false: errno says why. */
bool image_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
