/* /dev/kfd and render nodes, as the interposers of file calls see them.
 *
 * Interposers (interpose*.c) recognise files and descriptors; the meaning of a call on /dev/kfd or
 * on a render node is decided behind these functions (kfd_client.c) and by the server. The first
 * kfd_open() connects to the server, so a program without GPUs starts no simulator.
 *
 * Threads: any, also at the same time. None may be called by a signal handler. Calls of functions
 * return 0 or -1 with errno, as those of the C library do. */
#ifndef HEDDLE_COMPONENTS_KFD_PROGRAM_KFD_DEVICES_H
#define HEDDLE_COMPONENTS_KFD_PROGRAM_KFD_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens /dev/kfd, or with `render` the render node of the minor number. A descriptor, which is the
 * caller's to know and to close; -1: there is no such device (ENODEV, ENOENT), or no platform (it
 * message on stderr has the reason). */
int kfd_open(bool render, int minor);
/* ioctl() of one. Unknown requests: ENOTTY, and said once on stderr by number. */
int kfd_ioctl(bool render, unsigned long request, void *argument);
/* mmap() of one: MAP_FAILED with errno. Memory that it made is unmapped and protected by the C
 * library's calls. */
void *kfd_map(bool render, void *address, size_t length, int protection, int flags, off_t offset);
/* The program is about to unmap memory, which GPUs may use. */
void kfd_unmap(const void *address, size_t length);
/* Passes on a signal handler that the program sets for SIGSEGV or SIGTRAP while doorbells are
 * watched: the machine keeps its own and calls the program's for what is not its own. False: the
 * signal is none of the machine's, and the C library's call is to be made. */
struct sigaction;
bool kfd_sigaction(int number, const struct sigaction *action, struct sigaction *before,
                   int *result);

#endif
