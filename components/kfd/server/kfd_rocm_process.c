/* Processes with AMD's runtime: what they do, as the machine's loop sees it, and how they hear of
 * faults. Threads of such a process run side by side. The submitters among them decide its state.
 */
#include "base/number.h"

#include "kfd_machine.h"

/* Threads go on that have waited when the others wait or sleep. Handlers of signals are then over,
 * and what they have done does not depend on the host. */
static bool may_resume(struct kfd_process *p)
{
    return p->has_free_threads || kfd_is_quiescent(p);
}

static enum kfd_state state_of(struct kfd_process *p)
{
    if (p->life == KFD_ENDED || p->has_lost_turn)
        return KFD_WAITS;
    enum kfd_submitters submitters = kfd_submitters(p);
    if (submitters == KFD_SUBMITTERS_RUN)
        return KFD_COMPUTES;
    if (submitters == KFD_SUBMITTER_WAITS && !may_resume(p))
        return KFD_COMPUTES_BESIDE;
    return p->delayed_answers || p->waits || kfd_events_have_waiters(p) ? KFD_WAITS : KFD_IDLE;
}

static bool is_asleep(const struct kfd_process *p)
{
    return kfd_submitters_sleep(p) && !kfd_messages_pending(p);
}

static bool has_work(struct kfd_process *p)
{
    return !kfd.has_ended && kfd_queues_poll(p);
}

static bool is_executing(struct kfd_process *p)
{
    return kfd_queues_in_flight(p);
}

/* The program hears of an access by its address, of anything else as a hang. */
static void report_loss(struct kfd_process *p, uint32_t gpu, uint64_t address, bool by_access)
{
    kfd_events_fail(p, by_access ? gpu : 0, round_down(address, KFD_PAGE), by_access);
    if (!by_access)
        kfd_queues_fail(p);
}

static void report_fault(struct kfd_process *p, const struct driver_fault *fault)
{
    kfd_say("%s", fault->text);
    kfd_queues_process_ended(p);
    report_loss(p, fault->gpu, fault->address, fault->by_access);
}

static void report_end(struct kfd_process *p)
{
    uint64_t address;
    uint32_t gpu;
    bool by_access = kfd.api->fault_address(&address, &gpu);
    report_loss(p, gpu, address, by_access);
}

const struct kfd_process_kind kfd_rocm_process = {
    .state = state_of,
    .is_asleep = is_asleep,
    .has_work = has_work,
    .is_executing = is_executing,
    .may_resume = may_resume,
    .exchange_writes = kfd_queues_sync_memory,
    .report_fault = report_fault,
    .report_end = report_end,
};
