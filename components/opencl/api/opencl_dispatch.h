/* The table of all functions, through which the loader calls. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_OPENCL_DISPATCH_H
#define HEDDLE_COMPONENTS_OPENCL_API_OPENCL_DISPATCH_H

const void *opencl_dispatch(void);

#endif
