/* linux/kfd_ioctl.h includes <drm/drm.h> for the kernel's integer types and for nothing else.
 * Debian has that header in another place, where the include does not find it. */
#ifndef HEDDLE_COMPONENTS_KFD_COMPAT_DRM_DRM_H
#define HEDDLE_COMPONENTS_KFD_COMPAT_DRM_DRM_H

#include <linux/types.h>

#endif
