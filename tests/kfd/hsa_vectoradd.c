/* An HSA program against the distribution's ROCr: a kernel of a code object, dispatched twice.
 * `hsa_vectoradd FILE SYMBOL` prints PASS, the name of the GPU and the kernel's time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hsa_test.h"

#define ITEMS 1024

int main(int count, char **words)
{
    hsa_queue_t *queue;
    char name[64];
    if (count != 3)
        return 2;
    open_agents();
    CHECK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
    CHECK(hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue));
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    uint64_t kernel = load_kernel(0, words[1], words[2]);
    int *a = host_memory(ITEMS * sizeof *a), *b = host_memory(ITEMS * sizeof *b), *back = a;
    int *sum = gpu_memory(0, ITEMS * sizeof *sum);
    void *arguments = make_arguments(a, b, sum, ITEMS);
    hsa_amd_profiling_dispatch_time_t time;
    hsa_signal_t done = new_signal(1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ITEMS; i++) {
            a[i] = i;
            b[i] = round + 2 * i;
        }
        hsa_signal_store_relaxed(done, 1);
        send_kernel(queue, kernel, arguments, ITEMS, done);
        wait_below(done, 1);
        CHECK(hsa_amd_profiling_get_dispatch_time(gpus[0], done, &time));
        CHECK(hsa_memory_copy(back, sum, ITEMS * sizeof *back));
        for (int i = 0; i < ITEMS; i++) {
            if (back[i] != round + 3 * i) {
                printf("FAIL round %d, item %d: %d\n", round, i, back[i]);
                return 1;
            }
        }
    }
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_shut_down());
    printf("PASS hsa_vectoradd on %s, %" PRIu64 " ns\n", name, time.end - time.start);
    return 0;
}
