// The heap and the text of device code: lists and objects by malloc and new, printf with many
// formats, asserts that hold, and limits. Prints PASS or FAIL.
#include <cassert>
#include <cstdio>

struct Item {
    int key;
    Item *next;
};

class Matrix
{
    int rows_, columns_;
    double *data_;

  public:
    __device__ Matrix(int rows, int columns)
        : rows_(rows), columns_(columns), data_(new double[rows * columns]())
    {
    }
    __device__ ~Matrix()
    {
        delete[] data_;
    }
    __device__ double &operator()(int r, int c)
    {
        return data_[r * columns_ + c];
    }
    __device__ double trace() const
    {
        double sum = 0;
        for (int i = 0; i < rows_; i++)
            sum += data_[i * columns_ + i];
        return sum;
    }
};

__global__ void build(Item **heads, int n)
{
    Item *head = nullptr;
    for (int i = 0; i < n; i++) {
        Item *item = (Item *)malloc(sizeof(Item));
        assert(item != nullptr);
        *item = {(int)threadIdx.x * 100 + i, head};
        head = item;
    }
    heads[threadIdx.x] = head;
}

__global__ void consume(Item **heads, int *sums)
{
    int sum = 0;
    for (Item *item = heads[threadIdx.x]; item;) {
        Item *next = item->next;
        sum += item->key;
        free(item);
        item = next;
    }
    sums[threadIdx.x] = sum;
}

__global__ void objects(double *out)
{
    Matrix *m = new Matrix(4, 4);
    for (int i = 0; i < 4; i++)
        (*m)(i, i) = threadIdx.x + i;
    out[threadIdx.x] = m->trace();
    delete m;
    __shared__ int *common;
    if (threadIdx.x == 0)
        common = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
    __syncthreads();
    common[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < blockDim.x; i++)
            sum += common[i];
        out[blockDim.x] = sum;
        free(common);
    }
}

__global__ void speak(const char *name, float x, long long big)
{
    int written = printf("[%5d|%-5d|%05d] %x %#o %c %s %%\n", 42, 42, 42, 0xbeef, 8, 'z', name);
    printf("%.3f %10.2e %g %lld %llu %p\n", x, x * 1e6, x / 3, big, ~0ULL, (void *)nullptr);
    printf("%*d and %hhd, %zu, %ld\n", 6, 7, (char)-1, sizeof(double), -5L);
    if (written < 0)
        __trap();
}

int main()
{
    size_t heap = 0;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20);
    Item **heads;
    int *sums, bad = heap < (16 << 20);
    double *out;
    char *name;
    cudaMalloc(&heads, 32 * sizeof(Item *));
    cudaMallocManaged(&sums, 32 * sizeof(int));
    cudaMallocManaged(&out, 33 * sizeof(double));
    cudaMallocManaged(&name, 16);
    snprintf(name, 16, "managed");
    build<<<1, 32>>>(heads, 5);
    consume<<<1, 32>>>(heads, sums);
    objects<<<1, 32>>>(out);
    speak<<<1, 1>>>(name, 2.71828f, -1234567890123LL);
    cudaError_t error = cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++)
        bad += sums[i] != i * 500 + 10 || out[i] != 4 * i + 6;
    bad += out[32] != 496;
    printf("%s\n%s\n", cudaGetErrorString(error), bad || error ? "FAIL" : "PASS");
    cudaFree(heads);
    cudaFree(sums);
    cudaFree(out);
    cudaFree(name);
    return bad || error;
}
