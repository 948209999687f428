// Pitched memory: rows and volumes by cudaMallocPitch and cudaMalloc3D, copies of parts in both
// directions and between, fills of rectangles, and odd widths. Prints PASS or FAIL.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    {                                                                                              \
        cudaError_t status = call;                                                                 \
        if (status != cudaSuccess) {                                                               \
            printf("%s failed: %s\nFAIL\n", #call, cudaGetErrorString(status));                    \
            return 1;                                                                              \
        }                                                                                          \
    }

__global__ void addRows(char *base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float *row = (float *)(base + y * pitch);
        row[x] += 100 * y + x;
    }
}

__global__ void fillVolume(cudaPitchedPtr p, cudaExtent e)
{
    size_t slice = p.pitch * e.height;
    for (size_t z = blockIdx.x; z < e.depth; z += gridDim.x)
        for (size_t y = threadIdx.y; y < e.height; y += blockDim.y) {
            unsigned short *row = (unsigned short *)((char *)p.ptr + z * slice + y * p.pitch);
            for (size_t x = threadIdx.x; x < e.width / 2; x += blockDim.x)
                row[x] = (unsigned short)(z * 10000 + y * 100 + x);
        }
}

int main(void)
{
    const int width = 37, height = 11;
    float h[height][width], back[height][width], *d;
    size_t pitch;
    int bad = 0;
    for (int i = 0; i < width * height; i++)
        (&h[0][0])[i] = i;
    TRY(cudaMallocPitch((void **)&d, &pitch, width * sizeof(float), height));
    bad += pitch < width * sizeof(float) || pitch % 32;
    TRY(cudaMemcpy2D(d, pitch, h, sizeof h[0], sizeof h[0], height, cudaMemcpyHostToDevice));
    dim3 block(16, 4), grid((width + 15) / 16, (height + 3) / 4);
    addRows<<<grid, block>>>((char *)d, pitch, width, height);
    TRY(cudaGetLastError());
    memset(back, 0, sizeof back);
    TRY(cudaMemcpy2D(back, sizeof back[0], d, pitch, sizeof back[0], height,
                     cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            bad += back[y][x] != h[y][x] + 100 * y + x;
    TRY(cudaMemset2D((char *)d + 8, pitch, 0, 12, 5));
    TRY(cudaMemcpy2DAsync(back, sizeof back[0], d, pitch, sizeof back[0], height,
                          cudaMemcpyDeviceToHost, 0));
    TRY(cudaStreamSynchronize(0));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            bad += back[y][x] != (y < 5 && x >= 2 && x < 5 ? 0 : h[y][x] + 100 * y + x);
    TRY(cudaFree(d));

    cudaExtent extent = make_cudaExtent(19 * sizeof(short), 7, 5);
    struct cudaPitchedPtr volume, copy;
    TRY(cudaMalloc3D(&volume, extent));
    TRY(cudaMalloc3D(&copy, extent));
    fillVolume<<<3, dim3(8, 4)>>>(volume, extent);
    TRY(cudaMemset3D(copy, 0xff, extent));
    struct cudaMemcpy3DParms part = {0};
    part.srcPtr = volume;
    part.srcPos = make_cudaPos(4, 1, 2);
    part.dstPtr = copy;
    part.dstPos = make_cudaPos(0, 2, 0);
    part.extent = make_cudaExtent(10 * sizeof(short), 3, 2);
    part.kind = cudaMemcpyDeviceToDevice;
    TRY(cudaMemcpy3D(&part));
    unsigned short out[5][7][19];
    struct cudaMemcpy3DParms all = {0};
    all.srcPtr = copy;
    all.dstPtr = make_cudaPitchedPtr(out, sizeof out[0][0], 19, 7);
    all.extent = extent;
    all.kind = cudaMemcpyDeviceToHost;
    TRY(cudaMemcpy3DAsync(&all, 0));
    TRY(cudaDeviceSynchronize());
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 19; x++) {
                int inside = z < 2 && y >= 2 && y < 5 && x < 10;
                int want = inside ? (z + 2) * 10000 + (y - 1) * 100 + x + 2 : 0xffff;
                bad += out[z][y][x] != (unsigned short)want;
            }
    TRY(cudaFree(volume.ptr));
    TRY(cudaFree(copy.ptr));
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
