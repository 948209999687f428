/* The bundle's table is read in one pass with a cursor that never moves beyond the given size; see
 * bundle.h for the layout. Invariant: every entry that is handed out lies in the caller's bytes. */
#include "bundle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa_target.h"

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";

__attribute__((format(printf, 2, 3))) static bool fail(struct bundle *bundle, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bundle->error, sizeof bundle->error, format, arguments);
    va_end(arguments);
    bundle->entry_count = 0;
    return false;
}

static bool read_u64(const uint8_t *bytes, size_t size, size_t *at, uint64_t *value)
{
    if (size - *at < 8)
        return false;
    uint64_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        result |= (uint64_t)bytes[*at + i] << (8 * i);
    *at += 8;
    *value = result;
    return true;
}

/* Device ids are KIND-amdgcn-amd-amdhsa[-ENVIRONMENT]-TARGET with an empty environment in practice,
 * so that the target follows the first `--` (or `amdhsa-` in ids written without the empty
 * field). */
static void split_id(struct bundle_entry *entry)
{
    entry->target = "";
    const char *triple = strstr(entry->id, "-amdgcn-amd-amdhsa");
    if (!triple)
        return;
    entry->is_device = true;
    const char *target = triple + strlen("-amdgcn-amd-amdhsa");
    while (*target == '-')
        target++;
    entry->target = target;
}

static bool read_entry(struct bundle *bundle, struct bundle_entry *entry, size_t index,
                       const uint8_t *bytes, size_t size, size_t *at)
{
    uint64_t offset = 0, length = 0, id_length = 0;
    if (!read_u64(bytes, size, at, &offset) || !read_u64(bytes, size, at, &length)
        || !read_u64(bytes, size, at, &id_length))
        return fail(bundle, "bundle ends inside entry %zu of its table", index);
    if (id_length > BUNDLE_ID_MAX || id_length > size - *at)
        return fail(bundle, "bundle entry %zu has an id of %" PRIu64 " bytes", index, id_length);
    if (memchr(bytes + *at, 0, id_length))
        return fail(bundle, "bundle entry %zu has a NUL in its id", index);
    entry->id = region_strndup(&bundle->memory, (const char *)bytes + *at, id_length);
    *at += id_length;
    if (offset > size || length > size - offset) {
        return fail(bundle,
                    "bundle entry '%.80s' lies at %" PRIu64 " with %" PRIu64
                    " bytes, but there are only %zu bytes",
                    entry->id, offset, length, size);
    }
    entry->code = bytes + offset;
    entry->size = length;
    split_id(entry);
    if (offset + length > bundle->size_bytes)
        bundle->size_bytes = offset + length;
    return true;
}

bool bundle_recognise(const void *bytes, size_t size)
{
    return size >= BUNDLE_MAGIC_SIZE && memcmp(bytes, magic, BUNDLE_MAGIC_SIZE) == 0;
}

bool bundle_read(struct bundle *bundle, const void *bytes, size_t size)
{
    *bundle = (struct bundle){.memory = {.contents = "a code object"}};
    if (size >= 4 && memcmp(bytes, "CCOB", 4) == 0)
        return fail(bundle, "bundle is compressed; compile with --no-offload-compress");
    if (!bundle_recognise(bytes, size))
        return fail(bundle, "not an offload bundle: it does not begin with %s", magic);
    size_t at = BUNDLE_MAGIC_SIZE;
    uint64_t count = 0;
    if (!read_u64(bytes, size, &at, &count))
        return fail(bundle, "bundle ends before its number of entries");
    if (count > BUNDLE_ENTRIES_MAX || count > (size - at) / 24)
        return fail(bundle, "bundle claims %" PRIu64 " entries in %zu bytes", count, size);
    bundle->entries = region_take_array(&bundle->memory, count, sizeof *bundle->entries);
    for (size_t i = 0; i < count; i++)
        if (!read_entry(bundle, &bundle->entries[i], i, bytes, size, &at))
            return false;
    bundle->entry_count = count;
    if (at > bundle->size_bytes)
        bundle->size_bytes = at;
    return true;
}

/* Sign of `feature` in the feature list of a target: '+', '-', or 0 if the list does not name
 * it. */
static char feature_sign(const char *features, const char *feature)
{
    size_t length = strlen(feature);
    for (const char *at = features; (at = strchr(at, ':'));) {
        at++;
        if (strncmp(at, feature, length) == 0 && (at[length] == '+' || at[length] == '-'))
            return at[length];
    }
    return 0;
}

/* A target's own code comes before that for several of them, whatever features both name. */
enum { GENERIC = 1, EXACT = 4 };

int bundle_match_target(const char *target, const char *gfx, bool xnack, bool sramecc)
{
    const struct isa_traits *traits = isa_traits_of(gfx);
    size_t length = strcspn(target, ":");
    int specific = 0;
    if (strlen(gfx) == length && strncmp(target, gfx, length) == 0)
        specific = EXACT;
    else if (traits && traits->generic && strlen(traits->generic) == length
             && strncmp(target, traits->generic, length) == 0)
        specific = GENERIC;
    else
        return 0;
    const struct {
        const char *name;
        bool on;
    } features[] = {{"xnack", xnack}, {"sramecc", sramecc}};
    for (size_t i = 0; i < ARRAY_COUNT(features); i++) {
        char sign = feature_sign(target + length, features[i].name);
        if (sign != 0 && (sign == '+') != features[i].on)
            return 0;
        specific += sign != 0;
    }
    return specific;
}

const struct bundle_entry *bundle_find(const struct bundle *bundle, const char *gfx, bool xnack,
                                       bool sramecc)
{
    const struct bundle_entry *best = NULL;
    int best_specific = 0;
    for (size_t i = 0; i < bundle->entry_count; i++) {
        const struct bundle_entry *entry = &bundle->entries[i];
        int specific =
            entry->is_device ? bundle_match_target(entry->target, gfx, xnack, sramecc) : 0;
        if (specific > best_specific) {
            best = entry;
            best_specific = specific;
        }
    }
    return best;
}

void bundle_list_targets(const struct bundle *bundle, char *text, size_t size)
{
    size_t used = 0;
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < bundle->entry_count; i++) {
        const struct bundle_entry *entry = &bundle->entries[i];
        if (!entry->is_device)
            continue;
        const char *separator = used > 0 ? ", " : "";
        size_t need = strlen(separator) + strlen(entry->target);
        if (used + need + sizeof "..." > size) {
            snprintf(text + used, size - used, "...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, entry->target);
    }
}

void bundle_release(struct bundle *bundle)
{
    region_release(&bundle->memory);
    memset(bundle, 0, sizeof *bundle);
}
