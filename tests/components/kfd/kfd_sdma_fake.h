/* A memory and a driver for queues of SDMA engines (components/kfd/server/queues/kfd_sdma_queue.c).
 * The driver does nothing until finish() is called, so that packets which do not wait are seen. */
#ifndef HEDDLE_TESTS_COMPONENTS_KFD_KFD_SDMA_FAKE_H
#define HEDDLE_TESTS_COMPONENTS_KFD_KFD_SDMA_FAKE_H

#include "components/kfd/server/queues/kfd_sdma_packet.h"
#include "components/kfd/server/queues/kfd_sdma_queue.h"

enum { VRAM = 0x100000, HOST = 0x200000, SIZE = 0x10000 };
enum { RING = HOST, RING_BYTES = 4096, READ_POINTER = HOST + RING_BYTES, DATA = 0x4000 };

extern char vram[SIZE], host[SIZE];
extern struct kfd_queue q;
extern char said[256];  /* why the queue has stopped */
extern char calls[256]; /* of the driver, a letter each: Copy, Read, Write, Fill, fence */
extern uint32_t interrupt;
extern uint32_t first_move, move_count; /* of what the driver has to do, and has been asked for */
extern uint64_t written;                /* bytes of the ring */

/* A queue of a GPU of gfx8 or gfx9, and memory as it is at first. */
void open_queue(bool gfx9);
bool is_gfx9(void);
/* Writes words into the ring; rings; lets the queue and the driver do all that they can. */
void put(const uint32_t *words, uint32_t count);
bool ring(void);
void run(void);
/* Does what the driver was asked for first. */
bool finish(void);
uint32_t word(uint64_t address);
void set(uint64_t address, uint64_t value, size_t bytes);
void expect_all_done(void);

#define LOW(address)  (uint32_t)(address), (uint32_t)((uint64_t)(address) >> 32)
#define PUT(...)      put((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)
#define COUNT(bytes)  (uint32_t)((bytes)-is_gfx9())
#define PITCH         (is_gfx9() ? 13 : 16) /* bits below a pitch */
#define COPY(t, f, n) PUT(1, COUNT(n), 0, LOW(f), LOW(t))
#define FENCE(at, n)  PUT(5, LOW(at), n)
#define ATOMIC(operation, at, operand, old)                                                        \
    PUT(10u | (uint32_t)(operation) << 25, LOW(at), LOW(operand), LOW(old), 0)

#endif
