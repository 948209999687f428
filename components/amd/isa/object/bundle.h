/* Reader of clang's offload bundles: the container in which hipcc embeds one code object per
 * architecture.
 *
 * Layout (clang's ClangOffloadBundler documentation): the 24 characters `__CLANG_OFFLOAD_BUNDLE__`,
 * a u64 count, then per entry u64 offset, u64 size, u64 length of the id, and the id, all little
 * endian; offsets count from the first character. Ids look like
 * `hipv4-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-` for device code and `host-x86_64-...` for the
 * (empty) host entry. Compressed bundles (`CCOB`) are refused by name.
 *
 * The input is not trusted: every offset is checked against the given size. Nothing is copied but
 * the ids; the bytes must outlive the bundle. Used by the HIP front end and by `heddle disasm`. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_OBJECT_BUNDLE_H
#define HEDDLE_COMPONENTS_AMD_ISA_OBJECT_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"

enum { BUNDLE_MAGIC_SIZE = 24, BUNDLE_ENTRIES_MAX = 4096, BUNDLE_ID_MAX = 4096 };

struct bundle_entry {
    const char *id; /* as written, NUL-terminated */
    const char
        *target;    /* the rest of the id after `--`, e.g. "gfx906:xnack-"; "" for a host entry */
    bool is_device; /* device code for amdgcn; else host code or another vendor's */
    const uint8_t *code; /* in the caller's bytes */
    size_t size;         /* bytes; 0 for the host entry */
};

struct bundle {
    struct bundle_entry *entries;
    size_t entry_count;
    size_t size_bytes; /* from the magic to the end of the last entry */
    struct region memory;
    char error[256]; /* why the last read failed, without a full stop; "" otherwise */
};

/* True if `bytes` begin as a bundle does. */
bool bundle_recognise(const void *bytes, size_t size);

/* Reads the table of a bundle of at most `size` bytes (more may be given than it has). False with
 * bundle->error set when it is not sound. Release in either case. */
bool bundle_read(struct bundle *bundle, const void *bytes, size_t size);

/* The entry that a device of architecture `gfx` (such as "gfx803") can run, or NULL. `xnack` and
 * `sramecc` are features of the device. An entry that names a feature (`:xnack+`) must agree with
 * them; an entry without one fits both. Code for several targets ("gfx9-generic") fits, too. The
 * most specific entry wins, the first among equals. */
const struct bundle_entry *bundle_find(const struct bundle *bundle, const char *gfx, bool xnack,
                                       bool sramecc);

/* Writes the targets of the device entries, separated by ", ", into `text`; cut with "..." when too
 * long. */
void bundle_list_targets(const struct bundle *bundle, char *text, size_t size);

/* Match of code for `target` ("gfx906:sramecc+:xnack-") with the device: 0 when it does not run
 * there, more the more specific the match is. */
int bundle_match_target(const char *target, const char *gfx, bool xnack, bool sramecc);

void bundle_release(struct bundle *bundle);

#endif
