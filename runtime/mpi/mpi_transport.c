/* Ranks by MPI: the one source of heddle_mpi_openmpi.so and heddle_mpi_mpich.so, compiled with the
 * headers of each library. See engine/rank_transport.h; nothing else of heddle is included.
 *
 * A rank that waits in an MPI library spins. So ranks of one machine share memory with a counter
 * for each rank. The others increment the counter when they have sent the rank a message, and the
 * rank sleeps on its counter. A rank sends its message of an exchange when it has all messages of
 * the exchange before, so two counters, used in turn, tell the exchanges apart. */
#define _GNU_SOURCE /* syscall */
#include <linux/futex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"
#include "runtime/engine/rank_transport.h"

#define TAG 1

/* The messages that other ranks have notified a rank of, in exchanges with even and odd numbers. */
struct message_counts {
    _Alignas(64) uint32_t count[2];
};

static struct message_counts *counts_of[RANK_MAX]; /* by rank; NULL: it is on another machine */
static struct message_counts no_counts, *own_counts = &no_counts;
static uint32_t neighbour_count = 1, notifiers;
static MPI_Win window = MPI_WIN_NULL;
static MPI_Request *requests; /* pieces of messages that are under way */
static int request_count;
static size_t request_capacity;

/* Where the library has no common memory, no rank is notified, and all poll the library. */
static void share_counts(MPI_Comm machine)
{
    MPI_Group all, local;
    int size, failed;
    MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
    MPI_Comm_size(machine, &size);
    neighbour_count = (uint32_t)size;
    failed =
        MPI_Win_allocate_shared(sizeof *own_counts, 1, MPI_INFO_NULL, machine, &own_counts, &window)
        != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, machine);
    if (failed)
        return;
    *own_counts = (struct message_counts){{0, 0}};
    notifiers = neighbour_count - 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(machine, &local);
    for (int i = 0; i < size; i++) {
        MPI_Aint bytes;
        int unit, rank;
        void *theirs;
        MPI_Group_translate_ranks(local, 1, &i, all, &rank);
        MPI_Win_shared_query(window, i, &bytes, &unit, &theirs);
        counts_of[rank] = theirs;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&local);
    MPI_Barrier(machine);
}

/* The library inspects the machine by hwloc. A plugin of hwloc asks OpenCL for devices. In a
 * program's process these are devices of the platform that is being opened, and hwloc would wait
 * for them for ever. */
static bool init_library(void)
{
    static const char name[] = "HWLOC_COMPONENTS";
    int provided;
    bool is_chosen = getenv(name);
    setenv(name, "-opencl", 0);
    bool is_open = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) == MPI_SUCCESS
                   && provided >= MPI_THREAD_SERIALIZED;
    if (!is_chosen)
        unsetenv(name);
    return is_open;
}

static bool open_ranks(uint32_t *number, uint32_t *count)
{
    int rank, size;
    if (!init_library()) {
        fprintf(stderr, "heddle: this MPI library cannot be used by several threads in turn\n");
        return false;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *number = (uint32_t)rank;
    *count = (uint32_t)size;
    MPI_Comm machine;
    if (size <= RANK_MAX
        && MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine)
               == MPI_SUCCESS)
        share_counts(machine);
    return true;
}

static uint32_t neighbours(void)
{
    return neighbour_count;
}

/* The count that all neighbours together reach with that exchange. */
static uint32_t expected_count(uint64_t exchange)
{
    return (uint32_t)divide_up(exchange, 2) * notifiers;
}

static void futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

static void notify(uint32_t to, uint64_t exchange)
{
    if (!counts_of[to])
        return;
    uint32_t *count = &counts_of[to]->count[exchange & 1];
    if (__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) == expected_count(exchange))
        futex(count, FUTEX_WAKE, 1, NULL);
}

static bool wait_for_neighbours(uint64_t exchange, uint32_t polls, uint32_t sleep_ns)
{
    const struct timespec limit = {0, (long)sleep_ns};
    uint32_t *count = &own_counts->count[exchange & 1], all = expected_count(exchange), now;
    while ((now = __atomic_load_n(count, __ATOMIC_ACQUIRE)) != all && polls-- > 0)
        __builtin_ia32_pause();
    if (now != all)
        futex(count, FUTEX_WAIT, now, &limit);
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) == all;
}

static void send_bytes(uint32_t to, const void *bytes, size_t size)
{
    grow_list(requests, (size_t)request_count + 1, request_capacity, "messages to other ranks");
    MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &requests[request_count++]);
}

static bool has_sent(void)
{
    int done = 1;
    while (request_count && done) {
        MPI_Test(&requests[request_count - 1], &done, MPI_STATUS_IGNORE);
        request_count -= done != 0;
    }
    return !request_count;
}

static int64_t probe(uint32_t from)
{
    int found = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe((int)from, TAG, MPI_COMM_WORLD, &found, &status);
    if (!found)
        return -1;
    MPI_Get_count(&status, MPI_BYTE, &size);
    return size;
}

static void receive_bytes(uint32_t from, void *bytes, size_t size)
{
    MPI_Recv(bytes, (int)size, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void close_ranks(void)
{
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    MPI_Finalize();
}

static void abort_ranks(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

__attribute__((visibility("default"))) const struct rank_transport *heddle_rank_transport(void);

const struct rank_transport *heddle_rank_transport(void)
{
    static const struct rank_transport table = {.abi = RANK_TRANSPORT_ABI,
                                                .name = HEDDLE_MPI_NAME,
                                                .open = open_ranks,
                                                .neighbours = neighbours,
                                                .notify = notify,
                                                .wait = wait_for_neighbours,
                                                .send = send_bytes,
                                                .has_sent = has_sent,
                                                .probe = probe,
                                                .receive = receive_bytes,
                                                .close = close_ranks,
                                                .abort = abort_ranks};
    return &table;
}
