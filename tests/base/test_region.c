/* base/region.h: memory that goes as a whole. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "base/region.h"
#include "tests/sanitized.h"

Test(region, gives_zeroed_aligned_memory_that_nothing_else_has)
{
    enum { TAKEN = 3000 };
    static unsigned char *taken[TAKEN];
    struct region region;
    region_init(&region, "a test");
    size_t total = 0;
    for (size_t i = 0; i < TAKEN; i++) {
        size_t size = i * 37 % 700 + (i % 500 == 0 ? 200000 : 0);
        taken[i] = region_take(&region, size);
        cr_assert_eq((uintptr_t)taken[i] % 16, 0, "%zu", i);
        for (size_t at = 0; at < size; at++)
            cr_assert_eq(taken[i][at], 0, "byte %zu of %zu", at, i);
        memset(taken[i], (int)(i % 255) + 1, size);
        total += round_up(size, 16);
    }
    for (size_t i = 0; i < TAKEN; i++) {
        size_t size = i * 37 % 700 + (i % 500 == 0 ? 200000 : 0);
        for (size_t at = 0; at < size; at++)
            cr_assert_eq(taken[i][at], i % 255 + 1, "byte %zu of %zu", at, i);
    }
    cr_expect_eq(region.total, total);
    region_release(&region);
}

Test(region, can_be_used_again_when_released)
{
    struct region region = {.contents = "a test"};
    region_release(&region);
    cr_expect_not_null(region_take(&region, 0));
    region_release(&region);
    cr_expect_null(region.blocks);
    cr_expect_eq(region.total, 0);
    cr_expect_str_eq(region.contents, "a test");
    cr_expect_str_eq(region_printf(&region, "%s %d", "again", 1), "again 1");
    region_release(&region);
}

Test(region, copies_and_prints_texts_of_any_length)
{
    struct region region = {.contents = "a test"};
    char longer[1000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    for (size_t length = 254; length < 258; length++) {
        char *text = region_printf(&region, "%.*s", (int)length, longer);
        cr_expect_eq(strlen(text), length);
    }
    cr_expect_str_eq(region_strdup(&region, longer), longer);
    cr_expect_str_eq(region_strndup(&region, longer, 3), "xxx");
    cr_expect_str_eq(region_strndup(&region, NULL, 0), "");
    region_release(&region);
}

Test(region, grows_vectors_in_order)
{
    struct region region = {.contents = "a test"};
    VECTOR(uint32_t) numbers = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t *before = numbers.items, room = numbers.capacity;
        vector_push(&region, &numbers, i);
        cr_assert(i == room || numbers.items == before, "%u", i);
        cr_assert_leq(numbers.count, numbers.capacity);
    }
    for (uint32_t i = 0; i < 5000; i++)
        cr_assert_eq(numbers.items[i], i);
    region_release(&region);
}

/* What a child says that takes too much, and its status. */
static int ask_too_much(size_t count, size_t size, char *said, size_t bytes)
{
    int ends[2], status;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct region region = {.contents = "a test"};
        dup2(ends[1], STDERR_FILENO);
        region_take_array(&region, count, size);
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, bytes - 1);
    said[max(got, 0)] = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    close(ends[0]);
    return status;
}

/* A product that overflows must not become a small one. */
Test(region, ends_the_program_where_there_is_too_little_memory)
{
    static const struct {
        size_t count, size;
    } cases[] = {{SIZE_MAX, 1}, {SIZE_MAX / 2, 4}, {(size_t)1 << 60, 16}, {SIZE_MAX / 2 + 2, 2}};
    if (SANITIZED)
        cr_skip_test("the allocator of a sanitizer ends the program by itself");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char said[128] = "";
        int status = ask_too_much(cases[i].count, cases[i].size, said, sizeof said);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "case %zu: %#x", i,
                  (unsigned)status);
        cr_expect(strstr(said, "heddle: out of memory for ") == said
                      && strstr(said, " of a test\n"),
                  "case %zu: %s", i, said);
    }
}

Test(region, reads_a_stream_whole_or_a_little_beyond_the_limit)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
    struct region region = {.contents = "a test"};
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        FILE *stream = tmpfile();
        for (size_t at = 0; at < sizes[i]; at++)
            putc((int)(at % 251), stream);
        rewind(stream);
        size_t size;
        const char *text = region_read(&region, stream, SIZE_MAX, &size);
        cr_assert_eq(size, sizes[i]);
        cr_assert_eq(text[size], 0);
        for (size_t at = 0; at < size; at++)
            cr_assert_eq((unsigned char)text[at], at % 251, "byte %zu of %zu", at, size);
        rewind(stream);
        region_read(&region, stream, 1000, &size);
        cr_expect(size == sizes[i] || size > 1000, "%zu of %zu", size, sizes[i]);
        fclose(stream);
    }
    region_release(&region);
}
