/* The name of the kernel to which a descriptor belongs. ROCr keeps a list of the code objects that
 * it has loaded, for debuggers: `_amdgpu_r_debug`, in the form of the C library's list of shared
 * objects, with the ELF file named by a URI. Kernels that are in none of them are ROCr's own, for
 * copies and fills.
 *
 * The memory in which a kernel lies is registered with the driver at its first dispatch, so that
 * instructions that are missing are reported before anything runs. */
#define _GNU_SOURCE /* link.h */
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/amd/isa/object/code_object.h"
#include "components/kfd/channel/program_memory.h"
#include "components/kfd/server/kfd_machine.h"

#define OWN_KERNEL "rocr_kernel"

/* The number after `key` in what follows the # of a URI; 0: there is none. */
static uint64_t uri_number(const char *mark, const char *key)
{
    const char *at = mark ? strstr(mark, key) : NULL;
    return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

/* Reads a part of a file; `*size` 0: all of it. */
static uint8_t *read_file(const char *path, uint64_t offset, size_t *size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !*size && fstat(fd, &about) == 0)
        *size = (size_t)about.st_size;
    uint8_t *image = *size <= CODE_OBJECT_SPAN_MAX ? grow_zeroed(*size + 1, KFD_SERVER) : NULL;
    bool is_valid = fd >= 0 && image && pread(fd, image, *size, (off_t)offset) == (ssize_t)*size;
    if (fd >= 0)
        close(fd);
    if (is_valid)
        return image;
    free(image);
    return NULL;
}

/* The ELF file that a URI names: memory://PID#offset=ADDRESS&size=BYTES, or file://PATH with the
 * same after it, or with nothing. NULL: it cannot be read. */
static uint8_t *read_uri(const struct kfd_process *p, const char *uri, size_t *size)
{
    static const char memory[] = "memory://", file[] = "file://";
    const char *mark = strrchr(uri, '#');
    uint64_t offset = uri_number(mark, "offset=");
    uint8_t *image = NULL;
    *size = uri_number(mark, "size=");
    if (strncmp(uri, file, strlen(file)) == 0) {
        char *path = strdup(uri + strlen(file));
        if (path && mark)
            path[mark - uri - (ptrdiff_t)strlen(file)] = '\0';
        image = path ? read_file(path, offset, size) : NULL;
        free(path);
    } else if (strncmp(uri, memory, strlen(memory)) == 0 && *size <= CODE_OBJECT_SPAN_MAX) {
        image = grow_zeroed(*size + 1, KFD_SERVER);
        if (!program_read(p->pid, image, offset, *size)) {
            free(image);
            image = NULL;
        }
    }
    return image;
}

/* For checks and debuggers, at the first kernel of a file. */
static void describe_code(const struct kfd_process *p, uint64_t base, const uint8_t *image,
                          size_t size)
{
    struct kfd_allocation *a = kfd_find_allocation(p, base);
    if (a && !a->is_described)
        kfd_status(kfd.api->describe_code(kfd_name(p, base), image, size), "describing code");
    if (a)
        a->is_described = true;
}

/* The name of the kernel in the file that is loaded at `base`, or NULL. */
static char *find_in_file(const struct kfd_process *p, const char *uri, uint64_t base,
                          uint64_t object)
{
    size_t size = 0;
    uint8_t *image = read_uri(p, uri, &size);
    struct code_object file;
    char *name = NULL;
    if (!image)
        return NULL;
    if (code_object_read(&file, image, size)) {
        for (size_t i = 0; i < file.kernel_count && !name; i++)
            if (base + file.kernels[i].descriptor_address == object)
                name = strdup(file.kernels[i].name);
    }
    if (name)
        describe_code(p, base, image, size);
    code_object_release(&file);
    free(image);
    return name;
}

/* Reads a text, page by page; it is cut where memory or room ends. */
static void read_text(const struct kfd_process *p, char *text, size_t capacity, uint64_t address)
{
    size_t got = 0;
    memset(text, 0, capacity);
    while (got < capacity - 1 && !memchr(text, 0, got)) {
        size_t part = KFD_PAGE - (address + got) % KFD_PAGE;
        part = min(part, capacity - 1 - got);
        if (!program_read(p->pid, text + got, address + got, part))
            break;
        got += part;
    }
}

static char *find_name(const struct kfd_process *p, uint64_t object)
{
    enum { FILES_MAX = 1 << 16, URI_MAX = 4096 };
    struct r_debug list;
    struct link_map map;
    char *uri = grow_zeroed(URI_MAX, KFD_SERVER), *name = NULL;
    bool known = p->code && program_read(p->pid, &list, p->code, sizeof list);
    uint64_t at = known ? (uintptr_t)list.r_map : 0;
    for (int i = 0; at && i < FILES_MAX && !name; i++) {
        if (!program_read(p->pid, &map, at, sizeof map))
            break;
        read_text(p, uri, URI_MAX, (uintptr_t)map.l_name);
        name = find_in_file(p, uri, map.l_addr, object);
        at = (uintptr_t)map.l_next;
    }
    free(uri);
    return name;
}

static void register_code(const struct kfd_process *p, uint32_t gpu, const char *name,
                          uint64_t entry)
{
    struct kfd_allocation *a = kfd_find_allocation(p, entry);
    if (!a || !a->bytes)
        return;
    if (!a->has_code)
        kfd_status(kfd.api->register_code(p->device[gpu], name, kfd_name(p, a->address), a->bytes,
                                          a->size),
                   name);
    a->has_code = true;
    kfd_status(kfd.api->register_kernel(p->device[gpu], name, kfd_name(p, entry)), name);
}

const struct kfd_kernel *kfd_kernel_name_find(struct kfd_process *p, uint32_t gpu, uint64_t object,
                                              uint64_t entry)
{
    for (const struct kfd_kernel *k = p->kernels; k; k = k->next)
        if (k->object == object)
            return k;
    struct kfd_kernel *k = grow_zeroed(sizeof *k, KFD_SERVER);
    char *symbol = find_name(p, object);
    k->object = object;
    k->symbol = symbol ? symbol : strdup(OWN_KERNEL);
    k->name = code_object_readable_name(k->symbol);
    k->next = p->kernels;
    p->kernels = k;
    register_code(p, gpu, k->name, entry);
    return k;
}

void kfd_kernel_name_release(struct kfd_process *p, const struct kfd_allocation *a)
{
    struct kfd_kernel **link = &p->kernels;
    while (*link) {
        struct kfd_kernel *k = *link;
        if (k->object - a->address < a->size) {
            *link = k->next;
            free(k->symbol);
            free(k->name);
            free(k);
        } else {
            link = &k->next;
        }
    }
    if (!kfd.has_ended)
        kfd_status(kfd.api->unregister_code(kfd_name(p, a->address)), "freeing code");
}
