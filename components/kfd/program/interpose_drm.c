/* The part of the DRM interface that libdrm_amdgpu asks for when it is initialised: version, and
 * AMDGPU_INFO about the device. Numbers are those of the topology. What is about graphics is 0: the
 * simulated GPUs have none.
 *
 * Arguments are copied as the kernel does, so that a wrong pointer is EFAULT. The interface is that
 * of drm.h and amdgpu_drm.h of Linux (libdrm-dev has them), whose structs are repeated here as far
 * as they are filled. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/number.h"
#include "components/kfd/channel/kfd_ids.h"
#include "components/kfd/channel/program_memory.h"

#include "interpose.h"
#include "kfd_devices.h"

enum { DRM_VERSION = 0x00, DRM_AMDGPU_INFO = 0x45, INTERFACE_MAJOR = 3, INTERFACE_MINOR = 42 };

/* AMDGPU_INFO_* */
enum { ASK_ACCELERATED = 0x00, ASK_VRAM = 0x14, ASK_REGISTERS = 0x15, ASK_DEVICE = 0x16 };

/* AMDGPU_FAMILY_*; AMDGPU_VRAM_TYPE_HBM */
enum { FAMILY_VI = 130, FAMILY_AI = 141, MEMORY_HBM = 6, ENGINES_MAX = 4, REGISTERS_MAX = 128 };

struct drm_version {
    int32_t major, minor, patch;
    uint64_t name_size, name, date_size, date, description_size, description;
};

struct drm_info {
    uint64_t to;
    uint32_t size, query;
    uint32_t register_offset, register_count, register_instance, register_flags;
};

/* struct drm_amdgpu_info_device up to the address range. */
struct drm_device {
    uint32_t device_id, chip_rev, external_rev, pci_rev, family;
    uint32_t engines, arrays_per_engine, counter_khz;
    uint64_t engine_khz, memory_khz;
    uint32_t compute_units, always_on, units[4][4];
    uint32_t pipes, pipe_count, contexts, pcie;
    uint64_t flags, address_first, address_last;
    uint32_t address_alignment, fragment, page, ce_ram;
    uint32_t memory_type, memory_bits;
};

struct drm_vram {
    uint64_t vram, visible, gtt;
};

/* ---- numbers of the topology ---- */

/* "simd_count 256"; 0: the file has no such line. */
static uint64_t property(uint32_t node, const char *file, const char *name)
{
    char path[128], line[512];
    struct interpose_path found;
    uint64_t value = 0;
    size_t length = strlen(name);
    snprintf(path, sizeof path, "/sys/devices/virtual/kfd/kfd/topology/nodes/%u/%s", node, file);
    FILE *from = interpose_find(path, &found) == INTERPOSE_FILE ? fopen(path, "r") : NULL;
    while (from && fgets(line, sizeof line, from))
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            sscanf(line + length, "%" SCNu64, &value);
    if (from)
        fclose(from);
    return value;
}

static uint32_t of_node(uint32_t node, const char *name)
{
    return (uint32_t)property(node, "properties", name);
}

static uint64_t of_memory(uint32_t node, const char *name)
{
    return property(node, "mem_banks/0/properties", name);
}

/* ---- answers ---- */

static int fail_call(int reason)
{
    errno = reason;
    return -1;
}

/* Gives as much as fits, and the whole length, as the kernel does. */
static bool put_text(uint64_t to, uint64_t *size, const char *text)
{
    uint64_t capacity = *size, length = strlen(text);
    *size = length;
    return !to || program_write(0, to, text, min(capacity, length));
}

static int answer_version(void *argument)
{
    struct drm_version version;
    if (!program_read(0, &version, (uintptr_t)argument, sizeof version))
        return -1;
    version.major = INTERFACE_MAJOR;
    version.minor = INTERFACE_MINOR;
    version.patch = 0;
    bool fits = put_text(version.name, &version.name_size, "amdgpu")
                && put_text(version.date, &version.date_size, "20150101")
                && put_text(version.description, &version.description_size, "AMD GPU")
                && program_write(0, (uintptr_t)argument, &version, sizeof version);
    return fits ? 0 : -1;
}

static void fill_device(struct drm_device *device, uint32_t node)
{
    uint32_t arrays = of_node(node, "array_count"), simds = of_node(node, "simd_per_cu");
    *device = (struct drm_device){
        .device_id = of_node(node, "device_id"),
        .pci_rev = (node - 1) & 0xff, /* as the list of names has them */
        .family = of_node(node, "gfx_target_version") < 90000 ? FAMILY_VI : FAMILY_AI,
        .engines = min(arrays, ENGINES_MAX),
        .arrays_per_engine = 1,
        .engine_khz = UINT64_C(1000) * of_node(node, "max_engine_clk_fcompute"),
        .memory_khz = 1000 * of_memory(node, "mem_clk_max"),
        .compute_units = simds ? of_node(node, "simd_count") / simds : 0,
        .address_first = 0x200000,
        .address_last = UINT64_C(0x7ffffffff000),
        .address_alignment = 4096,
        .fragment = 2 << 20,
        .page = 4096,
        .memory_type = MEMORY_HBM,
        .memory_bits = (uint32_t)of_memory(node, "width"),
    };
}

/* Registers of tiling and of what draws, which are not simulated. */
static int answer_registers(const struct drm_info *info)
{
    static const uint32_t none[REGISTERS_MAX];
    static const struct {
        uint32_t first, last;
    } known[] = {{0x263d, 0x263e}, {0xa0d4, 0xa0d5}, {0x2644, 0x2673}, {0x9d8, 0x9d8}};
    uint64_t last = (uint64_t)info->register_offset + info->register_count - 1;
    size_t bytes = info->register_count * sizeof *none;
    if (!info->register_count || info->register_count > REGISTERS_MAX)
        return fail_call(EINVAL);
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (info->register_offset >= known[i].first && last <= known[i].last)
            return program_write(0, info->to, none, min(bytes, info->size)) ? 0 : -1;
    return fail_call(EFAULT); /* kernel: a register that may not be read */
}

static int answer_info(const struct drm_info *info, uint32_t node)
{
    const uint32_t accelerated = 1;
    struct drm_device device;
    uint64_t bytes = of_memory(node, "size_in_bytes");
    const struct drm_vram vram = {bytes, bytes,
                                  property(0, "mem_banks/0/properties", "size_in_bytes")};
    const void *answer = NULL;
    size_t size = 0;
    if (!info->size || !info->to)
        return fail_call(EINVAL);
    switch (info->query) {
    case ASK_ACCELERATED:
        answer = &accelerated, size = sizeof accelerated;
        break;
    case ASK_VRAM:
        answer = &vram, size = sizeof vram;
        break;
    case ASK_DEVICE:
        fill_device(&device, node);
        answer = &device, size = sizeof device;
        break;
    case ASK_REGISTERS:
        return answer_registers(info);
    default:
        return fail_call(EINVAL);
    }
    return program_write(0, info->to, answer, min(size, info->size)) ? 0 : -1;
}

bool interpose_drm(int minor, unsigned long request, void *argument, int *result)
{
    struct drm_info info;
    if (_IOC_TYPE(request) != 'd')
        return false;
    if (_IOC_NR(request) == DRM_VERSION) {
        *result = answer_version(argument);
        return true;
    }
    if (_IOC_NR(request) != DRM_AMDGPU_INFO)
        return false;
    *result = program_read(0, &info, (uintptr_t)argument, sizeof info)
                  ? answer_info(&info, (uint32_t)(minor - KFD_RENDER_MINOR + 1))
                  : -1;
    return true;
}
