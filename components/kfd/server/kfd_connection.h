/* A connection with a thread of the program, as the server's two threads share it. The one that
 * receives calls (kfd_server.c) hands over its requests; the machine's does them
 * (kfd_connection.c). */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_KFD_CONNECTION_H
#define HEDDLE_COMPONENTS_KFD_SERVER_KFD_CONNECTION_H

#include "kfd_machine.h"

struct kfd_connection {
    struct kfd_connection *next;  /* in the machine's list */
    struct kfd_connection *after; /* the next whose process waits for others to come */
    int fd, watch;                /* the latter tells when the process has ended; -1: none */
    pid_t pid;
    uint64_t started;  /* when, in ticks of the system's clock; set when it waits for others */
    bool is_pending;   /* atomic: a call is being done */
    bool is_listed;    /* used by the machine's thread, as what follows */
    bool is_main;      /* the connection of the process, not of a thread */
    bool is_submitter; /* its thread has written to a doorbell */
    int thread;
    struct kfd_process *process; /* NULL: none yet, or not any more */
    struct kfd_request request, gone;
    struct kfd_call call;
    struct kfd_reply reply;
    int passed;            /* a descriptor beside a call or its answer; -1: none */
    bool passes_files;     /* those of KFD_PASS_FILES with the answer */
    bool has_begun;        /* a wait of a guest, which was not over when it was asked for */
    struct kfd_call waits; /* the wait of a guest whose attendant has been called */
    bool returns;          /* the argument of the call */
    uint32_t calls;        /* atomic: number of the call */
    uint32_t given_up;     /* call whose time is over; used by the thread that receives calls */
};

/* The time of a call is over. The call may have been answered, and the next one be on its way,
 * before the machine hears of it. */
struct kfd_give_up {
    struct kfd_request request;
    uint32_t call;
};

/* True if messages of the kind need nothing of the driver, so that one can run in the middle of a
 * kernel. */
bool kfd_kind_runs_mid_kernel(uint32_t kind);
/* True if bytes follow messages of the kind. */
bool kfd_kind_has_bytes(uint32_t kind);

/* The machine's functions for requests of a connection: a message, the end of a call's time, and
 * the end of the connection, to which nothing refers any more. */
int kfd_connection_call(struct kfd_request *request);
int kfd_connection_give_up(struct kfd_request *request);
int kfd_connection_gone(struct kfd_request *request);

/* kfd_server.c. True if a message has been received that is not handed over yet. */
bool kfd_is_receiving(void);

/* Makes the process of a connection that has said hello. */
int kfd_connection_open(struct kfd_connection *c);

#endif
