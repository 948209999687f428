/* What GPUs reach, against the distribution's ROCr: memory of the host over the link, and memory
 * that is mapped to some of them. `hsa_reach CASE FILE SYMBOL`; the kernel adds two arrays of int.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_test.h"

enum { MANY = 65536, FEW = 64 };

static hsa_queue_t *queue[GPUS_MAX];
static uint64_t kernel[GPUS_MAX];

/* Adds on a GPU, and tells how long the kernel took, in nanoseconds. */
static uint64_t add_on(int gpu, const int *a, const int *b, int *sum, int items)
{
    hsa_amd_profiling_dispatch_time_t time;
    hsa_signal_t done = new_signal(1);
    send_kernel(queue[gpu], kernel[gpu], make_arguments(a, b, sum, items), (uint32_t)items, done);
    wait_below(done, 1);
    CHECK(hsa_amd_profiling_get_dispatch_time(gpus[gpu], done, &time));
    return time.end - time.start;
}

static int *filled(int *made, int items)
{
    for (int i = 0; i < items; i++)
        made[i] = i;
    return made;
}

static void expect(const int *sum, int items)
{
    for (int i = 0; i < items; i++) {
        if (sum[i] != 2 * i) {
            printf("FAIL item %d: %d\n", i, sum[i]);
            exit(1);
        }
    }
}

/* The same sum with all arrays at the host, and with all on the GPU. */
static void run_far(const char *name)
{
    int *near = gpu_memory(0, MANY * sizeof *near), *back = gpu_memory(0, MANY * sizeof *back);
    int *host = filled(host_memory(MANY * sizeof *host), MANY);
    int *sum = host_memory(MANY * sizeof *sum);
    CHECK(hsa_memory_copy(near, host, MANY * sizeof *near));
    uint64_t far_ns = add_on(0, host, host, sum, MANY);
    uint64_t near_ns = add_on(0, near, near, back, MANY);
    expect(sum, MANY);
    CHECK(hsa_memory_copy(sum, back, MANY * sizeof *sum));
    expect(sum, MANY);
    printf("%d bytes from the host: %" PRIu64 " ns, from the GPU: %" PRIu64 " ns\nPASS %s\n",
           (int)(MANY * sizeof *host), far_ns, near_ns, name);
}

/* Memory of GPU 0 that both reach, and then GPU 0 alone: the kernel of GPU 1 faults. ROCr hands
 * on small allocations without any call, so this one is large. */
static void run_allow(void)
{
    int *sum = gpu_memory(0, 4 << 20), *from = filled(host_memory(4096), FEW),
        *back = filled(from, FEW);
    for (int gpu = 0; gpu < 2; gpu++)
        add_on(gpu, from, from, sum, FEW);
    CHECK(hsa_amd_agents_allow_access(1, gpus, NULL, sum));
    int *one = gpu_memory(0, 4096);
    add_on(0, from, from, sum, FEW);
    add_on(0, sum, from, one, FEW);
    CHECK(hsa_memory_copy(back, one, FEW * sizeof *one));
    printf("GPU 0 reads %d\n", back[5]);
    fflush(stdout);
    add_on(1, from, from, sum, FEW);
}

int main(int count, char **words)
{
    if (count != 4)
        return 2;
    open_agents();
    for (int gpu = 0; gpu < gpu_count && gpu < 2; gpu++) {
        CHECK(
            hsa_queue_create(gpus[gpu], 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue[gpu]));
        CHECK(hsa_amd_profiling_set_profiler_enabled(queue[gpu], 1));
        kernel[gpu] = load_kernel(gpu, words[2], words[3]);
    }
    if (strcmp(words[1], "far") == 0)
        run_far("hsa_reach far");
    else
        run_allow();
    return 0;
}
