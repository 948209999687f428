/* Targets of addresses: hashed spaces deal each run of pieces to all targets, one each, and so do
 * strides of a power of two. Memories that are gathered: each byte is of one bank of one instance.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"

static struct platform_way way_of(uint32_t targets, uint32_t fold)
{
    return (struct platform_way){.size = UINT64_C(1) << 44,
                                 .interleave = 256,
                                 .targets = targets,
                                 .shift = 8,
                                 .powers = true,
                                 .fold = (uint8_t)fold};
}

/* How many targets `pieces` of a stride meet. */
static uint32_t met(const struct platform_way *w, uint64_t start, uint64_t stride, uint32_t pieces)
{
    bool seen[256] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        int32_t target = platform_way_target(w, start + i * stride);
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct platform_way hashed = way_of(rows[i].targets, rows[i].fold);
        struct platform_way plain = way_of(rows[i].targets, 0);
        uint64_t run = UINT64_C(256) * rows[i].targets;
        for (uint64_t start = 0; start < 64 * run; start += run) {
            cr_expect_eq(met(&hashed, start, 256, rows[i].targets), rows[i].targets);
            cr_expect_eq(met(&plain, start, 256, rows[i].targets), rows[i].targets);
        }
        for (unsigned bit = 8; bit < 8 + 4 * rows[i].fold; bit++)
            cr_expect_eq(met(&hashed, 0, UINT64_C(1) << bit, rows[i].targets), rows[i].targets,
                         "%u targets, stride 2^%u", rows[i].targets, bit);
        cr_expect_eq(met(&plain, 0, run, rows[i].targets), 1);
        cr_expect_eq(platform_way_target(&hashed, UINT64_C(1) << 44), -1);
    }
}

/* ---- what is gathered ---- */

enum { HOLDERS = 5, BANKS = 3, BANK_BYTES = 70000 };

struct holder {
    struct component base;
};

static struct {
    uint32_t first, stride, bytes;
} gathered[HOLDERS][2];

/* The last instance has other parameters than the first ones. */
static void holder_init(void *instance)
{
    const struct component *c = instance;
    for (unsigned number = 0; number < 2; number++) {
        uint32_t bytes = BANK_BYTES + 64 * (c->leaf == HOLDERS - 1);
        gathered[c->leaf][number].bytes = bytes;
        gathered[c->leaf][number].first =
            platform_gather(c, number, BANKS, bytes, &gathered[c->leaf][number].stride);
    }
}

static bool holder_tick(void *instance)
{
    (void)instance;
    return false;
}

static uint64_t holder_walk(char *instances, uint64_t *active, const uint64_t *end, uint64_t now)
{
    (void)instances;
    (void)now;
    memset(active, 0, (size_t)(end - active) * sizeof *active);
    return 0;
}

static unsigned holder_outstanding(const void *instance, struct hang_report *report)
{
    (void)instance;
    (void)report;
    return 0;
}

static const struct unit_type holder_unit = {.name = "holder",
                                             .source = "test_platform.c",
                                             .instance_bytes = sizeof(struct holder),
                                             .io_words_offset = sizeof(struct component),
                                             .init = holder_init,
                                             .tick = holder_tick,
                                             .walk = holder_walk,
                                             .outstanding = holder_outstanding};

static char *bank_of(uint32_t holder, uint32_t number, uint32_t bank)
{
    return arena_at(char, gathered[holder][number].first + bank * gathered[holder][number].stride);
}

Test(platform, no_two_banks_share_a_byte_and_the_same_ones_stand_side_by_side)
{
    static const struct build_type type = {.unit = &holder_unit};
    build_start("holders");
    uint32_t domain = build_domain("clock", 1000000000);
    for (uint32_t i = 0; i < HOLDERS; i++)
        build_instance(&type, domain, "holder", NULL, NULL, 0);
    cr_assert(platform_build(build_finish()));
    for (uint32_t n = 0; n < HOLDERS * 2 * BANKS; n++)
        memset(bank_of(n % HOLDERS, n / HOLDERS % 2, n / HOLDERS / 2), (int)n + 1,
               gathered[n % HOLDERS][0].bytes);
    for (uint32_t n = 0; n < HOLDERS * 2 * BANKS; n++) {
        const char *bank = bank_of(n % HOLDERS, n / HOLDERS % 2, n / HOLDERS / 2);
        for (uint32_t i = 0; i < gathered[n % HOLDERS][0].bytes; i++)
            cr_assert_eq(bank[i], (char)(n + 1), "bank %u, byte %u", n, i);
    }
    for (uint32_t bank = 0; bank < BANKS; bank++) {
        ptrdiff_t apart = bank_of(1, 0, bank) - bank_of(0, 0, bank);
        cr_expect_geq(apart, BANK_BYTES);
        cr_expect_lt(apart, BANK_BYTES + 2048);
        cr_expect_eq(apart % 2048, 1024, "at the same place of a way of the host's caches");
    }
}
