// Filters of images in the style of helper headers: pitched memory, pinned buffers, streams with
// callbacks and events, a class for memory, constant weights, unrolled loops, packed pixels.
// Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void check_(cudaError_t result, char const *const func, const char *const file,
                   int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (unsigned)result,
                cudaGetErrorName(result), func);
        throw std::runtime_error(cudaGetErrorString(result));
    }
}
#define checkCudaErrors(val) check_((val), #val, __FILE__, __LINE__)

constexpr int RADIUS = 3;
__constant__ float weights[2 * RADIUS + 1];

template <typename T> class Image
{
    T *data_ = nullptr;
    size_t pitch_ = 0;
    int width_, height_;

  public:
    struct View {
        T *data;
        size_t pitch;
        int width, height;
        __device__ T &at(int x, int y) const
        {
            return *(T *)((char *)data + y * pitch + x * sizeof(T));
        }
        __device__ T clamped(int x, int y) const
        {
            return at(min(max(x, 0), width - 1), min(max(y, 0), height - 1));
        }
    };
    Image(int width, int height) : width_(width), height_(height)
    {
        checkCudaErrors(cudaMallocPitch(&data_, &pitch_, width * sizeof(T), height));
    }
    Image(const Image &) = delete;
    Image &operator=(const Image &) = delete;
    ~Image()
    {
        cudaFree(data_);
    }
    View view() const
    {
        return {data_, pitch_, width_, height_};
    }
    void upload(const T *from, cudaStream_t s)
    {
        checkCudaErrors(cudaMemcpy2DAsync(data_, pitch_, from, width_ * sizeof(T),
                                          width_ * sizeof(T), height_, cudaMemcpyHostToDevice, s));
    }
    void download(T *to, cudaStream_t s) const
    {
        checkCudaErrors(cudaMemcpy2DAsync(to, width_ * sizeof(T), data_, pitch_, width_ * sizeof(T),
                                          height_, cudaMemcpyDeviceToHost, s));
    }
};

template <bool Horizontal> __global__ void blur(Image<float>::View in, Image<float>::View out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= in.width || y >= in.height)
        return;
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * (Horizontal ? in.clamped(x + k, y) : in.clamped(x, y + k));
    out.at(x, y) = sum;
}

__global__ void to_grey(const uchar4 *__restrict__ in, Image<float>::View out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < out.width && y < out.height) {
        uchar4 p = __ldg(&in[y * out.width + x]);
        out.at(x, y) = __fmaf_rn(p.x, 0.25f, __fmaf_rn(p.y, 0.5f, p.z * 0.25f));
    }
}

static void CUDART_CB done(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data += status == cudaSuccess;
}
static void CUDART_CB host_done(void *data)
{
    *(int *)data += 10;
}

int main()
{
    const int w = 70, h = 37;
    float taps[2 * RADIUS + 1], total = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        total += taps[k + RADIUS] = std::exp(-k * k / 4.f);
    for (float &t : taps)
        t /= total;
    uchar4 *pixels, *d_pixels;
    float *result, elapsed = -1;
    int calls = 0, bad = 0;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    checkCudaErrors(cudaStreamCreate(&stream));
    checkCudaErrors(cudaEventCreate(&start));
    checkCudaErrors(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    checkCudaErrors(cudaHostAlloc((void **)&pixels, w * h * sizeof *pixels, cudaHostAllocDefault));
    checkCudaErrors(cudaMallocHost((void **)&result, w * h * sizeof *result));
    checkCudaErrors(cudaMalloc((void **)&d_pixels, w * h * sizeof *d_pixels));
    checkCudaErrors(cudaMemcpyToSymbol(weights, taps, sizeof taps));
    for (int i = 0; i < w * h; i++)
        pixels[i] = make_uchar4(i % 251, i * 3 % 253, i * 7 % 255, 255);
    Image<float> a(w, h), b(w, h);
    dim3 block(16, 8), grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    checkCudaErrors(cudaEventRecord(start, stream));
    checkCudaErrors(
        cudaMemcpyAsync(d_pixels, pixels, w * h * sizeof *pixels, cudaMemcpyHostToDevice, stream));
    to_grey<<<grid, block, 0, stream>>>(d_pixels, a.view());
    blur<true><<<grid, block, 0, stream>>>(a.view(), b.view());
    blur<false><<<grid, block, 0, stream>>>(b.view(), a.view());
    checkCudaErrors(cudaGetLastError());
    a.download(result, stream);
    checkCudaErrors(cudaStreamAddCallback(stream, done, &calls, 0));
    checkCudaErrors(cudaLaunchHostFunc(stream, host_done, &calls));
    checkCudaErrors(cudaEventRecord(stop, stream));
    checkCudaErrors(cudaEventSynchronize(stop));
    checkCudaErrors(cudaEventElapsedTime(&elapsed, start, stop));
    bad += calls != 11 || elapsed < 0;

    std::vector<double> grey(w * h), once(w * h);
    auto at = [&](const std::vector<double> &v, int x, int y) {
        return v[std::min(std::max(y, 0), h - 1) * w + std::min(std::max(x, 0), w - 1)];
    };
    for (int i = 0; i < w * h; i++)
        grey[i] = pixels[i].x * 0.25 + pixels[i].y * 0.5 + pixels[i].z * 0.25;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = -RADIUS; k <= RADIUS; k++)
                once[y * w + x] += taps[k + RADIUS] * at(grey, x + k, y);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double want = 0;
            for (int k = -RADIUS; k <= RADIUS; k++)
                want += taps[k + RADIUS] * at(once, x, y + k);
            bad += std::fabs(result[y * w + x] - want) > 0.01;
        }
    checkCudaErrors(cudaFreeHost(pixels));
    checkCudaErrors(cudaFreeHost(result));
    checkCudaErrors(cudaStreamDestroy(stream));
    checkCudaErrors(cudaEventDestroy(start));
    checkCudaErrors(cudaEventDestroy(stop));
    checkCudaErrors(cudaFree(d_pixels));
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
