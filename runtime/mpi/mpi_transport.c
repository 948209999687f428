/* Ranks by MPI: the one source of heddle_mpi_openmpi.so and heddle_mpi_mpich.so, compiled with the
 * headers of each library. See engine/rank_transport.h; nothing else of heddle is included. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/engine/rank_transport.h"

/* Pieces of a message that are under way at the same time: one for each rank is usual. */
#define REQUESTS_MOST 4096
#define TAG           1

static MPI_Request requests[REQUESTS_MOST];
static MPI_Status statuses[REQUESTS_MOST];
static int request_count;

static bool open_ranks(uint32_t *number, uint32_t *count)
{
    int provided, own, all;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS
        || provided < MPI_THREAD_SERIALIZED) {
        fprintf(stderr, "heddle: this MPI library cannot be used by several threads in turn\n");
        return false;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    *number = (uint32_t)own;
    *count = (uint32_t)all;
    return true;
}

static uint32_t neighbours(void)
{
    MPI_Comm here;
    int count = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here)
        != MPI_SUCCESS)
        return 1;
    MPI_Comm_size(here, &count);
    MPI_Comm_free(&here);
    return (uint32_t)count;
}

static void send_bytes(uint32_t to, const void *bytes, size_t size)
{
    if (request_count == REQUESTS_MOST) {
        fprintf(stderr, "heddle: more than %d messages to other ranks at a time\n", REQUESTS_MOST);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &requests[request_count++]);
}

static bool all_sent(void)
{
    int done = 1;
    if (request_count)
        MPI_Testall(request_count, requests, &done, statuses);
    request_count = done ? 0 : request_count;
    return done != 0;
}

static int64_t arrived(uint32_t from)
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
                                                .send = send_bytes,
                                                .sent = all_sent,
                                                .arrived = arrived,
                                                .receive = receive_bytes,
                                                .close = close_ranks,
                                                .abort = abort_ranks};
    return &table;
}
