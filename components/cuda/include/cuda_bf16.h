/* Bfloat: __nv_bfloat16 and __nv_bfloat162 with the functions of the manual "CUDA Math API". */
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H

#include "heddle/narrow_floats.h"

HEDDLE_NARROW(__nv_bfloat16, __nv_bfloat162, __bf16, bfloat16, bfloat162, bf16)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
