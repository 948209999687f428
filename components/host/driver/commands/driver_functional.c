/* Commands in functional mode: done at once on simulated memory, when their turn in their queue
 * comes. No message goes to a GPU, and no time passes but the driver's own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/functional/functional.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/host/driver/program/driver_program.h"
#include "components/sampling/online_parts.h"
#include "components/sampling/online_sampling.h"
#include "components/sampling/sampling_options.h"
#include "components/sampling/warmup.h"
#include "components/statistics/address_list.h"
#include "components/statistics/kernel_stats.h"
#include "components/statistics/run_progress.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/memory.h"

#include "driver_commands.h"

/* Bytes of simulated memory from `address` on; *bytes is cut down to what follows on the same page.
 */
static char *functional_bytes(const struct driver *d, uint64_t address, uint64_t *bytes)
{
    uint64_t rest, physical = memory_physical(d, address, &rest);
    rank_require_alone(
        "copies that take no time or memory that host and GPUs share, since the program "
        "would reach into the memory of other ranks");
    *bytes = min(*bytes, rest);
    return memory_span(physical, *bytes);
}

/* memmove in short pieces: from about 2 KiB on, glibc uses `rep movsb`, which takes a hundred times
 * as long on some processors when both addresses are close to each other modulo 4096, as a page and
 * a buffer often are (Zen 3 and 4; glibc bug 30994). */
static void functional_move(char *to, const char *from, uint64_t size)
{
    enum { PIECE = 1024 };
    for (; size > PIECE; size -= PIECE, to += PIECE, from += PIECE)
        memmove(to, from, PIECE);
    memmove(to, from, size);
}

static void functional_write(const struct driver *d, uint64_t address, const char *from,
                             uint64_t size)
{
    for (uint64_t done = 0, part; done < size; done += part) {
        part = size - done;
        char *to = functional_bytes(d, address + done, &part);
        functional_move(to, from + done, part);
    }
}

static void functional_read(const struct driver *d, uint64_t address, char *to, uint64_t size)
{
    for (uint64_t done = 0, part; done < size; done += part) {
        part = size - done;
        const char *from = functional_bytes(d, address + done, &part);
        functional_move(to + done, from, part);
    }
}

/* Between the device and the program's buffer. */
static void functional_exchange(const struct driver *d, const struct driver_command *k)
{
    if (!driver_process()->programs) {
        if (k->kind == DRIVER_WRITE)
            functional_write(d, k->move.address, k->move.host, k->size);
        else
            functional_read(d, k->move.address, k->move.host, k->size);
        return;
    }
    for (uint64_t done = 0, part; done < k->size; done += part) {
        part = k->size - done;
        char *bytes = functional_bytes(d, k->move.address + done, &part);
        if (k->kind == DRIVER_WRITE)
            program_read(d, k, bytes, done, part);
        else
            program_write(d, k, done, bytes, part);
    }
}

/* The ranges do not overlap. */
static void functional_copy(const struct driver *d, uint64_t to, uint64_t from, uint64_t size)
{
    for (uint64_t done = 0, part; done < size; done += part) {
        part = size - done;
        char *target = functional_bytes(d, to + done, &part);
        const char *source = functional_bytes(d, from + done, &part);
        functional_move(target, source, part);
    }
}

/* `pattern` holds the bytes for addresses 0, 1, 2, 3 modulo 4. */
static void functional_fill(const struct driver *d, uint64_t address, uint64_t size,
                            uint32_t pattern)
{
    for (uint64_t done = 0, part; done < size; done += part) {
        part = size - done;
        uint64_t at = address + done, i = 0;
        char *to = functional_bytes(d, at, &part);
        for (; i < part && (at + i) % 4; i++)
            to[i] = (char)(pattern >> (at + i) % 4 * 8);
        for (; part - i >= 4; i += 4)
            memcpy(to + i, &pattern, 4);
        for (; i < part; i++)
            to[i] = (char)(pattern >> (at + i) % 4 * 8);
    }
}

/* ---- what the host may do while a kernel runs ---- */

static bool in_allocation(const struct driver *d, uint64_t address, uint64_t size)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    return a && size <= a->end - address;
}

static bool attention_read(uint64_t address, void *bytes, uint64_t size)
{
    const struct driver *d = driver_process()->driver;
    bool good = in_allocation(d, address, size);
    if (good)
        functional_read(d, address, bytes, size);
    return good;
}

static bool attention_write(uint64_t address, const void *bytes, uint64_t size)
{
    const struct driver *d = driver_process()->driver;
    bool good = in_allocation(d, address, size);
    livelock_change();
    if (good)
        functional_write(d, address, bytes, size);
    return good;
}

/* Behind the end of the program a launch may wait for what nothing sets any more. In the time of
 * --stall-limit each of its work-groups issues an instruction a cycle. */
static void functional_look_for_end(void)
{
    bool ends = __atomic_load_n(&driver_process()->ends, __ATOMIC_SEQ_CST);
    functional_expect_end(ends ? engine_stall_limit() : 0);
}

static void functional_attend(uint32_t gpu)
{
    const struct driver_attention now = {gpu, attention_read, attention_write};
    driver_process()->attend(&now);
    functional_look_for_end();
}

/* ---- commands ---- */

/* Wavefront instructions of a launch that has others beside it: some seconds. */
enum { WARN_AT = 1 << 26 };

/* The work-groups of the launch that the device has slots for. */
static uint32_t functional_resident(const struct driver_device_info *info,
                                    const struct driver_command *k)
{
    uint64_t most = (uint64_t)info->compute_units * info->work_groups_per_cu;
    uint64_t slots = (uint64_t)info->compute_units * info->simds_per_cu * info->wavefronts_per_simd
                     / k->launch.waves_per_group;
    uint64_t groups = min(k->launch.groups, min(slots, most));
    return groups ? (uint32_t)groups : 1;
}

/* A launch needs room beside those that have yielded, and private memory. */
static bool functional_can_begin(const struct driver *d, const struct driver_command *k,
                                 uint32_t number)
{
    const struct driver_device *device = &d->device[number];
    return k->kind != DRIVER_LAUNCH
           || (functional_has_room(functional_resident(&device->info, k))
               && (!k->launch.packet.private_bytes || scratch_choose(device, k->pid, 0) >= 0));
}

/* Writes to the ring the packet and arguments of a launch, or of a copy before it. */
static void functional_stage(const struct driver *d, const struct driver_command *k,
                             uint32_t number)
{
    const struct driver_ring *r = argument_ring_seen(d, number, k->pid);
    functional_write(d, r->address + k->ring_offset, arena_at(char, r->mirror) + k->ring_offset,
                     k->size);
}

/* --profile: what the launch executed and accessed, for its record. */
static void functional_describe(uint32_t record, const struct functional_profile *p)
{
    const uint64_t *reached = p->reached;
    char units[ISA_UNIT_COUNT * 21 + 1] = "", blocks[FUNCTIONAL_BLOCKS * 21 + 1] = "";
    for (size_t i = 0, at = 0; i < ISA_UNIT_COUNT; i++)
        at += (size_t)snprintf(units + at, sizeof units - at, "%s%" PRIu64, i ? " " : "",
                               p->units[i]);
    for (size_t i = 0, at = 0; i < FUNCTIONAL_BLOCKS; i++)
        at += (size_t)snprintf(blocks + at, sizeof blocks - at, "%s%" PRIu64, i ? " " : "",
                               p->blocks[i]);
    const struct kernel_detail details[] = {
        {"profile", "units", units, 0},
        {"profile", "blocks", blocks, 0},
        {"profile", "accesses", NULL, p->accesses},
        {"profile", "lines", NULL, p->lines},
        {"profile", "lines_read", NULL, p->lines_read},
        {"profile", "reused", NULL, p->reused},
        {"profile", "memory_reads", NULL, reached[WARM_READ] + reached[WARM_COHERENT]},
        {"profile", "memory_writes", NULL, reached[WARM_WRITE] + reached[WARM_ATOMIC]},
        {"profile", "page_walks", NULL, reached[WARM_PAGE]}};
    kernel_describe(record, details,
                    platform_profile() == PLATFORM_PROFILE_MEMORY ? ARRAY_COUNT(details) : 2);
}

static uint32_t functional_begin_record(struct driver *d, const struct driver_command *k,
                                        uint32_t number)
{
    const struct program_table *program = driver_program(d);
    return kernel_begin(&d->io.base, program_kernel_name(program, k->launch.kernel),
                        program_kernel_symbol(program, k->launch.kernel), number);
}

static void functional_record(struct driver *d, const struct driver_command *k, uint32_t number,
                              enum sampling_way way, const struct functional_profile *profile)
{
    uint32_t record = functional_begin_record(d, k, number);
    kernel_count(record, k->launch.done_groups, k->launch.done_instructions);
    progress_end_work_groups(k->launch.done_groups);
    if (platform_sampling()->kernels || platform_profile())
        kernel_set_launch(record, (uint32_t)k->launch.number, sampling_way_name(way));
    if (platform_profile())
        functional_describe(record, profile);
    kernel_end(&d->io.base, record);
}

/* Launches that were interrupted are partial in the statistics; any other one is the driver's end.
 */
static void functional_fail(struct driver *d, const struct driver_command *k, uint32_t number,
                            const struct functional_result *result)
{
    if (result->end == FUNCTIONAL_INTERRUPTED) {
        functional_begin_record(d, k, number);
        for (uint32_t i = 0; i < d->queue_count; i++) {
            const struct driver_queue *q = driver_queue_at(d, i);
            const struct driver_command *other =
                q->current == DRIVER_NONE ? NULL : driver_command_at(d, q->current);
            if (other && other != k && other->kind == DRIVER_LAUNCH && other->launch.has_yielded)
                functional_begin_record(d, other, q->device);
        }
        engine_stop();
        return;
    }
    driver_process()->functional_gpu = number;
    driver_process()->functional = result->end == FUNCTIONAL_LIMIT      ? DRIVER_LIMIT
                                   : result->end == FUNCTIONAL_DEADLOCK ? DRIVER_DEADLOCK
                                                                        : DRIVER_FAULT;
    engine_fail_program(&d->io.base, result->by_access ? &result->address : NULL, result->text);
}

/* What can be done beside a launch: in another queue, by the program, or as the run may be over. */
struct other_work {
    enum functional_others others;
    uint64_t from; /* cycle; UINT64_MAX: there is nothing */
};

static struct other_work other_work(const struct driver *d, const struct driver_command *k)
{
    bool has_anything = engine_is_stopping() || driver_is_nudged();
    uint64_t from = has_anything ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        if (i == k->queue || q->current == DRIVER_NONE)
            continue;
        const struct driver_command *other = driver_command_at(d, q->current);
        if (other->is_gated
            || (other->kind == DRIVER_BARRIER && !driver_ticket_done(d, other->barrier.awaited)))
            continue;
        has_anything |= other->kind != DRIVER_LAUNCH || !other->launch.has_yielded;
        from = min(other->not_before, from);
    }
    return (struct other_work){.others = has_anything        ? FUNCTIONAL_ANYTHING
                                         : from < UINT64_MAX ? FUNCTIONAL_YIELDED_LAUNCHES
                                                             : FUNCTIONAL_NONE,
                               .from = from};
}

/* Takes the result of a part of a launch or all of it. False: the run has failed. */
static bool functional_part(struct driver *d, struct driver_command *k, uint32_t number,
                            enum sampling_way way, const struct functional_result *result)
{
    engine_count_instructions(&d->io.base, result->instructions - k->launch.done_instructions);
    k->launch.done_groups = result->work_groups;
    k->launch.done_instructions = result->instructions;
    if (result->end == FUNCTIONAL_YIELDED) { /* a cycle passes, so that the engine may stop */
        k->phase = PHASE_YIELDED;
        k->launch.has_yielded = true;
        k->launch.yielded = result->number;
        uint64_t from = other_work(d, k).from, next = driver_now(d) + 1;
        k->not_before = max(from, next);
        return true;
    }
    k->phase = PHASE_QUEUED;
    k->launch.has_yielded = false;
    d->io.stats.launches++;
    if (result->end == FUNCTIONAL_FAULT && program_contains(driver_program(d), k->pid)) {
        engine_record_fault(&d->io.base, k->pid, number,
                            result->by_access ? &result->address : NULL, result->text);
    } else if (result->end != FUNCTIONAL_DONE) {
        functional_fail(d, k, number, result);
        return false;
    }
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        functional_record(d, k, number, way, &result->profile);
    return true;
}

/* Accesses that are written belong to this launch from here on. */
static void functional_name(const struct driver_command *k)
{
    address_list_launch(k->launch.number);
}

/* `--kernels auto` chooses by what the launch before has executed, so launches do not take turns:
 * one that waits for another never ends. */
static void functional_wait_out(const struct driver *d, const struct driver_command *k,
                                struct functional_result *result)
{
    bool warned = false;
    while (result->end == FUNCTIONAL_YIELDED) {
        if (!warned && result->instructions >= WARN_AT) {
            warned = true;
            fprintf(stderr,
                    "heddle: launch %" PRIu64 " (%s) may wait for a launch of another queue; with "
                    "--kernels auto, launches do not take turns: choose some by number, or use "
                    "--mode functional\n",
                    k->launch.number, program_kernel_name(driver_program(d), k->launch.kernel));
        }
        functional_resume(result->number, engine_instructions() + result->instructions,
                          FUNCTIONAL_ANYTHING, result);
    }
}

/* `--kernels auto`: what the launch, or the part of it, has executed. */
static void functional_report_work(const struct driver_command *k,
                                   const struct functional_result *result,
                                   const struct sampler_work *executed)
{
    if (k->launch.in_parts)
        online_parts_end_untimed(k->launch.groups, result->instructions, executed);
    else
        online_sampling_executed(executed);
}

/* Several only if no thread of the program can change memory meanwhile. */
static uint32_t functional_threads(void)
{
    const struct driver_process *p = driver_process();
    uint32_t threads = platform_threads();
    return threads > 1 && p->is_alone && p->is_alone() ? threads : 1;
}

static struct functional_launch functional_describe_launch(const struct driver *d,
                                                           const struct driver_command *k,
                                                           uint32_t number,
                                                           struct aql_descriptor *descriptor)
{
    const struct driver_device *device = &d->device[number];
    enum isa_target target;
    memcpy(descriptor, k->launch.descriptor, sizeof *descriptor);
    if (isa_target_by_name(device->info.isa, &target) < 0)
        bug("driver: device %u has no known instruction set", number);
    const struct driver_ring *ring = argument_ring_seen(d, number, k->pid);
    return (struct functional_launch){.program = driver_program(d),
                                      .pages = driver_page_table(d),
                                      .target = target,
                                      .pid = k->pid,
                                      .first_group = k->launch.first_group,
                                      .groups = k->launch.groups,
                                      .gpu = number,
                                      .kernel = k->launch.kernel,
                                      .dispatch_id = device->launches,
                                      .resident = functional_resident(&device->info, k),
                                      .entry = k->launch.entry,
                                      .packet_address = ring->address + k->ring_offset,
                                      .packet = &k->launch.packet,
                                      .descriptor = descriptor,
                                      .most_instructions = platform_max_instructions(),
                                      .before = engine_instructions(),
                                      .profile = platform_profile() != PLATFORM_PROFILE_NONE,
                                      .threads = functional_threads(),
                                      .is_alone = driver_is_alone,
                                      .attend =
                                          driver_process()->attend ? functional_attend : NULL};
}

/* The launch of a kernel in PTX, from its first block to its last. */
static bool functional_launch_ptx(struct driver *d, struct driver_command *k, uint32_t number,
                                  enum sampling_way way)
{
    struct functional_result result;
    functional_name(k);
    record_start(d, k, number);
    d->device[number].kernels_running++;
    ptx_execute(d, k, number, &result);
    return functional_part(d, k, number, way, &result);
}

static bool functional_launch(struct driver *d, struct driver_command *k, uint32_t number,
                              enum sampling_way way)
{
    if (device_executes_ptx(&d->device[number]))
        return functional_launch_ptx(d, k, number, way);
    struct sampler_work executed = {0};
    struct driver_device *device = &d->device[number];
    struct aql_descriptor descriptor;
    if (k->launch.packet.private_bytes && k->launch.scratch_pool == DRIVER_NONE
        && !scratch_acquire_command(d, k, number, true))
        return false;
    struct functional_launch launch = functional_describe_launch(d, k, number, &descriptor);
    functional_look_for_end();
    device->launches++;
    launch.touches = way == SAMPLING_TOUCHING || platform_profile() == PLATFORM_PROFILE_MEMORY;
    launch.executed = platform_sampling()->automatic ? &executed : NULL;
    launch.others = other_work(d, k).others;
    if (launch.touches && !parts_goes_on(k))
        warm_begin_all(aql_scope(k->launch.packet.header, AQL_ACQUIRE_SHIFT) == AQL_SCOPE_SYSTEM);
    functional_name(k);
    record_start(d, k, number);
    device->kernels_running++;
    struct functional_result result;
    functional_run(&launch, &result);
    if (launch.executed)
        functional_wait_out(d, k, &result);
    if (launch.executed && result.end == FUNCTIONAL_DONE)
        functional_report_work(k, &result, &executed);
    return functional_part(d, k, number, way, &result);
}

static bool functional_go_on(struct driver *d, struct driver_command *k, uint32_t number)
{
    struct functional_result result;
    functional_name(k);
    functional_look_for_end();
    functional_resume(k->launch.yielded, engine_instructions(), other_work(d, k).others, &result);
    return functional_part(d, k, number, SAMPLING_SKIPPED, &result);
}

static void functional_move_command(struct driver *d, const struct driver_command *k,
                                    uint32_t number)
{
    switch ((enum driver_kind)k->kind) {
    case DRIVER_WRITE:
        functional_exchange(d, k);
        d->io.stats.bytes_to_gpu += k->size;
        break;
    case DRIVER_READ:
        functional_exchange(d, k);
        d->io.stats.bytes_from_gpu += k->size;
        break;
    case DRIVER_COPY:
        functional_copy(d, k->move.address, k->move.source, k->size);
        break;
    case DRIVER_FILL:
        functional_fill(d, k->move.address, k->size, k->move.pattern);
        break;
    case DRIVER_STAGE:
    case DRIVER_LAUNCH:
        functional_stage(d, k, number);
        break;
    default:
        break; /* marks and barriers only need their turn; there are no TLBs to shoot down */
    }
}

static bool functional_command(struct driver *d, struct driver_command *k, uint32_t number)
{
    d->io.stats.commands++;
    functional_move_command(d, k, number);
    if (k->kind == DRIVER_LAUNCH && k->size)
        argument_ring_written(argument_ring_of(d, number, k->pid), k->piece);
    return k->kind != DRIVER_LAUNCH || functional_launch(d, k, number, SAMPLING_SKIPPED);
}
