// Device code in two files: functions, variables, a function pointer and a class of the other one.
#pragma once

extern __device__ int table[4];
extern __device__ float factor;
extern __constant__ int offset;

__device__ int twice(int x);
__device__ int helper(int i);

struct Shape {
    __device__ virtual int corners() const = 0;
};
struct Box : Shape {
    __device__ int corners() const override;
};

void launch_other(int *out);
int set_own_of_parts(int value);
