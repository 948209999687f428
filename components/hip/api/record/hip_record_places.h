/* Addresses as a recording names them: allocations by number, variables of modules by name. */
#ifndef HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_PLACES_H
#define HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_PLACES_H

#include "hip_record.h"

/* False: the address lies in no allocation, or in the code of a module. */
bool hip_record_find(uint64_t address, struct api_trace_pointer *pointer);
/* Explicit arguments: pointers as such where the metadata says so and they point to something. */
void hip_record_arguments(const struct code_object_kernel *kernel, const uint8_t *kernarg,
                          struct api_trace_call *call);

#endif
