/* Fat binaries of CUDA, put together here: plain, packed by LZ4 and zstd, and damaged in every way.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/number.h"
#include "components/cuda/fatbin/cuda_fatbin.h"

enum { ROOM = 1 << 16, CONTAINER = 16, HEADER = 64, LZ4 = 0x2000, ZSTD = 0x8000 };

static uint8_t bytes[ROOM];
static size_t used;
static struct cuda_fatbin fatbin;

static void put(size_t at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[at + i] = (uint8_t)(value >> (8 * i));
}

static void begin(void)
{
    memset(bytes, 0, sizeof bytes);
    used = CONTAINER;
    put(0, 0xba55ed50, 4);
    put(4, 1, 2);
    put(6, CONTAINER, 2);
}

/* Returns where the entry's header is. */
static size_t add(unsigned kind, unsigned sm, unsigned flags, const void *content, size_t size,
                  size_t unpacked)
{
    size_t at = used, padded = round_up(size, 8);
    put(at, kind, 2);
    put(at + 2, 0x101, 2);
    put(at + 4, HEADER, 4);
    put(at + 8, padded, 8);
    put(at + 16, flags ? size : 0, 4);
    put(at + 28, sm, 4);
    put(at + 40, flags, 8);
    put(at + 56, unpacked, 8);
    memcpy(bytes + at + HEADER, content, size);
    used += HEADER + padded;
    put(8, used - CONTAINER, 8);
    return at;
}

static size_t add_text(unsigned sm, const char *text)
{
    return add(CUDA_FATBIN_PTX, sm, 0, text, strlen(text) + 1, 0);
}

static char *text_for(unsigned sm)
{
    size_t length = 0;
    cr_assert(cuda_fatbin_read(&fatbin, bytes, used), "%s", fatbin.error);
    const struct cuda_fatbin_entry *entry = cuda_fatbin_find(&fatbin, sm);
    char *text = entry ? cuda_fatbin_unpack(&fatbin, entry, &length) : NULL;
    if (text)
        cr_assert_eq(length, strlen(text));
    return text;
}

static void expect_text(unsigned sm, const char *wanted)
{
    char *text = text_for(sm);
    cr_assert(text, "%s", fatbin.error);
    cr_assert_str_eq(text, wanted);
    free(text);
}

static void expect_error(const char *part)
{
    cr_assert_not(cuda_fatbin_read(&fatbin, bytes, used));
    cr_assert(strstr(fatbin.error, part), "'%s' in '%s'", part, fatbin.error);
}

Test(cuda_fatbin, finds_the_newest_ptx_that_a_device_executes)
{
    char list[200];
    begin();
    add_text(70, ".target sm_70");
    add_text(86, ".target sm_86");
    add_text(80, ".target sm_80");
    add(CUDA_FATBIN_MACHINE_CODE, 80, 0, "\177ELF", 4, 0);
    expect_text(80, ".target sm_80");
    expect_text(75, ".target sm_70");
    expect_text(120, ".target sm_86");
    cr_assert_null(cuda_fatbin_find(&fatbin, 60));
    cuda_fatbin_list(&fatbin, list, sizeof list);
    cr_assert_str_eq(list, "PTX of sm_70, PTX of sm_86, PTX of sm_80, machine code of sm_80");
    cuda_fatbin_list(&fatbin, list, 20);
    cr_assert_str_eq(list, "PTX of sm_70, PTX o");
}

Test(cuda_fatbin, unpacks_zstd)
{
    char text[2000], packed[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    size_t size = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    begin();
    size_t at = add(CUDA_FATBIN_PTX, 80, ZSTD, packed, size, sizeof text);
    expect_text(80, text);
    put(at + 56, sizeof text - 1, 8);
    cr_assert_null(text_for(80), "more than the header says");
    put(at + 56, sizeof text + 1, 8);
    cr_assert_null(text_for(80), "less than the header says");
    cr_assert(strstr(fatbin.error, "damaged"), "%s", fatbin.error);
    put(at + 56, UINT64_MAX, 8);
    cr_assert_null(text_for(80), "more than is read");
}

Test(cuda_fatbin, unpacks_lz4)
{
    static const uint8_t packed[] = {0x32, 'a', 'b', 'c', 3,   0,        /* abc, 6 from 3 before */
                                     0xf0, 5,   'd', 'e', 'f', 'g', 'h', /* 20 literals */
                                     'i',  'j', 'k', 'l', 'm', 'n', 'o', 'p',
                                     'q',  'r', 's', 't', 'u', 'v', 'w'};
    begin();
    size_t at = add(CUDA_FATBIN_PTX, 80, LZ4, packed, sizeof packed, 29);
    expect_text(80, "abcabcabcdefghijklmnopqrstuvw");
    put(at + 56, 28, 8);
    cr_assert_null(text_for(80), "more than the header says");
    put(at + 56, 30, 8);
    cr_assert_null(text_for(80), "less than the header says");
    cr_assert(strstr(fatbin.error, "damaged"), "%s", fatbin.error);
}
Test(cuda_fatbin, refuses_what_is_damaged)
{
    begin();
    size_t at = add_text(80, ".target sm_80");
    put(at + 4, 8, 4);
    expect_error("has a header of 8");
    put(at + 4, UINT32_MAX, 4);
    expect_error("has a header of 4294967295");
    put(at + 4, HEADER, 4);
    put(at + 8, UINT64_MAX, 8);
    expect_error("18446744073709551615 bytes, but");
    put(at + 8, 16, 8);
    put(at + 40, ZSTD, 8);
    put(at + 16, 17, 4);
    expect_error("17 packed bytes in 16");
    put(4, 2, 2);
    expect_error("version 2");
    put(4, 1, 2);
    put(8, used, 8);
    expect_error("of which only");
    put(8, UINT64_MAX, 8);
    expect_error("of which only");
    put(0, 0, 4);
    expect_error("does not begin");
    used = 3;
    expect_error("does not begin");
}

Test(cuda_fatbin, refuses_a_rest_that_is_no_entry)
{
    begin();
    add_text(80, ".target sm_80");
    used += 8;
    put(8, used - CONTAINER, 8);
    expect_error("8 bytes where an entry");
}

Test(cuda_fatbin, refuses_too_many_entries)
{
    begin();
    for (int i = 0; i <= CUDA_FATBIN_ENTRIES_MAX; i++)
        add_text(80, "");
    expect_error("more than 128 entries");
}

Test(cuda_fatbin, an_empty_container_has_nothing)
{
    char list[20];
    begin();
    cr_assert(cuda_fatbin_read(&fatbin, bytes, used));
    cr_assert_null(cuda_fatbin_find(&fatbin, 80));
    cuda_fatbin_list(&fatbin, list, sizeof list);
    cr_assert_str_eq(list, "nothing");
}
