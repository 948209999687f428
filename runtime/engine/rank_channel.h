/* Channels between ranks: how what a recorder collects at every rank comes together.
 *
 * A recorder registers a channel when it is opened, alike at all ranks, and need not know whether
 * it is alone: at certain times (scheduler/rank_barrier.c) every channel is asked to encode what is
 * new, the messages travel by one exchange, and each is merged by the same channel where it
 * arrives. With one rank none of this happens.
 *
 * A message of a channel is whatever one encode() puts for one rank (rank_put()). Messages of
 * several channels travel in the order in which they were registered; merge() gets a whole one,
 * rank by rank in the order of their numbers. What has to be in the order of time and instance over
 * all ranks is sorted by the recorder that writes it, when all have been merged. */
#ifndef HEDDLE_RUNTIME_ENGINE_RANK_CHANNEL_H
#define HEDDLE_RUNTIME_ENGINE_RANK_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rank_channel_time {
    RANK_CHANNEL_BARRIER = 1, /* whenever ranks meet */
    RANK_CHANNEL_SETTLE = 2,  /* for the end of a window of which statistics are settled */
    RANK_CHANNEL_END = 4,     /* when the run is over */
    RANK_CHANNEL_VIEW = 8     /* when the run is watched (observe/view.h) */
};

/* A message while it is read. */
struct rank_reader {
    uint32_t rank; /* the sender */
    size_t left;
    const char *at;
};

struct rank_channel {
    unsigned times;  /* bits of enum rank_channel_time */
    bool is_for_all; /* each rank sends to all others; else all send to rank 0 */
    /* Puts what rank `to` has not had yet of the time before `end_ps` (ENGINE_NEVER: of all times).
     */
    void (*encode)(uint32_t to, uint64_t end_ps);
    void (*merge)(struct rank_reader *from);
    /* Called when what was encoded has gone to all receivers. May be NULL. */
    void (*sent)(void);
    /* True if there is so much to send that ranks should meet. May be NULL. */
    bool (*is_filling)(void);
};

/* The channel stays the caller's, and lives as long as the process. Registering it again has no
 * effect. */
void rank_channel_register(const struct rank_channel *channel);
/* Before recorders are opened: there is no channel. */
void rank_channels_forget(void);

/* By the barrier: encodes what all channels of that time have; merges what rank `from` has sent. */
void rank_channels_encode(enum rank_channel_time time, uint64_t end_ps);
void rank_channels_merge(enum rank_channel_time time, uint32_t from);
bool rank_channels_are_filling(void);

/* The next `bytes` of a message; a bug when there are fewer. */
const void *rank_read(struct rank_reader *from, size_t bytes);
/* The next text, with its end. */
const char *rank_read_text(struct rank_reader *from);
void rank_put_text(uint32_t to, const char *text);

#endif
