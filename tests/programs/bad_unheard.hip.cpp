// Compiled for gfx90a only. Never asks for an error: the run must not look like a good one.
#include "check.hpp"

__global__ void nothing()
{
}

int main()
{
    nothing<<<1, 64>>>();
    return pass("bad_unheard");
}
