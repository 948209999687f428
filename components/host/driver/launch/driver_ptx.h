/* Devices that execute PTX: their code, what a launch needs of them, and functional mode. All
 * that is different for them is here; everywhere else a launch is a launch. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_LAUNCH_DRIVER_PTX_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_LAUNCH_DRIVER_PTX_H

#include "components/amd/functional/functional.h"
#include "components/host/driver/driver_state.h"

static inline bool device_executes_ptx(const struct driver_device *device)
{
    return driver_executes_ptx(&device->info);
}

static enum driver_status ptx_unregister(uint64_t address);
static enum driver_status ptx_register_kernel(const char *name, uint64_t entry);

/* Checks that the device can run the launch. Sizes of the grid have been checked. */
static enum driver_status ptx_check(const struct driver_device *device, uint64_t code,
                                    const struct driver_launch *l);

/* Gives the process on the GPU a heap if the kernel allocates. By the program's side. */
static enum driver_status ptx_prepare(struct driver *d, uint32_t gpu, uint32_t pid, uint64_t code);

/* Functional mode: executes the launch, whose arguments are in memory. */
static void ptx_execute(const struct driver *d, const struct driver_command *k, uint32_t number,
                        struct functional_result *result);

/* Gives text to the program whose launch was over last. */
static void ptx_print_for(const char *text, size_t size);

/* The launch is over: prints what its kernel has printed. */
static void ptx_over(const struct driver *d, const struct driver_command *k, uint32_t number);

#endif
