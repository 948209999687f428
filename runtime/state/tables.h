/* Platform tables as a file: a relocatable image of struct platform_table.
 *
 * Layout: struct tables_header, then the sections in the order of enum tables_section, each at a
 * multiple of 16 bytes from the start of the file. Units are named, not pointed to: the section
 * TABLES_UNITS holds a string offset for each. Numbers are in the byte order of the host that wrote
 * them (the magic tells). The hash is in `strings`.
 *
 * Making an image needs nothing of the engine, so that the generator can do it. */
#ifndef HEDDLE_RUNTIME_STATE_TABLES_H
#define HEDDLE_RUNTIME_STATE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform.h"

#define TABLES_MAGIC 0x0032656c64646568u /* "heddle2", little-endian */

enum tables_section {
    TABLES_STRINGS,
    TABLES_UNITS,
    TABLES_DOMAINS,
    TABLES_GROUPS,
    TABLES_INSTANCES,
    TABLES_RINGS,
    TABLES_LINKS,
    TABLES_PARTS,
    TABLES_PROTOCOLS,
    TABLES_MESSAGES,
    TABLES_SPACES,
    TABLES_MAPS,
    TABLES_PARAM_NAMES,
    TABLES_PARAM_UNITS,
    TABLES_PARAMS,
    TABLES_BINDINGS,
    TABLES_BINDING_KINDS,
    TABLES_PORT_RINGS,
    TABLES_PART_REFS,
    TABLES_INCOMING,
    TABLES_PARTITIONS,
    TABLES_ROUTES,
    TABLES_SECTIONS
};

struct tables_header {
    uint64_t magic;
    uint64_t checksum; /* over all that follows */
    uint32_t abi;
    uint32_t name;       /* string */
    uint32_t model_hash; /* string */
    uint32_t store_count;
    uint32_t settings; /* string */
    uint32_t reserved;
    struct {
        uint64_t offset;
        uint32_t count; /* elements */
        uint32_t size;  /* bytes of one */
    } section[TABLES_SECTIONS];
};

/* The size of the image of `table`, and the image itself (`bytes` = that size). Unit names and the
 * hash must be in `strings`; string_bytes must be set. 0: they are not. */
size_t tables_image_bytes(const struct platform_table *table);
void tables_image(const struct platform_table *table, char *image, size_t bytes);

/* Reads the tables that belong to `image`. The table lives as long as the process. NULL: message on
 * stderr. Contents beyond the shape of the file are checked by platform_build(). */
const struct platform_table *tables_read(const char *path, const struct platform_image *image);

#endif
