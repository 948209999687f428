/* Messages of kfd_channel.h, as programs send them. By system calls, as the C library's calls may
 * be interposed. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_SOCKET_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "kfd_channel.h"

/* A connection with the server whose socket lies in the folder. -1: errno says why. */
int kfd_socket_connect(const char *folder);
/* The descriptor, beyond those that programs close without looking. */
int kfd_socket_move_up(int fd);
void kfd_socket_close(int fd);
/* `file`: a descriptor that goes with it; -1: none. */
bool kfd_socket_put(int fd, const struct kfd_call *call, int file);
/* `files`: where `count` descriptors go that may come with the answer, or NULL. */
bool kfd_socket_take(int fd, struct kfd_reply *reply, int *files, size_t count);

#endif
