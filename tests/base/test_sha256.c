/* base/sha256.c against the examples of FIPS 180-4 (NIST, "SHA-256 Example Values"). */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "base/sha256.h"

static const struct {
    const char *text;
    unsigned repeat;
    const char *digest;
} cases[] = {
    {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

Test(sha256, gives_the_published_digests)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sha256 hash;
        char digest[65];
        sha256_init(&hash);
        for (unsigned r = 0; r < cases[i].repeat; r++)
            sha256_add(&hash, cases[i].text, strlen(cases[i].text));
        sha256_finish(&hash, digest);
        cr_expect_str_eq(digest, cases[i].digest);
    }
}

Test(sha256, strings_do_not_run_together)
{
    struct sha256 a, b;
    char first[65], second[65];
    sha256_init(&a);
    sha256_add_string(&a, "ab");
    sha256_add_string(&a, "c");
    sha256_finish(&a, first);
    sha256_init(&b);
    sha256_add_string(&b, "a");
    sha256_add_string(&b, "bc");
    sha256_finish(&b, second);
    cr_expect_str_neq(first, second);
}

/* Whole blocks are not copied first. */
Test(sha256, pieces_make_the_same_digest_as_the_whole)
{
    unsigned char text[200];
    char whole[65], digest[65];
    struct sha256 hash;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * 7);
    sha256_init(&hash);
    sha256_add(&hash, text, sizeof text);
    sha256_finish(&hash, whole);
    for (size_t first = 0; first <= sizeof text; first++) {
        sha256_init(&hash);
        sha256_add(&hash, text, first);
        sha256_add(&hash, text + first, sizeof text - first);
        sha256_finish(&hash, digest);
        cr_expect_str_eq(digest, whole, "%zu bytes first", first);
    }
}
