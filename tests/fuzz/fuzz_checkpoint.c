/* libFuzzer target of the reader of states (runtime/state/checkpoint.h): a good state of a small
 * platform with some bytes changed, cut or lengthened is loaded or refused, and a refusal changes
 * nothing.
 *
 * Input: flags (2: change the header only), length (4 bytes, modulo the state's), then changes of 5
 * bytes: place (4 bytes), value. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/engine/engine.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/platform.h"
#include "tests/runtime/builder.h"
#include "tests/runtime/network.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint8_t *state, *copy;
static size_t state_size;
static int quiet, loud; /* /dev/null, stderr */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_checkpoint: %s\n", what);
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[] = "/tmp/heddle-fuzz-XXXXXX";
    (void)argc;
    (void)argv;
    int fd = mkstemp(path);
    struct stat status;
    must(fd >= 0 && platform_build(network_describe(3)), "the platform");
    build_options("checkpoint>%s;checkpoint-ps=100000", path);
    must(checkpoint_open(engine_base.platform), "the start");
    checkpoint_run();
    close(fd);
    fd = open(path, O_RDONLY);
    must(checkpoint_end() == CHECKPOINT_DONE && fd >= 0 && fstat(fd, &status) == 0, "the state");
    state_size = (size_t)status.st_size;
    state = malloc(state_size);
    copy = malloc(state_size + 64);
    must(read(fd, state, state_size) == (ssize_t)state_size, "reading the state");
    close(fd);
    unlink(path);
    must(checkpoint_apply(state, state_size, "state"), "the state is good");
    quiet = open("/dev/null", O_WRONLY);
    loud = dup(STDERR_FILENO);
    return 0;
}

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t n;
    memcpy(&n, bytes, sizeof n);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 5)
        return 0;
    size_t length = number_at(bytes + 1) % (2 * state_size);
    size_t range = bytes[0] & 2 ? sizeof(struct checkpoint_header) + sizeof(uint64_t) : state_size;
    length = length >= state_size ? state_size + length % 64 : length;
    memset(copy, 0, state_size + 64);
    memcpy(copy, state, state_size);
    for (size_t i = 5; i + 5 <= size; i += 5)
        copy[number_at(bytes + i) % range] = bytes[i + 4];
    uint64_t before = engine.time_ps;
    dup2(quiet, STDERR_FILENO);
    bool loaded = checkpoint_apply(copy, length, "input");
    dup2(loud, STDERR_FILENO);
    must(loaded || engine.time_ps == before, "a refused state has changed the time");
    return 0;
}
