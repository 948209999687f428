/* Device code that calls the host: printf and assert. hip_hostcall.c serves the calls while the
 * host waits for kernels; hip_printf.c formats. All functions are called with `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_CODE_HIP_HOSTCALL_H
#define HEDDLE_COMPONENTS_HIP_API_CODE_HIP_HOSTCALL_H

#include "components/hip/api/hip_internal.h"

enum { HIP_CALL_WORDS = 8 }; /* arguments of a lane, and its answers, in 64-bit words */

/* True if the kernel may call the host: it has an argument for the buffer, and the code object
 * contains the instruction that rings for the host. */
bool hip_calls_host(const struct hip_function *function);

/* Device address of the buffer that such a kernel gets; made when first wanted. */
hipError_t hip_hostcall_buffer(const struct hip_function *function, int device, uint64_t *address);

/* The device, whose work is done, is going to be destroyed. */
void hip_release_hostcalls(int device);

/* A kernel that may call the host was queued: from now on its calls are served until `ticket` is
 * done. `name` must live as long as the library. */
void hip_hostcall_begin(int device, const char *name, uint64_t ticket);

/* Looks for calls and answers them; no effect when no kernel may call. For polls. */
hipError_t hip_hostcall_serve(void);

/* Waits for `ticket` as long as kernels may call the host; the caller then waits as usual. An error
 * is that of a kernel. */
hipError_t hip_hostcall_wait_ticket(uint64_t ticket);

/* Runs the simulation a little further and serves calls, for waits for several tickets. False: no
 * kernel may call the host, and nothing was done. */
bool hip_hostcall_step(void);

/* ---- hip_printf.c ---- */

/* One lane's call of the printf service: words[0] describes the piece of a message, the others are
 * its content. Writes the answer into words[0]. False: the message is malformed. */
bool hip_printf_piece(uint64_t words[HIP_CALL_WORDS]);

#endif
