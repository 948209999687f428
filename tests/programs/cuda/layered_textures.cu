// Textures of layers and cubes, and copies of runs of bytes to and from arrays: what each fetch
// gives is compared with the host's own arithmetic. Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            failed = true;                                                                         \
        }                                                                                          \
    } while (0)

static bool failed;
const int WIDTH = 16, HEIGHT = 8, LAYERS = 5, SIDE = 4;

__global__ void scale_layer(cudaTextureObject_t texture, float *out, int layer)
{
    int x = threadIdx.x, y = threadIdx.y;
    float u = (x + 0.5f) / WIDTH, v = (y + 0.5f) / HEIGHT;
    out[(layer * HEIGHT + y) * WIDTH + x] = 2 * tex2DLayered<float>(texture, u, v, layer);
}

__global__ void rows(cudaTextureObject_t texture, int2 *out)
{
    out[threadIdx.y * WIDTH + threadIdx.x] = tex1DLayered<int2>(texture, threadIdx.x, threadIdx.y);
}

// The middle of each texel of each face; `cube` < 0: of a single cube.
__global__ void look(cudaTextureObject_t texture, float *out, int cube)
{
    float s = 2 * (threadIdx.x + 0.5f) / SIDE - 1, t = 2 * (threadIdx.y + 0.5f) / SIDE - 1;
    const float3 directions[6] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                  {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
    float3 d = directions[blockIdx.x];
    float *to = &out[(blockIdx.x * SIDE + threadIdx.y) * SIDE + threadIdx.x];
    *to = cube < 0 ? texCubemap<float>(texture, 3 * d.x, 3 * d.y, 3 * d.z)
                   : texCubemapLayered<float>(texture, d.x, d.y, d.z, cube);
}

template <typename T>
static cudaArray_t make_array(const std::vector<T> &texels, cudaExtent size, unsigned flags)
{
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &format, size, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)texels.data(), size.width * sizeof(T), size.width,
                                      size.height ? size.height : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(size.width, size.height ? size.height : 1, size.depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t make_texture(cudaArray_t array, bool normalised, bool filters)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture = {};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeWrap;
    texture.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
    texture.normalizedCoords = normalised;
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    return object;
}

static void test_layers()
{
    std::vector<float> texels(WIDTH * HEIGHT * LAYERS), seen(texels.size());
    for (size_t i = 0; i < texels.size(); i++)
        texels[i] = i;
    cudaArray_t array = make_array(texels, {WIDTH, HEIGHT, LAYERS}, cudaArrayLayered);
    cudaTextureObject_t object = make_texture(array, true, true);
    float *out;
    CHECK(cudaMalloc(&out, seen.size() * sizeof(float)));
    for (int layer = 0; layer < LAYERS; layer++)
        scale_layer<<<1, dim3(WIDTH, HEIGHT)>>>(object, out, layer);
    CHECK(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < texels.size(); i++)
        failed |= seen[i] != 2 * texels[i];

    std::vector<int2> pairs(WIDTH * LAYERS), back(pairs.size());
    for (int i = 0; i < WIDTH * LAYERS; i++)
        pairs[i] = {i, -i};
    cudaArray_t lines = make_array(pairs, {WIDTH, 0, LAYERS}, cudaArrayLayered);
    cudaTextureObject_t of_lines = make_texture(lines, false, false);
    int2 *copies;
    CHECK(cudaMalloc(&copies, back.size() * sizeof(int2)));
    rows<<<1, dim3(WIDTH, LAYERS)>>>(of_lines, copies);
    CHECK(cudaMemcpy(back.data(), copies, back.size() * sizeof(int2), cudaMemcpyDeviceToHost));
    failed |= std::memcmp(back.data(), pairs.data(), back.size() * sizeof(int2)) != 0;
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaDestroyTextureObject(of_lines));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(lines));
    CHECK(cudaFree(out));
    CHECK(cudaFree(copies));
}

static void test_cubes(int cubes)
{
    const int face = SIDE * SIDE;
    std::vector<float> texels(6 * face * (cubes ? cubes : 1)), seen(6 * face);
    for (size_t i = 0; i < texels.size(); i++)
        texels[i] = std::sqrt((float)i);
    unsigned flags = cudaArrayCubemap | (cubes ? cudaArrayLayered : 0);
    cudaArray_t array = make_array(texels, {SIDE, SIDE, texels.size() / face}, flags);
    cudaTextureObject_t object = make_texture(array, true, cubes == 0);
    float *out;
    CHECK(cudaMalloc(&out, seen.size() * sizeof(float)));
    for (int cube = cubes ? 0 : -1; cube < cubes; cube++) {
        look<<<6, dim3(SIDE, SIDE)>>>(object, out, cube);
        CHECK(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < seen.size(); i++)
            failed |= std::fabs(seen[i] - texels[(cube < 0 ? 0 : cube) * seen.size() + i]) > 1e-5f;
    }
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
}

// Runs that begin and end in the middle of rows.
static void test_runs()
{
    std::vector<unsigned char> bytes(WIDTH * HEIGHT), seen(bytes.size());
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = i * 7;
    cudaArray_t array, other;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    CHECK(cudaMallocArray(&other, &format, WIDTH, HEIGHT));
    CHECK(cudaMemcpyToArray(array, 0, 0, bytes.data(), 37, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToArray(array, 5, 2, &bytes[37], bytes.size() - 37, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, WIDTH, HEIGHT));
    CHECK(cudaMemcpyFromArray(seen.data(), other, 0, 0, 50, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromArray(&seen[50], other, 2, 3, seen.size() - 50, cudaMemcpyDeviceToHost));
    failed |= seen != bytes;
    failed |= cudaMemcpyFromArray(seen.data(), other, 1, 0, seen.size(), cudaMemcpyDeviceToHost)
              != cudaErrorInvalidValue;
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(other));
}

int main()
{
    test_layers();
    test_cubes(0);
    test_cubes(3);
    test_runs();
    std::puts(failed ? "FAIL" : "PASS");
    return failed;
}
