/* Binaries embedded in a program: what hipcc's generated constructors register before main().
 *
 * A constructor registers a fat binary, and with it host functions and host variables that stand
 * for kernels and device variables. They are only noted then; the code object that fits a device is
 * loaded when something of the binary is first used there. Invariant: a registry's entries belong
 * to binaries that are registered. */
#include "hip_registration.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/hip/api/hip_findings.h"
#include "components/hip/api/memory/hip_host_memory.h"
#include "components/hip/api/record/hip_record.h"
#include "runtime/engine/options.h"

enum {
    WRAPPER_MAGIC = 0x48495046, /* "FPIH" in memory (clang, CGCUDANV) */
    WRAPPER_VERSION = 1
};

struct wrapper {
    uint32_t magic, version;
    const void *bundle;
    const void *unused;
};

/* The code that hipcc embeds in one object file or, with device linking, in one program. */
struct binary {
    struct binary *next;
    const void *wrapper;
    hipError_t (*load)(const void *wrapper, int device, struct hip_module **loaded);
    struct hip_module *modules[HIP_DEVICES_MAX]; /* NULL until used there */
    hipError_t errors[HIP_DEVICES_MAX];          /* error of loading on each device */
};

/* A host address that means a kernel or a device variable of a binary. */
struct registered {
    const void *host;
    struct binary *binary;
    const char *name; /* in the program's memory */
    uint64_t size;
    bool is_managed;  /* `host` is its address on both sides */
    bool is_constant; /* only the host changes it */
};

struct registry {
    struct registered *list; /* sorted by host address */
    size_t count, capacity;
};

static struct binary *binaries;
static struct registry host_functions, host_variables;

/* Tells loaded code where the managed variables of its binary are. */
static hipError_t set_managed_pointers(const struct binary *binary, int device)
{
    hipError_t error = hipSuccess;
    for (size_t i = 0; i < host_variables.count && error == hipSuccess; i++) {
        const struct registered *entry = &host_variables.list[i];
        uint64_t address = 0, size = 0, value = (uintptr_t)entry->host, ticket = 0;
        if (!entry->is_managed || entry->binary != binary
            || hip_find_variable(binary->modules[device], entry->name, &address, &size)
                   != hipSuccess
            || size != sizeof value)
            continue; /* device code does not use it */
        const struct hip_recorded_copy copy = {.to = address,
                                               .host = &value,
                                               .size = sizeof value,
                                               .rows = 1,
                                               .writes_device = true,
                                               .waits = true};
        hip_record_copy(&copy);
        enum driver_status status =
            hip.api->write(hip.devices[device].queue, address, &value, sizeof value, &ticket);
        error = hip_status_of(status == DRIVER_OK ? hip.api->wait(ticket) : status,
                              "managed variables");
    }
    return error;
}

/* The loader of what hipcc embeds. */
static hipError_t load_wrapper(const void *bytes, int device, struct hip_module **loaded)
{
    const struct wrapper *wrapper = bytes;
    if (wrapper->magic == WRAPPER_MAGIC && wrapper->version == WRAPPER_VERSION)
        return hip_load_module(wrapper->bundle, hip_readable_bytes(wrapper->bundle), device,
                               "the program's embedded GPU code", loaded);
    hip_say("the program's embedded GPU code has magic 0x%08x and version %u, not 0x%08x and %d",
            wrapper->magic, wrapper->version, WRAPPER_MAGIC, WRAPPER_VERSION);
    return hipErrorInvalidImage;
}

static void describe_constants(const struct binary *binary, int device)
{
    uint64_t address, size;
    for (size_t i = 0; i < host_variables.count; i++) {
        const struct registered *entry = &host_variables.list[i];
        if (entry->is_constant && entry->binary == binary
            && hip_find_variable(binary->modules[device], entry->name, &address, &size)
                   == hipSuccess)
            hip.api->describe_constant(address, size);
    }
}

static hipError_t load_binary(struct binary *binary, int device)
{
    if (binary->modules[device] || binary->errors[device] != hipSuccess)
        return binary->errors[device];
    hipError_t error = binary->load(binary->wrapper, device, &binary->modules[device]);
    if (error == hipSuccess)
        error = set_managed_pointers(binary, device);
    if (error == hipSuccess)
        describe_constants(binary, device);
    binary->errors[device] = error;
    return error;
}

/* The index of `host` in a registry, or of the next higher one. */
static size_t registry_index(const struct registry *registry, const void *host)
{
    size_t low = 0, high = registry->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)registry->list[middle].host < (uintptr_t)host)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct registered *registry_find(const struct registry *registry, const void *host)
{
    size_t index = registry_index(registry, host);
    return index < registry->count && registry->list[index].host == host ? &registry->list[index]
                                                                         : NULL;
}

static void registry_add(struct registry *registry, struct registered entry)
{
    grow_list(registry->list, registry->count + 1, registry->capacity, HIP_LIBRARY);
    size_t index = registry_index(registry, entry.host);
    memmove(&registry->list[index + 1], &registry->list[index],
            (registry->count - index) * sizeof *registry->list);
    registry->list[index] = entry;
    registry->count++;
}

static void registry_remove(struct registry *registry, const struct binary *binary)
{
    size_t kept = 0;
    for (size_t i = 0; i < registry->count; i++)
        if (registry->list[i].binary != binary)
            registry->list[kept++] = registry->list[i];
    registry->count = kept;
}

hipError_t hip_find_host_function(const void *host_function, int device,
                                  const struct hip_function **function)
{
    const struct registered *entry = registry_find(&host_functions, host_function);
    if (!entry) {
        hip_say("%p is not a kernel that this program has registered", host_function);
        return hipErrorInvalidDeviceFunction;
    }
    hipError_t error = load_binary(entry->binary, device);
    if (error != hipSuccess)
        return error;
    const struct hip_module *module = entry->binary->modules[device];
    const struct code_object_kernel *kernel = code_object_find_kernel(&module->object, entry->name);
    if (!kernel) {
        hip_say("the program's embedded GPU code has no kernel '%s'", entry->name);
        return hipErrorInvalidDeviceFunction;
    }
    *function = &module->functions[kernel - module->object.kernels];
    return hipSuccess;
}

hipError_t hip_find_host_variable(const void *host_variable, int device, uint64_t *address,
                                  uint64_t *size)
{
    const struct registered *entry = registry_find(&host_variables, host_variable);
    if (!entry) {
        hip_say("%p is not a device variable that this program has registered", host_variable);
        return hipErrorInvalidSymbol;
    }
    if (entry->is_managed) {
        *address = (uintptr_t)entry->host;
        *size = entry->size;
        return hipSuccess;
    }
    hipError_t error = load_binary(entry->binary, device);
    if (error != hipSuccess)
        return error;
    if (hip_find_variable(entry->binary->modules[device], entry->name, address, size)
        != hipSuccess) {
        hip_say("the program's embedded GPU code has no variable '%s'", entry->name);
        return hipErrorInvalidSymbol;
    }
    return hipSuccess;
}

bool hip_is_embedded(const struct hip_module *module)
{
    for (const struct binary *binary = binaries; binary; binary = binary->next)
        if (binary->modules[module->device] == module)
            return true;
    return false;
}

void hip_unload_embedded(int device)
{
    for (struct binary *binary = binaries; binary; binary = binary->next) {
        if (binary->modules[device])
            hip_unload_module(binary->modules[device]);
        binary->modules[device] = NULL;
        binary->errors[device] = hipSuccess;
    }
}

void **hip_register_binary(const void *wrapper, hipError_t (*load)(const void *wrapper, int device,
                                                                   struct hip_module **loaded))
{
    struct binary *binary = hip_allocate(sizeof *binary);
    binary->wrapper = wrapper;
    binary->load = load;
    hip_lock();
    binary->next = binaries;
    binaries = binary;
    hip_unlock();
    return (void **)binary;
}

void **__hipRegisterFatBinary(const void *wrapper)
{
    return hip_register_binary(wrapper, load_wrapper);
}

void __hipUnregisterFatBinary(void **handle)
{
    hip_lock();
    for (struct binary **link = &binaries; *link; link = &(*link)->next) {
        struct binary *binary = *link;
        if ((void **)binary != handle)
            continue;
        *link = binary->next;
        registry_remove(&host_functions, binary);
        registry_remove(&host_variables, binary);
        for (int device = 0; device < HIP_DEVICES_MAX; device++)
            if (binary->modules[device])
                hip_unload_module(binary->modules[device]);
        hip_release(binary);
        break;
    }
    hip_unlock();
}

void __hipRegisterFunction(void **handle, const void *host_function, char *device_function,
                           const char *device_name, unsigned thread_limit, void *thread_id,
                           void *block_id, dim3 *block, dim3 *grid, int *wavefront)
{
    (void)device_function, (void)thread_limit, (void)thread_id, (void)block_id;
    (void)block, (void)grid, (void)wavefront; /* clang passes no limits here */
    hip_lock();
    registry_add(&host_functions, (struct registered){.host = host_function,
                                                      .binary = (struct binary *)(void *)handle,
                                                      .name = device_name});
    hip_unlock();
}

void __hipRegisterVar(void **handle, void *host_variable, char *host_name, char *device_name,
                      int external, size_t size, int constant, int global)
{
    (void)host_name, (void)external, (void)global;
    hip_lock();
    registry_add(&host_variables, (struct registered){.host = host_variable,
                                                      .binary = (struct binary *)(void *)handle,
                                                      .name = device_name,
                                                      .size = size,
                                                      .is_constant = constant != 0});
    hip_unlock();
}

/* A managed variable is used by host code without any call, so its memory is made here, and with it
 * the platform is opened; without a platform it is ordinary memory. Device code finds it through a
 * pointer of the same name, set when the code is loaded. */
void __hipRegisterManagedVar(void *handle, void **pointer, void *initial, const char *name,
                             size_t size, unsigned align)
{
    const char *platform = getenv(OPTIONS_ENV_PLATFORM);
    uint64_t address = 0;
    hipError_t error = platform && *platform ? hip_enter("managed variables") : hipErrorNoDevice;
    hip_hide_origins(true);
    if (error == hipSuccess)
        error = hip_allocate_managed(size, hipMemAttachGlobal, &address);
    hip_hide_origins(false);
    if (platform && *platform)
        hip_leave(hipSuccess); /* errors come with the first use */
    (void)align;               /* whole pages */
    *pointer = error == hipSuccess ? (void *)(uintptr_t)address : hip_allocate(size);
    if (initial)
        memcpy(*pointer, initial, size);
    hip_lock();
    registry_add(&host_variables, (struct registered){.host = *pointer,
                                                      .binary = (struct binary *)handle,
                                                      .name = name,
                                                      .size = size,
                                                      .is_managed = true});
    hip_unlock();
}

/* Nothing to do: surfaces and textures are only usable through functions that are refused by name.
 */
void __hipRegisterSurface(void **handle, void *host_variable, char *host_name, char *device_name,
                          int type, int external)
{
    (void)handle, (void)host_variable, (void)host_name, (void)device_name, (void)type,
        (void)external;
}

void __hipRegisterTexture(void **handle, void *host_variable, char *host_name, char *device_name,
                          int type, int normalised, int external)
{
    (void)handle, (void)host_variable, (void)host_name, (void)device_name, (void)type;
    (void)normalised, (void)external;
}

static hipError_t symbol_address(void **pointer, size_t *size, const void *symbol)
{
    uint64_t address = 0, bytes = 0;
    hipError_t error = pointer || size
                           ? hip_find_host_variable(symbol, hip_current_device(), &address, &bytes)
                           : hipErrorInvalidValue;
    if (error == hipSuccess && pointer)
        *pointer = (void *)(uintptr_t)address;
    if (error == hipSuccess && size)
        *size = bytes;
    return error;
}

HIP_DEFINE(hipGetSymbolAddress, (pointer, symbol), void **pointer, const void *symbol)
{
    return symbol_address(pointer, NULL, symbol);
}

HIP_DEFINE(hipGetSymbolSize, (size, symbol), size_t *size, const void *symbol)
{
    return symbol_address(NULL, size, symbol);
}
