/* Processes that wait for each other before the first of them runs. The machine's thread calls
 * these. */
#ifndef HEDDLE_COMPONENTS_KFD_SERVER_GUESTS_KFD_START_BARRIER_H
#define HEDDLE_COMPONENTS_KFD_SERVER_GUESTS_KFD_START_BARRIER_H

#include "components/kfd/server/kfd_connection.h"

/* So many processes have to come before the first of them runs. `serves`: they do not come from
 * one command. Before there are any. */
void kfd_start_barrier_await(uint32_t processes, bool serves);
/* The process of the connection has come, and runs when all have come that are waited for. */
void kfd_start_barrier_enter(struct kfd_connection *c);
/* The process has ended. */
void kfd_start_barrier_drop(const struct kfd_connection *c);
/* True if processes of a command wait for others. */
bool kfd_start_barrier_is_short(void);
/* Looks whether others can come. When none can at two looks, those that wait are refused. */
void kfd_start_barrier_look(void);

#endif
