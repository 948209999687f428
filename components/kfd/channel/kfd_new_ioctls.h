/* Calls of /dev/kfd that the distribution's linux/kfd_ioctl.h does not have: those of Linux since
 * 1.12, as far as they are answered, and two of ROCm's own branch of the driver, which ROCt has
 * used for shared memory since ROCm 2. Numbers and layouts are the kernel's; what a field means is
 * said where the call is answered. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_NEW_IOCTLS_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_NEW_IOCTLS_H

#include <linux/kfd_ioctl.h>
#include <stdint.h>

#ifndef AMDKFD_IOC_EXPORT_DMABUF
struct kfd_ioctl_export_dmabuf_args {
    uint64_t handle;    /* to the driver */
    uint32_t flags;     /* to the driver: those of open() */
    uint32_t dmabuf_fd; /* from the driver */
};
#define AMDKFD_IOC_EXPORT_DMABUF AMDKFD_IOWR(0x24, struct kfd_ioctl_export_dmabuf_args)
#endif

#ifndef AMDKFD_IOC_RUNTIME_ENABLE
#define KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK    1
#define KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK 2
struct kfd_ioctl_runtime_enable_args {
    uint64_t r_debug; /* to the driver */
    uint32_t mode_mask, capabilities_mask;
};
#define AMDKFD_IOC_RUNTIME_ENABLE AMDKFD_IOWR(0x25, struct kfd_ioctl_runtime_enable_args)
#endif

/* ---- ROCm's branch ---- */
struct kfd_ioctl_ipc_import_handle_args {
    uint64_t handle;          /* from the driver */
    uint64_t va_addr;         /* to the driver */
    uint64_t mmap_offset;     /* from the driver */
    uint32_t share_handle[4]; /* to the driver */
    uint32_t gpu_id;          /* to the driver */
    uint32_t flags;           /* from the driver */
};
#define AMDKFD_IOC_IPC_IMPORT_HANDLE AMDKFD_IOWR(0x80, struct kfd_ioctl_ipc_import_handle_args)

struct kfd_ioctl_ipc_export_handle_args {
    uint64_t handle;          /* to the driver */
    uint32_t share_handle[4]; /* from the driver */
    uint32_t gpu_id, flags;   /* to the driver */
};
#define AMDKFD_IOC_IPC_EXPORT_HANDLE AMDKFD_IOWR(0x81, struct kfd_ioctl_ipc_export_handle_args)

#endif
