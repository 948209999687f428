/* Files that appear when they are complete. A file without a name gets one in two steps, since a
 * link cannot replace a file and a renaming can: link it as PATH.PID.tmp, rename that. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of `path`, as text of its own. */
static void folder_of(const char *path, char folder[OUTPUT_FILE_PATH])
{
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;
    memcpy(folder, slash ? path : ".", size ? size : 1);
    folder[size ? size : 1] = '\0';
}

bool output_file_open(struct output_file *file, const char *path)
{
    char folder[OUTPUT_FILE_PATH];
    if (strlen(path) >= sizeof file->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(file->path, path);
    snprintf(file->temporary, sizeof file->temporary, "%s.%ld.tmp", path, (long)getpid());
    folder_of(path, folder);
    file->fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
    file->named = file->fd < 0;
    if (file->named)
        file->fd = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

static bool name(struct output_file *file)
{
    char own[64];
    if (file->named)
        return true;
    snprintf(own, sizeof own, "/proc/self/fd/%d", file->fd);
    unlink(file->temporary); /* a file that an earlier process of this number left */
    file->named = linkat(AT_FDCWD, own, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0;
    return file->named;
}

bool output_file_publish(struct output_file *file)
{
    bool good = name(file);
    int reason = errno;
    if (close(file->fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && rename(file->temporary, file->path) == 0)
        return true;
    reason = good ? errno : reason;
    if (file->named)
        unlink(file->temporary);
    errno = reason;
    return false;
}

void output_file_hide(struct output_file *file)
{
    if (file->named)
        unlink(file->temporary);
    file->named = false;
}

void output_file_discard(struct output_file *file)
{
    close(file->fd);
    if (file->named)
        unlink(file->temporary);
}
