/* What the programs against ROCr share: agents, memory, code, packets. Each function ends the
 * program with a message when a call fails. */
#ifndef HEDDLE_TESTS_KFD_HSA_TEST_H
#define HEDDLE_TESTS_KFD_HSA_TEST_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>
#include <stdint.h>

#define GPUS_MAX 8

extern hsa_agent_t gpus[GPUS_MAX];
extern int gpu_count;

void check(hsa_status_t status, const char *call);
#define CHECK(call) check(call, #call)

/* hsa_init(), and what there is. */
void open_agents(void);
/* Memory of the host, or of a GPU, that all GPUs may use. */
void *host_memory(size_t bytes);
void *gpu_memory(int gpu, size_t bytes);
hsa_agent_t host_agent(void);
hsa_region_t host_region(void);
/* The address of a kernel's descriptor on a GPU. */
uint64_t load_kernel(int gpu, const char *path, const char *symbol);
hsa_signal_t new_signal(hsa_signal_value_t value);
void wait_below(hsa_signal_t signal, hsa_signal_value_t value);

/* Writes packets and rings; all fences are of the system, all packets have the barrier bit.
 * `kernel` adds `items` ints: (a, b, sum, items) at `arguments`. */
void send_kernel(hsa_queue_t *queue, uint64_t kernel, void *arguments, uint32_t items,
                 hsa_signal_t done);
void send_barrier(hsa_queue_t *queue, hsa_packet_type_t type, hsa_signal_t first,
                  hsa_signal_t second, hsa_signal_t done);
/* The same for any 64 bytes, whose header is the first two. */
void send_packet(hsa_queue_t *queue, const void *packet);
void *make_arguments(const void *a, const void *b, void *sum, int items);

#endif
