/* The calls that have descriptors in their arguments; see kfd_channel.h. Both sides go by this
 * list. */
#include <sys/ioctl.h>

#include "base/number.h"

#include "kfd_channel.h"
#include "kfd_new_ioctls.h"

int kfd_descriptor_at(unsigned long number, bool *makes)
{
    static const struct {
        unsigned long number;
        size_t at;
        bool makes;
    } list[] = {
        {AMDKFD_IOC_GET_DMABUF_INFO, offsetof(struct kfd_ioctl_get_dmabuf_info_args, dmabuf_fd),
         false},
        {AMDKFD_IOC_IMPORT_DMABUF, offsetof(struct kfd_ioctl_import_dmabuf_args, dmabuf_fd), false},
        {AMDKFD_IOC_EXPORT_DMABUF, offsetof(struct kfd_ioctl_export_dmabuf_args, dmabuf_fd), true},
        {AMDKFD_IOC_SMI_EVENTS, offsetof(struct kfd_ioctl_smi_events_args, anon_fd), true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(list); i++) {
        *makes = list[i].makes;
        if (_IOC_NR(list[i].number) == _IOC_NR(number) && _IOC_TYPE(number) == AMDKFD_IOCTL_BASE)
            return (int)list[i].at;
    }
    return -1;
}
