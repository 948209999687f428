/* A file that appears at its path when it is complete, or not at all.
 *
 * Until then it has no name, where the file system can do that (O_TMPFILE: ext4, XFS, Btrfs,
 * tmpfs), so a process that is killed leaves nothing behind; elsewhere it is PATH.PID.tmp. What
 * was at the path before stays until it is replaced. */
#ifndef HEDDLE_RUNTIME_ENGINE_OUTPUT_FILE_H
#define HEDDLE_RUNTIME_ENGINE_OUTPUT_FILE_H

#include <stdbool.h>

#define OUTPUT_FILE_PATH 4096 /* bytes of a path, with its NUL */

struct output_file {
    int fd; /* for reading and writing; the caller writes, and does not close it */
    bool has_name;
    char path[OUTPUT_FILE_PATH];
    char temporary[OUTPUT_FILE_PATH + 32];
};

/* False: errno says why. */
bool output_file_open(struct output_file *file, const char *path);
/* Closes it, under its name. False: errno says why, and nothing is left. */
bool output_file_publish(struct output_file *file);
/* The file is never to be published: removes its name if it has one. */
void output_file_hide(struct output_file *file);
/* Closes it; nothing is left. */
void output_file_discard(struct output_file *file);

#endif
