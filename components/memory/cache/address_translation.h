/* What a cache asks of its address translation: a TLB in front of the tags. The cache owns the
 * `translate` port and the requests that wait; the part owns the entries and the list of pages that
 * have been asked for.
 *
 * lookup() counts a hit and changes the order of replacement only when it returns HIT; the cache
 * asks again for a request that could not be taken only if it was no hit. */
#ifndef HEDDLE_COMPONENTS_ADDRESS_TRANSLATION_H
#define HEDDLE_COMPONENTS_ADDRESS_TRANSLATION_H

#include <stdbool.h>
#include <stdint.h>

struct part;

enum address_translation_result {
    ADDRESS_TRANSLATION_HIT,
    ADDRESS_TRANSLATION_PENDING, /* the page has been asked for */
    ADDRESS_TRANSLATION_ABSENT,  /* it can be asked for */
    ADDRESS_TRANSLATION_FULL     /* absent, and no more pages can be asked for now */
};

struct address_translation {
    uint64_t physical; /* of the byte itself */
    bool writable;
};

struct address_translation_ops {
    /* Cycles added to the latency of the cache. */
    uint32_t (*latency)(const struct part *self);
    /* How many pages can be asked for at a time: wait() returns smaller numbers. */
    uint32_t (*capacity)(const struct part *self);
    enum address_translation_result (*lookup)(struct part *self, uint32_t pid, uint64_t address,
                                              struct address_translation *out);
    /* After PENDING or ABSENT: a request begins to wait for its page. Returns the page's number. */
    uint32_t (*wait)(struct part *self, uint32_t pid, uint64_t address);
    /* After HIT on a page that is not writable: its entry is dropped, a request begins to wait for
     * it. Returns the page's number, or UINT32_MAX when no more pages can be asked for now. */
    uint32_t (*fault)(struct part *self, uint32_t pid, uint64_t address);
    /* The answer for a page: the entry is made, its number is free again. */
    void (*fill)(struct part *self, uint32_t number, uint64_t physical, unsigned page_bits,
                 bool writable);
    /* Forget all entries. Pages that are pending stay so. */
    void (*flush)(struct part *self);
    /* Without time (components/sampling/warmup.h): the page of `address` becomes the most recent
     * one; `physical` is its first byte. False: it was not here, and is now. */
    bool (*warm)(struct part *self, uint32_t pid, uint64_t address, uint64_t physical,
                 unsigned page_bits, bool writable);
};

#endif
