/* Services of this library for further programming interfaces in the same process: the open
 * platform, its lock and the order of host threads, memory, modules and launches. The libraries of
 * OpenCL (components/opencl) and CUDA (components/cuda) have it; CUDA's also calls HIP's functions.
 * So a process has one platform, whichever interface it uses, and a program may use both. They do
 * not see the state of this library (hip_internal.h).
 *
 * The functions go through a table, as exported ones would be names of every program. */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_SERVICES_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_SERVICES_H

#include "components/hip/api/code/hip_registration.h"
#include "components/hip/api/memory/hip_location.h"
#include "components/hip/api/record/hip_record.h"
#include "components/host/driver/driver_api.h"

#include "hip_objects.h"

struct hip_services {
#define HIP_SERVICE(type, name, function, parameters) type(*name) parameters;
#include "hip_services.def"
#undef HIP_SERVICE
};

#pragma GCC visibility push(default)
/* Without the lock; opens nothing. */
const struct hip_services *heddleServices(void);
#pragma GCC visibility pop

#endif
