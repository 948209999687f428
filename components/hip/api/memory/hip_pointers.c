/* Kernels get addresses of pinned and registered memory in their arguments, or in bytes that were
 * copied to the device. Whatever goes there is looked at, word by word: what could be the address
 * of such memory makes it usable on the device (hip_map_wanted). A number that only looks like an
 * address costs copies and changes no result. */
#include "components/hip/api/hip_internal.h"

/* All of them lie in [low, high). */
static struct {
    uint64_t low, high;
    size_t count;
} watched;

void hip_watch_pointers(uint64_t address, uint64_t size)
{
    if (watched.count == 0 || address < watched.low)
        watched.low = address;
    if (watched.count == 0 || address + size > watched.high)
        watched.high = address + size;
    watched.count++;
}

void hip_unwatch_pointers(void)
{
    watched.count--;
}

void hip_look_for_pointers(uint64_t to, const void *bytes, uint64_t size)
{
    enum { WORDS = 512 }; /* looked at together, for speed */
    uint64_t skipped = -to % sizeof(uint64_t), span = watched.high - watched.low;
    if (watched.count == 0 || size < skipped + sizeof(uint64_t))
        return;
    const unsigned char *at = (const unsigned char *)bytes + skipped;
    const unsigned char *end = at + (size - skipped) / sizeof(uint64_t) * sizeof(uint64_t);
    while (at < end) {
        uint64_t words[WORDS], found = 0;
        size_t left = (size_t)(end - at) / sizeof words[0], count = left < WORDS ? left : WORDS;
        memcpy(words, at, count * sizeof words[0]);
        for (size_t i = 0; i < count; i++)
            found |= words[i] - watched.low < span;
        for (size_t i = 0; i < count && found; i++)
            if (words[i] - watched.low < span)
                hip_set_wanted(words[i]);
        at += count * sizeof words[0];
    }
}
