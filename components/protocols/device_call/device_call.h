/* What driver and devices that call it (protocol device_call) agree on beside the messages. */
#ifndef HEDDLE_DEVICE_CALL_H
#define HEDDLE_DEVICE_CALL_H

/* Device addresses when no program has chosen a window for them: 1 TiB, where neither apertures of
 * local memory nor host memory on the map of a platform are. */
#define DEVICE_CALL_WINDOW_BASE  ((uint64_t)0x7e0000000000)
#define DEVICE_CALL_WINDOW_BYTES ((uint64_t)1 << 40)

#endif
