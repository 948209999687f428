/* The data of a copy that goes through the memory of a simulated host (protocol host_call). */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_HOST_CALL_HOST_CALL_DATA_H
#define HEDDLE_COMPONENTS_PROTOCOLS_HOST_CALL_HOST_CALL_DATA_H

/* Bytes of one packet's copy; longer ones are several packets. */
enum { HOST_CALL_DATA = 32 * 1024 };

#endif
