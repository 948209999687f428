/* Targets of addresses: hashed spaces deal each run of pieces to all targets, one each, and so do
 * strides of a power of two.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"

static struct platform_interleaving interleaving_of(uint32_t targets, uint32_t fold)
{
    return (struct platform_interleaving){.size = UINT64_C(1) << 44,
                                          .interleave = 256,
                                          .targets = targets,
                                          .shift = 8,
                                          .is_power_of_two = true,
                                          .fold_bits = (uint8_t)fold};
}

/* How many targets `pieces` of a stride meet. */
static uint32_t met(const struct platform_interleaving *w, uint64_t start, uint64_t stride,
                    uint32_t pieces)
{
    bool seen[256] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        int32_t target = platform_target(w, start + i * stride);
        cr_assert(target >= 0 && (uint32_t)target < w->targets);
        count += !seen[target];
        seen[target] = true;
    }
    return count;
}

Test(platform, targets_share_every_run_and_hashed_ones_every_stride)
{
    static const struct {
        uint32_t targets, fold;
    } rows[] = {{16, 4}, {64, 6}, {128, 7}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct platform_interleaving hashed = interleaving_of(rows[i].targets, rows[i].fold);
        struct platform_interleaving plain = interleaving_of(rows[i].targets, 0);
        uint64_t run = UINT64_C(256) * rows[i].targets;
        for (uint64_t start = 0; start < 64 * run; start += run) {
            cr_expect_eq(met(&hashed, start, 256, rows[i].targets), rows[i].targets);
            cr_expect_eq(met(&plain, start, 256, rows[i].targets), rows[i].targets);
        }
        for (unsigned bit = 8; bit < 8 + 4 * rows[i].fold; bit++)
            cr_expect_eq(met(&hashed, 0, UINT64_C(1) << bit, rows[i].targets), rows[i].targets,
                         "%u targets, stride 2^%u", rows[i].targets, bit);
        cr_expect_eq(met(&plain, 0, run, rows[i].targets), 1);
        cr_expect_eq(platform_target(&hashed, UINT64_C(1) << 44), -1);
    }
}
