/* base/grow.h: what a program says that has no memory, and how it ends. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "tests/sanitized.h"

Test(grow, ends_with_a_message_when_there_is_no_memory)
{
    volatile size_t most = SIZE_MAX / 2;
    int ends[2], status;
    char said[128], wanted[128];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (SANITIZED) /* the allocator would end the program by itself */
            grow_sized(NULL, most, "a test");
        grow_memory(NULL, most, "a test");
        _exit(0);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], said, sizeof said - 1);
    cr_assert_geq(size, 0);
    said[size] = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    snprintf(wanted, sizeof wanted, "heddle: out of memory for %zu bytes of a test\n", most);
    cr_expect_str_eq(said, wanted);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %#x", (unsigned)status);
    close(ends[0]);
}

Test(grow, keeps_items_and_doubles)
{
    uint32_t *list = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        grow_list(list, i + 1, capacity, "a test");
        moves += capacity != before;
        cr_assert_geq(capacity, i + 1);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        cr_assert_eq(list[i], i);
    cr_expect_leq(moves, 11);
    free(list);
}

Test(grow, zeroes_slots_that_are_new)
{
    uint16_t *list = NULL;
    size_t capacity = 0, before = 0;
    for (size_t index = 3; index < 100000; index *= 3) {
        grow_slots(list, index, capacity, "a test");
        cr_assert_gt(capacity, index);
        for (size_t i = before; i < capacity; i++)
            cr_assert_eq(list[i], 0, "%zu of %zu", i, capacity);
        for (size_t i = 0; i < before; i++)
            cr_assert_eq(list[i], UINT16_MAX, "%zu of %zu", i, capacity);
        memset(list, 0xff, capacity * sizeof *list);
        before = capacity;
    }
    free(list);
}

Test(grow, gives_memory_for_nothing_and_zeroes)
{
    char *none = grow_memory(NULL, 0, "a test"), *zeroed = grow_zeroed(64, "a test");
    cr_expect_not_null(none);
    cr_expect_eq(memcmp(zeroed, (char[64]){0}, 64), 0);
    free(none);
    free(zeroed);
}
