/* Components that give up: the first failure in (time, instance) is kept, and the run goes on to an
 * end that does not depend on the number of threads or ranks. See failure.h. */
#include "failure.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/shard.h"

#include "run_state.h"

/* The first fault of each program in which one has been, which does not end the run. */
static struct program_fault {
    bool is_used, is_popped;
    struct engine_fault fault;
} * faults;
static size_t fault_count, fault_capacity;
static bool has_fault; /* atomic */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held by the thread that writes these: */
static uint64_t failed_ps;
static uint32_t failed_leaf;
static bool failed_by_access;
static uint64_t failed_address;
static char failure[1024]; /* "": none has failed */

/* A message that names the component. */
static void write_message(char text[sizeof failure], const struct component *c, const char *format,
                          va_list arguments)
{
    const struct platform_table *table = engine_base.platform;
    const char *path = table->strings + table->instances[c->leaf].path;
    size_t length = (size_t)snprintf(text, sizeof failure, "%s: ", path);
    if (length < sizeof failure)
        vsnprintf(text + length, sizeof failure - length, format, arguments);
}

void engine_die(const struct component *c, const char *format, ...)
{
    char text[sizeof failure];
    va_list arguments;
    va_start(arguments, format);
    write_message(text, c, format, arguments);
    va_end(arguments);
    die("%s", text);
}

void engine_fail_program(const struct component *c, const uint64_t *address, const char *text)
{
    uint64_t now = shard_now(c->domain);
    if (this_run.window_ps)
        shard_freeze(c);
    else
        engine_stop();
    window_ask_end();
    pthread_mutex_lock(&lock);
    if (!failure[0] || now < failed_ps || (now == failed_ps && c->leaf < failed_leaf)) {
        snprintf(failure, sizeof failure, "%s", text);
        failed_ps = now;
        failed_leaf = c->leaf;
        failed_by_access = address != NULL;
        failed_address = address ? *address : 0;
    }
    pthread_mutex_unlock(&lock);
}

void engine_fail(const struct component *c, const char *format, ...)
{
    char text[sizeof failure];
    va_list arguments;
    va_start(arguments, format);
    write_message(text, c, format, arguments);
    va_end(arguments);
    engine_fail_program(c, NULL, text);
}

/* The fault of a program. NULL: none is known. */
static struct program_fault *find_fault(uint32_t owner)
{
    for (size_t i = 0; i < fault_count; i++)
        if (faults[i].is_used && faults[i].fault.owner == owner)
            return &faults[i];
    return NULL;
}

/* A place that is not used, where the list grows if all are. */
static struct program_fault *find_unused(void)
{
    for (size_t i = 0; i < fault_count; i++)
        if (!faults[i].is_used)
            return &faults[i];
    grow_list(faults, fault_count + 1, fault_capacity, "faults of programs");
    return &faults[fault_count++];
}

void engine_record_fault(const struct component *c, uint32_t owner, uint32_t tag,
                         const uint64_t *address, const char *text)
{
    struct engine_fault fault = {.time_ps = shard_now(c->domain),
                                 .address = address ? *address : 0,
                                 .leaf = c->leaf,
                                 .owner = owner,
                                 .tag = tag,
                                 .by_access = address != NULL};
    snprintf(fault.text, sizeof fault.text, "%s", text);
    pthread_mutex_lock(&lock);
    struct program_fault *known = find_fault(owner);
    if (!known)
        *find_unused() = (struct program_fault){.is_used = true, .fault = fault};
    else if (!known->is_popped
             && (fault.time_ps < known->fault.time_ps
                 || (fault.time_ps == known->fault.time_ps && fault.leaf < known->fault.leaf)))
        known->fault = fault;
    __atomic_store_n(&has_fault, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

bool engine_pop_fault(uint32_t owner, struct engine_fault *fault)
{
    if (!__atomic_load_n(&has_fault, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&lock);
    struct program_fault *known = find_fault(owner);
    bool is_new = known && !known->is_popped;
    if (is_new) {
        known->is_popped = true;
        *fault = known->fault;
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

void engine_clear_fault(uint32_t owner)
{
    pthread_mutex_lock(&lock);
    struct program_fault *known = find_fault(owner);
    if (known)
        known->is_used = false;
    pthread_mutex_unlock(&lock);
}

const char *engine_failure(void)
{
    return failure[0] ? failure : NULL;
}

bool engine_failure_address(uint64_t *address, uint32_t *leaf)
{
    *address = failed_address;
    *leaf = failed_leaf;
    return failure[0] && failed_by_access;
}

void engine_clear_failure(void)
{
    failure[0] = '\0';
}

void failure_schedule_end(uint64_t time_ps)
{
    if (this_run.window_ps && this_run.fail_end_ps == ENGINE_NEVER)
        this_run.fail_end_ps = this_run.stretch_ps > this_run.window_ps
                                   ? (time_ps / this_run.stretch_ps + 1) * this_run.stretch_ps
                                   : window_end(time_ps) + this_run.window_ps;
}

void failure_agree(void)
{
    struct {
        uint64_t ps, address;
        uint32_t leaf;
        bool by_access;
        char text[sizeof failure];
    } own = {failed_ps, failed_address, failed_leaf, failed_by_access, ""}, other;
    memcpy(own.text, failure, sizeof failure);
    if (!rank_is_first())
        rank_put(0, &own, sizeof own);
    rank_exchange();
    if (!rank_is_first())
        return;
    for (uint32_t i = 1; i < ranks.count; i++) {
        memcpy(&other, rank_read_next(i, sizeof other), sizeof other);
        if (!other.text[0]
            || (failure[0]
                && (failed_ps < other.ps || (failed_ps == other.ps && failed_leaf < other.leaf))))
            continue;
        failed_ps = other.ps;
        failed_leaf = other.leaf;
        failed_address = other.address;
        failed_by_access = other.by_access;
        memcpy(failure, other.text, sizeof failure);
    }
}

bool failure_ends_run(uint64_t next_ps, bool is_live)
{
    return this_run.fail_end_ps != ENGINE_NEVER
           && (!is_live || next_ps > this_run.limit_ps || next_ps >= this_run.fail_end_ps);
}

void failure_close_window(void)
{
    if (failure[0])
        failure_schedule_end(failed_ps);
}
