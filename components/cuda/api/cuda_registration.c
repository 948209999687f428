/* Binaries embedded in a program, which the constructors of nvcc and clang register before main().
 *
 * The HIP library keeps the list (hip_registration.c). Only the form of a binary differs here, so
 * load_embedded() gets the PTX for a device out of it when the binary is first used there. */
#include <stdlib.h>
#include <string.h>

#include "components/cuda/fatbin/cuda_fatbin.h"

#include "cuda_internal.h"

enum {
    WRAPPER_MAGIC = 0x466243b1, /* clang, CGCUDANV */
    WRAPPER_VERSION = 1,
    WRAPPER_LINKED = 2 /* made by a linker of device code */
};

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *more; /* a name, or the binaries that were linked */
};

static const char *const embedded = "the program's embedded GPU code";

static hipError_t fail_target(const struct cuda_fatbin *fatbin, const char *isa)
{
    char list[200];
    cuda_fatbin_list(fatbin, list, sizeof list);
    cuda_services()->say("the GPUs are %s, but %s has no PTX for them, only: %s; compile with "
                         "-arch=%s (nvcc: not with code=%s alone; clang: --cuda-gpu-arch=%s)",
                         isa, embedded, list, isa, isa, isa);
    return hipErrorNoBinaryForGpu;
}

static hipError_t load_container(const void *bytes, size_t size, int device,
                                 struct hip_module **loaded)
{
    const struct hip_services *services = cuda_services();
    const struct driver_device_info *info = services->device_info(device);
    struct cuda_fatbin fatbin;
    size_t length = 0;
    if (!cuda_fatbin_read(&fatbin, bytes, size)) {
        services->say("%s: %s", embedded, fatbin.error);
        return hipErrorInvalidImage;
    }
    const struct cuda_fatbin_entry *entry = cuda_fatbin_find(&fatbin, driver_capability(info));
    if (!entry)
        return fail_target(&fatbin, info->isa);
    char *text = cuda_fatbin_unpack(&fatbin, entry, &length);
    if (!text) {
        services->say("%s: %s", embedded, fatbin.error);
        return hipErrorInvalidImage;
    }
    hipError_t error = services->load_ptx(text, length, device, embedded, loaded);
    free(text);
    return error;
}

static hipError_t load_embedded(const void *bytes, int device, struct hip_module **loaded)
{
    const struct hip_services *services = cuda_services();
    const struct wrapper *wrapper = bytes;
    if (wrapper->magic == WRAPPER_MAGIC && wrapper->version == WRAPPER_LINKED) {
        services->say(
            "the program was built with -rdc=true, which links device code of several files: "
            "only its machine code is linked; build it without -rdc");
        return hipErrorNoBinaryForGpu;
    }
    if (wrapper->magic != WRAPPER_MAGIC || wrapper->version != WRAPPER_VERSION) {
        services->say("%s has magic 0x%08x and version %u, not 0x%08x and %d", embedded,
                      wrapper->magic, wrapper->version, WRAPPER_MAGIC, WRAPPER_VERSION);
        return hipErrorInvalidImage;
    }
    return load_container(wrapper->data, services->readable_bytes(wrapper->data), device, loaded);
}

void **cuda_register_binary(const void *wrapper)
{
    return cuda_services()->register_binary(wrapper, load_embedded);
}

void cuda_registration_step(void **handle)
{
    (void)handle;
}

/* ---- managed variables ---- */

/* A pointer of the program's that is to point to a variable of a binary. */
struct managed {
    struct managed *next;
    void **handle, **pointer;
};
static struct managed *managed;

/* Constructors run one after the other. */
void cuda_register_managed(void **handle, void **pointer, char *name, size_t size)
{
    struct managed *entry = calloc(1, sizeof *entry);
    if (!entry) {
        cuda_services()->say("out of memory for a managed variable");
        abort();
    }
    *entry = (struct managed){.next = managed, .handle = handle, .pointer = pointer};
    managed = entry;
    __hipRegisterVar(handle, (void *)pointer, NULL, name, 0, size, 0, 0);
}

/* Compilers call this before host code first uses a managed variable of the binary. */
char cuda_init_module(void **handle)
{
    const char *caller = cuda_begin("managed variables");
    hipError_t error = hipSuccess;
    for (struct managed *variable = managed; variable; variable = variable->next)
        if (variable->handle == handle && error == hipSuccess)
            error = hipGetSymbolAddress(variable->pointer, (void *)variable->pointer);
    cuda_end(caller, error);
    return error == hipSuccess;
}
