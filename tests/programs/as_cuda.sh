#!/bin/sh
# A HIP program of this folder as a CUDA program: as_cuda.sh NAME FOLDER writes FOLDER/NAME.cu, and
# FOLDER/check.hpp and its like, which programs include. Names that begin with hip begin with cuda
# then, but for those that CUDA spells otherwise; warp functions get the mask of all lanes. Programs
# that use what only AMD's GPUs have do not compile.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
translate() {
    sed -E \
        -e 's/HIP_SYMBOL\(([^)]*)\)/\1/g' \
        -e 's/hipHostMalloc\(/cudaMallocHost(/g' \
        -e 's/hipHostFree/cudaFreeHost/g' \
        -e 's/hipHostMalloc/cudaHostAlloc/g' \
        -e 's/hipDeviceProp_t/cudaDeviceProp/g' \
        -e 's/hipPointerAttribute_t/cudaPointerAttributes/g' \
        -e 's/hipErrorInvalidHandle/cudaErrorInvalidResourceHandle/g' \
        -e 's/hipErrorNotInitialized/cudaErrorInitializationError/g' \
        -e 's/^( *)abort\(\)/\1__trap()/' \
        -e 's/hipErrorOutOfMemory/cudaErrorMemoryAllocation/g' \
        -e 's/hipDeviceAttribute/cudaDevAttr/g' \
        -e 's/hip\/hip_runtime.h/cuda_runtime.h/' \
        -e 's/hip\/hip_cooperative_groups.h/cooperative_groups.h/' \
        -e 's/make_hip/make_cuda/g' \
        -e 's/maxSharedMemoryPerMultiProcessor/sharedMemPerMultiprocessor/g' \
        -e 's/\bmemoryType\b/type/g' \
        -e 's/__hip_bfloat16/__nv_bfloat16/g' \
        -e 's/hip\/hip_bf16.h/cuda_bf16.h/' \
        -e 's/hip\/hip_fp16.h/cuda_fp16.h/' \
        -e 's/__(ballot|any|all)\(/__\1_sync(0xffffffff, /g' \
        -e 's/__(shfl|shfl_up|shfl_down|shfl_xor)\(/__\1_sync(0xffffffff, /g' \
        -e 's/hipMemcpyWithStream/cudaMemcpyAsync/g' \
        -e 's/\bhip([A-Z])/cuda\1/g' \
        "$1" > "$2"
}
translate "$here/$1.hip.cpp" "$2/$1.cu"
for header in check gpus; do
    translate "$here/$header.hpp" "$2/$header.hpp"
done
