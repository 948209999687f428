/* Libraries that CUDA programs use and `heddle cuda-cc` does not have: which, and what to do.
 * NVIDIA's are machine code, which nothing here executes. Called by command_cuda_cc.c. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "command/command_say.h"

#include "cuda_cc.h"

#define CLOSED                                                                                     \
    "a library of NVIDIA's, machine code that heddle does not execute; put kernels of your own "   \
    "in the place of its calls"
#define OF_HEADERS  "headers of NVIDIA's; install the package libthrust-dev"
#define OF_COMPILER "NVIDIA's compiler; compile the kernels with the program"
#define OF_CARDS    "about the card, not the program; leave it out"

/* The beginning of a header's name; of what follows -l; what to say. */
static const struct {
    const char *header, *library, *text;
} missing[] = {
    {"thrust/", NULL, OF_HEADERS},
    {"cub/", NULL, OF_HEADERS},
    {"cublas", "cublas", CLOSED},
    {"cufft", "cufft", CLOSED},
    {"cusparse", "cusparse", CLOSED},
    {"cusolver", "cusolver", CLOSED},
    {"cudnn", "cudnn", CLOSED},
    {"cutensor", "cutensor", CLOSED},
    {"cudss", "cudss", CLOSED},
    {"nccl", "nccl", CLOSED},
    {"nvshmem", "nvshmem", CLOSED},
    {"npp", "npp", CLOSED},
    {"nvjpeg", "nvjpeg", CLOSED},
    {"nvrtc", "nvrtc", OF_COMPILER},
    {"nvJitLink", "nvJitLink", OF_COMPILER},
    {"nvml.h", "nvidia-ml", OF_CARDS},
    {"cupti", "cupti", OF_CARDS},
};

void cuda_cc_explain_headers(struct cuda_cc *cc, const char *source)
{
    size_t size;
    const char *text = cuda_cc_read(cc, source, &size);
    for (const char *at = text; at && (at = strstr(at, "#include")); at++) {
        const char *name = at + strlen("#include");
        name += strspn(name, " \t<\"");
        const int length = (int)strcspn(name, ">\"\n");
        if (access(region_printf(cc->c->region, "/usr/include/%.*s", length, name), R_OK) == 0)
            continue;
        for (size_t i = 0; i < ARRAY_COUNT(missing); i++)
            if (strncmp(name, missing[i].header, strlen(missing[i].header)) == 0)
                command_say("'%s' includes %.*s: %s", source, length, name, missing[i].text);
    }
    if (text && (strstr(text, "cuInit(") || strstr(text, "cuLaunchKernel(")))
        command_say("'%s' calls CUDA's driver (cuInit()), whose functions heddle does not have; "
                    "those of the runtime (cudaLaunchKernel()) do the same",
                    source);
}

bool cuda_cc_check_libraries(const struct cuda_cc *cc)
{
    bool ok = true;
    for (size_t k = 0; k < cc->link.count; k++) {
        const char *word = cc->link.items[k];
        for (size_t i = 0; i < ARRAY_COUNT(missing); i++) {
            const char *library = missing[i].library;
            if (!library || strncmp(word, "-l", 2) != 0
                || strncmp(word + 2, library, strlen(library)) != 0)
                continue;
            command_say("'%s' is %s", word, missing[i].text);
            ok = false;
        }
    }
    return ok;
}
