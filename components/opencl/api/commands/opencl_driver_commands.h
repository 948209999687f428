/* The calls of the driver that commands make. Where the calls of the program are recorded
 * (`--record api`), each is recorded as the call of HIP that does the same: a lane is a stream, and
 * an event that the program may ask for, or another lane wait for, is one of HIP (hip_record.h).
 * Addresses are those of the program; `ticket` is that of the command. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_DRIVER_COMMANDS_H
#define HEDDLE_COMPONENTS_OPENCL_API_COMMANDS_OPENCL_DRIVER_COMMANDS_H

#include "components/opencl/api/queues/opencl_event.h"

struct kernarg_geometry;

/* Memory of GPU `number` of the HIP library. */
hipError_t opencl_driver_allocate(int number, uint64_t size, uint64_t *address);
hipError_t opencl_driver_release(uint64_t address);
void opencl_driver_unload(struct hip_module *module);

cl_int opencl_driver_make_lane(int number, uint32_t *lane);
void opencl_driver_end_lane(uint32_t lane);

/* A copy between a device and the host, or on devices; `uses` says where the sides really are. */
enum { OPENCL_TO, OPENCL_FROM };
cl_int opencl_driver_copy(uint32_t lane, uint64_t to, uint64_t from, const struct hip_use uses[2],
                          uint64_t *ticket);
/* Copies on one device, where both sides are memory of buffers. */
cl_int opencl_driver_move(uint32_t lane, uint64_t to, uint64_t from, uint64_t size,
                          uint64_t *ticket);
/* Bytes of the library's own. */
cl_int opencl_driver_write(uint32_t lane, uint64_t to, const void *bytes, uint64_t size,
                           uint64_t *ticket);
/* Bytes of the library's own, by the queue of GPU `number`; the caller waits. */
cl_int opencl_driver_write_now(int number, uint64_t to, const void *bytes, uint64_t size);
cl_int opencl_driver_fill(uint32_t lane, uint64_t to, const void *pattern, uint32_t width,
                          uint64_t count, uint64_t *ticket);
/* `grid` in work-items, which do not begin at `offset`s other than 0 in a recording. */
enum driver_status opencl_driver_launch(uint32_t lane, const struct hip_function *function,
                                        const struct driver_launch *launch,
                                        const struct kernarg_geometry *geometry, bool prints,
                                        uint64_t *ticket);

/* Later commands of the lane wait for the command of `ticket`, of lane `other_lane`; `number` is
 * that of its event in the recording, or 0. */
cl_int opencl_driver_order(uint32_t lane, uint32_t other_lane, uint32_t number, uint64_t ticket);
/* Waits until all commands of the lane are done, and lets no other thread run. */
cl_int opencl_driver_drain(uint32_t lane);
/* Record an event: it is made when its command was issued, waited for, asked for, and gone. */
void opencl_driver_record_event(struct opencl_event *event);
void opencl_driver_record_wait(const struct opencl_event *event);
void opencl_driver_record_query(const struct opencl_event *event, bool is_over);
void opencl_driver_record_end(const struct opencl_event *event);

#endif
