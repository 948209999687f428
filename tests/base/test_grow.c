/* base/grow.h: what a program says that has no memory, and how it ends. */
#include "base/grow.h"

#include "tests/sanitized.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

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

Test(grow, gives_memory_for_nothing_and_zeroes)
{
    char *none = grow_memory(NULL, 0, "a test"), *zeroed = grow_zeroed(64, "a test");
    cr_expect_not_null(none);
    cr_expect_eq(memcmp(zeroed, (char[64]){0}, 64), 0);
    free(none);
    free(zeroed);
}
