// Calls what the library refuses, again and again: a function that is not there, and launches that
// are too large of a kernel with a long name. Expected: each call gets its error, the program goes
// on, and each refusal is told once.
#include "check.hpp"

template <typename First, typename Second> struct a_pair_of_types_with_a_name_as_libraries_have_it {
    First first;
    Second second;
};
template <typename A>
using twice = a_pair_of_types_with_a_name_as_libraries_have_it<
    a_pair_of_types_with_a_name_as_libraries_have_it<A, A>,
    a_pair_of_types_with_a_name_as_libraries_have_it<A, A>>;

template <typename T> __global__ void take(T *values)
{
    values[threadIdx.x] = T{};
}

int main()
{
    for (int i = 0; i < 7; i++) {
        hipArray *array = nullptr;
        hipChannelFormatDesc description = {};
        hipError_t error = hipMallocArray(&array, &description, 16, 16, 0);
        if (error != hipErrorNotSupported) {
            std::printf("FAIL bad_refused: hipMallocArray gives %s\n", hipGetErrorName(error));
            return 1;
        }
    }
    auto *values = device_zeros<twice<twice<twice<int>>>>(2);
    for (int i = 0; i < 5; i++) {
        take<<<1, 2048>>>(values);
        if (hipGetLastError() != hipErrorInvalidConfiguration) {
            std::printf("FAIL bad_refused: a work-group of 2048 work-items is taken\n");
            return 1;
        }
    }
    take<<<1, 2>>>(values);
    HIP_MUST(hipDeviceSynchronize());
    return pass("bad_refused");
}
