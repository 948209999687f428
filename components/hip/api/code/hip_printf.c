/* printf of device code. A message comes in pieces of up to seven words: the first piece opens it,
 * and each answer carries the number by which the next piece names it; the last piece prints it.
 *
 * Descriptor of a piece and content of a message are those of ROCm's device library and of clang's
 * lowering of printf (ROCm-Device-Libs, ockl: services; LLVM, AMDGPUEmitPrintf): one control word
 * (bit 0: standard error), the format and other strings padded to words, everything else a word. */
#include "hip_hostcall.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PIECE_BEGIN = 1, PIECE_END = 2, PIECE_COUNT_SHIFT = 5, PIECE_NUMBER_SHIFT = 8 };
enum { SPEC_MAX = 64, MESSAGES_MAX = 1 << 20 };

struct message {
    uint64_t *words;
    size_t count, room;
    bool open;
};

static struct message *messages;
static size_t message_count;

/* Takes a free number for a new message. False: there are too many messages. */
static bool open_message(uint64_t *number)
{
    size_t free_one = 0;
    while (free_one < message_count && messages[free_one].open)
        free_one++;
    if (free_one == MESSAGES_MAX)
        return false;
    if (free_one == message_count) {
        messages = hip_grow(messages, (message_count + 1) * sizeof *messages);
        messages[message_count++] = (struct message){0};
    }
    messages[free_one].open = true;
    messages[free_one].count = 0;
    *number = free_one;
    return true;
}

static void append(struct message *message, const uint64_t *words, size_t count)
{
    if (message->count + count > message->room) {
        message->room = 2 * (message->count + count);
        message->words = hip_grow(message->words, message->room * sizeof *message->words);
    }
    memcpy(message->words + message->count, words, count * sizeof *words);
    message->count += count;
}

/* ---- formatting ---- */

struct reader {
    const struct message *message;
    size_t at;
};

static bool take_word(struct reader *r, uint64_t *word)
{
    if (r->at >= r->message->count)
        return false;
    *word = r->message->words[r->at++];
    return true;
}

static const char *take_string(struct reader *r)
{
    const char *text = (const char *)(r->message->words + r->at);
    size_t room = (r->message->count - r->at) * 8, length = strnlen(text, room);
    if (length == room)
        return NULL;
    r->at += length / 8 + 1;
    return text;
}

/* A conversion: flags, width, precision and length as written, with `*` replaced by its argument.
 */
struct spec {
    char text[SPEC_MAX];
    size_t used;
    char length[3]; /* "hh", "l", ... */
};

static bool put_char(struct spec *spec, char c)
{
    if (spec->used + 4 >= sizeof spec->text) /* room for a length, the conversion and the end */
        return false;
    spec->text[spec->used++] = c;
    return true;
}

static bool put_star(struct spec *spec, struct reader *r)
{
    char digits[16];
    uint64_t word;
    if (!take_word(r, &word))
        return false;
    snprintf(digits, sizeof digits, "%d", (int)(uint32_t)word);
    for (const char *digit = digits; *digit; digit++)
        if (!put_char(spec, *digit))
            return false;
    return true;
}

/* Reads a conversion from behind its '%' up to its letter; NULL when it is not sound. */
static const char *read_spec(struct spec *spec, const char *format, struct reader *r)
{
    *spec = (struct spec){.text = "%", .used = 1};
    for (; *format && strchr("-+ #0.*123456789", *format); format++)
        if (!(*format == '*' ? put_star(spec, r) : put_char(spec, *format)))
            return NULL;
    size_t length = strspn(format, "hlLqjzt");
    if (length >= sizeof spec->length)
        return NULL;
    memcpy(spec->length, format, length);
    return format[length] ? format + length : NULL;
}

/* The C promotions of what the device passed in 64 bits. */
static uint64_t narrow(const struct spec *spec, uint64_t word, bool is_signed)
{
    if (!strcmp(spec->length, "hh"))
        return is_signed ? (uint64_t)(int8_t)word : (uint8_t)word;
    if (!strcmp(spec->length, "h"))
        return is_signed ? (uint64_t)(int16_t)word : (uint16_t)word;
    if (!*spec->length)
        return is_signed ? (uint64_t)(int32_t)word : (uint32_t)word;
    return word;
}

static int print_integer(FILE *stream, struct spec *spec, char letter, uint64_t word)
{
    bool is_signed = letter == 'd' || letter == 'i';
    word = narrow(spec, word, is_signed);
    memcpy(spec->text + spec->used, (char[4]){'l', 'l', letter, '\0'}, 4);
    return fprintf(stream, spec->text, (unsigned long long)word);
}

static int print_word(FILE *stream, struct spec *spec, char letter, uint64_t word)
{
    double number;
    memcpy(spec->text + spec->used, (char[2]){letter, '\0'}, 2);
    if (letter == 'c')
        return fprintf(stream, spec->text, (int)(uint32_t)word);
    if (letter == 'p')
        return fprintf(stream, spec->text, (void *)(uintptr_t)word);
    memcpy(&number, &word, sizeof number);
    return fprintf(stream, spec->text, number);
}

/* Prints one conversion whose letter is *format; negative when there is no argument for it. */
static int print_conversion(FILE *stream, struct spec *spec, char letter, struct reader *r)
{
    uint64_t word;
    if (letter == 's') {
        const char *text = take_string(r);
        memcpy(spec->text + spec->used, "s", 2);
        return text ? fprintf(stream, spec->text, text) : -1;
    }
    if (!take_word(r, &word))
        return -1;
    if (letter == 'n')
        return 0; /* as on the device: nowhere to write to */
    return strchr("diouxX", letter)       ? print_integer(stream, spec, letter, word)
           : strchr("cpaAeEfFgG", letter) ? print_word(stream, spec, letter, word)
                                          : -1;
}

/* Returns what C's printf would, or -1 for a malformed message. */
static int print(const struct message *message)
{
    struct reader r = {.message = message};
    uint64_t control;
    const char *format = take_word(&r, &control) ? take_string(&r) : NULL;
    FILE *stream = format && control & 1 ? stderr : stdout;
    int total = 0;
    while (format && *format) {
        size_t plain = strcspn(format, "%");
        total += (int)fwrite(format, 1, plain, stream);
        format += plain;
        if (!*format)
            break;
        if (format[1] == '%') {
            total += fputc('%', stream) == '%';
            format += 2;
            continue;
        }
        struct spec spec;
        format = read_spec(&spec, format + 1, &r);
        int printed = format ? print_conversion(stream, &spec, *format, &r) : -1;
        if (printed < 0)
            return -1;
        total += printed;
        format++;
    }
    return format ? total : -1;
}

bool hip_printf_piece(uint64_t words[HIP_CALL_WORDS])
{
    uint64_t descriptor = words[0], number = descriptor >> PIECE_NUMBER_SHIFT;
    size_t count = descriptor >> PIECE_COUNT_SHIFT & 7;
    if (descriptor & PIECE_BEGIN && !open_message(&number))
        return false;
    if (number >= message_count || !messages[number].open) {
        words[0] = (uint64_t)-1;
        return false;
    }
    struct message *message = &messages[number];
    append(message, words + 1, count);
    words[0] = number << PIECE_NUMBER_SHIFT;
    if (descriptor & PIECE_END) {
        int printed = print(message);
        words[0] = (uint64_t)(int64_t)printed;
        message->open = false;
        return printed >= 0;
    }
    return true;
}
