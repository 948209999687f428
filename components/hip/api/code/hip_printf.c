/* printf of device code. A message comes in pieces of up to seven words: the first piece opens it,
 * and each answer carries the number by which the next piece names it; the last piece prints it.
 *
 * Descriptor of a piece and content of a message are those of ROCm's device library and of clang's
 * lowering of printf (ROCm-Device-Libs, ockl: services; LLVM, AMDGPUEmitPrintf): one control word
 * (bit 0: standard error), the format and other strings padded to words, everything else a word. */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "components/printf/kernel_printf.h"

#include "hip_hostcall.h"

enum { PIECE_BEGIN = 1, PIECE_END = 2, PIECE_COUNT_SHIFT = 5, PIECE_NUMBER_SHIFT = 8 };
enum { MESSAGES_MAX = 1 << 20 };

struct message {
    uint64_t *words;
    size_t count, capacity;
    bool is_open;
};

static struct message *messages;
static size_t message_count, message_capacity;

/* Takes a free number for a new message. False: there are too many messages. */
static bool open_message(uint64_t *number)
{
    size_t free_one = 0;
    while (free_one < message_count && messages[free_one].is_open)
        free_one++;
    if (free_one == MESSAGES_MAX)
        return false;
    if (free_one == message_count) {
        grow_list(messages, message_count + 1, message_capacity, HIP_LIBRARY);
        messages[message_count++] = (struct message){0};
    }
    messages[free_one].is_open = true;
    messages[free_one].count = 0;
    *number = free_one;
    return true;
}

static void append_words(struct message *message, const uint64_t *words, size_t count)
{
    grow_list(message->words, message->count + count, message->capacity, HIP_LIBRARY);
    memcpy(message->words + message->count, words, count * sizeof *words);
    message->count += count;
}

/* ---- formatting ---- */

struct reader {
    const struct message *message;
    size_t next; /* the next of the message's words */
    FILE *stream;
};

static bool read_word(struct reader *r, uint64_t *word)
{
    if (r->next >= r->message->count)
        return false;
    *word = r->message->words[r->next++];
    return true;
}

static const char *read_string(void *context)
{
    struct reader *r = context;
    const char *text = (const char *)(r->message->words + r->next);
    size_t room = (r->message->count - r->next) * 8, length = strnlen(text, room);
    if (length == room)
        return NULL;
    r->next += length / 8 + 1;
    return text;
}

static unsigned read_number(void *context, unsigned bytes, uint64_t *value)
{
    struct reader *r = context;
    (void)bytes; /* all are words */
    return read_word(r, value) ? sizeof *value : 0;
}

static void put_text(void *context, const char *text, size_t size)
{
    struct reader *r = context;
    fwrite(text, 1, size, r->stream);
}

/* Returns what C's printf would, or -1 for a malformed message. */
static int print_message(const struct message *message)
{
    struct reader r = {.message = message, .stream = stdout};
    const struct kernel_printf with = {
        .context = &r, .number = read_number, .string = read_string, .put = put_text};
    uint64_t control;
    const char *format = read_word(&r, &control) ? read_string(&r) : NULL;
    if (format && control & 1)
        r.stream = stderr;
    return format ? kernel_printf(&with, format) : -1;
}

bool hip_printf_piece(uint64_t words[HIP_CALL_WORDS])
{
    uint64_t descriptor = words[0], number = descriptor >> PIECE_NUMBER_SHIFT;
    size_t count = descriptor >> PIECE_COUNT_SHIFT & 7;
    if (descriptor & PIECE_BEGIN && !open_message(&number))
        return false;
    if (number >= message_count || !messages[number].is_open) {
        words[0] = (uint64_t)-1;
        return false;
    }
    struct message *message = &messages[number];
    append_words(message, words + 1, count);
    words[0] = number << PIECE_NUMBER_SHIFT;
    if (descriptor & PIECE_END) {
        int printed = print_message(message);
        words[0] = (uint64_t)(int64_t)printed;
        message->is_open = false;
        return printed >= 0;
    }
    return true;
}
