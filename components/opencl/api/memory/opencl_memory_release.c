/* Device memory of released objects. Commands that are still queued may use it, a program that
 * releases a buffer does not wait for them, and the driver waits for everything before it frees
 * memory. So the memory stays until nothing is queued, or until it is needed. */
#include "base/grow.h"
#include "components/opencl/api/commands/opencl_driver_commands.h"

#include "opencl_memory.h"

static struct {
    uint64_t *list;
    size_t count, capacity;
} released;

void opencl_memory_end(uint64_t address)
{
    if (address == 0 || opencl.hip->device_error() != hipSuccess)
        return;
    grow_list(released.list, released.count + 1, released.capacity, OPENCL_LIBRARY);
    released.list[released.count++] = address;
    opencl_memory_tidy(false);
}

/* Releasing lets other threads run, which may change the list. Commands that are queued hold what
 * the program has released. */
void opencl_memory_tidy(bool waits)
{
    if (waits)
        opencl_queues_finish();
    while (released.count > 0 && (waits || opencl_queues_are_idle()))
        opencl_driver_release(released.list[--released.count]);
}
