/* What a debugger takes for memory (debug_stores.h), against flat arrays: random stores, copies of
 * the program, and caches that write back. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/splitmix64.h"
#include "components/checks/debugger/debug_stores.h"

enum { BYTES = 1 << 14, LENT = BYTES - 256, STEPS = 40000 };

static uint8_t memory[BYTES], expected[BYTES];

/* The last bytes are memory that was given back. */
static bool read_memory(uint64_t address, void *bytes, size_t size)
{
    memcpy(bytes, memory + address, size);
    return address < LENT;
}

static void write_back(uint64_t at, uint64_t size)
{
    memcpy(memory + at, expected + at, size);
}

Test(stores, are_seen_until_memory_has_them)
{
    uint64_t state = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t size = 1 + splitmix64(&state) % 40;
        uint64_t at = splitmix64(&state) % (LENT - size);
        uint8_t bytes[64];
        for (unsigned i = 0; i < size; i++)
            bytes[i] = (uint8_t)splitmix64(&state);
        switch (splitmix64(&state) % 8) {
        case 0: /* a copy, which lies in memory at once */
            debug_stores_forget(at, size);
            memcpy(memory + at, bytes, size);
            memcpy(expected + at, bytes, size);
            break;
        case 1:
            write_back(at, size);
            break;
        case 2:
            if (step % 16 == 0)
                debug_stores_settle(read_memory);
            break;
        default:
            debug_stores_write(at, bytes, size);
            memcpy(expected + at, bytes, size);
        }
        uint64_t look = splitmix64(&state) % (LENT - size);
        memcpy(bytes, memory + look, size);
        debug_stores_read(look, bytes, size);
        cr_assert_arr_eq(bytes, expected + look, size, "step %u", step);
    }
}

Test(stores, are_forgotten_when_memory_has_them)
{
    uint32_t stored = 7, others = 9, seen = 0;
    debug_stores_write(100, &stored, sizeof stored);
    debug_stores_write(LENT, &stored, sizeof stored);
    memcpy(memory + 100, &stored, sizeof stored);
    debug_stores_settle(read_memory);
    memcpy(memory + 100, &others, sizeof others); /* the host's own, which nothing tells of */
    memcpy(&seen, memory + 100, sizeof seen);
    debug_stores_read(100, &seen, sizeof seen);
    cr_assert_eq(seen, others);
    seen = 0;
    debug_stores_read(LENT, &seen, sizeof seen); /* it is no memory any more */
    cr_assert_eq(seen, 0);
}
