/* HIP's stream rules: the front end puts them into the queues as waits
 * (components/hip/api/streams/hip_stream.c), so every call may begin. */
#include "hip.gen.h"

#include "components/host/driver/stream_rules.h"

struct hip {
    struct hip_io io;
};

static uint32_t hip_flags(const struct part *self)
{
    const struct hip *p = (const struct hip *)(const void *)self;
    return DRIVER_STREAMS_FRONT_END | DRIVER_STREAMS_FILL_WAITS
           | (hip_params(p)->copy_waits ? 0 : DRIVER_STREAMS_COPY_RETURNS);
}

static bool hip_begin(struct part *self, enum driver_stream_call call, uint32_t queue,
                      bool is_default, uint64_t *blocker)
{
    (void)self, (void)call, (void)queue, (void)is_default, (void)blocker;
    return true;
}

static void hip_end(struct part *self, uint32_t queue, uint64_t ticket)
{
    (void)self, (void)queue, (void)ticket;
}

static void hip_completed(struct part *self, uint32_t queue, uint64_t ticket)
{
    (void)self, (void)queue, (void)ticket;
}

static const struct stream_rules_ops hip_ops = {
    .flags = hip_flags,
    .begin = hip_begin,
    .end = hip_end,
    .completed = hip_completed,
};
