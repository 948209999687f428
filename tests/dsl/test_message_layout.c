/* dsl/message_layout.c: which field stands where. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "dsl/message_layout.h"

#define FIELD(NAME, KIND, SIZE)                                                                    \
    {                                                                                              \
        .name = NAME, .kind = MODEL_FIELD_##KIND, .size = SIZE, .size_argument = -1                \
    }

static const struct {
    const char *what;
    struct model_field fields[6];
    uint32_t count;
    const char *header;  /* names in order */
    const char *payload; /* likewise */
    uint32_t payload_bytes, wire_bytes;
} cases[] = {
    {"nothing", {{0}}, 0, "", "", 0, 8},
    {"largest first, stable",
     {FIELD("a", U8, 1), FIELD("b", U32, 4), FIELD("c", U64, 8), FIELD("d", U32, 4)},
     4,
     "c b d a",
     "",
     0,
     25},
    {"the first address before everything",
     {FIELD("n", U64, 8), FIELD("p", ADDR, 8), FIELD("q", ADDR, 8)},
     3,
     "p n",
     "q",
     8,
     32},
    {"exactly 22 bytes",
     {FIELD("p", ADDR, 8), FIELD("e", ADDR, 8), FIELD("i", U32, 4), FIELD("k", U16, 2)},
     4,
     "p e i k",
     "",
     0,
     30},
    {"smaller ones pass those that do not fit",
     {FIELD("a", U64, 8), FIELD("b", U64, 8), FIELD("c", U64, 8), FIELD("d", BOOL, 1)},
     4,
     "a b d",
     "c",
     8,
     33},
    {"masks before bytes, each aligned",
     {FIELD("x", BYTES, 20), FIELD("m", BITS, 65), FIELD("y", BYTES, 4)},
     3,
     "",
     "m x y",
     52,
     60},
};

static void expect_names(const char *what, const struct model_field *const *fields, uint32_t count,
                         const char *names)
{
    char text[64] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            strcat(text, " ");
        strcat(text, fields[i]->name);
    }
    cr_expect_str_eq(text, names, "%s: '%s' instead of '%s'", what, text, names);
}

Test(message_layout, places_fields_by_the_rule)
{
    struct region region;
    region_init(&region, "a test");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct model_message message = {
            .name = "m", .fields = cases[i].fields, .field_count = cases[i].count};
        struct message_layout layout = message_layout(&region, &message);
        expect_names(cases[i].what, layout.header, layout.header_count, cases[i].header);
        expect_names(cases[i].what, layout.payload, layout.payload_count, cases[i].payload);
        cr_expect_eq(message_payload_bytes(&region, &message), cases[i].payload_bytes, "%s",
                     cases[i].what);
        cr_expect_eq(message_wire_bytes(&region, &message), cases[i].wire_bytes, "%s",
                     cases[i].what);
    }
    region_release(&region);
}

Test(message_layout, a_slot_holds_the_largest_payload_in_units_of_16)
{
    struct region region;
    region_init(&region, "a test");
    struct model_field small = FIELD("s", BYTES, 8), large = FIELD("l", BYTES, 33);
    struct model_message messages[] = {{.name = "a", .fields = &small, .field_count = 1},
                                       {.name = "b", .fields = &large, .field_count = 1}};
    cr_expect_eq(message_slot_bytes(&region, messages, 2), 48);
    cr_expect_eq(message_slot_bytes(&region, messages, 1), 16);
    cr_expect_eq(message_slot_bytes(&region, messages, 0), 0);
    region_release(&region);
}

Test(message_layout, a_length_stands_in_the_header)
{
    struct region region = {.contents = "a test"};
    struct model_field fields[] = {FIELD("address", ADDR, 8), FIELD("other", ADDR, 8),
                                   FIELD("size", U32, 4), FIELD("data", BYTES, 4096)};
    struct model_message m = {.fields = fields, .field_count = 4};
    cr_expect_eq(message_length_offset(&region, &m), 0);
    cr_expect_eq(message_variable_bytes(&m), 0);
    fields[3].length_field = 3;
    cr_expect_eq(message_length_offset(&region, &m), MESSAGE_HEADER_OFFSET + 16);
    cr_expect_eq(message_variable_bytes(&m), 4096);
    cr_expect_eq(message_wire_bytes(&region, &m), 8 + 20 + 4096);
    region_release(&region);
}
