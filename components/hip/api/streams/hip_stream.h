/* Streams, for the files of the HIP library that enqueue commands. All functions are called with
 * `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_STREAM_H
#define HEDDLE_COMPONENTS_HIP_API_STREAMS_HIP_STREAM_H

#include "components/hip/api/hip_internal.h"

/* The stream's queue and device, or hipErrorInvalidHandle. The null stream, and the one of the
 * calling thread, belong to the current device. */
hipError_t hip_stream_queue(hipStream_t stream, uint32_t *queue, int *device);
/* The stream in a recording; 0: the null stream. */
uint32_t hip_stream_number(hipStream_t stream);
/* Numbers that no stream, or event, of a recording has yet. */
uint32_t hip_stream_next_number(void);
uint32_t hip_event_next_number(void);
/* Called right before the commands of a call are enqueued: the queue waits for what HIP promises,
 * or the caller for what the driver's own rules want, which may release the lock. */
hipError_t hip_stream_order(hipStream_t stream, enum driver_stream_call call);
/* Called before and after a command of the null stream that uses memory of another device: it is in
 * order with that device's null stream, too. No effect on other streams. */
hipError_t hip_stream_order_device(hipStream_t stream, int device);
hipError_t hip_stream_order_after(hipStream_t stream, int device, uint64_t ticket);
/* The device, whose work is done, is going to be destroyed: its streams are gone. */
void hip_release_streams(int device);
/* The commands of a call were enqueued, or that has failed. `ticket`: of the last command; 0: there
 * is none. */
void hip_stream_end_call(hipStream_t stream, uint64_t ticket);

/* Waits for all commands of the stream; for the null stream also for blocking streams. */
hipError_t hip_stream_wait(hipStream_t stream);
/* Waits for all commands of a device's streams by `wait`, which may release the lock. */
hipError_t hip_streams_wait(int device, hipError_t (*wait)(uint64_t ticket));
/* Lets the time of a poll pass. hipErrorNotReady: the command is not done then. */
hipError_t hip_query_ticket(uint64_t ticket);

#endif
