/* The arena: what lies where, and that nothing lies twice. */
#define _GNU_SOURCE /* keys for pages */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"

#define MIB ((size_t)1 << 20)

/* In bytes. */
static size_t place(uint32_t offset)
{
    cr_assert_eq((size_t)offset * ARENA_UNIT % ARENA_ALIGNMENT, 0);
    return (size_t)offset * ARENA_UNIT;
}

/* A sanitizer would end the process in a way of its own. */
static void die_of_faults(void)
{
    signal(SIGSEGV, SIG_DFL);
}

static bool in_front(uint32_t offset)
{
    return place(offset) < arena_ends().front;
}

Test(arena, small_arrays_and_what_is_hot_stand_in_front)
{
    static const struct {
        size_t bytes;
        bool hot, front;
    } cases[] = {{1, false, true},        {64, false, true},
                 {32 << 10, false, true}, {(32 << 10) + 1, false, false},
                 {MIB, false, false},     {MIB, true, true},
                 {255 * MIB, true, false}};
    arena_open();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint32_t at =
            cases[i].hot ? arena_allocate_front(cases[i].bytes) : arena_allocate(cases[i].bytes);
        cr_expect_eq(in_front(at), cases[i].front, "case %zu", i);
        cr_expect_neq(at, 0);
    }
    arena_close();
}

Test(arena, nothing_is_handed_out_twice_and_all_is_zero)
{
    enum { COUNT = 600 };
    static size_t places[COUNT], sizes[COUNT];
    arena_open();
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = 1 + i * i * 37 % 70000;
        places[i] = place(i % 5 == 4 ? arena_allocate_front(sizes[i]) : arena_allocate(sizes[i]));
        char *bytes = arena_at(char, places[i] / ARENA_UNIT);
        cr_assert(bytes[0] == 0 && bytes[sizes[i] - 1] == 0);
        memset(bytes, 0xff, sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < i; k++)
            cr_assert(places[k] + sizes[k] <= places[i] || places[i] + sizes[i] <= places[k]);
    arena_close();
}

/* How many arrays stand in front before the first that does not. */
static size_t fill_front(size_t bytes)
{
    size_t count = 0;
    while (in_front(arena_allocate(bytes)))
        count++;
    return count;
}

Test(arena, a_full_front_goes_on_behind)
{
    arena_open();
    size_t front = fill_front(2 << 10);
    cr_expect_gt(front, 32000);
    cr_expect_lt(front, 32768); /* 64 MiB, less what begins it */
    for (int i = 0; i < 3; i++)
        cr_expect_not(in_front(arena_allocate(2 << 10)));
    cr_expect_leq(arena_ends().front, 64 * MIB);
    arena_close();
}

Test(arena, the_runtime_may_say_where)
{
    arena_open();
    cr_expect(in_front(arena_allocate_front(8 * MIB)));
    cr_expect_not(in_front(arena_allocate_rear(64)));
    arena_close();
}

Test(arena, is_extended_to_where_it_was_but_never_shrunk)
{
    arena_open();
    arena_allocate(100);
    arena_allocate(MIB);
    struct arena_ends then = arena_ends(), more = {then.front + 640, then.rear + 64 * MIB};
    const struct arena_ends bad[] = {{then.front + 1, then.rear},
                                     {then.front, then.rear + 1},
                                     {512 * MIB, then.rear},
                                     {then.front, UINT64_MAX - 63}};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        cr_expect_not(arena_extend(bad[i]), "case %zu", i);
    cr_assert(arena_extend((struct arena_ends){64, then.rear - 64}));
    cr_expect_eq(arena_ends().front, then.front);
    cr_expect_eq(arena_ends().rear, then.rear);
    cr_assert(arena_extend(more));
    cr_expect_geq(place(arena_allocate(100)), more.front);
    cr_expect_geq(place(arena_allocate(MIB)), more.rear);
    arena_close();
}

/* What stands in front, what stands behind, and the byte after both. */
static void fill(uint32_t at[2])
{
    arena_open();
    at[0] = arena_allocate(100);
    at[1] = arena_allocate(MIB);
    memset(arena_at(char, at[0]), 0x55, 100);
    memset(arena_at(char, at[1]), 0xaa, MIB);
}

/* Afterwards the arena has no key: a process has 15 of them. */
static void take_all_keys(void)
{
    while (pkey_alloc(0, 0) > 0)
        ;
}

static void need_keys(void)
{
    int key = pkey_alloc(0, 0);
    if (key <= 0)
        cr_skip_test("this processor has no keys for pages");
    pkey_free(key);
}

Test(arena, lies_where_no_pointer_of_32_bits_leads)
{
    arena_open();
    cr_expect_gt((uintptr_t)engine_base.arena, (uintptr_t)1 << 32);
    cr_expect_gt((uintptr_t)arena_derive(1), (uintptr_t)1 << 32);
    arena_close();
}

static bool ways[] = {false, true}; /* without keys */

ParameterizedTestParameters(arena, what_was_hidden_is_the_same_when_it_is_shown)
{
    return cr_make_param_array(bool, ways, 2);
}

ParameterizedTest(const bool *keyless, arena, what_was_hidden_is_the_same_when_it_is_shown)
{
    uint32_t at[2];
    if (*keyless)
        take_all_keys();
    fill(at);
    for (int i = 0; i < 3; i++) {
        arena_hide();
        arena_hide();
        arena_show();
        arena_show();
        const char *front = arena_at(char, at[0]), *rear = arena_at(char, at[1]);
        cr_expect(front[0] == 0x55 && front[99] == 0x55 && front[100] == 0);
        cr_expect((uint8_t)rear[0] == 0xaa && (uint8_t)rear[MIB - 1] == 0xaa && rear[MIB] == 0);
        arena_at(char, at[1])[MIB] = 0;
    }
    arena_close();
}

/* In processes of their own: a test that expects a signal could not be skipped. */
static bool faults(void (*access)(const uint32_t *at))
{
    uint32_t at[2];
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        die_of_faults();
        fill(at);
        arena_hide();
        access(at);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void write_in_front(const uint32_t *at)
{
    arena_at(volatile char, at[0])[3] = 1;
}

static void read_behind(const uint32_t *at)
{
    (void)arena_at(volatile char, at[1])[3];
}

Test(arena, what_is_hidden_in_front_cannot_be_written)
{
    need_keys();
    cr_expect(faults(write_in_front));
}

Test(arena, what_is_hidden_behind_cannot_be_read)
{
    need_keys();
    cr_expect(faults(read_behind));
}

Test(arena, stays_in_reach_without_keys)
{
    uint32_t at[2];
    take_all_keys();
    fill(at);
    arena_hide();
    cr_expect_eq(arena_at(volatile char, at[0])[3], 0x55);
    arena_close();
}

/* A thread of its own, which finds the arena as its maker did. */
static void *use_arena(void *at)
{
    arena_show();
    arena_at(char, *(uint32_t *)at)[3] = 7;
    arena_hide();
    return NULL;
}

ParameterizedTestParameters(arena, another_thread_can_show_what_is_hidden)
{
    return cr_make_param_array(bool, ways, 2);
}

ParameterizedTest(const bool *keyless, arena, another_thread_can_show_what_is_hidden)
{
    uint32_t at[2];
    pthread_t thread;
    if (*keyless)
        take_all_keys();
    fill(at);
    arena_hide();
    cr_assert_eq(pthread_create(&thread, NULL, use_arena, at), 0);
    pthread_join(thread, NULL);
    arena_show();
    cr_expect_eq(arena_at(char, at[0])[3], 7);
    arena_close();
}

Test(arena, lies_between_guards_that_fault, .init = die_of_faults, .signal = SIGSEGV)
{
    arena_open();
    cr_assert(arena_touches(engine_base.arena - 1, 1));
    ((volatile char *)engine_base.arena)[-1] = 1;
}

Test(arena, who_runs_over_the_end_of_a_reservation_faults, .init = die_of_faults, .signal = SIGSEGV)
{
    volatile char *bytes = arena_reserve(5000);
    bytes[8191] = 1;
    bytes[8192] = 1;
}

Test(arena, who_runs_over_the_start_of_a_reservation_faults, .init = die_of_faults,
     .signal = SIGSEGV)
{
    volatile char *bytes = arena_reserve(5000);
    bytes[0] = 1;
    bytes[-1] = 1;
}

/* Mappings within the arena for which the process has asked for huge pages. */
static uint32_t count_huge(void)
{
    char line[512];
    uint32_t count = 0;
    bool within = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long first, end;
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
            within = arena_touches((void *)first, 1);
        else if (within && strncmp(line, "VmFlags:", 8) == 0)
            count += strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return count;
}

/* The front of all ranks and the rank's own; a kernel without huge pages gives neither. */
Test(arena, asks_for_huge_pages_unless_small_ones_are_wanted)
{
    arena_open();
    arena_divide(2, 1);
    uint32_t large = count_huge();
    cr_expect(large == 0 || large == 2, "%u", large);
    arena_use_small_pages(true);
    arena_open();
    arena_divide(2, 1);
    cr_expect_eq(count_huge(), 0);
    arena_close();
}
