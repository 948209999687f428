/* The cache as tests instantiate it. Its ports by number, and what its two slots hold. */
#ifndef HEDDLE_TESTS_COMPONENTS_MEMORY_CACHE_TYPES_H
#define HEDDLE_TESTS_COMPONENTS_MEMORY_CACHE_TYPES_H

#include "cache.gen.h"

#include "tests/components/harness.h"

extern const struct unit_type cache__generic;

enum { TOP, BOTTOM, TRANSLATE, CONTROL, PROBE, PORTS };

static const struct build_port cache_ports[] = {[TOP] = {"top", BUILD_IN, false},
                                                [BOTTOM] = {"bottom", BUILD_OUT, false},
                                                [TRANSLATE] = {"translate", BUILD_OUT, false},
                                                [CONTROL] = {"control", BUILD_IN, false},
                                                [PROBE] = {"probe", BUILD_IN, false}};

/* Physical addresses. Parameters: struct cache_params. */
static const char *const cache_parts[] = {"lru", NULL};
static const struct build_type cache_type = {.unit = &cache__generic,
                                             .ports = cache_ports,
                                             .port_count = PORTS,
                                             .parts = cache_parts,
                                             .part_count = 2};

/* With a TLB of its own. Parameters: struct cache_params, then struct tlb_l1_params. */
static const char *const translated_parts[] = {"lru", "tlb_l1"};
static const uint32_t translated_params[] = {0, sizeof(struct cache_params) / sizeof(int64_t)};
static const struct build_type translated_cache_type = {.unit = &cache__generic,
                                                        .ports = cache_ports,
                                                        .port_count = PORTS,
                                                        .parts = translated_parts,
                                                        .part_count = 2,
                                                        .part_params = translated_params};

#endif
