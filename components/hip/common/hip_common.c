/* Messages and host memory, for several host threads, with and without locks. */
#include "hip_common.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"

enum {
    MESSAGES_MAX = 40, /* lines on stderr before the rest is left out */
    REPEATED_MAX = 120 /* characters of one when it is counted at the end */
};

static _Thread_local const char *step_name = "", *outer_call;

const char *hip_set_step(const char *step)
{
    const char *before = step_name;
    step_name = outer_call && strncmp(step, "hip", 3) == 0 ? outer_call : step;
    return before;
}

const char *hip_set_outer_call(const char *function)
{
    const char *before = outer_call;
    outer_call = function;
    if (function)
        step_name = function;
    return before;
}

const char *hip_outer_call(void)
{
    return outer_call;
}

/* The lines that were written, in that order, and how often each was repeated. No lock and no
 * memory of the heap: a signal handler may write a line. */
static struct line {
    bool is_written; /* atomic: the text is whole */
    unsigned repeats;
    char text[1024];
} lines[MESSAGES_MAX];
static unsigned used_lines; /* places in `lines`, and further messages that got none */

/* Counts the line. False: it was written before, or too many others were. */
static bool count_line(const char *text)
{
    for (unsigned i = 0; i < MESSAGES_MAX; i++) {
        bool is_whole = __atomic_load_n(&lines[i].is_written, __ATOMIC_ACQUIRE);
        if (is_whole && strcmp(lines[i].text, text) == 0) {
            __atomic_fetch_add(&lines[i].repeats, 1, __ATOMIC_RELAXED);
            return false;
        }
    }
    unsigned number = __atomic_fetch_add(&used_lines, 1, __ATOMIC_RELAXED);
    if (number == MESSAGES_MAX)
        fprintf(stderr, "heddle: further messages are left out\n");
    if (number >= MESSAGES_MAX)
        return false;
    strcpy(lines[number].text, text);
    __atomic_store_n(&lines[number].is_written, true, __ATOMIC_RELEASE);
    return true;
}

/* A message of a call of CUDA in CUDA's words; words in quotes are the program's. */
static void translate(char *text, size_t size)
{
    static const char *const words[][2] = {{"work-group", "block"},
                                           {"work-item", "thread"},
                                           {"wavefront", "warp"},
                                           {"a compute unit", "an SM"},
                                           {"compute unit", "SM"},
                                           {"bytes of LDS", "bytes of shared memory"},
                                           {"the LDS", "shared memory"},
                                           {"HIP", "CUDA"},
                                           {"hip", "cuda"}};
    char from[sizeof lines[0].text], *to = text;
    bool is_quoted = false;
    snprintf(from, sizeof from, "%s", text);
    for (const char *next = from; *next && to + 1 < text + size;) {
        size_t word = ARRAY_COUNT(words);
        is_quoted ^= *next == '\'';
        if (!is_quoted)
            for (size_t i = 0; i < ARRAY_COUNT(words) && word > i; i++)
                if (strncmp(next, words[i][0], strlen(words[i][0])) == 0)
                    word = i;
        if (word == ARRAY_COUNT(words)) {
            *to++ = *next++;
            continue;
        }
        to += snprintf(to, (size_t)(text + size - to), "%s", words[word][1]);
        to = to < text + size ? to : text + size - 1;
        next += strlen(words[word][0]);
    }
    *to = '\0';
}

/* Writes one line at once, unless it or too many others were written before. */
static void write_line(const char *subject, const char *format, va_list arguments)
{
    char text[sizeof lines[0].text];
    int length = snprintf(text, sizeof text, "%s%s", subject, *subject ? ": " : "");
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    if (strncmp(step_name, "cuda", 4) == 0)
        translate(text + length, sizeof text - (size_t)length);
    if (count_line(text))
        fprintf(stderr, "heddle: %s\n", text);
}

void hip_say_repeats(void)
{
    for (const struct line *line = lines; line < lines + MESSAGES_MAX; line++)
        if (line->repeats > 0)
            fprintf(stderr, "heddle: %u more time%s: %.*s%s\n", line->repeats,
                    line->repeats > 1 ? "s" : "", REPEATED_MAX, line->text,
                    strlen(line->text) > REPEATED_MAX ? "..." : "");
    if (used_lines > MESSAGES_MAX)
        fprintf(stderr, "heddle: %u messages were left out\n", used_lines - MESSAGES_MAX);
}

void hip_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("", format, arguments);
    va_end(arguments);
}

void hip_say_call_list(const char *format, va_list arguments)
{
    write_line(step_name, format, arguments);
}

void hip_say_call(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hip_say_call_list(format, arguments);
    va_end(arguments);
}

void hip_say_lost(const char *text)
{
    fprintf(stderr, "heddle: %s: %s\n", step_name, text);
}

void *hip_allocate(size_t size)
{
    return grow_zeroed(size, HIP_LIBRARY);
}

void hip_release(void *memory)
{
    free(memory);
}
