/* Queues of the distribution's ROCr: packets that wait, queues that make mistakes, queues on two
 * GPUs. `hsa_queues CASE FILE SYMBOL`; the kernel adds two arrays of int. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_test.h"

enum { ITEMS = 1024, PACKETS = 64 };

static const char *file, *symbol;

static void fail(const char *what, long value)
{
    printf("FAIL %s: %ld\n", what, value);
    exit(1);
}

static hsa_queue_t *new_queue(int gpu, void (*error)(hsa_status_t, hsa_queue_t *, void *))
{
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpus[gpu], PACKETS, HSA_QUEUE_TYPE_MULTI, error, NULL, 0, 0, &queue));
    return queue;
}

static int *numbers(int step)
{
    int *made = host_memory(ITEMS * sizeof *made);
    for (int i = 0; i < ITEMS; i++)
        made[i] = step * i;
    return made;
}

static void expect(const int *sum, int step)
{
    for (int i = 0; i < ITEMS; i++)
        if (sum[i] != step * i)
            fail("a wrong sum", sum[i]);
}

/* A queue does not go on until all, or one, of the signals are 0; the program sets the last. */
static void run_barriers(void)
{
    const hsa_signal_t none = {0};
    hsa_queue_t *queue = new_queue(0, NULL), *other = new_queue(0, NULL);
    uint64_t kernel = load_kernel(0, file, symbol);
    int *one = numbers(1), *sum = numbers(0);
    hsa_signal_t gate = new_signal(1), second = new_signal(1), done = new_signal(1);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, gate, second, none);
    send_kernel(queue, kernel, make_arguments(one, one, sum, ITEMS), ITEMS, done);
    send_kernel(other, kernel, make_arguments(one, one, numbers(0), ITEMS), ITEMS, second);
    wait_below(second, 1);
    if (hsa_signal_load_scacquire(done) != 1)
        fail("a barrier was open before its last signal", 1);
    hsa_signal_store_screlease(gate, 0);
    wait_below(done, 1);
    expect(sum, 2);
    hsa_signal_store_relaxed(gate, 1);
    hsa_signal_store_relaxed(done, 1);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_OR, gate, second, done);
    wait_below(done, 1);
}

/* Two GPUs: each adds to what the other has made, in turn. */
static void run_two(void)
{
    const hsa_signal_t none = {0};
    enum { ROUNDS = 4 };
    hsa_signal_t over[2 * ROUNDS];
    hsa_queue_t *queue[2] = {new_queue(0, NULL), new_queue(1, NULL)};
    uint64_t kernel[2] = {load_kernel(0, file, symbol), load_kernel(1, file, symbol)};
    int *one = numbers(1), *sum[2] = {gpu_memory(0, ITEMS * 4), gpu_memory(1, ITEMS * 4)};
    int *back = numbers(0), *zero = numbers(0);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        over[i] = new_signal(1);
        const int *from = i ? sum[(i - 1) % 2] : zero;
        if (i)
            send_barrier(queue[i % 2], HSA_PACKET_TYPE_BARRIER_AND, over[i - 1], none, none);
        send_kernel(queue[i % 2], kernel[i % 2], make_arguments(from, one, sum[i % 2], ITEMS),
                    ITEMS, over[i]);
    }
    wait_below(over[2 * ROUNDS - 1], 1);
    CHECK(hsa_memory_copy(back, sum[1], ITEMS * sizeof *back));
    expect(back, 2 * ROUNDS);
}

/* A queue is destroyed with packets begun and packets that wait; others go on. */
static void run_destroy(void)
{
    const hsa_signal_t none = {0};
    hsa_queue_t *queue = new_queue(0, NULL), *other = new_queue(0, NULL);
    uint64_t kernel = load_kernel(0, file, symbol);
    int *one = numbers(1), *sum = numbers(0);
    hsa_signal_t never = new_signal(1), done = new_signal(1);
    send_kernel(queue, kernel, make_arguments(one, one, numbers(0), ITEMS), ITEMS, none);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, never, none, none);
    send_kernel(queue, kernel, make_arguments(one, one, numbers(0), ITEMS), ITEMS, none);
    CHECK(hsa_queue_destroy(queue));
    send_kernel(other, kernel, make_arguments(one, one, sum, ITEMS), ITEMS, done);
    wait_below(done, 1);
    expect(sum, 2);
}

static hsa_signal_t stopped;

static void take_error(hsa_status_t status, hsa_queue_t *queue, void *unused)
{
    const char *text = "?";
    (void)queue, (void)unused;
    hsa_status_string(status, &text);
    printf("the queue says: %s\n", text);
    hsa_signal_store_screlease(stopped, 0);
}

/* Packets that no GPU takes: the queue says so, and another one works. */
static void run_mistakes(void)
{
    hsa_kernel_dispatch_packet_t packet[3];
    uint64_t kernel = load_kernel(0, file, symbol);
    int *one = numbers(1), *sum = numbers(0);
    for (int i = 0; i < 3; i++) {
        memset(&packet[i], 0, sizeof packet[i]);
        packet[i].header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
        packet[i].setup = 1;
        packet[i].workgroup_size_x = 64;
        packet[i].workgroup_size_y = packet[i].workgroup_size_z = 1;
        packet[i].grid_size_x = packet[i].grid_size_y = packet[i].grid_size_z = 1;
        packet[i].kernel_object = kernel;
    }
    packet[0].header = 7; /* no type */
    packet[1].kernel_object = 64;
    packet[2].workgroup_size_x = 2048;
    for (int i = 0; i < 3; i++) {
        stopped = new_signal(1);
        send_packet(new_queue(0, take_error), &packet[i]);
        wait_below(stopped, 1);
    }
    hsa_signal_t done = new_signal(1);
    send_kernel(new_queue(0, NULL), kernel, make_arguments(one, one, sum, ITEMS), ITEMS, done);
    wait_below(done, 1);
    expect(sum, 2);
}

static hsa_signal_t silent;

static void *open_gate(void *unused)
{
    const struct timespec later = {0, 300000000};
    nanosleep(&later, NULL);
    hsa_signal_store_screlease(silent, 0);
    return unused;
}

/* A thread opens a barrier by a signal without an event, when the machine has long been idle: no
 * call of the driver says so. */
static void run_silent(void)
{
    const hsa_signal_t none = {0};
    pthread_t thread;
    hsa_queue_t *queue = new_queue(0, NULL);
    hsa_signal_t done = new_signal(1);
    CHECK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &silent));
    pthread_create(&thread, NULL, open_gate, NULL);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, silent, none, done);
    wait_below(done, 1);
    pthread_join(thread, NULL);
}

/* More queues than a GPU works on at a time, each with a kernel, and the first with a second one:
 * those of the highest priority are the next, and one at work has to wait for them again. */
static void run_turns(void)
{
    enum { QUEUES = 30, SLOTS = 24, URGENT = 28, LAZY = 25 };
    hsa_queue_t *queue[QUEUES];
    hsa_signal_t done[QUEUES], again = new_signal(1);
    hsa_amd_profiling_dispatch_time_t time[QUEUES], second;
    uint64_t kernel = load_kernel(0, file, symbol), first_end = UINT64_MAX;
    int *one = numbers(1);
    for (int i = 0; i < QUEUES; i++) {
        queue[i] = new_queue(0, NULL);
        CHECK(hsa_amd_profiling_set_profiler_enabled(queue[i], 1));
        done[i] = new_signal(1);
    }
    CHECK(hsa_amd_queue_set_priority(queue[URGENT], HSA_AMD_QUEUE_PRIORITY_HIGH));
    CHECK(hsa_amd_queue_set_priority(queue[LAZY], HSA_AMD_QUEUE_PRIORITY_LOW));
    for (int i = 0; i < QUEUES; i++)
        send_kernel(queue[i], kernel, make_arguments(one, one, numbers(0), ITEMS), ITEMS, done[i]);
    send_kernel(queue[0], kernel, make_arguments(one, one, numbers(0), ITEMS), ITEMS, again);
    wait_below(again, 1);
    CHECK(hsa_amd_profiling_get_dispatch_time(gpus[0], again, &second));
    for (int i = 0; i < QUEUES; i++) {
        wait_below(done[i], 1);
        CHECK(hsa_amd_profiling_get_dispatch_time(gpus[0], done[i], &time[i]));
        first_end = time[i].end < first_end ? time[i].end : first_end;
    }
    for (int i = 0; i < QUEUES; i++) {
        if ((time[i].start < first_end) != (i < SLOTS))
            fail("a queue began too early or too late", i);
        if (i >= SLOTS && time[i].start < time[URGENT].start)
            fail("a queue went before one of higher priority", i);
        if (i >= SLOTS && time[i].start > time[LAZY].start)
            fail("a queue went behind one of lower priority", i);
        if (i >= SLOTS && i != LAZY && time[i].start > second.start)
            fail("a queue at work did not let others have their turn", i);
    }
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"barriers", run_barriers}, {"two", run_two},       {"destroy", run_destroy},
                 {"mistakes", run_mistakes}, {"silent", run_silent}, {"turns", run_turns}};
    if (count != 4)
        return 2;
    file = words[2];
    symbol = words[3];
    open_agents();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(words[1], cases[i].name) != 0)
            continue;
        cases[i].run();
        printf("PASS hsa_queues %s\n", words[1]);
        return 0;
    }
    return 2;
}
