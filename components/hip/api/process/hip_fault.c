/* Device addresses lie in a range of the host's address space that nothing may touch, so a host
 * access to device memory faults; the handler here says which allocation it was, then lets the
 * program die by the signal. Addresses of pinned memory lie after it, so that one that was freed
 * is known as such. So do the guards of the simulator's own state, and where the processor has
 * keys for pages that state itself, while code of the program runs. Other faults go to the handler
 * that was there before; for those inside of the library the message says that the program has
 * passed a wrong pointer.
 *
 * The range begins at a fixed address, where Linux on x86-64 puts nothing by itself, so that device
 * addresses are the same in every run. Invariant: the handler calls only what is safe in a signal
 * handler. */
#define _GNU_SOURCE /* REG_ERR */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/number.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/turns/hip_turns.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Tried in turn. */
static const uint64_t usual_bases[] = {0x200000000000, 0x7a0000000000};

/* A range at another address keeps at least the low bits, from which caches and TLBs choose their
 * sets. */
#define RANGE_ALIGN (1ull << 36)

static struct sigaction previous_handler;

/* Room for pinned memory: its addresses are given out in ascending order, so that a freed address
 * is not soon in use again. */
#define PINNED_BYTES (1ull << 38)

bool hip_reserve_addresses(uint64_t device_bytes)
{
    uint64_t size = device_bytes + PINNED_BYTES;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = MAP_FAILED;
    for (size_t i = 0; i < ARRAY_COUNT(usual_bases) && base == MAP_FAILED; i++) {
        void *wish = (void *)(uintptr_t)usual_bases[i];
        base = mmap(wish, size, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (base != MAP_FAILED && base != wish) { /* kernels before 4.17 ignore the flag */
            munmap(base, size);
            base = MAP_FAILED;
        }
    }
    if (base == MAP_FAILED) {
        base = mmap(NULL, size + RANGE_ALIGN, PROT_NONE, flags, -1, 0);
        if (base != MAP_FAILED) {
            base = (void *)(round_up((uintptr_t)base, RANGE_ALIGN));
            hip_say(
                "the usual range of device addresses is taken; cycle counts of this run may differ "
                "from others");
        }
    }
    if (base == MAP_FAILED) {
        hip_say("cannot reserve %llu bytes of device addresses: %s", (unsigned long long)size,
                strerror(errno));
        return false;
    }
    hip.device_base = (uintptr_t)base;
    hip.device_size = device_bytes;
    hip.pinned_base = hip.device_base + device_bytes;
    hip.pinned_size = PINNED_BYTES;
    return true;
}

/* A message in a buffer of fixed size; text that does not fit is left out. */
struct note {
    char text[400];
    size_t used;
};

static void add_text(struct note *note, const char *text)
{
    while (*text && note->used < sizeof note->text)
        note->text[note->used++] = *text++;
}

static void add_number(struct note *note, uint64_t number, unsigned base)
{
    char digits[24];
    size_t start = sizeof digits - 1;
    digits[start] = '\0';
    do {
        digits[--start] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0 && start > 0);
    add_text(note, base == 16 ? "0x" : "");
    add_text(note, digits + start);
}

static void add_place(struct note *note, uint64_t address)
{
    const struct hip_allocation *allocation = hip_find_allocation_below(address);
    if (!allocation) {
        add_text(note, "; no allocation lies there");
        return;
    }
    uint64_t offset = address - allocation->address;
    add_text(note, ": byte ");
    add_number(note, offset, 10);
    add_text(note, offset < allocation->size ? " of" : " from the start of");
    add_text(note, allocation->kind == HIP_MODULE_MEMORY ? " a loaded module of "
                                                         : " the allocation of ");
    add_number(note, allocation->size, 10);
    add_text(note, " bytes at ");
    add_number(note, allocation->address, 16);
    add_text(note, " on device ");
    add_number(note, (uint64_t)allocation->device, 10);
    add_text(note, offset < allocation->size ? "" : ", behind its end");
}

static void write_note(const struct note *note)
{
    ssize_t written = write(STDERR_FILENO, note->text, note->used);
    (void)written; /* the program ends by the signal in any case */
}

static bool is_state(uint64_t address)
{
    return hip.state == HIP_OPEN && hip.api->is_hidden((const void *)(uintptr_t)address);
}

static void explain_other(uint64_t address)
{
    struct note note = {.used = 0};
    if (hip_is_pinned_address(address)) {
        add_text(&note, "heddle: host code touched pinned memory at ");
        add_number(&note, address, 16);
        add_text(&note, ", which is not, or no longer, allocated\n");
    } else if (is_state(address)) {
        add_text(&note, "heddle: host code touched ");
        add_number(&note, address, 16);
        add_text(&note, ", where the simulator keeps its own state: the program has used a wrong "
                        "pointer\n");
    } else {
        const char *call = hip_set_step("");
        hip_set_step(call);
        add_text(&note, "heddle: ");
        add_text(&note, call && *call ? call : "a call");
        add_text(&note, " touched ");
        add_number(&note, address, 16);
        add_text(&note, ", where nothing is: the program has passed a wrong pointer\n");
    }
    write_note(&note);
}

static void explain(uint64_t address)
{
    struct note note = {.used = 0};
    bool is_managed = false;
    add_text(&note, "heddle: host code touched device memory at ");
    add_number(&note, address, 16);
    /* When the faulting thread is inside the library itself the map may be in motion. */
    if (pthread_mutex_trylock(&hip.lock) == 0) {
        add_place(&note, address);
        is_managed = hip_is_managed(address);
        pthread_mutex_unlock(&hip.lock);
    }
    add_text(&note, is_managed ? "; it cannot be fetched any more, as the device is lost\n"
                               : "; copy it with hipMemcpy first\n");
    write_note(&note);
}

/* The processor's page-fault error code: bit 1 is set for writes (Intel SDM, volume 3A, 4.7). */
static bool is_write(const void *context)
{
    const ucontext_t *thread = context;
    return (thread->uc_mcontext.gregs[REG_ERR] & 2) != 0;
}

static void handle_fault(int signal_number, siginfo_t *info, void *context)
{
    uint64_t address = (uintptr_t)info->si_addr;
    bool is_ours = address >= hip.device_base && address - hip.device_base < hip.device_size;
    bool is_in_call = hip_turns_depth > 0;
    hip_turns_inside(1);
    bool is_served = hip_host_memory_fault(address, is_write(context));
    if (is_ours && !is_served)
        explain(address);
    else if (!is_served && (is_in_call || hip_is_pinned_address(address) || is_state(address)))
        explain_other(address);
    hip_turns_inside(-1);
    if (is_served)
        return;
    if (is_ours) {
        /* explained */
    } else if ((previous_handler.sa_flags & SA_SIGINFO) != 0) {
        previous_handler.sa_sigaction(signal_number, info, context);
        return;
    } else if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN) {
        previous_handler.sa_handler(signal_number);
        return;
    }
    /* The instruction faults again in the program, and then nothing catches it. */
    struct sigaction die = {.sa_handler = SIG_DFL};
    sigaction(SIGSEGV, &die, NULL);
}

void hip_install_fault_handler(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = handle_fault;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_handler);
}
