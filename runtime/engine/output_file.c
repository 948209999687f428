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
    file->has_name = file->fd < 0;
    if (file->has_name)
        file->fd = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

static bool name(struct output_file *file)
{
    char link[64];
    if (file->has_name)
        return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    unlink(file->temporary); /* a file that an earlier process of this number left */
    file->has_name = linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0;
    return file->has_name;
}

bool output_file_publish(struct output_file *file)
{
    bool is_complete = name(file);
    int reason = errno;
    if (close(file->fd) != 0 && is_complete) {
        is_complete = false;
        reason = errno;
    }
    if (is_complete && rename(file->temporary, file->path) == 0)
        return true;
    reason = is_complete ? errno : reason;
    if (file->has_name)
        unlink(file->temporary);
    errno = reason;
    return false;
}

void output_file_hide(struct output_file *file)
{
    if (file->has_name)
        unlink(file->temporary);
    file->has_name = false;
}

void output_file_discard(struct output_file *file)
{
    close(file->fd);
    if (file->has_name)
        unlink(file->temporary);
}
