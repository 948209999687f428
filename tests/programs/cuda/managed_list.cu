// Managed memory: objects with new of their own, a list that both sides walk, advice and
// prefetches. Prints PASS or FAIL.
#include <cstdio>
#include <cstring>

class Managed
{
  public:
    void *operator new(size_t size)
    {
        void *p;
        cudaMallocManaged(&p, size);
        cudaDeviceSynchronize();
        return p;
    }
    void operator delete(void *p)
    {
        cudaDeviceSynchronize();
        cudaFree(p);
    }
};

struct Node : Managed {
    int value;
    Node *next;
    Node(int v, Node *n) : value(v), next(n)
    {
    }
};

struct Text : Managed {
    char *letters;
    size_t length;
    explicit Text(const char *s) : length(strlen(s))
    {
        cudaMallocManaged(&letters, length + 1);
        strcpy(letters, s);
    }
    ~Text()
    {
        cudaFree(letters);
    }
    __host__ __device__ char &operator[](size_t i)
    {
        return letters[i];
    }
};

__global__ void walk(Node *head, int *total)
{
    for (Node *n = head; n; n = n->next) {
        *total += n->value;
        n->value = -n->value;
    }
}

__global__ void upper(Text *text)
{
    if (threadIdx.x < text->length && (*text)[threadIdx.x] >= 'a')
        (*text)[threadIdx.x] -= 32;
}

int main()
{
    int bad = 0, *total;
    Node *head = nullptr;
    cudaMallocManaged(&total, sizeof *total);
    *total = 5;
    for (int i = 1; i <= 10; i++)
        head = new Node(i, head);
    walk<<<1, 1>>>(head, total);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    bad += *total != 60;
    *total = 0;
    for (Node *n = head; n; n = n->next)
        *total += n->value;
    bad += *total != -55;

    Text *text = new Text("written by the host");
    upper<<<1, 32>>>(text);
    cudaDeviceSynchronize();
    bad += strcmp(text->letters, "WRITTEN BY THE HOST") != 0;
    delete text;

    int device = 0, *data;
    cudaGetDevice(&device);
    cudaMallocManaged(&data, 1 << 16);
#if CUDART_VERSION < 13000
    int gpu = device, cpu = cudaCpuDeviceId;
    cudaMemPrefetchAsync(data, 1 << 16, gpu);
#else
    cudaMemLocation gpu = {cudaMemLocationTypeDevice, {device}},
                    cpu = {cudaMemLocationTypeHost, {0}};
    cudaMemPrefetchAsync(data, 1 << 16, gpu, 0);
#endif
    cudaMemAdvise(data, 1 << 16, cudaMemAdviseSetPreferredLocation, gpu);
    cudaMemset(data, 1, 1 << 16);
    cudaMemAdvise(data, 1 << 16, cudaMemAdviseSetAccessedBy, cpu);
    cudaDeviceSynchronize();
    bad += data[100] != 0x01010101;
    cudaFree(data);
    while (head) {
        Node *next = head->next;
        delete head;
        head = next;
    }
    puts(bad ? "FAIL" : "PASS");
    cudaFree(total);
    return bad != 0;
}
