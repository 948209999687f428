// Vector types and complex numbers: a fractal with cuComplex, rotations by float4 matrices, colours
// as uchar4, loads by int4 and double2, and operators of one's own over them. Prints PASS or FAIL.
#include <cuComplex.h>
#include <cmath>
#include <cstdio>
#include <vector>

__host__ __device__ inline float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
__host__ __device__ inline float3 operator*(float s, float3 a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}
__host__ __device__ inline float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__host__ __device__ int escape(cuFloatComplex c, int limit)
{
    cuFloatComplex z = make_cuFloatComplex(0, 0);
    int i = 0;
    while (i < limit && cuCrealf(z) * cuCrealf(z) + cuCimagf(z) * cuCimagf(z) < 4) {
        z = cuCaddf(cuCmulf(z, z), c);
        i++;
    }
    return i;
}

__global__ void fractal(uchar4 *image, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int n = escape(make_cuFloatComplex(-2 + 0.0625f * x, -1 + 0.125f * y), limit);
    image[y * width + x] = make_uchar4(n, n * 2, 255 - n, 255);
}

__global__ void bodies(const float4 *__restrict__ position, float3 *force, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = position[i];
    float3 sum = {0, 0, 0};
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = position[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; k++) {
            float3 d = make_float3(tile[k].x - mine.x, tile[k].y - mine.y, tile[k].z - mine.z);
            float inverse = rsqrtf(dot(d, d) + 0.01f);
            sum = sum + tile[k].w * inverse * inverse * inverse * d;
        }
        __syncthreads();
    }
    force[i] = sum;
}

__global__ void wide(const double2 *in, double2 *out, const int4 *a, int4 *b, longlong2 *c)
{
    int t = threadIdx.x;
    cuDoubleComplex z = in[t], w = cuCdiv(z, make_cuDoubleComplex(0.0, 2.0));
    out[t] = cuCadd(cuConj(w), make_cuDoubleComplex(cuCabs(z), 0.0));
    int4 v = a[t];
    b[t] = make_int4(v.w, v.z, v.y, v.x);
    c[t] = make_longlong2(((long long)v.x << 32) | (unsigned)v.y, -1);
}

int main()
{
    const int width = 40, height = 17, limit = 60;
    uchar4 *image;
    int bad = 0;
    cudaMallocManaged(&image, width * height * sizeof *image);
    dim3 block(8, 8), grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    fractal<<<grid, block>>>(image, width, height, limit);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uchar4 p = image[y * width + x];
            int n = escape(make_cuFloatComplex(-2 + 0.0625f * x, -1 + 0.125f * y), limit);
            bad += abs(p.x - n) > 1 || p.y != (unsigned char)(p.x * 2) || p.z != 255 - p.x;
        }

    const int n = 64;
    float4 *position;
    float3 *force;
    cudaMallocManaged(&position, n * sizeof *position);
    cudaMallocManaged(&force, n * sizeof *force);
    for (int i = 0; i < n; i++)
        position[i] = make_float4(sinf(i), cosf(2 * i), 0.1f * i, 1.0f + i % 3);
    bodies<<<n / 32, 32, 32 * sizeof(float4)>>>(position, force, n);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < n; i++) {
        float3 want = {0, 0, 0};
        for (int k = 0; k < n; k++) {
            float3 d = make_float3(position[k].x - position[i].x, position[k].y - position[i].y,
                                   position[k].z - position[i].z);
            want = want + position[k].w * powf(dot(d, d) + 0.01f, -1.5f) * d;
        }
        bad += fabsf(want.x - force[i].x) + fabsf(want.y - force[i].y) + fabsf(want.z - force[i].z)
               > 0.01f + 1e-3f * fabsf(want.x);
    }

    double2 *z;
    int4 *q;
    longlong2 *l;
    cudaMallocManaged(&z, 64 * sizeof *z);
    cudaMallocManaged(&q, 64 * sizeof *q);
    cudaMallocManaged(&l, 32 * sizeof *l);
    for (int i = 0; i < 32; i++) {
        z[i] = make_double2(3.0 * i, 4.0 * i);
        q[i] = make_int4(i, -i, 2 * i, 7);
    }
    wide<<<1, 32>>>(z, z + 32, q, q + 32, l);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 32; i++) {
        bad +=
            fabs(z[32 + i].x - (2.0 * i + 5.0 * i)) > 1e-12 || fabs(z[32 + i].y - 1.5 * i) > 1e-12;
        bad += q[32 + i].x != 7 || q[32 + i].y != 2 * i || q[32 + i].z != -i || q[32 + i].w != i;
        bad += l[i].x != (((long long)i << 32) | (unsigned)-i) || l[i].y != -1;
    }
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(image);
    cudaFree(position);
    cudaFree(force);
    cudaFree(z);
    cudaFree(q);
    cudaFree(l);
    return bad != 0;
}
