/* Says which GPUs the program's ROCr does not know. It leaves them out without a word, and AMD's
 * HIP library does not count on that: programs then crash. A runtime names the targets that it
 * knows, so its file is searched for the names of ours. */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfd_ioctl.h"

enum { LINE_BYTES = 4096 + 128 };

/* The file that is mapped at the address, or below it in the same library. */
static bool find_file(pid_t pid, uint64_t address, char *path, size_t size)
{
    char line[LINE_BYTES], name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    path[0] = '\0';
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long start;
        const char *at = strchr(line, '/');
        if (sscanf(line, "%llx", &start) != 1 || start > address)
            break;
        if (at)
            snprintf(path, size, "%.*s", (int)strcspn(at, "\n"), at);
    }
    if (maps)
        fclose(maps);
    return path[0] != '\0';
}

static bool names_target(const void *bytes, size_t size, const char *target)
{
    return memmem(bytes, size, target, strlen(target)) != NULL;
}

static void look_for_targets(const void *bytes, size_t size, const char *path)
{
    for (uint32_t i = 0; i < kfd.gpu_count; i++) {
        const char *target = kfd.gpu[i].info.isa;
        if (names_target(bytes, size, target))
            continue;
        kfd_say("GPU %u is a %s, which '%s' does not know: it lists no such GPU, and programs of "
                "HIP may crash for that; install a newer ROCm, or use --stack hip",
                i, target, path);
        return;
    }
}

void kfd_rocr_targets_check(pid_t pid, uint64_t code)
{
    static bool looked;
    char path[LINE_BYTES];
    struct stat status;
    if (looked || !code || !find_file(pid, code, path, sizeof path))
        return;
    looked = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_valid = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0;
    void *bytes =
        is_valid ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        look_for_targets(bytes, (size_t)status.st_size, path);
        munmap(bytes, (size_t)status.st_size);
    }
    if (fd >= 0)
        close(fd);
}
