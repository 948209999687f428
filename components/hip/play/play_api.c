/* Keeps the order of a trace's lines and the host threads.
 *
 * The lines of a trace are in the order in which calls began. A line is issued when those before it
 * are done: the ones without a line of their return have returned, the others have begun. So calls
 * of several host threads begin in the recorded order, and none begins before one that the program
 * may have waited for has come back.
 *
 * Each recorded thread is a thread here. They are created in the order of their numbers, which is
 * that of their creation; 0 is the main one. The HIP library gives host threads turns, so a thread
 * that has begun a call keeps its turn until that call waits, and no other can overtake it. */
#include "play_api.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/hip/api/hip_services.h"

#define LINE_NONE UINT32_MAX

struct api_trace play_trace;
const char *play_path;

/* For each line: the thread that issues it, and where the call returned if others began meanwhile.
 */
static uint32_t *owners, *returns, thread_count = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static uint32_t next_line;

void play_die(const struct api_trace_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:", play_path);
    if (call)
        fprintf(stderr, "%" PRIu32 ":", call->line);
    fprintf(stderr, " error: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void play_check(const struct api_trace_call *call, hipError_t error, const char *call_name)
{
    if (error != hipSuccess)
        play_die(call, "%s failed: %s", call_name, hipGetErrorString(error));
}

void *play_allocate(size_t size)
{
    return grow_zeroed(size, "an API trace");
}

static void report_mistake(void *context, uint32_t line, const char *text)
{
    (void)context;
    fprintf(stderr, "%s:", play_path);
    if (line > 0)
        fprintf(stderr, "%" PRIu32 ":", line);
    fprintf(stderr, " error: %s\n", text);
}

/* ---- order ---- */

/* The numbers of all threads, rising; 0 is always there. */
static uint32_t *list_threads(void)
{
    uint32_t *list = play_allocate(((size_t)play_trace.call_count + 1) * sizeof *list);
    for (uint32_t i = 0; i < play_trace.call_count; i++) {
        uint32_t thread = play_trace.calls[i].thread, index = thread_count;
        while (index > 0 && list[index - 1] > thread)
            index--;
        if (index > 0 && list[index - 1] == thread)
            continue;
        memmove(&list[index + 1], &list[index], (thread_count - index) * sizeof *list);
        list[index] = thread;
        thread_count++;
    }
    return list;
}

static uint32_t place_of(const uint32_t *list, uint32_t thread)
{
    uint32_t place = 0;
    while (list[place] != thread)
        place++;
    return place;
}

static void assign_lines(void)
{
    uint32_t *list = list_threads(), current = 0;
    uint32_t *last = play_allocate(((size_t)play_trace.call_count + 1)
                                   * sizeof *last); /* for each thread, one past its last line */
    owners = play_allocate(((size_t)play_trace.call_count + 1) * sizeof *owners);
    returns = play_allocate(((size_t)play_trace.call_count + 1) * sizeof *returns);
    for (uint32_t i = 0; i < play_trace.call_count; i++) {
        const struct api_trace_call *call = &play_trace.calls[i];
        returns[i] = LINE_NONE;
        if (call->kind == API_TRACE_THREAD)
            current = place_of(list, call->thread);
        owners[i] = call->kind == API_TRACE_RETURN ? place_of(list, call->thread) : current;
        if (call->kind == API_TRACE_RETURN) {
            if (last[owners[i]] == 0)
                play_die(call, "thread %" PRIu32 " has no call that could return", call->thread);
            returns[last[owners[i]] - 1] = i;
            last[owners[i]] = 0;
        } else if (call->kind != API_TRACE_THREAD) {
            last[owners[i]] = i + 1;
        }
    }
    free(last);
    free(list);
}

static void wait_for_line(uint32_t line)
{
    if (thread_count == 1)
        return;
    pthread_mutex_lock(&lock);
    while (next_line != line)
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
}

static void end_line(uint32_t line)
{
    if (thread_count == 1)
        return;
    pthread_mutex_lock(&lock);
    next_line = line + 1;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
}

static void run_thread(uint32_t thread)
{
    for (uint32_t i = 0; i < play_trace.call_count; i++) {
        const struct api_trace_call *call = &play_trace.calls[i];
        if (owners[i] != thread)
            continue;
        wait_for_line(i);
        if (returns[i] != LINE_NONE)
            end_line(i); /* others continue while this call waits */
        play_call(call);
        if (returns[i] == LINE_NONE)
            end_line(i);
    }
}

static void *start_thread(void *argument)
{
    run_thread((uint32_t)(uintptr_t)argument);
    return NULL;
}

static void run_threads(void)
{
    pthread_t *threads = play_allocate(thread_count * sizeof *threads);
    for (uint32_t i = 1; i < thread_count; i++) {
        int error = pthread_create(&threads[i], NULL, start_thread, (void *)(uintptr_t)i);
        if (error)
            play_die(NULL, "cannot create a host thread: %s", strerror(error));
    }
    run_thread(0);
    for (uint32_t i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* Copies that the trace does not wait for end before they are compared. */
static void wait_for_devices(void)
{
    int count = 0;
    play_check(NULL, hipGetDeviceCount(&count), "hipGetDeviceCount");
    for (int device = 0; device < count; device++)
        if (hipSetDevice(device) == hipSuccess) /* otherwise the trace has destroyed it */
            play_check(NULL, hipDeviceSynchronize(), "hipDeviceSynchronize");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: heddle run PLATFORM --play api=FILE|DIR [--module FILE]\n");
        return 2;
    }
    play_path = argv[1];
    struct api_trace_sink sink = {.report = report_mistake};
    if (!api_trace_read(&play_trace, argv[1], &sink))
        return 1;
    for (int i = 2; i < argc; i++)
        play_add_source(argv[i], NULL);
    assign_lines();
    heddleServices()->play_calls();
    run_threads();
    wait_for_devices();
    play_run_comparisons();
    return play_report() ? 0 : 1;
}
