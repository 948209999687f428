/* See hip_fixture.h. */
#include "hip_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/components/amd/isa/object/objects.h"

struct mock_state *fixture_mock(void)
{
    struct mock_state *(*state)(void) = NULL;
    void *object = dlopen(getenv("HEDDLE_PLATFORM"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "mock_state") : NULL;
    cr_assert(symbol, "the mock platform cannot be opened");
    memcpy(&state, &symbol, sizeof symbol);
    return state();
}

void **fixture_register(const char *file, const char *target)
{
    struct wrapper {
        uint32_t magic, version;
        const void *bundle;
        const void *unused;
    } *wrapper = calloc(1, sizeof *wrapper);
    size_t size = 0, at = 4096;
    unsigned char *code = objects_read(file, &size);
    unsigned char *bundle = calloc(1, at + size);
    char id[200] = "hipv4-amdgcn-amd-amdhsa--";
    strncat(id, target, 100);
    uint64_t header[4] = {1, at, size, strlen(id)};
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, header, sizeof header);
    memcpy(bundle + 24 + sizeof header, id, strlen(id));
    memcpy(bundle + at, code, size);
    free(code);
    wrapper->magic = 0x48495046;
    wrapper->version = 1;
    wrapper->bundle = bundle;
    return __hipRegisterFatBinary(wrapper);
}
