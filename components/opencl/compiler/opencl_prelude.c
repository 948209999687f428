/* Declares built-in functions in front of every source.
 *
 * Clang declares built-in functions from a table, which lacks those of the extensions
 * cl_amd_media_ops and cl_amd_media_ops2. The device library has them.
 *
 * The device library's sine of a half (rocm-device-libs 5.2.3) is NaN for all numbers: its last
 * step takes those for infinities. It is replaced by the sine that its sincos makes. Its
 * differences of ints and longs subtract them as signed numbers, and are wrong where that
 * overflows.
 *
 * The initializer of samplers makes the address of a literal sampler of its bits, as
 * opencl_functions.cl expects. */
#include "opencl_prelude.h"

const char opencl_prelude[] =
    "#define H1(r, f, a, n) r##n __attribute__((overloadable)) f a\n"
    "#define H3(r, f, a, b, c, n) H1(r, f, (a##n, b##n, c##n), n);\n"
    "#define H(r, f, a, b, c) H3(r, f, a, b, c, ) H3(r, f, a, b, c, 2) H3(r, f, a, b, c, 3) "
    "H3(r, f, a, b, c, 4) H3(r, f, a, b, c, 8) H3(r, f, a, b, c, 16)\n"
    "#define HU(f) H(uint, f, uint, uint, uint)\n"
    "HU(amd_bitalign) HU(amd_bytealign) HU(amd_lerp) HU(amd_sad) HU(amd_sadhi)\n"
    "HU(amd_msad) HU(amd_sadw) HU(amd_sadd) HU(amd_bfe)\n"
    "H(int, amd_bfe, int, uint, uint)\n"
    "H(ulong, amd_qsad, ulong, uint, ulong) H(ulong, amd_mqsad, ulong, uint, ulong)\n"
    "#define HM(f) HU(f) H(int, f, int, int, int) H(float, f, float, float, float)\n"
    "HM(amd_median3) HM(amd_min3) HM(amd_max3)\n"
    "#define HP(f, n) H1(float, f, (uint##n), n);\n"
    "#define HN(f) HP(f, ) HP(f, 2) HP(f, 3) HP(f, 4) HP(f, 8) HP(f, 16)\n"
    "HN(amd_unpack0) HN(amd_unpack1) HN(amd_unpack2) HN(amd_unpack3)\n"
    "#define HB(n) H1(uint, amd_bfm, (uint##n, uint##n), n);\n"
    "HB() HB(2) HB(3) HB(4) HB(8) HB(16)\n"
    "H1(uint, amd_pack, (float4), ); H1(uint, amd_sad4, (uint4, uint4, uint), );\n"
    "#ifdef cl_khr_fp16\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "half __ocml_sincos_f16(half x, __private half *c);\n"
    "__attribute__((weak, const)) half __ocml_sin_f16(half x)\n"
    "{ half c; return __ocml_sincos_f16(x, &c); }\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n"
    "#endif\n"
    "__attribute__((weak, const)) __constant void *__translate_sampler_initializer(int bits) "
    "{ return (__constant void *)(ulong)(uint)bits; }\n"
    "#define HD(t, u, name) __attribute__((weak, const)) u name(t a, t b) "
    "{ return a > b ? (u)a - (u)b : (u)b - (u)a; }\n"
    "HD(int, uint, _Z8abs_diffii) HD(long, ulong, _Z8abs_diffll)\n#undef HD\n"
    "#undef H1\n#undef H3\n#undef H\n#undef HU\n#undef HM\n#undef HP\n#undef HN\n#undef HB\n";
