/* Buffers of the program's own memory that share pages and are given to a GPU at the same time
 * (hsa_amd_memory_lock), and back in each order. `hsa_registered FILE SYMBOL`; the kernel adds two
 * arrays of int. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, mincore */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "hsa_test.h"

enum { BUFFERS = 3, ITEMS = 1344 /* 5376 bytes: a buffer's last page is the next one's first */ };

static _Alignas(4096) int memory[BUFFERS + 2][ITEMS];
static int expected[BUFFERS + 2][ITEMS];
static int *locked[BUFFERS]; /* as the GPU sees them; NULL: not given */
static hsa_queue_t *queue;
static uint64_t kernel;
static hsa_signal_t done;

static void fail(const char *what, int order, int buffer)
{
    printf("FAIL order %d, buffer %d: %s\n", order, buffer, what);
    exit(1);
}

/* Each buffer that the GPU has becomes the sum of itself and another of them. */
static void add(int order)
{
    for (int to = 0; to < BUFFERS; to++) {
        for (int from = 0; from < BUFFERS && locked[to]; from++) {
            if (!locked[from])
                continue;
            hsa_signal_store_relaxed(done, 1);
            send_kernel(queue, kernel, make_arguments(locked[to], locked[from], locked[to], ITEMS),
                        ITEMS, done);
            wait_below(done, 1);
            for (int i = 0; i < ITEMS; i++)
                expected[1 + to][i] += expected[1 + from][i];
        }
    }
    for (int i = 0; i < (BUFFERS + 2) * ITEMS; i++) {
        if (memory[i / ITEMS][i % ITEMS] != expected[i / ITEMS][i % ITEMS])
            fail("the program sees something else", order, i / ITEMS - 1);
        memory[i / ITEMS][i % ITEMS] = expected[i / ITEMS][i % ITEMS] =
            i % 100; /* the next round */
    }
}

static void give(int buffer)
{
    CHECK(hsa_amd_memory_lock(memory[1 + buffer], sizeof memory[0], gpus, gpu_count,
                              (void **)&locked[buffer]));
}

static void take_back(int buffer)
{
    CHECK(hsa_amd_memory_unlock(memory[1 + buffer]));
    locked[buffer] = NULL;
}

/* Memory that nobody has touched stays so, but for a page (or a huge one) that was written. */
static void give_untouched(void)
{
    enum { PAGES = 8192, PAGE = 4096, HUGE = 512, WRITTEN = 5000 };
    static unsigned char resident[PAGES];
    char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *there;
    at[WRITTEN * PAGE + 9] = 7;
    CHECK(hsa_amd_memory_lock(at, PAGES * PAGE, gpus, gpu_count, &there));
    CHECK(hsa_amd_memory_unlock(at));
    int count = 0;
    if (mincore(at, PAGES * PAGE, resident) != 0 || at[WRITTEN * PAGE + 9] != 7)
        fail("what was written is gone", 0, 0);
    for (int i = 0; i < PAGES; i++)
        count += resident[i] & 1;
    if (count > HUGE)
        fail("pages that nobody has touched are there", count, 0);
    munmap(at, PAGES * PAGE);
}

int main(int argc, char **argv)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    open_agents();
    if (argc != 3)
        fail("give a code object and a kernel", argc, 0);
    kernel = load_kernel(0, argv[1], argv[2]);
    CHECK(hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue));
    done = new_signal(1);
    give_untouched();
    for (int order = 0; order < 6; order++) {
        for (int i = 0; i < BUFFERS; i++) {
            give(orders[order][i]);
            add(order);
        }
        for (int i = 0; i < BUFFERS; i++) {
            take_back(orders[5 - order][i]);
            add(order);
            if (i == 0) { /* and again */
                give(orders[5 - order][i]);
                add(order);
                take_back(orders[5 - order][i]);
            }
        }
    }
    printf("PASS hsa_registered\n");
    return 0;
}
