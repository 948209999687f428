/* The table of all functions, through which the loader calls. */
#ifndef HEDDLE_OPENCL_DISPATCH_H
#define HEDDLE_OPENCL_DISPATCH_H

const void *opencl_dispatch(void);

#endif
