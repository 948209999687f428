/* Memory that a program hands on: as a file (dma-buf), or by a number of 128 bits (the interface of
 * ROCm's branch for other processes). Either names memory until its last address is freed; with
 * Linux a file keeps it beyond that. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "components/kfd/channel/kfd_new_ioctls.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_ioctl.h"
#include "components/kfd/server/kfd_machine.h"

/* A file of an allocation. The machine keeps a descriptor of its own, so that no other file gets
 * its number. */
struct kfd_shared {
    struct kfd_shared *next;
    uint64_t handle;
    dev_t device;
    ino_t inode;
    int fd;
};

/* Forgets files whose memory was freed. */
static void drop_freed(struct kfd_process *p)
{
    for (struct kfd_shared **link = &p->shared; *link;) {
        struct kfd_shared *s = *link;
        if (kfd_find_origin(p, s->handle)) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        close(s->fd);
        free(s);
    }
}

void kfd_share_close(struct kfd_process *p)
{
    for (struct kfd_shared *s = p->shared, *next; s; s = next) {
        next = s->next;
        close(s->fd);
        free(s);
    }
    p->shared = NULL;
}

static bool can_be_shared(const struct kfd_allocation *a)
{
    return a && a->flags & (KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT)
           && !(a->flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
}

/* The allocation of a descriptor of the program, or NULL. */
static struct kfd_allocation *find_file(struct kfd_process *p, int fd)
{
    struct stat status;
    drop_freed(p);
    if (fstat(fd, &status) != 0)
        return NULL;
    for (const struct kfd_shared *s = p->shared; s; s = s->next)
        if (s->device == status.st_dev && s->inode == status.st_ino)
            return kfd_find_origin(p, s->handle);
    return NULL;
}

/* The file is empty and stays so. Linux' could be mapped, too; a mapping of this one has no byte.
 */
static int make_file(struct kfd_process *p, uint64_t handle, int flags, int *fd)
{
    struct stat status;
    int ours = memfd_create("heddle dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ours < 0)
        return -errno;
    *fd = fcntl(ours, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    if (*fd < 0 || fstat(ours, &status) != 0
        || fcntl(ours, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        int reason = errno;
        if (*fd >= 0)
            close(*fd);
        close(ours);
        return -reason;
    }
    struct kfd_shared *s = grow_zeroed(sizeof *s, KFD_SERVER);
    *s = (struct kfd_shared){p->shared, handle, status.st_dev, status.st_ino, ours};
    p->shared = s;
    return 0;
}

int kfd_share_export_dmabuf(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_export_dmabuf_args *call = request->argument;
    const struct kfd_allocation *a = kfd_find_handle(p, call->handle);
    int fd = -1;
    if (!can_be_shared(a))
        return -EINVAL;
    drop_freed(p);
    int result = make_file(p, a->origin ? a->origin : a->handle, (int)call->flags, &fd);
    call->dmabuf_fd = (uint32_t)fd;
    return result;
}

int kfd_share_dmabuf_info(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_dmabuf_info_args *call = request->argument;
    const struct kfd_allocation *a = find_file(p, (int)call->dmabuf_fd);
    if (!a)
        return fcntl((int)call->dmabuf_fd, F_GETFD) < 0 ? -EBADF : -EINVAL;
    call->size = a->size;
    call->metadata_size = 0; /* that of graphics */
    call->gpu_id = kfd_gpu_id(a->gpu);
    call->flags = a->flags;
    return 0;
}

int kfd_share_import_dmabuf(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_import_dmabuf_args *call = request->argument;
    struct kfd_allocation *a = find_file(p, (int)call->dmabuf_fd);
    uint64_t handle = call->handle, offset;
    if (!a && fcntl((int)call->dmabuf_fd, F_GETFD) < 0)
        return -EBADF;
    if (!a || kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    int result = kfd_memory_import(p, a, call->va_addr, &handle, &offset);
    call->handle = handle;
    return result;
}

/* ---- numbers for other processes ---- */

static const uint32_t mark[2] = {0x64646568, 0x6b2d656c}; /* the rest is the allocation's handle */

int kfd_share_export_handle(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_ipc_export_handle_args *call = request->argument;
    const struct kfd_allocation *a = kfd_find_handle(p, call->handle);
    if (kfd_find_gpu(call->gpu_id) < 0 || !can_be_shared(a))
        return -EINVAL;
    memcpy(call->share_handle, mark, sizeof mark);
    uint64_t name = a->origin ? a->origin : a->handle;
    memcpy(call->share_handle + 2, &name, sizeof name);
    return 0;
}

int kfd_share_import_handle(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_ipc_import_handle_args *call = request->argument;
    uint64_t name, handle, offset;
    memcpy(&name, call->share_handle + 2, sizeof name);
    struct kfd_allocation *a = kfd_find_origin(p, name);
    if (kfd_find_gpu(call->gpu_id) < 0 || memcmp(call->share_handle, mark, sizeof mark) != 0
        || !can_be_shared(a))
        return -EINVAL;
    int result = kfd_memory_import(p, a, call->va_addr, &handle, &offset);
    if (result != 0)
        return result;
    call->handle = handle;
    call->mmap_offset = offset;
    call->flags = a->flags;
    return 0;
}
