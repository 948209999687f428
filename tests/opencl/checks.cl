/* Mistakes of kernels, each in right and (with -DWRONG) wrong form, for tests of `heddle run
 * --check`. A comment "NAME: first" or "NAME: second" marks the lines that a report of the wrong
 * form names, "NAME: KIND" what kind of finding it is. */
#ifdef WRONG
#define CHOOSE(right, wrong) wrong
#else
#define CHOOSE(right, wrong) right
#endif

__kernel void unordered(__global int *data, __local int *part) // unordered: race
{
    size_t i = get_local_id(0);
    part[i] = (int)i; // unordered: first
    CHOOSE(barrier(CLK_LOCAL_MEM_FENCE), (void)0);
    data[get_global_id(0)] = part[255 - i]; // unordered: second
}

__kernel void unwritten(__global int *data, __local int *part) // unwritten: uninitialised-branch
{
    size_t i = get_local_id(0);
    part[i] = (int)i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (CHOOSE(part[i], data[1024 + i]) > 3) { // unwritten: first
        data[get_global_id(0)] = 1;
    }
}

__kernel void beyond(__global int *data, __local int *part) // beyond: lds-overrun
{
    size_t i = get_local_id(0);
    part[i + CHOOSE(0, 1)] = (int)i; // beyond: first
    data[get_global_id(0)] = (int)i;
}

__constant int table[4] = {1, 2, 3, 4};

__kernel void constants(__global int *data, __local int *part) // constants: read-only-store
{
    volatile __global int *to = CHOOSE(data, (volatile __global int *)(uintptr_t)table);
    if (get_global_id(0) < 4) {
        to[get_local_id(0)] = 1; // constants: first
    }
}

__kernel void missed(__global int *data, __local int *part) // missed: divergent-barrier
{
    size_t i = get_local_id(0);
    part[i] = (int)i;
    if (CHOOSE(true, i < 250)) {
        barrier(CLK_LOCAL_MEM_FENCE); // missed: first
    }
    data[get_global_id(0)] = part[i]; // missed: second
}

/* Right in itself: of two launches each must see what the other has done. */
__kernel void add(__global int *data, __local int *part)
{
    data[get_global_id(0)] += 1;
}
