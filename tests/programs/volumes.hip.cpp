// Volumes, pools of memory, and the calls that others rest on: 3-D copies and fills in all directions, copies as drivers
// ask for them, memory in the order of a stream, launches between two events and of groups that must have room at the
// same time. What must be refused is asked for, too. Arguments: none.
#include "check.hpp"

enum { WIDTH = 37, ROWS = 9, SLICES = 5 };

struct box {
    size_t x, y, z, width, rows, slices;
};

__global__ void add_one(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i]++;
    }
}

static hipMemcpy3DParms part(hipPitchedPtr to, hipPitchedPtr from, const box &b, size_t to_x, hipMemcpyKind kind)
{
    hipMemcpy3DParms p = {};
    p.srcPtr = from;
    p.srcPos = make_hipPos(b.x, b.y, b.z);
    p.dstPtr = to;
    p.dstPos = make_hipPos(to_x, b.y, b.z);
    p.extent = make_hipExtent(b.width, b.rows, b.slices);
    p.kind = kind;
    return p;
}

static void expect(hipError_t got, hipError_t want, const char *what)
{
    if (got != want) {
        std::printf("FAIL volumes: %s: %s instead of %s\n", what, hipGetErrorName(got), hipGetErrorName(want));
        std::exit(1);
    }
    (void)hipGetLastError();
}

static bool volumes()
{
    random_source random;
    std::vector<uint8_t> in(WIDTH * ROWS * SLICES), out(in.size()), want(in.size(), 0x5a);
    for (uint8_t &byte : in) {
        byte = random.next() >> 3;
    }
    hipPitchedPtr source = make_hipPitchedPtr(in.data(), WIDTH, WIDTH, ROWS), a, b;
    hipPitchedPtr result = make_hipPitchedPtr(out.data(), WIDTH, WIDTH, ROWS);
    hipExtent all = make_hipExtent(WIDTH, ROWS, SLICES);
    HIP_MUST(hipMalloc3D(&a, all));
    HIP_MUST(hipMalloc3D(&b, all));
    if (a.pitch < WIDTH || a.xsize != WIDTH || a.ysize != ROWS) {
        std::printf("FAIL volumes: hipMalloc3D gave a pitch of %zu\n", a.pitch);
        return false;
    }
    HIP_MUST(hipMemset3D(b, 0x5a, all));
    hipStream_t stream;
    HIP_MUST(hipStreamCreate(&stream));
    const box whole = {0, 0, 0, WIDTH, ROWS, SLICES}, inner = {3, 2, 1, 21, 5, 3};
    hipMemcpy3DParms p = part(a, source, whole, 0, hipMemcpyHostToDevice);
    HIP_MUST(hipMemcpy3D(&p));
    p = part(b, a, inner, 9, hipMemcpyDeviceToDevice);
    HIP_MUST(hipMemcpy3DAsync(&p, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    hipExtent corner = make_hipExtent(4, 2, 2);
    HIP_MUST(hipMemset3DAsync(b, 7, corner, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    p = part(result, b, whole, 0, hipMemcpyDeviceToHost);
    HIP_MUST(hipMemcpy3D(&p));
    for (size_t z = 0; z < SLICES; z++) {
        for (size_t y = 0; y < ROWS; y++) {
            for (size_t x = 0; x < WIDTH; x++) {
                uint8_t &byte = want[(z * ROWS + y) * WIDTH + x];
                bool inside = z >= 1 && z < 4 && y >= 2 && y < 7 && x >= 9 && x < 30;
                byte = inside ? in[(z * ROWS + y) * WIDTH + x - 6] : byte;
                byte = x < 4 && y < 2 && z < 2 ? 7 : byte;
            }
        }
    }
    if (!same_or_report("volumes: part of a volume", out, want)) {
        return false;
    }
    // One slice too many: nothing is copied, not even the slices that would fit.
    p = part(b, source, whole, 0, hipMemcpyHostToDevice);
    p.dstPos.z = 1;
    expect(hipMemcpy3D(&p), hipErrorInvalidValue, "a volume that leaves its memory");
    p.dstPos.z = 0;
    p.dstArray = reinterpret_cast<hipArray_t>(&p);
    expect(hipMemcpy3D(&p), hipErrorNotSupported, "an array");
    expect(hipMemcpy3D(nullptr), hipErrorInvalidValue, "no parameters");
    p = part(result, b, whole, 0, hipMemcpyDeviceToHost);
    HIP_MUST(hipMemcpy3D(&p));
    if (!same_or_report("volumes: behind a refused copy", out, want)) {
        return false;
    }
    hip_Memcpy2D flat = {};
    flat.srcMemoryType = hipMemoryTypeDevice;
    flat.srcDevice = a.ptr;
    flat.srcPitch = a.pitch;
    flat.srcXInBytes = 2;
    flat.srcY = 1;
    flat.dstMemoryType = hipMemoryTypeHost;
    flat.dstHost = out.data();
    flat.dstPitch = WIDTH;
    flat.WidthInBytes = 30;
    flat.Height = 4;
    HIP_MUST(hipMemcpyParam2D(&flat));
    for (size_t y = 0; y < 4; y++) {
        std::memcpy(&want[y * WIDTH], &in[(y + 1) * WIDTH + 2], 30);
    }
    HIP_MUST(hipStreamDestroy(stream));
    HIP_MUST(hipFree(a.ptr));
    HIP_MUST(hipFree(b.ptr));
    return same_or_report("volumes: a rectangle as drivers copy it", out, want);
}

static uint64_t used(hipMemPool_t pool, hipMemPoolAttr which)
{
    uint64_t bytes = 0;
    HIP_MUST(hipMemPoolGetAttribute(pool, which, &bytes));
    return bytes;
}

static bool pools()
{
    hipMemPool_t standard, own;
    hipMemPoolProps properties = {};
    void *first, *second;
    uint64_t threshold = 1 << 20;
    properties.allocType = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    HIP_MUST(hipDeviceGetDefaultMemPool(&standard, 0));
    HIP_MUST(hipMemPoolCreate(&own, &properties));
    HIP_MUST(hipMemPoolSetAttribute(own, hipMemPoolAttrReleaseThreshold, &threshold));
    HIP_MUST(hipMallocAsync(&first, 1000, nullptr));
    HIP_MUST(hipMallocFromPoolAsync(&second, 5000, own, nullptr));
    bool right = used(standard, hipMemPoolAttrUsedMemCurrent) == 1000
                 && used(own, hipMemPoolAttrUsedMemCurrent) == 5000;
    HIP_MUST(hipFreeAsync(second, nullptr));
    right = right && used(own, hipMemPoolAttrReservedMemCurrent) == 0
            && used(own, hipMemPoolAttrUsedMemHigh) == 5000
            && used(own, hipMemPoolAttrReleaseThreshold) == threshold;
    HIP_MUST(hipDeviceSetMemPool(0, own));
    HIP_MUST(hipMallocAsync(&second, 64, nullptr));
    right = right && used(own, hipMemPoolAttrUsedMemCurrent) == 64;
    HIP_MUST(hipMemPoolDestroy(own));
    expect(hipMemPoolTrimTo(own, 0), hipErrorInvalidValue, "a pool that was destroyed");
    expect(hipMallocFromPoolAsync(&second, 1, own, nullptr), hipErrorInvalidValue, "memory of it");
    HIP_MUST(hipFree(first));
    HIP_MUST(hipFree(second));
    if (!right) {
        std::printf("FAIL volumes: pools do not say what was made from them\n");
    }
    return right;
}

static bool launches()
{
    const int n = 1000;
    std::vector<int> got(n), want(n, 2);
    int *data = device_zeros<int>(n), size = n;
    void *values[] = {&data, &size};
    hipEvent_t start, stop;
    float milliseconds = -1;
    HIP_MUST(hipProfilerStart());
    HIP_MUST(hipEventCreate(&start));
    HIP_MUST(hipEventCreate(&stop));
    HIP_MUST(hipExtLaunchKernel(reinterpret_cast<const void *>(add_one), dim3(4), dim3(256), values, 0, nullptr, start,
                                stop, 0));
    HIP_MUST(hipEventSynchronize(stop));
    HIP_MUST(hipEventElapsedTime(&milliseconds, start, stop));
    HIP_MUST(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(add_one), dim3(4), dim3(256), values, 0, nullptr));
    expect(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(add_one), dim3(1 << 20), dim3(256), values, 0,
                                      nullptr),
           hipErrorCooperativeLaunchTooLarge, "more groups than there is room for");
    HIP_MUST(hipProfilerStop());
    HIP_MUST(hipEventDestroy(start));
    HIP_MUST(hipEventDestroy(stop));
    from_device(got, data);
    if (milliseconds < 0) {
        std::printf("FAIL volumes: the kernel between two events took %f ms\n", milliseconds);
        return false;
    }
    return same_or_report("volumes: launches", got, want);
}

int main()
{
    if (!volumes() || !pools() || !launches()) {
        return 1;
    }
    return pass("volumes");
}
