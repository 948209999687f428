/* Mistakes in the program's calls, for `heddle run --check`: memory and handles that are not given
 * back, memory that is freed twice or used after its end, captures that do not end. All functions
 * are called with `hip.lock` held. Without checks they do nothing, and origins are empty. */
#ifndef HEDDLE_COMPONENTS_HIP_API_HIP_FINDINGS_H
#define HEDDLE_COMPONENTS_HIP_API_HIP_FINDINGS_H

#include "hip_internal.h"

/* The call that the calling thread is in. */
struct hip_origin hip_origin_here(void);

/* The call that the calling thread is in, for the driver. False: what it makes is the library's
 * own. */
bool hip_find_caller(struct driver_call *call);

/* True: what the calling thread makes from now on belongs to the library, in whatever call, and is
 * no leak. False: it belongs to the program again. */
void hip_hide_origins(bool hides);

/* The allocation is given back. */
void hip_remember_free(const struct hip_allocation *allocation);
/* The address is not, or no longer, that of an allocation: `is_free` says whether the program
 * wanted to free it, or to use it. */
void hip_report_address(uint64_t address, bool is_free);
/* The address of a call to free lies in this allocation, after its start. */
void hip_report_inside(uint64_t address, const struct hip_allocation *allocation);
/* A capture, begun by the call, that ends without a stream that had joined, or does not end. */
void hip_report_capture(const struct hip_origin *begun, bool has_ended);

/* The program has ended: allocations and handles that are left. */
void hip_report_leaks(void);

#endif
