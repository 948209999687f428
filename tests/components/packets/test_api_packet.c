/* The packets of the API (components/packets/api_packet) and the codec they use
 * (components/packets/packet/packet.h). The oracle is bytes written by hand from the rules of
 * packet.h; beyond those, properties that hold for every call: what is encoded decodes to the same,
 * every cut and every damage is refused with the name of the field, and nothing behind the given
 * bytes is touched (the buffers are exact, so the sanitizers see it). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"

static const struct packet_layout *const layouts[] = {&api_request_layout, &api_answer_layout};

#define LAYOUT_COUNT ARRAY_COUNT(layouts)
#define BYTES_MAX    4096

union any_packet {
    struct api_request request;
    struct api_answer answer;
};

/* ---- numbers ---- */

static const struct {
    enum api_call call;
    int number;
} numbers[] = {
    {API_CALL_REGISTER_MODULE, 1},
    {API_CALL_REGISTER_FUNCTION, 2},
    {API_CALL_MEMCPY, 3},
    {API_CALL_CONFIGURE_CALL, 4},
    {API_CALL_SET_ARGUMENT, 5},
    {API_CALL_LAUNCH, 6},
    {API_CALL_FREE, 7},
    {API_CALL_GET_LAST_ERROR, 8},
    {API_CALL_MALLOC, 9},
    {API_CALL_REGISTER_VARIABLE, 10},
    {API_CALL_MAX_BLOCKS, 11},
    {API_CALL_DEVICE_SYNCHRONIZE, 13},
    {API_CALL_GET_ERROR_STRING, 14},
    {API_CALL_MEMSET, 15},
    {API_CALL_MEMCPY_TO_SYMBOL, 16},
    {API_CALL_MEMCPY_FROM_SYMBOL, 17},
    {API_CALL_SET_DEVICE, 18},
    {API_CALL_GET_DEVICE_COUNT, 22},
    {API_CALL_FREE_HOST, 23},
    {API_CALL_MALLOC_HOST, 24},
    {API_CALL_MEMCPY_ASYNC, 25},
    {API_CALL_GET_DEVICE_PROPERTIES, 26},
    {API_CALL_SET_DEVICE_FLAGS, 27},
    {API_CALL_STREAM_CREATE, 28},
    {API_CALL_STREAM_DESTROY, 29},
    {API_CALL_STREAM_SYNCHRONIZE, 30},
    {API_CALL_EVENT_CREATE, 31},
    {API_CALL_EVENT_CREATE_WITH_FLAGS, 32},
    {API_CALL_EVENT_RECORD, 33},
    {API_CALL_EVENT_SYNCHRONIZE, 34},
    {API_CALL_EVENT_ELAPSED_TIME, 35},
    {API_CALL_EVENT_DESTROY, 36},
    {API_CALL_DEVICE_GET_ATTRIBUTE, 37},
};

Test(api_packet, the_calls_have_the_numbers_of_balar)
{
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        cr_expect_eq((int)numbers[i].call, numbers[i].number, "%d", numbers[i].number);
}

Test(api_packet, every_request_has_an_answer_and_the_reverse)
{
    for (uint32_t i = 0; i < API_CALL_COUNT; i++)
        cr_expect_eq(packet_bytes(&api_request_layout, i) == 0,
                     packet_bytes(&api_answer_layout, i) == 0, "call %u", i);
}

/* ---- bytes written by hand ---- */

static size_t unhex(const char *text, uint8_t *bytes)
{
    size_t count = 0;
    for (; *text; text++) {
        if (*text == ' ')
            continue;
        char digits[3] = {text[0], text[1], 0};
        bytes[count++] = (uint8_t)strtoul(digits, NULL, 16);
        text++;
    }
    return count;
}

static const struct {
    const char *what;
    bool is_answer;
    union any_packet packet;
    const char *bytes; /* followed by zeros up to the length in it */
} vectors[] = {
    {"malloc",
     false,
     {.request = {.sequence = 7,
                  .thread = 2,
                  .call = API_CALL_MALLOC,
                  .malloc = {.size = 0x0123456789abcdef}}},
     "01000000 1a000000 07000000 02000000 0900 efcdab8967452301"},
    {"device synchronise",
     false,
     {.request = {.sequence = 0xfffffffe, .call = API_CALL_DEVICE_SYNCHRONIZE}},
     "01000000 12000000 feffffff 00000000 0d00"},
    {"memcpy",
     false,
     {.request = {.call = API_CALL_MEMCPY,
                  .memcpy = {.destination = 0x1000,
                             .source = 0x2000,
                             .size = 300,
                             .direction = API_DIRECTION_DEVICE_TO_HOST}}},
     "01000000 2c000000 00000000 00000000 0300 0010000000000000 0020000000000000 2c01000000000000"
     "0200"},
    {"set argument",
     false,
     {.request = {.call = API_CALL_SET_ARGUMENT,
                  .set_argument = {.offset = 24, .size = 4, .value = {1, 2, 3, 4}}}},
     "01000000 5a000000 00000000 00000000 0500 18000000 04000000 01020304"},
    {"register variable",
     false,
     {.request = {.call = API_CALL_REGISTER_VARIABLE,
                  .register_variable =
                      {.module = 1, .symbol = 2, .size = 3, .constant = true, .name = "ab"}}},
     "01000000 2b040000 00000000 00000000 0a00 0100000000000000 0200000000000000 0300000000000000"
     "01 6162"},
    {"error string",
     false,
     {.request = {.call = API_CALL_GET_ERROR_STRING, .get_error_string = {.code = -2}}},
     "01000000 16000000 00000000 00000000 0e00 feffffff"},
    {"memset",
     false,
     {.request = {.call = API_CALL_MEMSET,
                  .memset = {.address = 16, .value = 0xa5, .width = 1, .count = 256}}},
     "01000000 27000000 00000000 00000000 0f00 1000000000000000 a5000000 01 0001000000000000"},
    {"device count",
     true,
     {.answer = {.sequence = 9,
                 .call = API_CALL_GET_DEVICE_COUNT,
                 .get_device_count = {.count = 4}}},
     "01000000 18000000 09000000 0000 00000000 1600 04000000"},
    {"blocked launch",
     true,
     {.answer = {.sequence = 1, .state = API_STATE_BLOCKED, .error = 600, .call = API_CALL_LAUNCH}},
     "01000000 14000000 01000000 0100 58020000 0600"},
    {"elapsed time",
     true,
     {.answer = {.call = API_CALL_EVENT_ELAPSED_TIME,
                 .event_elapsed_time = {.milliseconds = 1.5f}}},
     "01000000 18000000 00000000 0000 00000000 2300 0000c03f"},
};

Test(api_packet, bytes_are_those_of_the_rules)
{
    for (size_t i = 0; i < ARRAY_COUNT(vectors); i++) {
        const struct packet_layout *layout = layouts[vectors[i].is_answer];
        uint8_t expected[BYTES_MAX] = {0}, bytes[BYTES_MAX];
        size_t shown = unhex(vectors[i].bytes, expected);
        size_t length = expected[4] | (size_t)expected[5] << 8;
        struct packet_fault fault;
        union any_packet back;
        memset(bytes, 0xee, sizeof bytes);
        cr_assert_leq(shown, length, "%s", vectors[i].what);
        cr_expect_eq(packet_encode(layout, &vectors[i].packet, bytes, sizeof bytes, &fault), length,
                     "%s", vectors[i].what);
        cr_expect_arr_eq(bytes, expected, length, "%s", vectors[i].what);
        cr_expect_eq(bytes[length], 0xee, "%s: written behind the end", vectors[i].what);
        cr_expect_eq(packet_decode(layout, &back, expected, length, &fault), length, "%s",
                     vectors[i].what);
        cr_expect_arr_eq((uint8_t *)&back, (const uint8_t *)&vectors[i].packet,
                         layout->struct_bytes, "%s", vectors[i].what);
    }
}

/* ---- random packets ---- */

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The field after `field` in a packet of that case, the first one after NULL; NULL: there is none.
 */
static const struct packet_field *next_field(const struct packet_layout *layout, uint32_t value,
                                             const struct packet_field *field)
{
    const struct packet_field *end = layout->fields + layout->field_count, *first_case = end;
    for (const struct packet_field *f = end - 1; f >= layout->fields; f--)
        first_case = f->kind == PACKET_CASE ? f : first_case;
    field = field ? field + 1 : layout->fields;
    if (field == first_case) {
        while (field < end && !(field->kind == PACKET_CASE && field->limit == value))
            field++;
        field += field < end;
    }
    return field < end && field->kind != PACKET_CASE ? field : NULL;
}

static void fill_field(const struct packet_field *f, uint8_t *member)
{
    uint16_t choice = (uint16_t)(f->limit ? random_next() % f->limit : 0);
    uint32_t length = (uint32_t)(random_next() % f->bytes);
    switch (f->kind) {
    case PACKET_BOOL:
        *member = random_next() & 1;
        break;
    case PACKET_CHOICE:
        memcpy(member, &choice, sizeof choice);
        break;
    case PACKET_STRING:
        for (uint32_t k = 0; k < length; k++)
            member[k] = (uint8_t)(1 + random_next() % 255);
        break;
    default:
        for (uint32_t k = 0; k < f->bytes; k++)
            member[k] = (uint8_t)random_next();
    }
}

/* A random packet of that case; false: there is no such case. */
static bool fill(const struct packet_layout *layout, uint32_t value, union any_packet *packet)
{
    uint16_t chosen = (uint16_t)value;
    uint8_t *member = (uint8_t *)packet;
    if (packet_bytes(layout, value) == 0)
        return false;
    memset(packet, 0, sizeof *packet);
    for (const struct packet_field *f = NULL; (f = next_field(layout, value, f));) {
        fill_field(f, member);
        if (strcmp(f->name, "call") == 0)
            memcpy(member, &chosen, sizeof chosen);
        member += f->bytes;
    }
    return true;
}

#define ROUNDS 50

Test(api_packet, decoding_what_was_encoded_gives_the_same)
{
    size_t calls = 0;
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        for (uint32_t value = 0; value < API_CALL_COUNT; value++)
            for (int round = 0; round < ROUNDS; round++) {
                union any_packet packet, back;
                struct packet_fault fault;
                if (!fill(layouts[i], value, &packet))
                    break;
                calls += round == 0;
                size_t total = packet_bytes(layouts[i], value);
                uint8_t *bytes = malloc(total);
                cr_assert_eq(packet_encode(layouts[i], &packet, bytes, total, &fault), total);
                memset(&back, 0xa5, sizeof back);
                cr_assert_eq(packet_decode(layouts[i], &back, bytes, total, &fault), total);
                cr_assert_eq(fault.error, PACKET_FINE);
                cr_assert_eq(memcmp(&packet, &back, layouts[i]->struct_bytes), 0, "%s %u",
                             layouts[i]->name, value);
                free(bytes);
            }
    cr_expect_eq(calls, 2 * 52, "%zu kinds of packets", calls);
}

/* The name of the field that byte `at` belongs to. */
static const char *field_at(const struct packet_layout *layout, uint32_t value, uint32_t at)
{
    if (at < PACKET_HEADER_BYTES)
        return at < 4 ? "version" : "length";
    uint32_t offset = PACKET_HEADER_BYTES;
    for (const struct packet_field *f = NULL; (f = next_field(layout, value, f));) {
        offset += f->bytes;
        if (at < offset)
            return f->name;
    }
    return NULL;
}

Test(api_packet, every_cut_names_the_field_that_is_cut)
{
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        for (uint32_t value = 0; value < API_CALL_COUNT; value++) {
            union any_packet packet, back, before;
            struct packet_fault fault;
            uint8_t bytes[BYTES_MAX];
            if (!fill(layouts[i], value, &packet))
                continue;
            size_t total = packet_encode(layouts[i], &packet, bytes, sizeof bytes, &fault);
            memset(&back, 0xa5, sizeof back);
            before = back;
            for (size_t size = 0; size < total; size++) {
                uint8_t *cut = malloc(size);
                memcpy(cut, bytes, size);
                cr_assert_eq(packet_decode(layouts[i], &back, cut, size, &fault), 0);
                cr_assert_eq(fault.error, PACKET_TRUNCATED, "%zu bytes", size);
                cr_assert_str_eq(fault.field, field_at(layouts[i], value, (uint32_t)size));
                cr_assert_eq(fault.found, size);
                cr_assert_eq(memcmp(&back, &before, sizeof back), 0, "changed by a bad packet");
                free(cut);
            }
        }
}

/* ---- damage ---- */

static const struct {
    const char *what;
    bool is_answer;
    const char *good; /* followed by zeros up to the length in it */
    size_t at;
    const char *damage;
    enum packet_error error;
    const char *field, *says;
} damages[] = {
#define MALLOC "01000000 1a000000 07000000 02000000 0900 efcdab8967452301"
    {"version 0", false, MALLOC, 0, "00", PACKET_WRONG_VERSION, "version",
     "packet 'api_request', field 'version' at byte 0: it is 0, this side speaks 1"},
    {"next version", false, MALLOC, 0, "02", PACKET_WRONG_VERSION, "version", "it is 2"},
    {"high bits of the version", false, MALLOC, 3, "80", PACKET_WRONG_VERSION, "version",
     "it is 2147483649"},
    {"a byte too short", false, MALLOC, 4, "19", PACKET_WRONG_LENGTH, "length",
     "it is 25, such a packet has 26 bytes"},
    {"a byte too long", false, MALLOC, 4, "1b", PACKET_WRONG_LENGTH, "length",
     "field 'length' at byte 4: it is 27, such a packet has 26 bytes"},
    {"length 0", false, MALLOC, 4, "00", PACKET_WRONG_LENGTH, "length", "it is 0"},
    {"less than the header", false, MALLOC, 4, "07", PACKET_WRONG_LENGTH, "length", "it is 7"},
    {"largest length", false, MALLOC, 4, "ffffffff", PACKET_WRONG_LENGTH, "length",
     "it is 4294967295"},
    {"call 0", false, MALLOC, 16, "0000", PACKET_UNKNOWN_CASE, "call",
     "field 'call' at byte 16: nothing is known by the number 0"},
    {"a call without a case", false, MALLOC, 16, "0c00", PACKET_UNKNOWN_CASE, "call", "number 12"},
    {"a call behind the last", false, MALLOC, 16, "3900", PACKET_UNKNOWN_CASE, "call", "number 57"},
    {"largest call", false, MALLOC, 16, "ffff", PACKET_UNKNOWN_CASE, "call", "number 65535"},
    {"another call of another length", false, MALLOC, 16, "0300", PACKET_WRONG_LENGTH, "length",
     "it is 26, such a packet has 44 bytes"},
    {"no such direction", false,
     "01000000 2c000000 00000000 00000000 0300 0010000000000000 0020000000000000 2c01000000000000"
     "0200",
     42, "0500", PACKET_WRONG_VALUE, "direction", "field 'direction' at byte 42: 5 is not a value"},
    {"neither true nor false", false, "01000000 2b040000 00000000 00000000 0a00", 42, "02",
     PACKET_WRONG_VALUE, "constant", "2 is not a value of it"},
    {"text behind the end of the text", false, "01000000 2b040000 00000000 00000000 0a00", 44, "61",
     PACKET_WRONG_VALUE, "name", "field 'name' at byte 43"},
    {"text in the last byte", false, "01000000 2b040000 00000000 00000000 0a00", 1066, "61",
     PACKET_WRONG_VALUE, "name", "field 'name'"},
    {"no such state", true, "01000000 18000000 09000000 0000 00000000 1600 04000000", 12, "0300",
     PACKET_WRONG_VALUE, "state", "packet 'api_answer', field 'state' at byte 12"},
};

Test(api_packet, damage_is_refused_with_the_name_of_the_field)
{
    for (size_t i = 0; i < ARRAY_COUNT(damages); i++) {
        const struct packet_layout *layout = layouts[damages[i].is_answer];
        uint8_t bytes[BYTES_MAX] = {0};
        union any_packet packet, before;
        struct packet_fault fault;
        char text[256];
        unhex(damages[i].good, bytes);
        size_t length = bytes[4] | (size_t)bytes[5] << 8;
        memset(&packet, 0xa5, sizeof packet);
        before = packet;
        cr_assert_eq(packet_decode(layout, &(union any_packet){0}, bytes, length, &fault), length,
                     "%s: not even good before", damages[i].what);
        unhex(damages[i].damage, bytes + damages[i].at);
        cr_expect_eq(packet_decode(layout, &packet, bytes, sizeof bytes, &fault), 0, "%s",
                     damages[i].what);
        cr_expect_eq(fault.error, damages[i].error, "%s: error %d", damages[i].what, fault.error);
        cr_expect_str_eq(fault.field, damages[i].field, "%s", damages[i].what);
        packet_fault_text(&fault, text, sizeof text);
        cr_expect_not_null(strstr(text, damages[i].says), "%s: %s", damages[i].what, text);
        cr_expect_eq(memcmp(&packet, &before, sizeof packet), 0, "%s", damages[i].what);
    }
}

Test(api_packet, one_changed_byte_is_refused_or_decodes_to_what_it_says)
{
    for (uint32_t value = 0; value < API_CALL_COUNT; value++) {
        union any_packet packet, back;
        struct packet_fault fault;
        uint8_t bytes[BYTES_MAX], again[BYTES_MAX];
        if (!fill(&api_request_layout, value, &packet))
            continue;
        size_t total = packet_encode(&api_request_layout, &packet, bytes, sizeof bytes, &fault);
        for (size_t at = 0; at < total; at++) {
            uint8_t was = bytes[at];
            bytes[at] ^= (uint8_t)(1 + random_next() % 255);
            size_t read = packet_decode(&api_request_layout, &back, bytes, total, &fault);
            cr_assert(at >= PACKET_HEADER_BYTES || read == 0, "header byte %zu", at);
            cr_assert(read == 0 || read == total);
            if (read > 0) {
                packet_encode(&api_request_layout, &back, again, sizeof again, &fault);
                cr_assert_arr_eq(bytes, again, total, "byte %zu", at);
            }
            bytes[at] = was;
        }
    }
}

/* ---- encoding ---- */

Test(api_packet, a_packet_is_written_whole_or_not_at_all)
{
    struct api_request request = {.call = API_CALL_MALLOC};
    struct packet_fault fault;
    uint8_t bytes[64], untouched[64];
    memset(bytes, 0xee, sizeof bytes);
    memcpy(untouched, bytes, sizeof bytes);
    for (size_t size = 0; size < 26; size++) {
        cr_expect_eq(api_request_encode(&request, bytes, size, &fault), 0);
        cr_expect_eq(fault.error, PACKET_ROOM_TOO_SMALL);
        cr_expect(fault.found == size && fault.expected == 26);
        cr_expect_arr_eq(bytes, untouched, sizeof bytes);
    }
    cr_expect_eq(api_request_encode(&request, bytes, 26, &fault), 26);
}

Test(api_packet, what_has_no_bytes_is_not_encoded)
{
    static struct api_request request;
    struct packet_fault fault;
    uint8_t bytes[BYTES_MAX];
    static const uint16_t unknown[] = {0, 12, 19, 20, 21, 57, 65535};
    for (size_t i = 0; i < ARRAY_COUNT(unknown); i++) {
        request.call = unknown[i];
        cr_expect_eq(api_request_encode(&request, bytes, sizeof bytes, &fault), 0);
        cr_expect(fault.error == PACKET_UNKNOWN_CASE && fault.found == unknown[i]);
    }
    request.call = API_CALL_MEMCPY;
    request.memcpy.direction = 5;
    cr_expect_eq(api_request_encode(&request, bytes, sizeof bytes, &fault), 0);
    cr_expect(fault.error == PACKET_WRONG_VALUE && strcmp(fault.field, "direction") == 0);
    request.call = API_CALL_REGISTER_FUNCTION;
    memset(request.register_function.name, 'a', sizeof request.register_function.name);
    cr_expect_eq(api_request_encode(&request, bytes, sizeof bytes, &fault), 0);
    cr_expect(fault.error == PACKET_WRONG_VALUE && strcmp(fault.field, "name") == 0);
    request.register_function.name[1023] = 0; /* the longest name there is room for */
    cr_expect_eq(api_request_encode(&request, bytes, sizeof bytes, &fault),
                 packet_bytes(&api_request_layout, API_CALL_REGISTER_FUNCTION));
}

Test(api_packet, what_lies_behind_a_packet_does_not_matter)
{
    uint8_t bytes[64];
    struct api_request request;
    struct packet_fault fault;
    memset(bytes, 0xee, sizeof bytes);
    unhex(MALLOC, bytes);
    cr_expect_eq(api_request_decode(&request, bytes, sizeof bytes, &fault), 26);
    cr_expect_eq(request.malloc.size, UINT64_C(0x0123456789abcdef));
}

Test(api_packet, fault_texts_are_cut_not_overrun)
{
    uint8_t bytes[1] = {0};
    struct api_request request;
    struct packet_fault fault;
    char text[256], whole[256];
    api_request_decode(&request, bytes, 1, &fault);
    packet_fault_text(&fault, whole, sizeof whole);
    for (size_t size = 1; size < strlen(whole) + 1; size++) {
        memset(text, 'x', sizeof text);
        packet_fault_text(&fault, text, size);
        cr_expect_eq(strlen(text), size - 1);
        cr_expect_eq(text[size], 'x');
        cr_expect_eq(strncmp(text, whole, size - 1), 0);
    }
}
