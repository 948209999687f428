/* libFuzzer target of the reader of CUDA's fat binaries: any bytes are read or refused, what is
 * found lies inside of them, and what is packed gives as many bytes as its header says or nothing.
 * The first byte says whether the rest is a whole binary, or what an entry with a sound header has,
 * packed in one of the ways: hardly any input has such a header. */
#include <stdlib.h>
#include <string.h>

#include "components/cuda/fatbin/cuda_fatbin.h"

enum { CONTAINER = 16, HEADER = 64, PACKINGS = 3, UNPACKED = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static unsigned check(const uint8_t *bytes, size_t size)
{
    struct cuda_fatbin fatbin;
    char list[64];
    unsigned sum = 0;
    if (!cuda_fatbin_read(&fatbin, bytes, size)) {
        if (fatbin.error[0] == '\0')
            abort(); /* a refusal says why */
        return 0;
    }
    for (size_t i = 0; i < fatbin.count; i++) {
        size_t length = 0;
        if (fatbin.entries[i].unpacked > 1 << 24)
            continue; /* the reader takes more, which is slow */
        char *text = cuda_fatbin_unpack(&fatbin, &fatbin.entries[i], &length);
        for (size_t at = 0; text && at < length; at += length / 16 + 1)
            sum += (unsigned char)text[at];
        if (!text && fatbin.error[0] == '\0')
            abort();
        free(text);
    }
    cuda_fatbin_list(&fatbin, list, sizeof list);
    return sum + (cuda_fatbin_find(&fatbin, 80) != NULL);
}

/* A sound container of one entry with the content, packed as `flags` say. */
static unsigned check_content(const uint8_t *content, size_t size, uint64_t flags)
{
    size_t room = CONTAINER + HEADER + size;
    uint8_t *bytes = calloc(1, room);
    const uint32_t magic = 0xba55ed50, packed = (uint32_t)size, header = HEADER, sm = 80;
    const uint16_t version = 1, container = CONTAINER, kind = CUDA_FATBIN_PTX;
    const uint64_t inside = HEADER + size, stored = size, unpacked = UNPACKED;
    uint8_t *entry = bytes + CONTAINER;
    memcpy(bytes, &magic, 4);
    memcpy(bytes + 4, &version, 2);
    memcpy(bytes + 6, &container, 2);
    memcpy(bytes + 8, &inside, 8);
    memcpy(entry, &kind, 2);
    memcpy(entry + 4, &header, 4);
    memcpy(entry + 8, &stored, 8);
    memcpy(entry + 16, &packed, 4);
    memcpy(entry + 28, &sm, 4);
    memcpy(entry + 40, &flags, 8);
    memcpy(entry + 56, &unpacked, 8);
    memcpy(entry + HEADER, content, size);
    unsigned sum = check(bytes, room);
    free(bytes);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const uint64_t flags[PACKINGS] = {0, 0x2000, 0x8000};
    unsigned way = size > 0 ? bytes[0] % (PACKINGS + 1) : 0, sum = 0;
    if (size > 0 && way < PACKINGS)
        sum = check_content(bytes + 1, size - 1, flags[way]);
    else if (size > 0)
        sum = check(bytes + 1, size - 1);
    return sum == UINT32_MAX;
}
