/* Address spaces of the CUDA C++ Programming Guide ("Address space predicate functions", "Address
 * space conversion functions"). */
#ifndef HEDDLE_CUDA_DEVICE_SPACES_H
#define HEDDLE_CUDA_DEVICE_SPACES_H

#define HEDDLE_SPACE static __device__ __forceinline__

HEDDLE_SPACE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
HEDDLE_SPACE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
HEDDLE_SPACE unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
HEDDLE_SPACE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

#define HEDDLE_CONVERSIONS(name, space)                                                            \
    HEDDLE_SPACE size_t __cvta_generic_to_##name(const void *p)                                    \
    {                                                                                              \
        size_t r;                                                                                  \
        asm("cvta.to." space ".u64 %0, %1;" : "=l"(r) : "l"(p));                                   \
        return r;                                                                                  \
    }                                                                                              \
    HEDDLE_SPACE void *__cvta_##name##_to_generic(size_t p)                                        \
    {                                                                                              \
        void *r;                                                                                   \
        asm("cvta." space ".u64 %0, %1;" : "=l"(r) : "l"(p));                                      \
        return r;                                                                                  \
    }
HEDDLE_CONVERSIONS(global, "global")
HEDDLE_CONVERSIONS(shared, "shared")
HEDDLE_CONVERSIONS(constant, "const")
HEDDLE_CONVERSIONS(local, "local")
#undef HEDDLE_CONVERSIONS
#undef HEDDLE_SPACE

#endif
