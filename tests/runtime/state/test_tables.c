/* Tables as a file: a round trip runs the same simulation, and a damaged file is refused. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/platform.h"
#include "runtime/state/tables.h"
#include "tests/runtime/network.h"
#include "tests/sanitized.h"

static char path[] = "/tmp/heddle_tables_XXXXXX";

static void make_path(void)
{
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(tables, .init = make_path, .fini = remove_path);

static uint64_t run(const struct platform_table *table)
{
    cr_assert(platform_build(table));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    return probe_hash();
}

static void write_file(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void write_table(const struct platform_table *table)
{
    size_t bytes = tables_image_bytes(table);
    char *image = malloc(bytes);
    tables_image(table, image, bytes);
    write_file(image, bytes);
    free(image);
}

/* What would have been compiled for `table`. */
static const struct platform_image *image_of(const struct platform_table *table)
{
    static struct platform_image image;
    image = (struct platform_image){table->model_hash, table->units, table->unit_count};
    return &image;
}

static void quiet(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    close(null);
}

Test(tables, a_round_trip_gives_the_same_simulation)
{
    const struct platform_table *table = network_describe(7);
    uint64_t expected = run(table);
    write_table(table);
    const struct platform_table *again = tables_read(path, image_of(table));
    cr_assert_not_null(again);
    cr_assert_str_eq(again->model_hash, table->model_hash);
    cr_assert_eq(again->ring_count, table->ring_count);
    cr_assert_eq(run(again), expected);
}

Test(tables, the_image_of_an_image_is_the_same)
{
    const struct platform_table *table = network_describe(8);
    size_t bytes = tables_image_bytes(table);
    char *one = malloc(bytes);
    char *two = malloc(bytes);
    tables_image(table, one, bytes);
    write_file(one, bytes);
    const struct platform_table *again = tables_read(path, image_of(table));
    cr_assert_not_null(again);
    cr_assert_eq(tables_image_bytes(again), bytes);
    tables_image(again, two, bytes);
    cr_assert_arr_eq(one, two, bytes);
    free(one);
    free(two);
}

Test(tables, a_file_of_any_other_length_is_refused)
{
    const struct platform_table *table = network_describe(9);
    size_t bytes = tables_image_bytes(table);
    char *image = calloc(1, bytes + 16);
    tables_image(table, image, bytes);
    quiet();
    const size_t step = tests_amount(1, 3, 7);
    for (size_t length = 0; length < bytes + 16; length += length < 600 ? step : 997) {
        if (length == bytes)
            continue;
        write_file(image, length);
        cr_assert_null(tables_read(path, image_of(table)), "%zu of %zu bytes", length, bytes);
    }
    free(image);
}

Test(tables, those_of_another_platform_are_refused)
{
    const struct platform_table *table = network_describe(9);
    write_table(table);
    quiet();
    struct platform_image other = *image_of(table);
    other.model_hash = "of another platform";
    cr_assert_null(tables_read(path, &other));
    other = *image_of(table);
    other.unit_count--;
    cr_assert_null(tables_read(path, &other));
    cr_assert_null(tables_read("/nowhere/at.tables", image_of(table)));
}

Test(tables, a_damaged_file_is_refused)
{
    const struct platform_table *table = network_describe(10);
    size_t bytes = tables_image_bytes(table);
    char *image = malloc(bytes);
    uint64_t random = 88172645463325252u;
    tables_image(table, image, bytes);
    quiet();
    for (size_t i = 0; i < tests_amount(1500, 500, 200); i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t at = random % (i % 2 ? sizeof(struct tables_header) : bytes);
        char bit = (char)(1 << (random >> 40) % 8);
        image[at] ^= bit;
        write_file(image, bytes);
        cr_assert_null(tables_read(path, image_of(table)), "byte %zu", at);
        image[at] ^= bit;
    }
    free(image);
}

/* Limits that a description can go beyond. */
Test(tables, more_than_can_be_built_is_refused)
{
    const struct platform_table *good = network_describe(12);
    struct platform_table table = *good;
    struct platform_ring *rings = malloc(good->ring_count * sizeof *rings);
    quiet();
    memcpy(rings, good->rings, good->ring_count * sizeof *rings);
    table.rings = rings;
    cr_expect(platform_build(&table));
    rings[0].depth = 65536;
    cr_expect_not(platform_build(&table));
    rings[0] = good->rings[0];
    rings[0].payload_bytes = (1 << 18) + 16;
    cr_expect_not(platform_build(&table));
    rings[0] = good->rings[0];
    table.domain_count = ENGINE_CLOCKS_MAX + 1;
    cr_expect_not(platform_build(&table));
    free(rings);
}

Test(tables, a_table_of_another_interface_is_refused)
{
    struct platform_table table = *network_describe(11);
    table.abi++;
    quiet();
    cr_assert_not(platform_build(&table));
}
