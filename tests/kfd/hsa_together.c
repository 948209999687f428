/* An HSA program that runs beside others of its kind on one machine:
 * `hsa_together FILE SYMBOL GPU ROUNDS ITEMS [die|lie]` adds arrays of its own on a GPU, and looks
 * at every sum. `die` kills the program 0.2 s after it has rung, in the middle of a kernel; `lie`
 * rings for packets that are not there, and the queue must say so. Prints PASS and its number. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hsa_test.h"

static hsa_status_t told = HSA_STATUS_SUCCESS;

static void take_error(hsa_status_t status, hsa_queue_t *queue, void *unused)
{
    (void)queue, (void)unused;
    __atomic_store_n(&told, status, __ATOMIC_RELEASE);
}

static void *kill_soon(void *unused)
{
    const struct timespec soon = {0, 200000000};
    nanosleep(&soon, NULL);
    kill(getpid(), SIGKILL);
    return unused;
}

static int lie(hsa_queue_t *queue)
{
    const struct timespec moment = {0, 1000000};
    hsa_signal_store_screlease(queue->doorbell_signal, 1 << 20);
    for (int i = 0; i < 5000 && __atomic_load_n(&told, __ATOMIC_ACQUIRE) == HSA_STATUS_SUCCESS; i++)
        nanosleep(&moment, NULL);
    printf("%s hsa_together lie\n", told == HSA_STATUS_SUCCESS ? "FAIL" : "PASS");
    return told == HSA_STATUS_SUCCESS;
}

static int add(hsa_queue_t *queue, uint64_t kernel, int gpu, int rounds, int items, bool dies,
               bool faults)
{
    pthread_t killer;
    size_t bytes = (size_t)items * sizeof(int);
    int *a = host_memory(bytes), *b = host_memory(bytes), *sum = gpu_memory(gpu, bytes);
    int *back = host_memory(bytes), own = (int)getpid();
    void *arguments = make_arguments(a, b, faults ? (char *)sum + (1 << 30) : (void *)sum, items);
    hsa_signal_t done = new_signal(1);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < items; i++) {
            a[i] = i + own;
            b[i] = round + 2 * i;
        }
        hsa_signal_store_relaxed(done, 1);
        send_kernel(queue, kernel, arguments, (uint32_t)items, done);
        if (dies && pthread_create(&killer, NULL, kill_soon, NULL) != 0)
            return 2;
        wait_below(done, 1);
        CHECK(hsa_memory_copy(back, sum, bytes));
        for (int i = 0; i < items; i++) {
            if (back[i] != round + own + 3 * i) {
                printf("FAIL hsa_together: round %d, item %d: %d\n", round, i, back[i]);
                return 1;
            }
        }
    }
    printf("PASS hsa_together on GPU %d: %d rounds\n", gpu, rounds);
    return 0;
}

int main(int count, char **words)
{
    hsa_queue_t *queue;
    if (count < 6)
        return 2;
    int gpu = atoi(words[3]);
    const char *what = count > 6 ? words[6] : "";
    open_agents();
    if (gpu >= gpu_count)
        return 2;
    CHECK(hsa_queue_create(gpus[gpu], 64, HSA_QUEUE_TYPE_SINGLE, take_error, NULL, 0, 0, &queue));
    if (strcmp(what, "lie") == 0)
        return lie(queue);
    uint64_t kernel = load_kernel(gpu, words[1], words[2]);
    int result = add(queue, kernel, gpu, atoi(words[4]), atoi(words[5]), strcmp(what, "die") == 0,
                     strcmp(what, "fault") == 0);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_shut_down());
    return result;
}
