// A seven-point stencil on a box that is divided over all GPUs in three dimensions, around at its ends. After each step a GPU gets
// the outermost cells of its six neighbours: planes of z by peer copies, those of x and y by kernels that read the neighbour's
// memory, each GPU in its own stream. Arguments: [cells of a GPU in each dimension] [steps].
#include "gpus.hpp"

struct box {
    int n, wide; // cells, and with those of neighbours
};

__device__ static int at(box b, int x, int y, int z)
{
    return (z * b.wide + y) * b.wide + x;
}

__global__ void smooth(const int *in, int *out, box b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < b.n * b.n * b.n) {
        int here = at(b, i % b.n + 1, i / b.n % b.n + 1, i / (b.n * b.n) + 1), plane = b.wide * b.wide;
        out[here] = in[here] + (in[here - 1] + in[here + 1] + in[here - b.wide] + in[here + b.wide] + in[here - plane] + in[here + plane]) % 7;
    }
}

// The neighbour's plane `from` of dimension x or y becomes plane `to`.
__global__ void pull(int *mine, const int *theirs, box b, bool is_x, int to, int from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, along = i % b.n + 1, z = i / b.n + 1;
    if (i < b.n * b.n) {
        mine[is_x ? at(b, to, along, z) : at(b, along, to, z)] = theirs[is_x ? at(b, from, along, z) : at(b, along, from, z)];
    }
}

struct grid {
    int size[3]; // GPUs in each dimension

    int neighbour(int d, int dimension, int by) const
    {
        int place[3] = {d % size[0], d / size[0] % size[1], d / (size[0] * size[1])};
        place[dimension] = (place[dimension] + by + size[dimension]) % size[dimension];
        return (place[2] * size[1] + place[1]) * size[0] + place[0];
    }
};

// As near to a cube as the number allows.
static grid divide(int count)
{
    grid g = {{1, 1, count}};
    int best = 3 * count;
    for (int x = 1; x <= count; x++) {
        for (int y = 1; count % x == 0 && y <= count / x; y++) {
            int z = count / x / y;
            if (count / x % y == 0 && x <= y && y <= z && x + y + z < best) {
                best = x + y + z;
                g = {{x, y, z}};
            }
        }
    }
    return g;
}

static void exchange(gpu_group &g, const grid &gpus, box b, const std::vector<int *> &data)
{
    int plane = b.wide * b.wide;
    std::vector<hipEvent_t> ready = g.mark_all();
    for (int d = 0; d < g.count; d++) {
        for (int side = 0; side < 6; side++) {
            g.follow(d, ready[gpus.neighbour(d, side / 2, side % 2 ? 1 : -1)]);
        }
        for (int side = 0; side < 4; side++) {
            int other = gpus.neighbour(d, side / 2, side % 2 ? 1 : -1);
            g.join(d, other);
            pull<<<blocks_for(b.n * b.n, 64), 64, 0, g.stream[d]>>>(data[d], data[other], b, side < 2, side % 2 ? b.n + 1 : 0,
                                                                    side % 2 ? 1 : b.n);
            HIP_MUST(hipGetLastError());
        }
        int above = gpus.neighbour(d, 2, 1), below = gpus.neighbour(d, 2, -1);
        g.join(d, above);
        g.join(d, below);
        g.copy(data[above], above, data[d] + b.n * plane, d, plane);
        g.copy(data[below] + (b.n + 1) * plane, below, data[d] + plane, d, plane);
    }
    std::vector<hipEvent_t> done = g.mark_all();
    for (int d = 0; d < g.count; d++) {
        for (int side = 0; side < 6; side++) {
            g.follow(d, done[gpus.neighbour(d, side / 2, side % 2 ? 1 : -1)]);
        }
    }
}

// The whole box on the host; cell (x, y, z) of it is one of GPU (x / n, y / n, z / n).
struct whole {
    int size[3];
    std::vector<int> cell;

    int &of(int x, int y, int z)
    {
        return cell[(static_cast<size_t>((z + size[2]) % size[2]) * size[1] + (y + size[1]) % size[1]) * size[0] + (x + size[0]) % size[0]];
    }

    void step()
    {
        whole next = *this;
        for (int z = 0; z < size[2]; z++) {
            for (int y = 0; y < size[1]; y++) {
                for (int x = 0; x < size[0]; x++) {
                    next.of(x, y, z) += (of(x - 1, y, z) + of(x + 1, y, z) + of(x, y - 1, z) + of(x, y + 1, z) + of(x, y, z - 1) + of(x, y, z + 1)) % 7;
                }
            }
        }
        cell.swap(next.cell);
    }

    // Those of GPU d; `around` with those of its neighbours, where edges and corners do not count.
    std::vector<int> part(const grid &gpus, int d, box b, bool around)
    {
        std::vector<int> cells;
        int from = around ? -1 : 0, to = around ? b.n + 1 : b.n;
        int x0 = d % gpus.size[0] * b.n, y0 = d / gpus.size[0] % gpus.size[1] * b.n, z0 = d / (gpus.size[0] * gpus.size[1]) * b.n;
        for (int z = from; z < to; z++) {
            for (int y = from; y < to; y++) {
                for (int x = from; x < to; x++) {
                    cells.push_back(of(x0 + x, y0 + y, z0 + z));
                }
            }
        }
        return cells;
    }
};

int main(int argc, char **argv)
{
    box b = {size_argument(argc, argv, 1, 4), 0};
    int steps = size_argument(argc, argv, 2, 2);
    b.wide = b.n + 2;
    gpu_group g;
    grid gpus = divide(g.count);
    whole all = {{gpus.size[0] * b.n, gpus.size[1] * b.n, gpus.size[2] * b.n}, {}};
    for (int i = 0; i < g.count * b.n * b.n * b.n; i++) {
        all.cell.push_back(i * 31 % 101);
    }
    std::vector<int *> in = g.allocate<int>(b.wide * b.wide * b.wide), out = g.allocate<int>(b.wide * b.wide * b.wide);
    for (int d = 0; d < g.count; d++) {
        g.fill(d, in[d], all.part(gpus, d, b, true));
    }
    for (int step = 0; step < steps; step++) {
        for (int d = 0; d < g.count; d++) {
            HIP_MUST(hipSetDevice(d));
            smooth<<<blocks_for(b.n * b.n * b.n, 64), 64, 0, g.stream[d]>>>(in[d], out[d], b);
            HIP_MUST(hipGetLastError());
        }
        exchange(g, gpus, b, out);
        in.swap(out);
        all.step();
    }
    g.wait();
    for (int d = 0; d < g.count; d++) {
        std::vector<int> cells(b.wide * b.wide * b.wide), got;
        HIP_MUST(hipSetDevice(d));
        from_device(cells, in[d]);
        for (int z = 1; z <= b.n; z++) {
            for (int y = 1; y <= b.n; y++) {
                got.insert(got.end(), &cells[(z * b.wide + y) * b.wide + 1], &cells[(z * b.wide + y) * b.wide + 1] + b.n);
            }
        }
        if (!same_or_report("halo3d", got, all.part(gpus, d, b, false))) {
            return 1;
        }
    }
    return pass("halo3d");
}
