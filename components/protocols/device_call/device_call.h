/* The agreement between the driver and devices that call it (protocol device_call), beside the
 * messages. */
#ifndef HEDDLE_DEVICE_CALL_H
#define HEDDLE_DEVICE_CALL_H

/* Device addresses when no program has chosen a window for them: 1 TiB, where neither apertures of
 * local memory nor host memory on the map of a platform are. It is where programs have theirs
 * (components/host/start), so addresses in recorded data are right. */
#define DEVICE_CALL_WINDOW_BASE  ((uint64_t)0x200000000000)
#define DEVICE_CALL_WINDOW_BYTES ((uint64_t)1 << 40)
/* In the upper half: mapped memory of the host, by its address there. */
#define DEVICE_CALL_MAPPED_BASE  (DEVICE_CALL_WINDOW_BASE + DEVICE_CALL_WINDOW_BYTES / 2)

#endif
