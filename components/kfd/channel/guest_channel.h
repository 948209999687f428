/* Calls of the driver's table (driver_api.h) by a guest, a process with heddle's HIP library, on a
 * machine that several processes share: the messages KFD_MESSAGE_DRIVER of kfd_channel.h.
 *
 * A call is its number and its arguments, in their order, as words; a pointer to what the driver
 * reads is an address in the guest. The answer's result is an enum driver_status, or GUEST_ATTEND.
 * Its words 0 and 1 are what the call gives, word 2 how many bytes kernels have printed, and word 3
 * the simulated time in picoseconds. Its bytes are the struct that the call fills, or, when it
 * fails, the driver's text.
 *
 * GUEST_ATTEND: the call is a wait, and a kernel that is executed without timing waits for the
 * guest, whose attendant may now peek and poke; GUEST_GO_ON then gets the answer of the wait. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_GUEST_CHANNEL_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_GUEST_CHANNEL_H

#include <stdint.h>

enum { GUEST_WORDS = 7, GUEST_ATTEND = 1000 };

#define GUEST_CALL(name, ...) GUEST_##name,
enum guest_name {
#include "guest_calls.def"
    GUEST_CALLS
};
#undef GUEST_CALL

struct guest_call {
    uint32_t name, unused;
    uint64_t word[GUEST_WORDS];
};

#endif
