/* struct driver_queue_api (user_queue_api.h): each call under the driver's lock. */
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"

#include "driver_user_queue.h"

#define USER_CALL(name, parameters, ...)                                                           \
    static enum driver_status api_user_queue_##name parameters                                     \
    {                                                                                              \
        api_enter();                                                                               \
        return api_leave(user_queue_##name(driver_process()->driver, __VA_ARGS__));                \
    }

static enum driver_status api_user_queue_create(uint32_t device, uint32_t packets,
                                                struct queue_info *info)
{
    api_enter();
    return api_leave(user_queue_create(driver_process()->driver, device, packets, info));
}

USER_CALL(destroy, (uint32_t queue), queue)
USER_CALL(state, (uint32_t queue, struct queue_state *state), queue, state)
USER_CALL(map, (uint32_t device, uint64_t offset, uint32_t *page), device, offset, page)
USER_CALL(unmap, (uint32_t page), page)
USER_CALL(ring, (uint32_t page, uint64_t offset, uint64_t number), page, offset, number)
USER_CALL(write, (uint32_t queue, const void *packet, uint64_t *number), queue, packet, number)
USER_CALL(signal_wait, (uint32_t device, uint64_t signal, int64_t value, uint64_t cycles), device,
          signal, value, cycles)
USER_CALL(name_kernel, (uint64_t kernel_object, const char *name), kernel_object, name)
#undef USER_CALL

static const struct driver_queue_api driver_queue_api_table = {
    .create = api_user_queue_create,
    .destroy = api_user_queue_destroy,
    .state = api_user_queue_state,
    .map = api_user_queue_map,
    .unmap = api_user_queue_unmap,
    .ring = api_user_queue_ring,
    .write = api_user_queue_write,
    .signal_wait = api_user_queue_signal_wait,
    .name_kernel = api_user_queue_name_kernel,
};
