/* The end of processes in the server of `heddle run --stack rocm`, with a driver that only answers:
 * the simulation may end in any call that frees what a process had. Processes that live are told
 * then, and the one that is closed no more, whose tables are half freed (sanitizers see that). A
 * guest leaves nothing to a later one. */
#include <criterion/criterion.h>
#include <linux/kfd_ioctl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "components/kfd/server/guests/kfd_guest.h"
#include "components/kfd/server/kfd_connection.h"
#include "components/kfd/server/kfd_ioctl.h"

enum { RING = 0x100000, POINTERS = RING + KFD_PAGE, QUEUES = 2 };

static int destroys_left, releases_left; /* that succeed before the simulation ends; -1: all do */
static bool ended;
static uint32_t made, switches;

bool kfd_is_receiving(void)
{
    return false;
}

/* ---- the driver ---- */

static enum driver_status count_down(int *left)
{
    ended |= *left == 0;
    *left -= *left > 0;
    return ended ? DRIVER_DEADLOCK : DRIVER_OK;
}

static enum driver_status create_context(uint32_t device, uint32_t process, uint32_t *context)
{
    (void)device, (void)process;
    *context = ++made;
    return DRIVER_OK;
}

static enum driver_status accept_number(uint32_t number)
{
    (void)number;
    return DRIVER_OK;
}

static enum driver_status create_queue(uint32_t device, uint32_t flags, uint32_t *queue)
{
    (void)device, (void)flags;
    *queue = ++made;
    return DRIVER_OK;
}

static enum driver_status destroy_queue(uint32_t queue)
{
    (void)queue;
    return count_down(&destroys_left);
}

static enum driver_status release(uint64_t address)
{
    (void)address;
    return count_down(&releases_left);
}

static enum driver_status allocate_at(uint32_t device, uint64_t address, uint64_t size,
                                      enum driver_place place)
{
    (void)device, (void)address, (void)size, (void)place;
    return DRIVER_OK;
}

static enum driver_status accept_range(uint64_t address, uint64_t value)
{
    (void)address, (void)value;
    return DRIVER_OK;
}

static enum driver_status show_at(uint64_t address, uint64_t size, void *host)
{
    (void)address;
    return mprotect(host, size, PROT_READ | PROT_WRITE) == 0 ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

static uint64_t name_of(uint32_t device, uint64_t address)
{
    (void)device;
    return address;
}

static uint64_t now(void)
{
    return 0;
}

static enum driver_status wait_for(uint64_t ticket)
{
    (void)ticket;
    return ended ? DRIVER_DEADLOCK : DRIVER_OK;
}

static uint64_t switch_program(uint64_t progress)
{
    cr_expect_eq(progress, 0, "a new program begins with another one's progress");
    switches++;
    return 1000;
}

static const char *error_text(void)
{
    return "the end";
}

static bool fault_address(uint64_t *address, uint32_t *gpu)
{
    *address = *gpu = 0;
    return false;
}

static const struct driver_api api = {.context_create = create_context,
                                      .contain = accept_number,
                                      .context_destroy = accept_number,
                                      .queue_create = create_queue,
                                      .queue_destroy = destroy_queue,
                                      .allocate_at = allocate_at,
                                      .release = release,
                                      .limit_to = accept_range,
                                      .clear = accept_range,
                                      .alias = show_at,
                                      .name = name_of,
                                      .now = now,
                                      .wait = wait_for,
                                      .switch_program = switch_program,
                                      .error_text = error_text,
                                      .fault_address = fault_address};

/* ---- processes ---- */

static struct kfd_process *open_process(void)
{
    kfd.api = &api;
    kfd.gpu_count = 1;
    kfd.gpu[0].doorbell_bytes = 8;
    destroys_left = releases_left = -1;
    struct kfd_process *p = kfd_process_open(getpid(), 0, false);
    cr_assert(p);
    return p;
}

static void give_queues(struct kfd_process *p)
{
    for (int i = 0; i < 2; i++) {
        struct kfd_ioctl_alloc_memory_of_gpu_args memory = {.va_addr =
                                                                RING + (uint64_t)i * KFD_PAGE,
                                                            .size = KFD_PAGE,
                                                            .gpu_id = kfd_gpu_id(0),
                                                            .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM};
        cr_assert_eq(kfd_memory_allocate(p, &(struct kfd_request){.argument = &memory}), 0);
        kfd_memory_map_to_gpus(p, kfd_find_handle(p, memory.handle), 1);
    }
    for (int i = 0; i < QUEUES; i++) {
        struct kfd_ioctl_create_queue_args queue = {.ring_base_address = RING,
                                                    .ring_size = KFD_PAGE,
                                                    .read_pointer_address = POINTERS,
                                                    .write_pointer_address = POINTERS + 8,
                                                    .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                                                    .queue_percentage = 100,
                                                    .gpu_id = kfd_gpu_id(0)};
        cr_assert_eq(kfd_queue_create(p, &(struct kfd_request){.argument = &queue}), 0);
    }
}

/* A thread of the process waits for the event by which the end of the simulation is told. */
static struct kfd_ioctl_wait_events_args *await_end(struct kfd_process *p)
{
    static struct kfd_ioctl_wait_events_args wait;
    static struct kfd_event_data data;
    static struct kfd_request request = {.argument = &wait};
    struct kfd_ioctl_create_event_args event = {.event_type = KFD_IOC_EVENT_HW_EXCEPTION};
    cr_assert_eq(kfd_event_create(p, &(struct kfd_request){.argument = &event}), 0);
    data.event_id = event.event_id;
    wait = (struct kfd_ioctl_wait_events_args){
        .events_ptr = (uintptr_t)&data, .num_events = 1, .wait_result = KFD_IOC_WAIT_RESULT_FAIL};
    cr_assert_eq(kfd_event_wait(p, &request), KFD_LATER);
    return &wait;
}

/* The first of two processes ends, and the simulation in the freeing of what it had. */
static void end_in(int *left, int succeed)
{
    struct kfd_process *ends = open_process(), *lives = open_process();
    give_queues(ends);
    const struct kfd_ioctl_wait_events_args *wait = await_end(lives);
    kfd_process_leave(ends);
    *left = succeed;
    kfd_process_close(ends);
    cr_expect(kfd.has_ended);
    cr_expect_eq(wait->wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
    cr_expect_eq(kfd.processes, lives);
    kfd_process_leave(lives);
    kfd_process_close(lives);
    cr_expect_null(kfd.processes);
}

Test(kfd_process, the_simulation_may_end_in_the_freeing_of_its_queues)
{
    end_in(&destroys_left, 1);
}

Test(kfd_process, the_simulation_may_end_in_the_freeing_of_its_memory)
{
    end_in(&releases_left, 1);
}

/* A guest may lie where one lay that has ended. */
Test(kfd_process, each_guest_begins_with_a_progress_of_its_own)
{
    enum { GUESTS = 40 };
    kfd.api = &api;
    kfd.gpu_count = 1;
    destroys_left = releases_left = -1;
    for (int i = 0; i < GUESTS; i++) {
        struct kfd_process *p = kfd_process_open(getpid(), 0, true);
        static struct kfd_connection c;
        c = (struct kfd_connection){.process = p};
        memcpy(c.call.bytes, &(struct guest_call){.name = GUEST_leaves}, sizeof(struct guest_call));
        cr_expect_eq(kfd_guest_do(&c), DRIVER_OK);
        kfd_process_close(p);
    }
    cr_expect_eq(switches, GUESTS);
}
