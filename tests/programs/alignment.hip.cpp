// Needleman-Wunsch alignment: anti-diagonals of tiles, and of cells within a tile in LDS. Arguments: [length].
#include "check.hpp"

constexpr int tile = 16, gap = 2;

__global__ void align_tiles(const int8_t *a, const int8_t *b, int *score, int n, int diagonal, int first)
{
    __shared__ int cell[tile + 1][tile + 1];
    int tile_x = first + blockIdx.x, tile_y = diagonal - tile_x, item = threadIdx.x, stride = n + 1;
    int x0 = tile_x * tile, y0 = tile_y * tile;
    cell[0][item + 1] = score[y0 * stride + x0 + item + 1];
    cell[item + 1][0] = score[(y0 + item + 1) * stride + x0];
    if (item == 0) {
        cell[0][0] = score[y0 * stride + x0];
    }
    __syncthreads();
    for (int step = 0; step < 2 * tile - 1; step++) {
        int x = item, y = step - item;
        if (y >= 0 && y < tile) {
            int match = a[y0 + y] == b[x0 + x] ? 3 : -1;
            cell[y + 1][x + 1] = max(cell[y][x] + match, max(cell[y][x + 1], cell[y + 1][x]) - gap);
        }
        __syncthreads();
    }
    for (int y = 0; y < tile; y++) {
        score[(y0 + y + 1) * stride + x0 + item + 1] = cell[y + 1][item + 1];
    }
}

int main(int argc, char **argv)
{
    int tiles = blocks_for(size_argument(argc, argv, 1, 96), tile), n = tiles * tile, stride = n + 1;
    random_source random;
    std::vector<int8_t> a(n), b(n);
    std::vector<int> score(stride * stride), want, got(stride * stride);
    for (int i = 0; i < n; i++) {
        a[i] = random.next() >> 5 & 3;
        b[i] = random.next() >> 5 & 3;
    }
    for (int i = 0; i <= n; i++) {
        score[i] = score[i * stride] = -gap * i;
    }
    want = score;
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            int match = a[y] == b[x] ? 3 : -1;
            want[(y + 1) * stride + x + 1] =
                std::max(want[y * stride + x] + match,
                         std::max(want[y * stride + x + 1], want[(y + 1) * stride + x]) - gap);
        }
    }
    int8_t *da = to_device(a), *db = to_device(b);
    int *dscore = to_device(score);
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int first = std::max(0, diagonal - tiles + 1), last = std::min(diagonal, tiles - 1);
        align_tiles<<<last - first + 1, tile>>>(da, db, dscore, n, diagonal, first);
    }
    HIP_MUST(hipGetLastError());
    from_device(got, dscore);
    return same_or_report("alignment", got, want) ? pass("alignment") : 1;
}
