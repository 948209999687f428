/* What every kernel file here begins with.
 *
 * The files are compiled for targets by clang-19, and with -DORACLE by PoCL for the host. What a
 * built-in function may be wrong by is counted from the exact result, so the host computes those of
 * floats in doubles: `real` is a float on the device and a double on the host, `real16` likewise.
 */
#ifndef HEDDLE_TESTS_OPENCL_PRELUDE_H
#define HEDDLE_TESTS_OPENCL_PRELUDE_H

#pragma OPENCL FP_CONTRACT OFF

#ifdef ORACLE
typedef double real;
typedef double real16;
typedef double3 real3;
typedef double4 real4;
#define convert_real4     convert_double4
#define load_real16(i, p) ((double)vload_half(i, (const global half *)(p)))
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef float real;
typedef half real16;
typedef float3 real3;
typedef float4 real4;
#define convert_real4     convert_float4
#define load_real16(i, p) (((const global half *)(p))[i])
#endif

/* The next n results of a work-item; work-items stand side by side. */
#define PUT(value) out[(size_t)put++ * get_global_size(0) + get_global_id(0)] = (value)

#endif
