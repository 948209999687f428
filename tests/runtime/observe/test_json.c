/* The JSON writer against a reader that is not ours: whatever is written comes back. */
#define _GNU_SOURCE /* memfd_create */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/observe/json.h"

static struct json out;

static void begin(void)
{
    int file = memfd_create("json", 0);
    cr_assert_geq(file, 0);
    json_start(&out, file);
}

static json_t *end(void)
{
    json_error_t error;
    cr_assert(json_finish(&out));
    FILE *file = fdopen(out.fd, "r");
    rewind(file);
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    fclose(file);
    return root;
}

enum { LONGEST = 1100 };

/* Characters that take one, two and six bytes, at every place. */
static const char *text_of(size_t size)
{
    static const char odd[] = "\x01\"\\\n\x1f\x7f";
    static char text[LONGEST + 1];
    memset(text, 'a', size);
    text[size] = '\0';
    for (size_t i = size % 7; i < size; i += 7)
        text[i] = odd[(i + size) % (sizeof odd - 1)];
    return text;
}

/* Shorter and longer than what is put together at a time. */
Test(json, texts_of_any_length_come_back)
{
    begin();
    json_open(&out, NULL, '[');
    for (size_t size = 0; size <= LONGEST; size++)
        json_text(&out, NULL, text_of(size));
    json_close(&out, ']');
    cr_assert_gt(out.total, JSON_BUFFER, "nothing was flushed in between");
    json_t *root = end();
    cr_assert_eq(json_array_size(root), LONGEST + 1);
    unsigned wrong = 0;
    for (size_t size = 0; size <= LONGEST; size++)
        wrong += strcmp(json_string_value(json_array_get(root, size)), text_of(size)) != 0;
    cr_expect_eq(wrong, 0);
    json_decref(root);
}

/* Wherever in the buffer a text begins. */
Test(json, the_buffer_has_room_for_what_is_put_into_it)
{
    static char padding[JSON_BUFFER];
    char text[LONGEST + 1] = "";
    memset(text, '\x01', LONGEST);
    memset(padding, ' ', sizeof padding);
    begin();
    for (size_t left = 1; left < LONGEST; left++) {
        json_start(&out, out.fd);
        json_raw(&out, padding, JSON_BUFFER - left);
        json_text(&out, NULL, text);
        cr_assert_leq(out.used, JSON_BUFFER, "%zu bytes from the end", left);
        cr_assert_eq(ftruncate(out.fd, 0), 0);
    }
    close(out.fd);
}

Test(json, every_character_comes_back)
{
    char text[2] = "";
    begin();
    json_open(&out, NULL, '[');
    for (int c = 1; c < 0x80; c++) {
        text[0] = (char)c;
        json_text(&out, NULL, text);
    }
    json_close(&out, ']');
    json_t *root = end();
    for (int c = 1; c < 0x80; c++)
        cr_expect_eq(json_string_value(json_array_get(root, (size_t)c - 1))[0], c);
    json_decref(root);
}

Test(json, numbers_come_back)
{
    static const int64_t numbers[] = {0, 7, -1, 10, -10, 99, 100, INT32_MIN, INT64_MAX, INT64_MIN};
    begin();
    json_open(&out, NULL, '{');
    json_open(&out, "signed", '[');
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        json_int(&out, NULL, numbers[i]);
    json_close(&out, ']');
    json_open(&out, "none", '{');
    json_close(&out, '}');
    out.is_flat = true;
    json_uint(&out, "unsigned", INT64_MAX);
    json_bool(&out, "no", false);
    json_text(&out, "null", NULL);
    json_close(&out, '}');
    json_t *root = end();
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        cr_expect_eq(json_integer_value(json_array_get(json_object_get(root, "signed"), i)),
                     numbers[i]);
    cr_expect_eq(json_integer_value(json_object_get(root, "unsigned")), INT64_MAX);
    cr_expect(json_is_false(json_object_get(root, "no")));
    cr_expect(json_is_null(json_object_get(root, "null")));
    json_decref(root);
}

Test(json, the_largest_number_has_all_its_digits)
{
    char text[64];
    begin();
    json_uint(&out, NULL, UINT64_MAX);
    cr_assert(json_finish(&out));
    ssize_t size = pread(out.fd, text, sizeof text - 1, 0);
    cr_assert_eq(size, 20);
    text[size] = '\0';
    cr_expect_str_eq(text, "18446744073709551615");
    close(out.fd);
}
