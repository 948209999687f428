// Compiled to code objects of every version for the readers' tests (see make_objects.sh).
kernel void add(global int *to, global const int *from, int count)
{
    int i = get_global_id(0);
    if (i < count) {
        to[i] += from[i];
    }
}

kernel void tile(global float *to, local float *scratch, short3 where, char bias)
{
    local float fixed[64];
    int i = get_local_id(0) + get_local_id(1) * get_local_size(0);
    fixed[i & 63] = to[i];
    scratch[i] = where.y;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_group_id(1) * 64 + i] = fixed[63 - (i & 63)] + scratch[i] + bias + get_num_groups(2);
}
