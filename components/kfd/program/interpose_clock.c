/* The clock that AMD's HIP library reads beside the time stamps of signals, and mixes with them: an
 * event on an idle stream has the host's time, one behind a kernel has the GPU's. With a kernel
 * driver both are the system's clock. Here the library alone gets the machine's clock; the program,
 * and ROCr, which measures its processor by it, have the host's. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <link.h>
#include <string.h>
#include <time.h>

#include "interpose.h"
#include "kfd_client.h"

#define LIBRARY "libamdhip64.so"

struct range {
    uintptr_t start, end;
};

static int take_library(struct dl_phdr_info *object, size_t size, void *found)
{
    struct range *r = found;
    (void)size;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : object->dlpi_name, LIBRARY, strlen(LIBRARY)) != 0)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        r->start = object->dlpi_addr + h->p_vaddr;
        r->end = r->start + h->p_memsz;
    }
    return 1;
}

/* Behind the opening of the machine, which HIP has asked for, so that the library is there. */
static bool is_library(uintptr_t caller)
{
    static struct range library;
    static uint32_t looked; /* atomic */
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        struct range found = {0, 0};
        dl_iterate_phdr(take_library, &found);
        library = found;
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return caller >= library.start && caller < library.end;
}

int kfd_clock_gettime(clockid_t clock, struct timespec *time) INTERPOSE(clock_gettime);

int kfd_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_MONOTONIC && kfd_is_open()
        && is_library((uintptr_t)__builtin_return_address(0))) {
        uint64_t now = kfd_read_clock();
        *time = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
        return 0;
    }
    return INTERPOSE_NEXT(kfd_clock_gettime, "clock_gettime")(clock, time);
}
