// Constant memory and variables of the device: tables, structures and pointers by symbol, with
// offsets, in both directions and by address. Prints PASS or FAIL.
#include <cstdio>
#include <cstring>

struct Camera {
    float3 position;
    float matrix[9];
    int flags;
};

__constant__ float coefficients[8];
__constant__ Camera camera;
__constant__ int *indirect;
__constant__ const int primes[5] = {2, 3, 5, 7, 11};
__device__ unsigned long long counter = 1ULL << 40;
__device__ int grid[4][8];
__device__ float4 vectors[4];
static __device__ double secret = 2.5;
namespace scene
{
__device__ int inside = 17;
}

__global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float r = 0;
#pragma unroll
    for (int k = 7; k >= 0; k--)
        r = r * x[i] + coefficients[k];
    y[i] = r;
    atomicAdd(&counter, (unsigned long long)i);
}

__global__ void look(float *out)
{
    int t = threadIdx.x;
    const float *m = camera.matrix + t * 3;
    out[t] = m[0] * camera.position.x + m[1] * camera.position.y + m[2] * camera.position.z;
    grid[t][t] = camera.flags + primes[t] + scene::inside;
    if (t == 0) {
        indirect[3] = 33;
        vectors[1].z = secret;
        secret *= 2;
    }
}

int main()
{
    int bad = 0;
    float h[8] = {1, -1, 0.5f, 0, 2, 0, 0, 0.25f}, x[64], y[64], *dx, *dy;
    cudaMemcpyToSymbol(coefficients, h, 4 * sizeof(float));
    cudaMemcpyToSymbol(coefficients, h + 4, 4 * sizeof(float), 4 * sizeof(float));
    for (int i = 0; i < 64; i++)
        x[i] = i / 32.0f;
    cudaMalloc(&dx, sizeof x);
    cudaMalloc(&dy, sizeof y);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    polynomial<<<2, 32>>>(dx, dy, 64);
    cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) {
        double want = 0;
        for (int k = 7; k >= 0; k--)
            want = want * x[i] + h[k];
        bad += want - y[i] > 1e-3 || y[i] - want > 1e-3;
    }
    unsigned long long count = 0;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    bad += count != (1ULL << 40) + 2016;

    Camera c = {make_float3(1, 2, 3), {1, 0, 0, 0, 1, 0, 1, 1, 1}, 100};
    cudaMemcpyToSymbolAsync(camera, &c, sizeof c, 0, cudaMemcpyHostToDevice, 0);
    int *cell;
    cudaMalloc(&cell, 4 * sizeof(int));
    cudaMemcpyToSymbol(indirect, &cell, sizeof cell);
    look<<<1, 3>>>(dy);
    float out[3];
    cudaMemcpy(out, dy, sizeof out, cudaMemcpyDeviceToHost);
    bad += out[0] != 1 || out[1] != 2 || out[2] != 6;
    int rows[4][8], *address, value = 0;
    size_t size = 0;
    cudaMemcpyFromSymbol(rows, grid, sizeof rows, 0, cudaMemcpyDeviceToHost);
    bad += rows[0][0] != 119 || rows[1][1] != 120 || rows[2][2] != 122 || rows[3][3] != 0;
    cudaGetSymbolAddress((void **)&address, grid);
    cudaGetSymbolSize(&size, grid);
    cudaMemcpy(&value, address + 9, sizeof value, cudaMemcpyDeviceToHost);
    bad += size != sizeof rows || value != 120;
    cudaMemcpy(&value, cell + 3, sizeof value, cudaMemcpyDeviceToHost);
    bad += value != 33;
    double twice = 0;
    cudaMemcpyFromSymbol(&twice, secret, sizeof twice);
    float z = 0;
    cudaMemcpyFromSymbol(&z, vectors, sizeof z, 16 + 8);
    bad += twice != 5 || z != 2.5f;
    printf("%s\n", bad || cudaGetLastError() ? "FAIL" : "PASS");
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(cell);
    return bad;
}
