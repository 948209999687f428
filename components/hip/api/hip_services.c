/* See hip_services.h. */
#include "hip_services.h"

#include "components/hip/api/hip_findings.h"
#include "components/hip/api/streams/hip_graph.h"
#include "components/hip/api/streams/hip_stream.h"
#include "components/hip/turns/hip_turns.h"

/* The lock of turns is taken first, so that no wake() comes in between. */
static bool wait_for(const void *address, bool watches)
{
    const struct timespec until = hip_turns_later(&(struct timespec){.tv_sec = 1});
    hip_turns_lock();
    pthread_mutex_unlock(&hip.lock);
    bool woken = hip_turns_wait(address, HIP_TURNS_SIGNAL, watches ? &until : NULL)
                 || !hip_turns_order_all();
    hip_turns_unlock();
    pthread_mutex_lock(&hip.lock);
    return woken;
}

static void wake(const void *address)
{
    hip_turns_wake(address, HIP_TURNS_SIGNAL, UINT32_MAX);
}

/* The thread is ordered if the program's are, as code that uses this library has created it. */
static int make_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    const void *code = NULL;
    memcpy(&code, &start, sizeof code);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = hip_turns_create(&thread, &attributes, start, argument, code);
    pthread_attr_destroy(&attributes);
    return error;
}

const struct hip_services *heddleServices(void)
{
    static const struct hip_services services = {
        .library = &hip,
        .enter = hip_enter,
        .leave = hip_leave,
        .has_lock = hip_has_lock,
        .status = hip_status,
        .ticket_done = hip_ticket_done,
        .wait_ticket = hip_wait_ticket,
        .wait_here = hip_wait_here,
        .is_device = hip_is_device,
        .complain = hip_complain,
        .say = hip_say,
        .call_begins_as = hip_call_begins_as,
        .call_ends_as = hip_call_ends_as,
        .called = hip_called,
        .set_last_error = hip_set_last_error,
        .query_ticket = hip_query_ticket,
        .call_host = hip_call_host,
        .allocate_device = hip_allocate_device,
        .allocate_shared = hip_allocate_managed_on,
        .release_device = hip_release_device,
        .location_of = hip_location_of,
        .prepare = hip_host_memory_prepare,
        .prepare_launch = hip_host_memory_prepare_launch,
        .queued = hip_host_memory_queued,
        .scan = hip_host_memory_scan,
        .make_own = hip_make_own,
        .is_accessible = hip_is_accessible,
        .register_binary = hip_register_binary,
        .readable_bytes = hip_readable_bytes,
        .find_host_function = hip_find_host_function,
        .load_module = hip_load_module,
        .load_ptx = hip_load_ptx,
        .unload_module = hip_unload_module,
        .describe_launch = hip_describe_launch,
        .next_cluster = hip_next_cluster,
        .graph_enable = hip_graph_enable,
        .allow_large_clusters = hip_allow_large_clusters,
        .refuse_launch = hip_refuse_launch,
        .calls_host = hip_calls_host,
        .hostcall_buffer = hip_hostcall_buffer,
        .hostcall_begin = hip_hostcall_begin,
        .recorder = &hip_recorder,
        .current_device = hip_current_device,
        .take_stream_number = hip_stream_take_number,
        .take_event_number = hip_event_take_number,
        .wait_for = wait_for,
        .wake = wake,
        .make_thread = make_thread,
        .progressed = hip_turns_progress,
    };
    return &services;
}
