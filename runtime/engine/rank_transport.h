/* The transport of messages between ranks: a module, loaded when the platform starts, so that one
 * build of the toolkit serves every MPI library. It is heddle_mpi_NAME.so, which exports
 * heddle_rank_transport().
 *
 * Messages between two ranks arrive in the order in which they were sent. Functions that cannot do
 * their work end the process, with a message. Calls come from one thread at a time. */
#ifndef HEDDLE_RUNTIME_ENGINE_RANK_TRANSPORT_H
#define HEDDLE_RUNTIME_ENGINE_RANK_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_TRANSPORT_ABI 3
#define RANK_MAX           64

struct rank_transport {
    uint32_t abi;
    const char *name; /* the library's name, for messages */
    /* Sets the number of this process and of all processes. */
    bool (*open)(uint32_t *number, uint32_t *count);
    /* The number of ranks on this machine. */
    uint32_t (*neighbours)(void);
    /* Notifies rank `to` that all of this rank's message of that exchange was passed to send().
     * Exchanges are numbered from 1, and all ranks make the same ones. */
    void (*notify)(uint32_t to, uint64_t exchange);
    /* True if the other ranks of this machine have sent their messages of the exchange. If not,
     * polls `polls` times, then sleeps until they have, or for `sleep_ns`. A signal may end the
     * sleep earlier. */
    bool (*wait)(uint64_t exchange, uint32_t polls, uint32_t sleep_ns);
    /* Begins to send; `bytes` stay as they are until has_sent(). */
    void (*send)(uint32_t to, const void *bytes, size_t size);
    /* True if everything has been sent. */
    bool (*has_sent)(void);
    /* The size of the message that comes next from a rank, or -1: there is none yet. */
    int64_t (*probe)(uint32_t from);
    void (*receive)(uint32_t from, void *bytes, size_t size);
    /* Waits for all ranks to call it. */
    void (*close)(void);
    /* Ends all ranks at once. */
    void (*abort)(int status);
};

typedef const struct rank_transport *rank_transport_function(void);

#endif
