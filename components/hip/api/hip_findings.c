/* Reports mistakes in the program's calls to the platform, which keeps the findings
 * (components/checks). Only the library knows which calls there were. */
#define _GNU_SOURCE /* dladdr */
#include "hip_findings.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/streams/hip_capture.h"
#include "runtime/engine/options.h"

#include "hip_handle.h"

enum { FRAMES = 24, PLACE_TEXT = 200, FREED_MAX = 4096 };

/* Allocations that the program has given back, the last ones of them. */
static struct freed {
    struct hip_allocation allocation;
    struct hip_origin origin; /* the call that freed it */
} freed[FREED_MAX];
static uint64_t freed_count;

/* True if the program is checked. */
static bool is_checked(void)
{
    return hip.state != HIP_CLOSED && hip.api && hip.api->mistake && option_text("check");
}

/* ---- calls ---- */

static bool is_ours(const Dl_info *code)
{
    static const char *const names[] = {"libamdhip64", "libcudart", "libcuda.", "libOpenCL",
                                        "libheddle"};
    const char *slash = strrchr(code->dli_fname, '/');
    const char *name = slash ? slash + 1 : code->dli_fname;
    Dl_info platform;
    if (dladdr(hip.api, &platform) && platform.dli_fbase == code->dli_fbase)
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static _Thread_local bool hides_origins;

void hip_hide_origins(bool hides)
{
    hides_origins = hides;
}

struct hip_origin hip_origin_here(void)
{
    struct hip_origin origin = {.call = hides_origins ? NULL : hip_current_call()};
    void *frames[FRAMES];
    Dl_info symbol;
    if (!is_checked() || hides_origins)
        return origin;
    int count = backtrace(frames, FRAMES);
    for (int i = 1; i < count && !origin.code; i++)
        if (dladdr(frames[i], &symbol) && symbol.dli_fname && !is_ours(&symbol))
            origin.code = (uintptr_t)frames[i];
    return origin;
}

/* "hipMalloc()", "main+0x21 in saxpy" or "saxpy+0x1234". */
static void describe_origin(const struct hip_origin *origin, char call[PLACE_TEXT],
                            char source[PLACE_TEXT], struct driver_call *out)
{
    Dl_info symbol;
    source[0] = '\0';
    *out = (struct driver_call){.name = call, .source = source};
    snprintf(call, PLACE_TEXT, "%s()", origin->call ? origin->call : "a call");
    if (origin->code && dladdr((void *)(uintptr_t)origin->code, &symbol) && symbol.dli_fname) {
        out->code = origin->code;
        out->file = symbol.dli_fname;
        out->base = (uintptr_t)symbol.dli_fbase;
        const char *slash = strrchr(symbol.dli_fname, '/');
        const char *name = slash ? slash + 1 : symbol.dli_fname;
        if (symbol.dli_sname)
            snprintf(source, PLACE_TEXT, "%s+0x%" PRIx64 " in %s", symbol.dli_sname,
                     origin->code - (uintptr_t)symbol.dli_saddr, name);
        else
            snprintf(source, PLACE_TEXT, "%s+0x%" PRIx64, name,
                     origin->code - (uintptr_t)symbol.dli_fbase);
    }
}

bool hip_find_caller(struct driver_call *call)
{
    static _Thread_local char name[PLACE_TEXT], source[PLACE_TEXT];
    struct hip_origin here = hip_origin_here();
    if (here.call)
        describe_origin(&here, name, source, call);
    return here.call;
}

static void report_mistake(enum driver_mistake kind, const struct hip_origin *first,
                           const struct hip_origin *second, uint64_t address, const char *text)
{
    char call[2][PLACE_TEXT], source[2][PLACE_TEXT];
    struct driver_call calls[2];
    describe_origin(first, call[0], source[0], &calls[0]);
    if (second)
        describe_origin(second, call[1], source[1], &calls[1]);
    hip.api->mistake(kind, calls, second ? 2 : 1, address, text);
}

/* ---- memory ---- */

static const char *kind_name(enum hip_allocation_kind kind)
{
    static const char *const names[] = {[HIP_DEVICE_MEMORY] = "device memory",
                                        [HIP_MODULE_MEMORY] = "memory of a module",
                                        [HIP_MANAGED_MEMORY] = "managed memory",
                                        [HIP_PINNED_MEMORY] = "pinned memory",
                                        [HIP_REGISTERED_MEMORY] = "registered memory"};
    return names[kind];
}

void hip_remember_free(const struct hip_allocation *allocation)
{
    if (is_checked())
        freed[freed_count++ % FREED_MAX] =
            (struct freed){.allocation = *allocation, .origin = hip_origin_here()};
}

static const struct freed *find_freed(uint64_t address)
{
    for (uint64_t i = freed_count; i > 0 && freed_count - i < FREED_MAX; i--) {
        const struct freed *entry = &freed[(i - 1) % FREED_MAX];
        if (address - entry->allocation.address < entry->allocation.size)
            return entry;
    }
    return NULL;
}

void hip_report_address(uint64_t address, bool is_free)
{
    char text[PLACE_TEXT];
    const struct hip_origin here = hip_origin_here();
    const struct freed *freed_before = is_checked() ? find_freed(address) : NULL;
    if (!is_checked() || (!freed_before && !is_free))
        return;
    if (!freed_before)
        snprintf(text, sizeof text, "no call of the program has given 0x%" PRIx64, address);
    else
        snprintf(text, sizeof text,
                 "0x%" PRIx64 " was byte %" PRIu64 " of %" PRIu64 " bytes of %s, from %s()",
                 address, address - freed_before->allocation.address, freed_before->allocation.size,
                 kind_name(freed_before->allocation.kind), freed_before->allocation.origin.call);
    if (freed_before)
        report_mistake(is_free ? DRIVER_MISTAKE_FREED_TWICE : DRIVER_MISTAKE_USED_FREED,
                       &freed_before->origin, &here, address, text);
    else
        report_mistake(DRIVER_MISTAKE_FREED_WRONG, &here, NULL, address, text);
}

void hip_report_inside(uint64_t address, const struct hip_allocation *allocation)
{
    char text[PLACE_TEXT];
    const struct hip_origin here = hip_origin_here();
    if (!is_checked())
        return;
    snprintf(text, sizeof text, "0x%" PRIx64 " is byte %" PRIu64 " of %" PRIu64 " bytes of %s",
             address, address - allocation->address, allocation->size, kind_name(allocation->kind));
    report_mistake(DRIVER_MISTAKE_FREED_WRONG, &allocation->origin, &here, address, text);
}

/* ---- captures ---- */

void hip_report_capture(const struct hip_origin *begun, bool has_ended)
{
    const struct hip_origin here = hip_origin_here();
    if (!is_checked())
        return;
    if (has_ended)
        report_mistake(
            DRIVER_MISTAKE_CAPTURE_UNJOINED, begun, &here, 0,
            "a stream waited for an event of the capture, and the first stream does not wait "
            "for it");
    else
        report_mistake(DRIVER_MISTAKE_CAPTURE_OPEN, begun, NULL, 0, "");
}

/* ---- the end ---- */

/* Memory or handles that one call has made and nothing has given back. */
struct leak {
    struct hip_origin origin;
    const char *kind;
    uint64_t count, bytes, address;
};

static struct leak *leaks;
static size_t leak_count, leak_capacity;

static void add_leak(const struct hip_origin *origin, const char *kind, uint64_t bytes,
                     uint64_t address)
{
    size_t i = 0;
    while (i < leak_count
           && (leaks[i].origin.code != origin->code || strcmp(leaks[i].kind, kind) != 0
               || leaks[i].origin.call != origin->call))
        i++;
    if (i == leak_count) {
        grow_list(leaks, leak_count + 1, leak_capacity, HIP_LIBRARY);
        leaks[leak_count++] = (struct leak){.origin = *origin, .kind = kind, .address = address};
    }
    leaks[i].count++;
    leaks[i].bytes += bytes;
}

static void add_allocation_leak(const struct hip_allocation *allocation)
{
    if (allocation->kind != HIP_MODULE_MEMORY && allocation->origin.call)
        add_leak(&allocation->origin, kind_name(allocation->kind), allocation->size,
                 allocation->address);
}

static void add_handle_leak(enum hip_handle_kind kind, const struct hip_origin *origin)
{
    static const char *const names[] = {[HIP_HANDLE_STREAM] = "a stream",
                                        [HIP_HANDLE_EVENT] = "an event",
                                        [HIP_HANDLE_MODULE] = "a module",
                                        [HIP_HANDLE_POOL] = "a pool of memory",
                                        [HIP_HANDLE_GRAPH] = "a graph",
                                        [HIP_HANDLE_GRAPH_EXEC] = "a graph that can be launched",
                                        [HIP_HANDLE_RTC_PROGRAM] = "a program of hipRTC"};
    const char *name = kind < ARRAY_COUNT(names) ? names[kind] : NULL;
    if (name && origin->call) /* others go with what they belong to */
        add_leak(origin, name, 0, 0);
}

void hip_report_leaks(void)
{
    char text[PLACE_TEXT];
    if (!is_checked())
        return;
    hip_report_captures();
    hip_each_allocation(add_allocation_leak);
    hip_handles_each(add_handle_leak);
    for (size_t i = 0; i < leak_count; i++) {
        const struct leak *l = &leaks[i];
        int used = l->bytes
                       ? snprintf(text, sizeof text, "%" PRIu64 " bytes of %s", l->bytes, l->kind)
                       : snprintf(text, sizeof text, "%s", l->kind);
        if (l->count > 1)
            snprintf(text + used, sizeof text - (size_t)used, ", by %" PRIu64 " calls", l->count);
        report_mistake(DRIVER_MISTAKE_LEAK, &l->origin, NULL, l->address, text);
    }
}
