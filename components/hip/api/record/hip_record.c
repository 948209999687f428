/* The recorder of hip_record.h: a trace of API calls with its data, in a folder that the command
 * names and takes when it is complete.
 *
 * The calls are kept until the end, since a copy to the host is noted when it begins and has its
 * data when it is complete. The data go to files at once.
 *
 * Asynchronous copies to the host are looked at whenever a call of HIP returns: the program
 * learns of a copy's end only by a call of HIP, and cannot have changed the bytes since. They are
 * compared after a call that implies their end wherever the trace is played: without timing, or
 * on another platform, copies of other streams are over at other calls. */
#include "hip_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "components/hip/api/hip_internal.h"
#include "components/hip/api/process/hip_process.h"
#include "components/hip/turns/hip_turns.h"
#include "runtime/engine/options.h"

#include "hip_record_files.h"
#include "hip_record_places.h"

enum {
    LINE_START_NONE = -1,
    UNORDERED_THREADS = 1000000 /* numbers of threads that have no turns, after the first */
};

#define DROPPED ((enum api_trace_kind)UINT32_MAX) /* in place of the kind of a line */

/* A copy to the host that the program does not know to be over. */
struct pending {
    uint64_t ticket;
    size_t line;
    uint32_t thread;
    const char *file; /* its bytes; NULL: it is under way */
    struct hip_recorded_copy copy;
};

static struct {
    bool is_running;
    const char *folder;
    struct api_trace_call *calls;
    size_t count, capacity;
    struct pending *pending;
    size_t pending_count, pending_capacity;
    uint32_t unordered;   /* threads without turns that have been seen */
    uint32_t last_thread; /* the thread of the last line; at first 0 */
    bool names_thread;    /* the next line must name its thread */
} record;

/* The calling thread: the last line of the call that the thread is in; the last line that says what
 * the program asked for; the thread's number, from 1, if it has no turns. */
static _Thread_local ptrdiff_t open_line = LINE_START_NONE, asked_line = LINE_START_NONE;
static _Thread_local uint32_t unordered_number;

/* ---- lines ---- */

/* Threads are numbered as they were created, 0 is the one that created the first other one: among
 * threads that can continue at the same time, the older goes first. */
static uint32_t thread_number(void)
{
    uint64_t number = hip_turns_number();
    if (number > 0)
        return (uint32_t)number - 1;
    if (unordered_number == 0)
        unordered_number = ++record.unordered;
    return unordered_number == 1 ? 0 : UNORDERED_THREADS + unordered_number;
}

static size_t append_call(const struct api_trace_call *call)
{
    HIP_RECORD_MAKE_ROOM(record.calls, record.count, record.capacity);
    record.calls[record.count] = *call;
    return record.count++;
}

bool hip_is_recording(void)
{
    return record.is_running;
}

size_t hip_record_call(const struct api_trace_call *call)
{
    if (!record.is_running)
        return 0;
    uint32_t thread = thread_number();
    if (record.last_thread != thread || record.names_thread)
        append_call(&(struct api_trace_call){.kind = API_TRACE_THREAD, .thread = thread});
    record.last_thread = thread;
    record.names_thread = false;
    size_t place = append_call(call);
    open_line = (ptrdiff_t)place;
    if (call->kind != API_TRACE_COMPARE && call->kind != API_TRACE_HOST_ACCESS)
        asked_line = open_line;
    return place;
}

void hip_record_answer(size_t line, bool is_ready)
{
    if (record.is_running)
        record.calls[line].value = is_ready;
}

void hip_record_mapped_number(size_t line, uint32_t number)
{
    if (record.is_running)
        record.calls[line].to.allocation = number;
}

void hip_record_drop(size_t line)
{
    if (record.is_running)
        record.calls[line].kind = DROPPED;
}

/* The call of the thread came back: a line of its own, when others have begun calls meanwhile. */
static void record_return(void)
{
    if (open_line != LINE_START_NONE && (size_t)open_line + 1 < record.count) {
        append_call(&(struct api_trace_call){.kind = API_TRACE_RETURN, .thread = thread_number()});
        record.names_thread = true;
    }
    open_line = LINE_START_NONE;
}

void hip_record_give_up(const char *reason)
{
    if (record.is_running)
        hip_say("the program cannot be recorded: %s", reason);
    record.is_running = false;
}

/* ---- names ---- */

void hip_record_call_to(uint64_t to, const struct api_trace_call *call)
{
    if (!record.is_running)
        return;
    struct api_trace_call recorded = *call;
    if (hip_record_find(to, &recorded.to))
        hip_record_call(&recorded);
}

/* The memory of a copy or fill, which was checked: in an allocation, if not in a variable. */
static struct api_trace_pointer pointer_to(uint64_t address)
{
    struct api_trace_pointer pointer = {0};
    if (!hip_record_find(address, &pointer))
        hip_record_give_up("it copies to or from the code of a module, outside of all variables");
    return pointer;
}

/* ---- asynchronous copies to the host ---- */

static void add_pending(const struct pending *pending)
{
    HIP_RECORD_MAKE_ROOM(record.pending, record.pending_count, record.pending_capacity);
    record.pending[record.pending_count++] = *pending;
}

/* The last record of the event between the two lines; NULL: there is none. */
static const struct api_trace_call *find_event_record(size_t from, size_t to, uint32_t event)
{
    for (size_t i = to; i > from; i--)
        if (record.calls[i].kind == API_TRACE_EVENT_RECORD && record.calls[i].event == event)
            return &record.calls[i];
    return NULL;
}

/* True if the end of a copy follows from that of a call of this thread, on any platform. The null
 * stream counts for the others. */
static bool implies_end(const struct pending *p, size_t line)
{
    const struct api_trace_call *call = &record.calls[line];
    bool is_end = true;
    switch (call->kind) {
    case API_TRACE_DEVICE_SYNCHRONIZE:
        return p->copy.device == hip_current_device();
    case API_TRACE_FREE:
    case API_TRACE_HOST_FREE:
    case API_TRACE_HOST_UNREGISTER:
        return true;
    case API_TRACE_EVENT_QUERY:
        is_end = call->value;
        /* fall through */
    case API_TRACE_EVENT_SYNCHRONIZE:
        call = find_event_record(p->line, line, call->event);
        break;
    case API_TRACE_STREAM_QUERY:
        is_end = call->value;
        break;
    case API_TRACE_COPY_TO_DEVICE:
    case API_TRACE_COPY_FROM_DEVICE:
    case API_TRACE_COPY_ON_DEVICE:
        is_end = !call->is_async;
        break;
    case API_TRACE_STREAM_SYNCHRONIZE:
        break;
    default:
        return false;
    }
    if (!is_end || !call || call->stream == 0)
        return is_end && call;
    return call->stream == p->copy.stream
           && (call->stream != API_TRACE_STREAM_OF_THREAD || p->thread == thread_number());
}

/* The places in an allocation that it has filled. */
static void compare_copy(const struct pending *p)
{
    const struct hip_recorded_copy *copy = &p->copy;
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_COMPARE,
                                             .place = record.calls[p->line].place,
                                             .size = copy->size,
                                             .rows = copy->rows,
                                             .host_pitch = copy->to_pitch,
                                             .file = p->file});
}

/* Keeps what copies have brought: in the line of the copy or, from an allocation, until it is
 * compared. */
static void keep_finished_bytes(void)
{
    size_t remaining = 0;
    for (size_t i = 0; i < record.pending_count; i++) {
        struct pending p = record.pending[i];
        if (!p.file && hip_is_ticket_done(p.ticket))
            p.file = hip_record_data(p.copy.host, p.copy.size, p.copy.rows, p.copy.to_pitch);
        if (p.file && record.calls[p.line].kind == API_TRACE_COPY_FROM_DEVICE)
            record.calls[p.line].file = p.file;
        else
            record.pending[remaining++] = p;
    }
    record.pending_count = remaining;
}

/* Compares the bytes of those copies whose end the line implies, or of all. */
static void compare_finished_copies(ptrdiff_t line)
{
    size_t remaining = 0;
    keep_finished_bytes();
    for (size_t i = 0; i < record.pending_count; i++) {
        const struct pending *p = &record.pending[i];
        if (p->file && (line == LINE_START_NONE || implies_end(p, (size_t)line)))
            compare_copy(p);
        else
            record.pending[remaining++] = *p;
    }
    record.pending_count = remaining;
    open_line = LINE_START_NONE; /* a comparison returns at once */
}

void hip_record_end_call(void)
{
    ptrdiff_t line = asked_line;
    asked_line = LINE_START_NONE;
    if (!record.is_running)
        return;
    record_return();
    if (record.pending_count > 0 && line != LINE_START_NONE)
        compare_finished_copies(line);
    else
        keep_finished_bytes();
}

/* A copy comes to or from memory of the host. Earlier copies to that memory that were not waited
 * for are compared before, unless the copies are in order without the program. */
static void release_host_side(const struct hip_recorded_copy *copy)
{
    size_t remaining = 0;
    uint64_t pitch = copy->writes_device ? copy->from_pitch : copy->to_pitch;
    const char *start = copy->host, *end = start + (copy->rows - 1) * pitch + copy->size;
    keep_finished_bytes();
    for (size_t i = 0; i < record.pending_count; i++) {
        const struct pending *p = &record.pending[i];
        const char *first = p->copy.host;
        if (!p->file || first >= end
            || first + (p->copy.rows - 1) * p->copy.to_pitch + p->copy.size <= start)
            record.pending[remaining++] = *p;
        else if (p->copy.stream != copy->stream)
            compare_copy(p);
    }
    record.pending_count = remaining;
}

/* ---- calls ---- */

static enum api_trace_kind kind_of_copy(const struct hip_recorded_copy *copy, bool is_pinned)
{
    if (copy->writes_device && copy->reads_device)
        return API_TRACE_COPY_ON_DEVICE;
    if (copy->writes_device)
        return is_pinned ? API_TRACE_PINNED_TO_DEVICE : API_TRACE_COPY_TO_DEVICE;
    return is_pinned ? API_TRACE_PINNED_FROM_DEVICE : API_TRACE_COPY_FROM_DEVICE;
}

/* Host memory in an allocation of its own is copied to or from while the caller continues. */
size_t hip_record_copy(const struct hip_recorded_copy *copy)
{
    if (!record.is_running)
        return 0;
    bool is_on_device = copy->writes_device && copy->reads_device;
    bool is_pinned = !is_on_device && !copy->waits && !copy->is_pageable;
    struct api_trace_call call = {
        .kind = kind_of_copy(copy, is_pinned),
        .is_async = !copy->waits,
        .size = copy->size,
        .rows = copy->rows,
        .pitch = copy->writes_device ? copy->to_pitch : copy->from_pitch,
        .from_pitch = copy->from_pitch,
        .host_pitch = copy->writes_device ? copy->from_pitch : copy->to_pitch,
        .stream = copy->stream,
    };
    if (copy->writes_device)
        call.to = pointer_to(copy->to);
    if (copy->reads_device)
        call.from = pointer_to(copy->from);
    if (is_pinned)
        release_host_side(copy);
    if (is_pinned)
        call.place = pointer_to(copy->writes_device ? copy->from : copy->to);
    if (copy->writes_device && !is_on_device)
        call.file = hip_record_data(copy->host, copy->size, copy->rows, copy->from_pitch);
    return hip_record_call(&call);
}

void hip_record_copy_sent(size_t line, const struct hip_recorded_copy *copy, uint64_t ticket)
{
    if (!record.is_running)
        return;
    enum api_trace_kind kind = record.calls[line].kind;
    if (kind == API_TRACE_PINNED_FROM_DEVICE
        || (kind == API_TRACE_COPY_FROM_DEVICE && !copy->waits))
        add_pending(&(struct pending){ticket, line, thread_number(), NULL, *copy});
}

void hip_record_copy_end(size_t line, const struct hip_recorded_copy *copy)
{
    if (record.is_running && record.calls[line].kind == API_TRACE_COPY_FROM_DEVICE)
        record.calls[line].file =
            hip_record_data(copy->host, copy->size, copy->rows, copy->to_pitch);
}

size_t hip_record_launch(const struct api_trace_call *call, const struct hip_function *function,
                         const uint8_t *kernarg)
{
    if (!record.is_running)
        return 0;
    size_t name_size = strlen(function->kernel->name) + 1;
    struct api_trace_call recorded = *call;
    recorded.module = hip_allocation_number(function->module->base);
    recorded.name = memcpy(hip_record_keep(name_size), function->kernel->name, name_size);
    hip_record_arguments(function->kernel, kernarg, &recorded);
    return hip_record_call(&recorded);
}

/* The whole bundle, so that the trace also plays on GPUs of another architecture; or PTX. */
void hip_record_module(const struct hip_module *module, const void *bytes, size_t size)
{
    if (record.is_running)
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_MODULE_LOAD,
                                                 .module = hip_allocation_number(module->base),
                                                 .device = (uint32_t)module->device,
                                                 .file = hip_record_data(bytes, size, 1, 0)});
}

/* A copy that still comes must be seen before the memory is gone, so the wait is noted as one. */
void hip_record_host_free(uint64_t address, int device)
{
    if (!record.is_running)
        return;
    if (record.pending_count == 0) {
        hip_record_call(
            &(struct api_trace_call){.kind = API_TRACE_HOST_FREE, .place = pointer_to(address)});
        return;
    }
    hip_record_call(
        &(struct api_trace_call){.kind = API_TRACE_SET_DEVICE, .device = (uint32_t)device});
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_DEVICE_SYNCHRONIZE});
}

void hip_record_host_free_end(uint64_t address)
{
    if (record.is_running && record.pending_count > 0) {
        record_return();
        compare_finished_copies(LINE_START_NONE);
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_SET_DEVICE,
                                                 .device = (uint32_t)hip_current_device()});
        hip_record_call(
            &(struct api_trace_call){.kind = API_TRACE_HOST_FREE, .place = pointer_to(address)});
    }
}

/* ---- memory that moves by itself ---- */

void hip_record_host_write(uint64_t view, const void *bytes, uint64_t size)
{
    if (!record.is_running)
        return;
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_HOST_WRITE,
                                             .place = pointer_to(view),
                                             .size = size,
                                             .file = hip_record_data(bytes, size, 1, 0)});
}

void hip_record_host_access(uint64_t view, bool is_write)
{
    if (!record.is_running)
        return;
    hip_record_call(&(struct api_trace_call){
        .kind = API_TRACE_HOST_ACCESS, .place = pointer_to(view), .value = is_write});
}

void hip_record_host_access_end(uint64_t view, const void *bytes, uint64_t size)
{
    if (!record.is_running)
        return;
    record_return();
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_COMPARE,
                                             .place = pointer_to(view),
                                             .size = size,
                                             .rows = 1,
                                             .file = hip_record_data(bytes, size, 1, 0)});
}

/* ---- beginning and end ---- */

bool hip_record_open(void)
{
    const char *folder = getenv(OPTIONS_ENV_RECORD);
    if (!folder || !*folder)
        return true;
    const char *process_folder = hip_process_folder(folder);
    if (!process_folder) {
        hip_say("--record api: cannot make a folder: %s", strerror(errno));
        return false;
    }
    size_t size = strlen(process_folder) + 1;
    record.folder = memcpy(hip_record_keep(size), process_folder, size);
    if (!hip_record_files_open(record.folder))
        return false;
    record.is_running = true;
    return true;
}

static void report_mistake(void *context, uint32_t line, const char *text)
{
    (void)context;
    hip_say("recording: line %" PRIu32 ": %s", line, text);
}

/* Copies that end with the program: the trace waits for them, too. */
static void finish_copies(void)
{
    for (int device = 0; record.pending_count > 0 && device < hip.device_count; device++) {
        if (hip_is_device(device)) {
            hip_record_call(
                &(struct api_trace_call){.kind = API_TRACE_SET_DEVICE, .device = (uint32_t)device});
            hip_record_call(&(struct api_trace_call){.kind = API_TRACE_DEVICE_SYNCHRONIZE});
        }
    }
    compare_finished_copies(LINE_START_NONE);
}

/* Leaves out dropped lines, and copies whose end no thread has seen. */
static uint32_t compact(void)
{
    size_t remaining = 0;
    for (size_t i = 0; i < record.count; i++) {
        const struct api_trace_call *call = &record.calls[i];
        bool is_unfinished = call->kind == API_TRACE_COPY_FROM_DEVICE && !call->file;
        if (call->kind != DROPPED && !is_unfinished)
            record.calls[remaining++] = *call;
    }
    return (uint32_t)remaining;
}

void hip_record_close(void)
{
    if (hip.device_error != hipSuccess)
        hip_record_give_up("a kernel broke the device");
    if (!record.is_running)
        return;
    finish_copies();
    struct api_trace trace = {
        .version = API_TRACE_VERSION, .calls = record.calls, .call_count = compact()};
    struct api_trace_sink sink = {.report = report_mistake};
    hip_record_files_close(&trace, &sink);
    record.is_running = false;
}
