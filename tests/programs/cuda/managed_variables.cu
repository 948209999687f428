// Variables of both sides: __managed__ scalars, arrays and pointers, and one of the file. Prints
// PASS or FAIL.
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

__device__ __managed__ int total = 5;
__managed__ float table[64] = {1.5f, 2.5f};
__managed__ Node *head;
static __device__ __managed__ int2 own;

__global__ void walk()
{
    for (Node *n = head; n; n = n->next) {
        total += n->value;
        n->value = -n->value;
    }
}

__global__ void scale(float factor)
{
    table[threadIdx.x] = table[threadIdx.x] * factor + threadIdx.x;
    if (threadIdx.x == 5)
        own.y += own.x;
}

int main()
{
    int bad = 0;
    for (int i = 1; i <= 10; i++) {
        Node *node;
        cudaMallocManaged(&node, sizeof *node);
        *node = {i, head};
        head = node;
    }
    walk<<<1, 1>>>();
    bad += cudaDeviceSynchronize() != cudaSuccess;
    bad += total != 60;
    total = 0;
    for (Node *n = head; n; n = n->next)
        total += n->value;
    bad += total != -55;
    table[2] = 4;
    int2 *place = &own;
    place->x = 3;
    own.y = 4;
    scale<<<1, 64>>>(2);
    cudaDeviceSynchronize();
    bad += place->y != 7 || own.y != 7;
    bad += table[0] != 3 || table[1] != 6 || table[2] != 10 || table[63] != 63;
    while (head) {
        Node *node = head;
        head = node->next;
        cudaFree(node);
    }
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}
