/* Reads the data files of a trace, and compares. The golden data of a trace are what the recorded
 * program has read back. The sums are those that balar reports: bytes in all, correct ones, and
 * their ratio. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play_api.h"

enum { MESSAGES_MAX = 20 };

struct comparison {
    struct comparison *next;
    const struct api_trace_call *call;
    uint8_t *bytes;
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards the sums, as threads return from their calls together */
static uint64_t total_bytes, correct_bytes;
static uint32_t wrong_copies;
static struct comparison *comparisons, **comparisons_end = &comparisons;

const char *play_file_path(const char *file)
{
    size_t head = strlen(play_trace.folder), size = head + strlen(file) + 2;
    char *path = play_allocate(size);
    bool needs_slash = head > 0 && play_trace.folder[head - 1] != '/';
    snprintf(path, size, "%s%s%s", play_trace.folder, needs_slash ? "/" : "", file);
    return path;
}

uint8_t *play_read_file(const struct api_trace_call *call, uint64_t size)
{
    const char *path = play_file_path(call->file);
    FILE *file = fopen(path, "rbe");
    uint8_t *bytes = play_allocate(size);
    if (!file)
        play_die(call, "cannot read '%s': %s", path, strerror(errno));
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    if (got != size)
        play_die(call, "'%s' has %zu bytes, the copy %" PRIu64, path, got, size);
    free((void *)(uintptr_t)path);
    return bytes;
}

/* Counts what differs in `size` bytes; the first place goes to `*first` if none was found before.
 */
static uint64_t count_wrong(const uint8_t *read, const uint8_t *expected, uint64_t size,
                            uint64_t start, uint64_t *first)
{
    uint64_t wrong = 0;
    if (memcmp(read, expected, size) == 0)
        return 0;
    for (uint64_t i = 0; i < size; i++) {
        if (read[i] == expected[i])
            continue;
        if (*first == UINT64_MAX)
            *first = start + i;
        wrong++;
    }
    return wrong;
}

void play_compare(const struct api_trace_call *call, const uint8_t *bytes, uint64_t pitch)
{
    uint64_t rows = api_trace_rows(call), size = call->size, wrong = 0, first = UINT64_MAX;
    uint8_t *expected = play_read_file(call, rows * size);
    for (uint64_t row = 0; row < rows; row++)
        wrong += count_wrong(bytes + row * pitch, expected + row * size, size, row * size, &first);
    pthread_mutex_lock(&lock);
    total_bytes += rows * size;
    correct_bytes += rows * size - wrong;
    if (wrong > 0 && ++wrong_copies <= MESSAGES_MAX)
        fprintf(stderr,
                "%s:%" PRIu32 ": '%s': byte %" PRIu64 ": expected 0x%02x, found 0x%02x; %" PRIu64
                " of %" PRIu64 " are wrong\n",
                play_path, call->line, call->file, first, expected[first],
                bytes[first / size * pitch + first % size], wrong, rows * size);
    pthread_mutex_unlock(&lock);
    free(expected);
}

void play_compare_later(const struct api_trace_call *call, uint8_t *bytes)
{
    struct comparison *comparison = play_allocate(sizeof *comparison);
    *comparison = (struct comparison){NULL, call, bytes};
    *comparisons_end = comparison;
    comparisons_end = &comparison->next;
}

void play_run_comparisons(void)
{
    for (const struct comparison *comparison = comparisons; comparison;
         comparison = comparison->next)
        play_compare(comparison->call, comparison->bytes, comparison->call->size);
}

bool play_report(void)
{
    if (wrong_copies > MESSAGES_MAX)
        fprintf(stderr, "%" PRIu32 " more copies have wrong bytes\n", wrong_copies - MESSAGES_MAX);
    double ratio = total_bytes > 0 ? (double)correct_bytes / (double)total_bytes : 1;
    if (correct_bytes < total_bytes && ratio > 0.999999)
        ratio = 0.999999; /* 1.000000 is for all */
    printf("total: %" PRIu64 " bytes\ncorrect: %" PRIu64 " bytes\nratio: %.6f\n", total_bytes,
           correct_bytes, ratio);
    return correct_bytes == total_bytes;
}
