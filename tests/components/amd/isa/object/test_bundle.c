/* The bundle reader: what it finds, which entry fits a device, and that no damaged table gets
 * through. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/object/bundle.h"

static size_t put(unsigned char *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> (8 * i));
    return 8;
}

/* A bundle with one entry of two bytes (its number, twice) for each id. */
static size_t build(unsigned char *bytes, size_t count, const char *const *ids)
{
    memset(bytes, 0, 4096);
    memcpy(bytes, "__CLANG_OFFLOAD_BUNDLE__", 24);
    size_t at = 24 + put(bytes + 24, count);
    for (size_t i = 0; i < count; i++) {
        at += put(bytes + at, 2048 + 2 * i);
        at += put(bytes + at, 2);
        at += put(bytes + at, strlen(ids[i]));
        memcpy(bytes + at, ids[i], strlen(ids[i]));
        at += strlen(ids[i]);
        memset(bytes + 2048 + 2 * i, (int)i, 2);
    }
    return 2048 + 2 * count;
}

static const char *const some_ids[] = {
    "host-x86_64-unknown-linux--",         "hipv4-amdgcn-amd-amdhsa--gfx803",
    "hipv4-amdgcn-amd-amdhsa--gfx906",     "hipv4-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
    "hip-amdgcn-amd-amdhsa-gfx90a:xnack+",
};

static unsigned char bytes[4096];

Test(bundle, lists_entries)
{
    struct bundle bundle;
    size_t size = build(bytes, 5, some_ids);
    cr_assert(bundle_read(&bundle, bytes, sizeof bytes), "%s", bundle.error);
    cr_assert_eq(bundle.entry_count, 5);
    cr_assert_eq(bundle.size_bytes, size);
    cr_assert_not(bundle.entries[0].is_device);
    cr_assert(bundle.entries[1].is_device);
    cr_assert_str_eq(bundle.entries[3].target, "gfx906:sramecc+:xnack-");
    cr_assert_str_eq(bundle.entries[4].target, "gfx90a:xnack+");
    cr_assert_eq(bundle.entries[2].code[0], 2);
    char text[200];
    bundle_list_targets(&bundle, text, sizeof text);
    cr_assert_str_eq(text, "gfx803, gfx906, gfx906:sramecc+:xnack-, gfx90a:xnack+");
    bundle_list_targets(&bundle, text, 12);
    cr_assert_str_eq(text, "gfx803...");
    bundle_release(&bundle);
}

struct fit {
    char gfx[12];
    bool xnack, sramecc;
    int entry; /* that fits, or -1 */
};

ParameterizedTestParameters(bundle, finds_the_entry_for_a_device)
{
    static struct fit fits[] = {
        {"gfx803", false, false, 1}, {"gfx80", false, false, -1},  {"gfx8030", false, false, -1},
        {"gfx906", false, true, 3},  {"gfx906", false, false, 2},  {"gfx906", true, true, 2},
        {"gfx90a", true, true, 4},   {"gfx90a", false, false, -1}, {"gfx900", false, false, -1},
    };
    return cr_make_param_array(struct fit, fits, sizeof fits / sizeof fits[0]);
}

ParameterizedTest(struct fit *fit, bundle, finds_the_entry_for_a_device)
{
    struct bundle bundle;
    build(bytes, 5, some_ids);
    cr_assert(bundle_read(&bundle, bytes, sizeof bytes));
    const struct bundle_entry *entry = bundle_find(&bundle, fit->gfx, fit->xnack, fit->sramecc);
    int found = entry ? (int)(entry - bundle.entries) : -1;
    cr_assert_eq(found, fit->entry, "%s: entry %d instead of %d", fit->gfx, found, fit->entry);
    bundle_release(&bundle);
}

Test(bundle, code_for_several_targets_comes_last)
{
    static const char *const ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx9-generic:xnack-",
                                      "hipv4-amdgcn-amd-amdhsa--gfx906",
                                      "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"};
    static const struct {
        const char *gfx;
        int entry;
    } fits[] = {{"gfx900", 0}, {"gfx906", 1}, {"gfx908", -1}, {"gfx90a", -1}, {"gfx942", 2}};
    struct bundle bundle;
    build(bytes, 3, ids);
    cr_assert(bundle_read(&bundle, bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
        const struct bundle_entry *entry = bundle_find(&bundle, fits[i].gfx, false, true);
        int found = entry ? (int)(entry - bundle.entries) : -1;
        cr_expect_eq(found, fits[i].entry, "%s: entry %d", fits[i].gfx, found);
    }
    bundle_release(&bundle);
}

struct damage {
    size_t at; /* of a u64 that gets another value */
    uint64_t value;
    char word[24]; /* in the message */
};

ParameterizedTestParameters(bundle, refuses_damage)
{
    static struct damage list[] = {
        {0, 0, "does not begin"},    {0, 0x424f4343, "compressed"},
        {24, 1000000, "claims"},     {24, UINT64_MAX, "claims"},
        {32, 1 << 20, "lies at"},    {32, UINT64_MAX, "lies at"},
        {40, UINT64_MAX, "lies at"}, {48, UINT64_MAX, "id of"},
        {48, 5000, "id of"},         {56, 0, "NUL"},
    };
    return cr_make_param_array(struct damage, list, sizeof list / sizeof list[0]);
}

ParameterizedTest(struct damage *damage, bundle, refuses_damage)
{
    struct bundle bundle;
    build(bytes, 2, some_ids);
    put(bytes + damage->at, damage->value);
    cr_assert_not(bundle_read(&bundle, bytes, sizeof bytes));
    cr_assert(strstr(bundle.error, damage->word), "message is '%s'", bundle.error);
    cr_assert_eq(bundle.entry_count, 0);
    bundle_release(&bundle);
}

/* Each prefix is copied to its own end of memory, so that AddressSanitizer or valgrind see reads
 * behind it. */
Test(bundle, survives_every_truncation)
{
    size_t size = build(bytes, 5, some_ids);
    for (size_t length = 0; length < size; length++) {
        unsigned char *cut = malloc(length + 1);
        memcpy(cut, bytes, length);
        struct bundle bundle;
        cr_assert_not(bundle_read(&bundle, cut, length), "%zu of %zu bytes", length, size);
        bundle_release(&bundle);
        free(cut);
    }
}
