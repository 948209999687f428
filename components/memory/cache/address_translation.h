/* The address translation of a cache: a TLB in front of the tags. The cache owns the `translate`
 * port and the requests that wait; the part owns the entries and the list of pages that have been
 * asked for.
 *
 * lookup() counts a hit and changes the order of replacement only when it returns HIT; the cache
 * asks again for a request that could not be taken only if it was no hit. */
#ifndef HEDDLE_COMPONENTS_MEMORY_CACHE_ADDRESS_TRANSLATION_H
#define HEDDLE_COMPONENTS_MEMORY_CACHE_ADDRESS_TRANSLATION_H

#include <stdbool.h>
#include <stdint.h>

struct part;
struct translated_page;

enum address_translation_result {
    ADDRESS_TRANSLATION_HIT,
    ADDRESS_TRANSLATION_PENDING, /* the page has been asked for */
    ADDRESS_TRANSLATION_ABSENT,  /* it can be asked for */
    ADDRESS_TRANSLATION_FULL     /* absent, and no more pages can be asked for now */
};

struct address_translation {
    uint64_t physical; /* address of the byte, not of its page */
    uint8_t traits;    /* translated_page.h */
};

struct address_translation_ops {
    /* Cycles added to the latency of the cache. */
    uint32_t (*latency)(const struct part *self);
    /* The number of pages that can be asked for at a time: wait() returns smaller numbers. */
    uint32_t (*capacity)(const struct part *self);
    enum address_translation_result (*lookup)(struct part *self, uint32_t pid, uint64_t address,
                                              struct address_translation *out);
    /* After PENDING or ABSENT: a request begins to wait for its page. Returns the page's number. */
    uint32_t (*wait)(struct part *self, uint32_t pid, uint64_t address);
    /* After HIT on a page that is not writable: its entry is dropped, a request begins to wait for
     * it. Returns the page's number, or UINT32_MAX when no more pages can be asked for now. */
    uint32_t (*fault)(struct part *self, uint32_t pid, uint64_t address);
    /* After HIT: the number of a page for which requests to `address` wait still, since it was
     * asked for before what came covers it, too; or UINT32_MAX. */
    uint32_t (*pending)(const struct part *self, uint32_t pid, uint64_t address);
    /* True if the page is an answer to all requests that wait for it. */
    bool (*fits)(const struct part *self, const struct translated_page *page);
    /* The answer for a page, which fits: the entry is made, its number is free again. */
    void (*fill)(struct part *self, uint32_t number, const struct translated_page *page);
    /* Forget all entries. Pages that are pending stay so. */
    void (*flush)(struct part *self);
    /* Without time (components/sampling/warmup.h): the page of `address` becomes the most recent
     * one. False: it was not here, and is now. */
    bool (*warm)(struct part *self, uint32_t pid, uint64_t address,
                 const struct translated_page *page);
};

#endif
