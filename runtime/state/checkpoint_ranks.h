/* States of several ranks: one file, which rank 0 writes and reads. It has the image of each
 * (checkpoint_image.h), which travel in pieces, so that no rank holds those of others. Of
 * checkpoint.c.
 *
 * File: struct checkpoint_ranks, then the images in order of ranks. */
#ifndef HEDDLE_RUNTIME_CHECKPOINT_RANKS_H
#define HEDDLE_RUNTIME_CHECKPOINT_RANKS_H

#include "checkpoint.h"
#include "runtime/engine/rank.h"

struct checkpoint_ranks {
    char magic[8];
    uint32_t version; /* CHECKPOINT_VERSION */
    uint32_t count;
    uint64_t bytes[RANK_MOST]; /* of the images; 0: no such rank */
};

/* At the end of the start, with several ranks: what this runtime keeps besides is a part. */
void checkpoint_ranks_open(void);
/* Is it such a file? The number of ranks in it; 0: it is not. */
uint32_t checkpoint_ranks_in(const void *bytes, size_t size);
/* By rank 0, to a file that stands at its beginning. false: errno says why. By the others, when
 * they are asked for it. */
bool checkpoint_ranks_write(int fd, const struct checkpoint_header *begun);
void checkpoint_ranks_tell(const struct checkpoint_header *begun);
/* By all, when a file is loaded: rank 0 has its `bytes`, or NULL when there is none, and the others
 * get their images, for checkpoint_ranks_drop(). NULL: rank 0 has no image for this one. */
const void *checkpoint_ranks_share(const void *bytes, size_t *image_bytes);
void checkpoint_ranks_drop(const void *image, size_t image_bytes);

#endif
