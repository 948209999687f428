/* States in files: what was written continues as if nothing had happened, and nothing else is
 * loaded. The networks have several clocks, links, shared wires, wake-ups far ahead. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/ring_run.h"
#include "runtime/scheduler/run.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"
#include "tests/runtime/network.h"
#include "tests/sanitized.h"

static char path[64];

static void make_path(void)
{
    snprintf(path, sizeof path, "/tmp/heddle-checkpoint-%ld", (long)getpid());
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(checkpoint, .init = make_path, .fini = remove_path);

static void build(uint64_t seed)
{
    probe_logged = 0;
    cr_assert(platform_build(network_describe(seed)));
    engine_set_limits(&(struct engine_limits){0});
}

/* Reads the state `restored` and writes one to `written` at `ps`, if they are not NULL. */
static bool open_state(const char *restored, const char *written, uint64_t ps)
{
    build_options("checkpoint-ps=%" PRIu64 "%s%s%s%s", ps, restored ? ";restore=" : "",
                  restored ? restored : "", written ? ";checkpoint>" : "", written ? written : "");
    return checkpoint_open(engine_base.platform);
}

/* Builds the network, and runs it to its end. */
static uint64_t run(uint64_t seed, const char *restored, const char *written, uint64_t ps)
{
    build(seed);
    cr_assert(open_state(restored, written, ps));
    cr_assert_eq(checkpoint_run(), ENGINE_IDLE);
    cr_assert_eq(checkpoint_end(), CHECKPOINT_DONE);
    return probe_hash();
}

struct moment {
    uint64_t seed;
    uint64_t parts; /* of 16, of the run's time */
};

ParameterizedTestParameters(checkpoint, a_state_continues_as_if_nothing_had_happened)
{
    static struct moment moments[] = {{3, 8}, {1, 0}, {1, 1}, {2, 4}, {4, 12}, {5, 15}, {6, 16}};
    return cr_make_param_array(struct moment, moments, tests_amount(ARRAY_COUNT(moments), 3, 1));
}

ParameterizedTest(struct moment *m, checkpoint, a_state_continues_as_if_nothing_had_happened)
{
    uint64_t expected = run(m->seed, NULL, NULL, 0), end_ps = engine.time_ps;
    uint64_t messages = engine_messages();
    uint64_t when = end_ps / 16 * m->parts;
    when = min(when, end_ps - 1);
    cr_expect_eq(run(m->seed, NULL, path, when), expected);
    build(m->seed);
    cr_assert(open_state(path, NULL, 0));
    cr_expect_leq(engine.time_ps, when);
    cr_expect_eq(engine_run(), ENGINE_IDLE);
    cr_expect_eq(probe_hash(), expected);
    cr_expect_eq(engine.time_ps, end_ps);
    cr_expect_eq(engine_messages(), messages);
}

Test(checkpoint, a_state_does_not_depend_on_the_order_of_ticks)
{
    if (SANITIZED)
        cr_skip_test("under a sanitizer, other tests use the same memory");
    uint64_t expected = run(7, NULL, NULL, 0);
    run(7, NULL, path, engine.time_ps / 2);
    build(7);
    engine_set_limits(
        &(struct engine_limits){.tick_order = ENGINE_RANDOM, .seed = 3, .ticks_all = true});
    cr_assert(open_state(path, NULL, 0));
    cr_expect_eq(engine_run(), ENGINE_IDLE);
    cr_expect_eq(probe_hash(), expected);
}

Test(checkpoint, a_state_can_be_written_again_from_a_loaded_one)
{
    uint64_t expected = run(8, NULL, NULL, 0), end_ps = engine.time_ps;
    run(8, NULL, path, end_ps / 4);
    cr_expect_eq(run(8, path, path, end_ps / 2), expected);
    cr_expect_eq(run(8, path, NULL, 0), expected);
}

/* ---- what is refused ---- */

enum { MIDDLE_PS = 88000000 }; /* of the run with seed 3, which takes twice as long */

static char *read_state(size_t *size)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    cr_assert_geq(fd, 0);
    cr_assert_eq(fstat(fd, &status), 0);
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size);
    cr_assert_eq(read(fd, bytes, *size), (ssize_t)*size);
    close(fd);
    return bytes;
}

enum damage { CUT, FLIPPED, LENGTHENED };

struct broken {
    enum damage damage;
    uint64_t at; /* of 1000, of the file */
};

ParameterizedTestParameters(checkpoint, a_damaged_file_is_refused_and_changes_nothing)
{
    static struct broken all[] = {{CUT, 500},   {FLIPPED, 200}, {FLIPPED, 999}, {LENGTHENED, 0},
                                  {CUT, 0},     {CUT, 1},       {CUT, 3},       {CUT, 999},
                                  {FLIPPED, 0}, {FLIPPED, 1},   {FLIPPED, 2},   {FLIPPED, 700}};
    const size_t count = ARRAY_COUNT(all);
    return cr_make_param_array(struct broken, all, tests_amount(count, count, 4));
}

ParameterizedTest(struct broken *b, checkpoint, a_damaged_file_is_refused_and_changes_nothing)
{
    size_t size;
    cr_redirect_stderr();
    uint64_t expected = run(3, NULL, path, MIDDLE_PS);
    char *bytes = read_state(&size);
    size_t at = size * b->at / 1000, length = b->damage == CUT ? at : size;
    if (b->damage == FLIPPED)
        bytes[at] ^= 4;
    if (b->damage == LENGTHENED) {
        bytes = realloc(bytes, ++length);
        bytes[length - 1] = 0;
    }
    build(3);
    cr_assert(open_state(NULL, NULL, 0));
    cr_expect_not(checkpoint_apply(bytes, length, "file"));
    cr_expect_eq(engine_run(), ENGINE_IDLE);
    cr_expect_eq(probe_hash(), expected);
    free(bytes);
}

Test(checkpoint, a_state_of_another_model_is_refused)
{
    cr_redirect_stderr();
    run(3, NULL, path, MIDDLE_PS);
    build(4);
    cr_expect_not(open_state(path, NULL, 0));
}

Test(checkpoint, the_end_of_a_run_before_its_time_is_said)
{
    cr_redirect_stderr();
    build(3);
    cr_assert(open_state(NULL, path, ENGINE_NEVER - 2));
    cr_expect_eq(checkpoint_run(), ENGINE_IDLE);
    cr_expect_eq(checkpoint_end(), CHECKPOINT_MISSED);
    cr_expect_neq(access(path, F_OK), 0);
}

Test(checkpoint, a_path_that_cannot_be_written_is_said)
{
    cr_redirect_stderr();
    build(3);
    cr_assert(open_state(NULL, "/no/such/folder/x", 1000));
    cr_expect_eq(checkpoint_run(), ENGINE_IDLE);
    cr_expect_eq(checkpoint_end(), CHECKPOINT_FAILED);
}
