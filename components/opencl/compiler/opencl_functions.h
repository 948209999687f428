/* Functions in OpenCL C that replace functions of AMD's device library. */
#ifndef HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_FUNCTIONS_H
#define HEDDLE_COMPONENTS_OPENCL_COMPILER_OPENCL_FUNCTIONS_H

extern const char opencl_functions[]; /* the text of opencl_functions.cl */

#endif
