/* Atomic functions of the CUDA C++ Programming Guide ("Atomic functions"), each for the device, for
 * a block (_block) and for the system (_system), over what clang gives. */
#ifndef HEDDLE_CUDA_DEVICE_ATOMICS_H
#define HEDDLE_CUDA_DEVICE_ATOMICS_H

#define HEDDLE_ATOMIC static __device__ __forceinline__

#define HEDDLE_ATOMIC_1(name, type, inner, as)                                                     \
    HEDDLE_ATOMIC type name(type *p, type v) { return (type)inner((as *)p, (as)v); }               \
    HEDDLE_ATOMIC type name##_block(type *p, type v)                                               \
    {                                                                                              \
        return (type)inner##_block((as *)p, (as)v);                                                \
    }                                                                                              \
    HEDDLE_ATOMIC type name##_system(type *p, type v)                                              \
    {                                                                                              \
        return (type)inner##_system((as *)p, (as)v);                                               \
    }

HEDDLE_ATOMIC_1(atomicAdd, int, __iAtomicAdd, int)
HEDDLE_ATOMIC_1(atomicAdd, unsigned int, __uAtomicAdd, unsigned int)
HEDDLE_ATOMIC_1(atomicAdd, unsigned long long, __ullAtomicAdd, unsigned long long)
HEDDLE_ATOMIC_1(atomicAdd, float, __fAtomicAdd, float)
HEDDLE_ATOMIC_1(atomicAdd, double, __dAtomicAdd, double)
HEDDLE_ATOMIC_1(atomicExch, int, __iAtomicExch, int)
HEDDLE_ATOMIC_1(atomicExch, unsigned int, __uAtomicExch, unsigned int)
HEDDLE_ATOMIC_1(atomicExch, unsigned long long, __ullAtomicExch, unsigned long long)
HEDDLE_ATOMIC_1(atomicExch, float, __fAtomicExch, float)
HEDDLE_ATOMIC_1(atomicMin, int, __iAtomicMin, int)
HEDDLE_ATOMIC_1(atomicMin, unsigned int, __uAtomicMin, unsigned int)
HEDDLE_ATOMIC_1(atomicMin, unsigned long long, __ullAtomicMin, unsigned long long)
HEDDLE_ATOMIC_1(atomicMin, long long, __illAtomicMin, long long)
HEDDLE_ATOMIC_1(atomicMax, int, __iAtomicMax, int)
HEDDLE_ATOMIC_1(atomicMax, unsigned int, __uAtomicMax, unsigned int)
HEDDLE_ATOMIC_1(atomicMax, unsigned long long, __ullAtomicMax, unsigned long long)
HEDDLE_ATOMIC_1(atomicMax, long long, __illAtomicMax, long long)
HEDDLE_ATOMIC_1(atomicInc, unsigned int, __uAtomicInc, unsigned int)
HEDDLE_ATOMIC_1(atomicDec, unsigned int, __uAtomicDec, unsigned int)
HEDDLE_ATOMIC_1(atomicAnd, int, __iAtomicAnd, int)
HEDDLE_ATOMIC_1(atomicAnd, unsigned int, __uAtomicAnd, unsigned int)
HEDDLE_ATOMIC_1(atomicAnd, unsigned long long, __ullAtomicAnd, unsigned long long)
HEDDLE_ATOMIC_1(atomicOr, int, __iAtomicOr, int)
HEDDLE_ATOMIC_1(atomicOr, unsigned int, __uAtomicOr, unsigned int)
HEDDLE_ATOMIC_1(atomicOr, unsigned long long, __ullAtomicOr, unsigned long long)
HEDDLE_ATOMIC_1(atomicXor, int, __iAtomicXor, int)
HEDDLE_ATOMIC_1(atomicXor, unsigned int, __uAtomicXor, unsigned int)
HEDDLE_ATOMIC_1(atomicXor, unsigned long long, __ullAtomicXor, unsigned long long)
#undef HEDDLE_ATOMIC_1

#define HEDDLE_ATOMIC_SUB(scope)                                                                   \
    HEDDLE_ATOMIC int atomicSub##scope(int *p, int v)                                              \
    {                                                                                              \
        return (int)atomicAdd##scope((unsigned int *)p, 0u - (unsigned int)v);                     \
    }                                                                                              \
    HEDDLE_ATOMIC unsigned int atomicSub##scope(unsigned int *p, unsigned int v)                   \
    {                                                                                              \
        return atomicAdd##scope(p, 0u - v);                                                        \
    }
HEDDLE_ATOMIC_SUB()
HEDDLE_ATOMIC_SUB(_block)
HEDDLE_ATOMIC_SUB(_system)
#undef HEDDLE_ATOMIC_SUB

#define HEDDLE_ATOMIC_CAS(type, inner, scope)                                                      \
    HEDDLE_ATOMIC type atomicCAS##scope(type *p, type compare, type v)                             \
    {                                                                                              \
        return inner##scope(p, compare, v);                                                        \
    }
HEDDLE_ATOMIC_CAS(int, __iAtomicCAS, )
HEDDLE_ATOMIC_CAS(int, __iAtomicCAS, _block)
HEDDLE_ATOMIC_CAS(int, __iAtomicCAS, _system)
HEDDLE_ATOMIC_CAS(unsigned int, __uAtomicCAS, )
HEDDLE_ATOMIC_CAS(unsigned int, __uAtomicCAS, _block)
HEDDLE_ATOMIC_CAS(unsigned int, __uAtomicCAS, _system)
HEDDLE_ATOMIC_CAS(unsigned long long, __ullAtomicCAS, )
HEDDLE_ATOMIC_CAS(unsigned long long, __ullAtomicCAS, _block)
HEDDLE_ATOMIC_CAS(unsigned long long, __ullAtomicCAS, _system)
#undef HEDDLE_ATOMIC_CAS

HEDDLE_ATOMIC unsigned short atomicCAS(unsigned short *p, unsigned short compare, unsigned short v)
{
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(old)
                 : "l"(p), "h"(compare), "h"(v)
                 : "memory");
    return old;
}
#undef HEDDLE_ATOMIC

#endif
