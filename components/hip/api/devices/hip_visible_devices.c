/* The GPUs of the platform that a program sees, and in which order: all, or those that a variable
 * of the environment lists. */
#include <limits.h>
#include <stdlib.h>

#include "components/hip/api/hip_internal.h"

/* The variable of the environment that chooses devices. */
static const char *choice_name(void)
{
    return hip.executes_ptx ? "CUDA_VISIBLE_DEVICES" : "HIP_VISIBLE_DEVICES";
}

bool hip_environment_chooses_devices(void)
{
    return getenv(choice_name()) != NULL;
}

static bool open_all(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (hip_open_device((int)i, i) != hipSuccess)
            return false;
    return true;
}

/* Opens the devices that the list "2,0" names, in its order. */
static bool open_listed(const char *list, uint32_t count)
{
    const char *next = list;
    bool is_seen[HIP_DEVICES_MAX] = {false};
    for (int slot = 0; slot == 0 || *next == ','; slot++) {
        char *end = NULL;
        next += slot > 0;
        unsigned long number = *next >= '0' && *next <= '9' ? strtoul(next, &end, 10) : ULONG_MAX;
        if (number >= count || is_seen[number] || (*end && *end != ',')) {
            hip_say("%s=%s: GPUs of the platform are 0 to %u, each named once, with commas between "
                    "them",
                    choice_name(), list, count - 1);
            return false;
        }
        if (hip_open_device(slot, (uint32_t)number) != hipSuccess)
            return false;
        is_seen[number] = true;
        next = end;
    }
    return true;
}

bool hip_open_visible_devices(uint32_t count)
{
    const char *list = getenv(choice_name());
    return list ? open_listed(list, count) : open_all(count);
}
