// Textures and surfaces by their objects: linear and pitched memory, arrays of two and three
// directions, modes at the edges, filters, normalised reads, gathers, surfaces that are written and
// read back. Expected values follow the programming guide's formulas. Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int bad;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));                     \
            bad++;                                                                                 \
        }                                                                                          \
    } while (0)

static void expect(int line, double got, double want, double within = 0)
{
    if (!(std::fabs(got - want) <= within)) {
        if (bad++ < 10)
            std::printf("line %d: %g, not %g\n", line, got, want);
    }
}

__global__ void by_number(cudaTextureObject_t t, int4 *out)
{
    out[threadIdx.x] = tex1Dfetch<int4>(t, (int)threadIdx.x - 2);
}
__global__ void sample(cudaTextureObject_t t, const float2 *at, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}
__global__ void sample_bytes(cudaTextureObject_t t, const float2 *at, float4 *out)
{
    out[threadIdx.x] = tex2D<float4>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}
__global__ void gather(cudaTextureObject_t t, float4 *out)
{
    out[0] = tex2Dgather<float4>(t, 3.5f, 2.5f);
}
__global__ void volume(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex3D<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 4 + 0.5f,
                                    threadIdx.x / 16 + 0.75f);
}
__global__ void turn(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
    ushort2 v = surf2Dread<ushort2>(in, x * (int)sizeof v, y);
    ushort2 outside = surf2Dread<ushort2>(in, (x + n) * (int)sizeof v, y, cudaBoundaryModeZero);
    ushort2 edge = surf2Dread<ushort2>(in, -4, y, cudaBoundaryModeClamp);
    v.x += outside.x + outside.y;
    v.y += edge.x;
    surf2Dwrite(v, out, y * (int)sizeof v, x);
    surf2Dwrite(v, out, -4, x, cudaBoundaryModeZero);
}

static const int W = 8, H = 6;
static std::vector<float> image(W *H);

/* The guide's "Texture Fetching", for one direction. */
static double at(int i, int j, int mode)
{
    auto settle = [&](int k, int n) {
        if (mode == cudaAddressModeWrap)
            return (k % n + n) % n;
        if (mode == cudaAddressModeMirror || mode == cudaAddressModeClamp)
            return k < 0 ? 0 : k >= n ? n - 1 : k;
        return k < 0 || k >= n ? -1 : k;
    };
    int x = settle(i, W), y = settle(j, H);
    return x < 0 || y < 0 ? 0 : image[y * W + x];
}
static double in_texels(double x, int n, bool normalised, int mode)
{
    if (!normalised)
        return x;
    double whole = std::floor(x);
    if (mode == cudaAddressModeWrap)
        x -= whole;
    if (mode == cudaAddressModeMirror)
        x = std::fmod(whole, 2) == 0 ? x - whole : 1 - (x - whole);
    return x * n;
}
static double filtered(float2 p, bool normalised, bool linear, int mode)
{
    double x = in_texels(p.x, W, normalised, mode), y = in_texels(p.y, H, normalised, mode);
    if (!linear)
        return at((int)std::floor(x), (int)std::floor(y), mode);
    int i = (int)std::floor(x - 0.5), j = (int)std::floor(y - 0.5);
    double a = std::floor((x - 0.5 - i) * 256 + 0.5) / 256,
           b = std::floor((y - 0.5 - j) * 256 + 0.5) / 256;
    return (1 - a) * (1 - b) * at(i, j, mode) + a * (1 - b) * at(i + 1, j, mode)
           + (1 - a) * b * at(i, j + 1, mode) + a * b * at(i + 1, j + 1, mode);
}

static cudaTextureDesc described(bool normalised, bool linear, int mode)
{
    cudaTextureDesc d;
    memset(&d, 0, sizeof d);
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = (cudaTextureAddressMode)mode;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = cudaReadModeElementType;
    d.normalizedCoords = normalised;
    return d;
}

static void check_linear()
{
    int4 *data, *out;
    CHECK(cudaMalloc(&data, 20 * sizeof *data));
    CHECK(cudaMallocManaged(&out, 32 * sizeof *out));
    std::vector<int4> h(20);
    for (int i = 0; i < 20; i++)
        h[i] = make_int4(i, -i, i * i, 7);
    CHECK(cudaMemcpy(data, h.data(), 20 * sizeof *data, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = data;
    r.res.linear.desc = cudaCreateChannelDesc<int4>();
    r.res.linear.sizeInBytes = 20 * sizeof *data;
    cudaTextureDesc d = described(false, false, cudaAddressModeClamp);
    cudaTextureObject_t t = 0;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    by_number<<<1, 32>>>(t, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        bool inside = i >= 2 && i < 22;
        expect(__LINE__, out[i].x, inside ? i - 2 : 0);
        expect(__LINE__, out[i].y, inside ? 2 - i : 0);
        expect(__LINE__, out[i].z, inside ? (i - 2) * (i - 2) : 0);
    }
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
}

static void check_samples(const cudaResourceDesc &r)
{
    float2 *points;
    float *out;
    CHECK(cudaMallocManaged(&points, 64 * sizeof *points));
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    for (int normalised = 0; normalised < 2; normalised++)
        for (int linear = 0; linear < 2; linear++)
            for (int mode = 0; mode < 4; mode++) {
                if (!normalised && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
                    continue;
                for (int i = 0; i < 64; i++) {
                    double x = (i * 37 % 64) / 64. * 14 - 3 + 0.03125,
                           y = (i * 23 % 64) / 64. * 12 - 3 + 0.0625;
                    points[i] = make_float2(normalised ? x / W : x, normalised ? y / H : y);
                }
                cudaTextureDesc d = described(normalised, linear, mode);
                cudaTextureObject_t t = 0;
                CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
                sample<<<1, 64>>>(t, points, out);
                CHECK(cudaDeviceSynchronize());
                for (int i = 0; i < 64; i++)
                    expect(__LINE__ + 1000 * (mode + 4 * linear + 8 * normalised), out[i],
                           filtered(points[i], normalised, linear, mode), 1e-3);
                CHECK(cudaDestroyTextureObject(t));
            }
    CHECK(cudaFree(points));
    CHECK(cudaFree(out));
}

static void check_bytes()
{
    uchar4 *data, h[16];
    float2 *points;
    float4 *out;
    size_t pitch;
    for (int i = 0; i < 16; i++)
        h[i] = make_uchar4(i * 17, 255 - i, i, 128);
    CHECK(cudaMallocPitch(&data, &pitch, 4 * sizeof *data, 4));
    CHECK(cudaMemcpy2D(data, pitch, h, 16, 16, 4, cudaMemcpyHostToDevice));
    CHECK(cudaMallocManaged(&points, 16 * sizeof *points));
    CHECK(cudaMallocManaged(&out, 16 * sizeof *out));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = data;
    r.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r.res.pitch2D.width = r.res.pitch2D.height = 4;
    r.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc d = described(false, false, cudaAddressModeClamp);
    d.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t = 0;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    for (int i = 0; i < 16; i++)
        points[i] = make_float2(i % 4 + 0.5f, i / 4 + 0.5f);
    sample_bytes<<<1, 16>>>(t, points, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++) {
        expect(__LINE__, out[i].x, i * 17 / 255., 1e-6);
        expect(__LINE__, out[i].y, (255 - i) / 255., 1e-6);
        expect(__LINE__, out[i].w, 128 / 255., 1e-6);
    }
    CHECK(cudaDestroyTextureObject(t));
    d.readMode = cudaReadModeElementType;
    d.filterMode = cudaFilterModeLinear;
    if (cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess)
        bad++; /* integers cannot be interpolated */
    cudaGetLastError();
    CHECK(cudaFree(data));
    CHECK(cudaFree(points));
    CHECK(cudaFree(out));
}

static void check_volume()
{
    std::vector<float> h(64);
    for (int i = 0; i < 64; i++)
        h[i] = i * i;
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    float *out;
    CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(4, 4, 4)));
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(h.data(), 16, 4, 4);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 4, 4);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d = described(false, true, cudaAddressModeClamp);
    cudaTextureObject_t t = 0;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    volume<<<1, 64>>>(t, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        expect(__LINE__, out[i], i < 48 ? 0.75 * h[i] + 0.25 * h[i + 16] : h[i], 1e-3);
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

static void check_surfaces()
{
    const int n = 8;
    ushort2 h[n * n], got[n * n];
    cudaArray_t in, out;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<ushort2>();
    CHECK(cudaMallocArray(&in, &channel, n, n, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&out, &channel, n, n, cudaArraySurfaceLoadStore));
    for (int i = 0; i < n * n; i++)
        h[i] = make_ushort2(i, 3 * i);
    CHECK(cudaMemcpy2DToArray(in, 0, 0, h, n * 4, n * 4, n, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s[2];
    r.resType = cudaResourceTypeArray;
    r.res.array.array = in;
    CHECK(cudaCreateSurfaceObject(&s[0], &r));
    r.res.array.array = out;
    CHECK(cudaCreateSurfaceObject(&s[1], &r));
    turn<<<1, dim3(n, n)>>>(s[0], s[1], n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(got, n * 4, out, 0, 0, n * 4, n, cudaMemcpyDeviceToHost));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            expect(__LINE__, got[x * n + y].x, h[y * n + x].x);
            expect(__LINE__, got[x * n + y].y, h[y * n + x].y + h[y * n].x);
        }
    CHECK(cudaDestroySurfaceObject(s[0]));
    CHECK(cudaDestroySurfaceObject(s[1]));
    CHECK(cudaFreeArray(in));
    CHECK(cudaFreeArray(out));
}

int main()
{
    for (int i = 0; i < W * H; i++)
        image[i] = (i * 29 % 47) + 0.25f * (i % 3);
    check_linear();
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat),
                          asked;
    cudaExtent size;
    unsigned flags = 99;
    CHECK(cudaMallocArray(&array, &channel, W, H, cudaArrayTextureGather));
    CHECK(cudaArrayGetInfo(&asked, &size, &flags, array));
    bad += asked.x != 32 || size.width != W || size.height != H || flags != cudaArrayTextureGather;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    check_samples(r);
    cudaTextureDesc d = described(false, false, cudaAddressModeClamp);
    cudaTextureObject_t t;
    float4 *four;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    CHECK(cudaMallocManaged(&four, sizeof *four));
    gather<<<1, 1>>>(t, four);
    CHECK(cudaDeviceSynchronize());
    expect(__LINE__, four->x, image[3 * W + 3]);
    expect(__LINE__, four->y, image[3 * W + 4]);
    expect(__LINE__, four->z, image[2 * W + 4]);
    expect(__LINE__, four->w, image[2 * W + 3]);
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFree(four));
    CHECK(cudaFreeArray(array));
    check_bytes();
    check_volume();
    check_surfaces();
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
