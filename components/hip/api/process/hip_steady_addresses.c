/* Hides from the program what opening a platform takes of the process: memory of the heap, mapped
 * objects, threads. The amount depends on the options of the run, but the addresses of the
 * program's own memory must not, since kernels may use that memory (hipHostRegister). So a separate
 * thread with a heap of its own opens the platform; meanwhile the address space of the program's
 * next mappings is held back. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <signal.h>
#include <sys/mman.h>

#include "components/hip/api/hip_internal.h"
#include "components/hip/turns/hip_turns.h"

/* More than programs map; the system gives the highest free addresses first. */
#define RESERVED_BYTES (1ull << 36)

struct work {
    bool (*run)(const char *path);
    const char *path;
    bool has_succeeded;
};

static void *run_work(void *argument)
{
    struct work *work = argument;
    hip_turns_inside(1);
    work->has_succeeded = work->run(work->path);
    hip_turns_inside(-1);
    return NULL;
}

bool hip_run_apart(bool (*run)(const char *path), const char *path)
{
    struct work work = {.run = run, .path = path};
    void *reserved =
        mmap(NULL, RESERVED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all); /* signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, run_work, &work);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_join(thread, NULL);
    else
        work.has_succeeded = run(path);
    if (reserved != MAP_FAILED)
        munmap(reserved, RESERVED_BYTES);
    return work.has_succeeded;
}
