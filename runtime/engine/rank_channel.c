/* Channels of recorders between ranks. In an exchange, each message has its size before it. */
#include "rank_channel.h"

#include <string.h>

#include "bug.h"
#include "rank.h"

enum { CHANNELS_MAX = 16 };

static const struct rank_channel *channels[CHANNELS_MAX];
static uint32_t channel_count;

void rank_channel_register(const struct rank_channel *channel)
{
    for (uint32_t i = 0; i < channel_count; i++)
        if (channels[i] == channel)
            return;
    if (channel_count == CHANNELS_MAX)
        bug("more than %d channels between ranks", CHANNELS_MAX);
    channels[channel_count++] = channel;
}

void rank_channels_forget(void)
{
    channel_count = 0;
}

static void encode(const struct rank_channel *c, uint64_t end_ps)
{
    for (uint32_t to = 0; to < (c->is_for_all ? ranks.count : 1); to++) {
        if (to == ranks.number)
            continue;
        size_t start = rank_begin(to);
        c->encode(to, end_ps);
        rank_end(to, start);
    }
    if (c->sent)
        c->sent();
}

void rank_channels_encode(enum rank_channel_time time, uint64_t end_ps)
{
    for (uint32_t i = 0; i < channel_count; i++)
        if (channels[i]->times & time)
            encode(channels[i], end_ps);
}

void rank_channels_merge(enum rank_channel_time time, uint32_t from)
{
    for (uint32_t i = 0; i < channel_count; i++) {
        uint64_t size;
        if (!(channels[i]->times & time) || (!rank_is_first() && !channels[i]->is_for_all))
            continue;
        memcpy(&size, rank_read_next(from, sizeof size), sizeof size);
        struct rank_reader reader = {from, size, rank_read_next(from, size)};
        channels[i]->merge(&reader);
        if (reader.left)
            bug("channel %u leaves %zu bytes of rank %u", i, reader.left, from);
    }
}

bool rank_channels_are_filling(void)
{
    for (uint32_t i = 0; i < channel_count; i++)
        if (channels[i]->is_filling && channels[i]->is_filling())
            return true;
    return false;
}

const void *rank_read(struct rank_reader *from, size_t bytes)
{
    if (bytes > from->left)
        bug("a message of rank %u has %zu bytes left, %zu are expected", from->rank, from->left,
            bytes);
    from->at += bytes;
    from->left -= bytes;
    return from->at - bytes;
}

const char *rank_read_text(struct rank_reader *from)
{
    return rank_read(from, strnlen(from->at, from->left) + 1);
}

void rank_put_text(uint32_t to, const char *text)
{
    rank_put(to, text, strlen(text) + 1);
}
