/* Collecting, sorting and printing of diagnostics; see the header for the rules. The printed form
 * is
 *
 *     file:line:col: error: message [E0123]
 *      12 |     size = 4;
 *         |            ^
 *     file:line:col: note: the second place
 *     help: the likely fix
 */
#include "diagnostic.h"

#include <string.h>

#include "base/number.h"

#include "explain.h"

void diagnostics_init(struct diagnostics *d, struct region *region, struct source_set *sources)
{
    *d = (struct diagnostics){.region = region, .sources = sources};
}

enum compile_severity diagnostic_severity(enum diagnostic_code code)
{
    return explain_entry(code)->severity;
}

static struct diagnostic *find_same(struct diagnostics *d, enum diagnostic_code code,
                                    struct span span, const void *key)
{
    for (uint32_t i = 0; i < d->list.count; i++) {
        struct diagnostic *other = d->list.items[i];
        if (other->code == code && other->span.begin == span.begin && other->span.end == span.end
            && other->key == key && span.begin != 0)
            return other;
    }
    return NULL;
}

/* Warnings about the library are for those that check it; a platform that imports it cannot mend
 * it. */
static bool is_for_others(const struct diagnostics *d, enum diagnostic_code code, struct span span)
{
    const struct source_file *file = source_of(d->sources, span.begin);
    return d->library_is_quiet && file && file->is_library
           && diagnostic_severity(code) == COMPILE_WARNING;
}

struct diagnostic *diagnostic_add(struct diagnostics *d, enum diagnostic_code code,
                                  struct span span, const char *format, ...)
{
    d->sink = (struct diagnostic){0};
    const void *key = d->key;
    d->key = NULL;
    if (d->muted > 0 || is_for_others(d, code, span))
        return &d->sink;
    struct diagnostic *same = find_same(d, code, span, key);
    if (same) {
        same->repeats +=
            key != NULL; /* another instance; without a key it is the same text looked at again */
        return &d->sink;
    }
    if (diagnostic_severity(code) == COMPILE_ERROR)
        d->error_count++;
    else
        d->warning_count++;
    if (d->list.count >= DIAGNOSTIC_MAX) {
        d->is_flooded = true;
        return &d->sink;
    }
    struct diagnostic *new = region_take(d->region, sizeof *new);
    new->code = code;
    new->span = span;
    new->key = key;
    new->order = d->list.count;
    va_list args;
    va_start(args, format);
    new->message = region_vprintf(d->region, format, args);
    va_end(args);
    vector_push(d->region, &d->list, new);
    return new;
}

static void add_note(struct diagnostics *d, struct diagnostic *to, bool is_help, struct span span,
                     const char *message)
{
    struct diagnostic_note note = {.is_help = is_help, .span = span, .message = message};
    vector_push(d->region, &to->notes, note);
}

void diagnostic_note(struct diagnostics *d, struct diagnostic *to, struct span span,
                     const char *format, ...)
{
    if (to == &d->sink)
        return;
    va_list args;
    va_start(args, format);
    add_note(d, to, false, span, region_vprintf(d->region, format, args));
    va_end(args);
}

void diagnostic_help(struct diagnostics *d, struct diagnostic *to, const char *format, ...)
{
    if (to == &d->sink)
        return;
    va_list args;
    va_start(args, format);
    add_note(d, to, true, (struct span){0, 0}, region_vprintf(d->region, format, args));
    va_end(args);
}

void diagnostic_suggest(struct diagnostics *d, struct diagnostic *to, const char *suggestion)
{
    if (suggestion)
        diagnostic_help(d, to, "did you mean '%s'?", suggestion);
}

static bool comes_before(const struct diagnostic *a, const struct diagnostic *b)
{
    if (a->span.begin != b->span.begin)
        return a->span.begin < b->span.begin;
    return a->order < b->order;
}

static struct model_place publish_place(const struct diagnostics *d, struct span span,
                                        uint32_t *end_line, uint32_t *end_column)
{
    struct source_position from = source_locate(d->sources, span.begin);
    if (!from.file) {
        *end_line = *end_column = 0;
        return (struct model_place){NULL, 0, 0};
    }
    struct source_position to = source_locate(d->sources, max(span.end, span.begin));
    *end_line = to.line;
    *end_column = to.column;
    return (struct model_place){from.file->name, from.line, from.column};
}

void diagnostics_finish(struct diagnostics *d)
{
    if (d->published)
        return;
    for (uint32_t i = 1; i < d->list.count;
         i++) { /* at most DIAGNOSTIC_MAX: insertion sort will do */
        struct diagnostic *moving = d->list.items[i];
        uint32_t at = i;
        for (; at > 0 && comes_before(moving, d->list.items[at - 1]); at--)
            d->list.items[at] = d->list.items[at - 1];
        d->list.items[at] = moving;
    }
    d->published = region_take(d->region, (d->list.count + 1) * sizeof *d->published);
    for (uint32_t i = 0; i < d->list.count; i++) {
        const struct diagnostic *from = d->list.items[i];
        const struct compile_explanation *entry = explain_entry(from->code);
        struct compile_diagnostic *to = &d->published[i];
        struct compile_note *notes =
            region_take(d->region, (from->notes.count + 1) * sizeof *notes);
        *to = (struct compile_diagnostic){.code = entry->code,
                                          .name = entry->name,
                                          .severity = entry->severity,
                                          .message = from->message,
                                          .notes = notes,
                                          .note_count = from->notes.count};
        to->place = publish_place(d, from->span, &to->end_line, &to->end_column);
        for (uint32_t n = 0; n < from->notes.count; n++) {
            const struct diagnostic_note *note = &from->notes.items[n];
            notes[n].is_help = note->is_help;
            notes[n].message = note->message;
            notes[n].place = publish_place(d, note->span, &notes[n].end_line, &notes[n].end_column);
        }
        if (from->repeats > 0)
            to->message =
                region_printf(d->region, "%s (and %u more like it)", from->message, from->repeats);
    }
}

/* The longest piece of a source line that is shown; descriptions made by programs may have one line
 * of megabytes. */
#define LINE_SHOWN 160u

static void print_source(const struct diagnostics *d, FILE *out, struct span span, bool colour)
{
    struct source_position at = source_locate(d->sources, span.begin);
    if (!at.file)
        return;
    uint32_t size;
    const char *line = source_line(d->sources, at.file, at.line, &size);
    uint32_t offset = span.begin - at.file->base - (uint32_t)(line - at.file->text);
    uint32_t from = offset > LINE_SHOWN - 40 ? offset - (LINE_SHOWN - 40) : 0;
    while (from > 0 && from < size && ((unsigned char)line[from] & 0xC0) == 0x80)
        from--;
    uint32_t to = size - from > LINE_SHOWN ? from + LINE_SHOWN : size;
    fprintf(out, "%5u | ", at.line);
    for (uint32_t i = from; i < to; i++)
        fputc(line[i] == '\t'                                    ? ' '
              : (unsigned char)line[i] < 0x20 || line[i] == 0x7f ? '?'
                                                                 : line[i],
              out);
    fprintf(out, "\n      | ");
    for (uint32_t i = from; i < offset && i < to; i++)
        if (((unsigned char)line[i] & 0xC0) != 0x80)
            fputc(' ', out);
    uint32_t length = span.end > span.begin ? span.end - span.begin : 1;
    if (colour)
        fputs("\033[1;32m", out);
    fputc('^', out);
    for (uint32_t i = 1; i < length && offset + i < to; i++)
        if (((unsigned char)line[offset + i] & 0xC0) != 0x80)
            fputc('~', out);
    if (colour)
        fputs("\033[0m", out);
    fputc('\n', out);
}

static void print_head(const struct diagnostics *d, FILE *out, struct span span, const char *kind,
                       const char *kind_colour, bool colour)
{
    struct source_position at = source_locate(d->sources, span.begin);
    if (at.file)
        fprintf(out, "%s:%u:%u: ", at.file->name, at.line, at.column);
    else if (strcmp(kind, "help") != 0)
        fprintf(out, "heddle: ");
    fprintf(out, "%s%s:%s ", colour ? kind_colour : "", kind, colour ? "\033[0m" : "");
}

void diagnostics_print(const struct diagnostics *d, FILE *out, bool colour)
{
    for (uint32_t i = 0; i < d->list.count; i++) {
        const struct diagnostic *diagnostic = d->list.items[i];
        const struct compile_explanation *entry = explain_entry(diagnostic->code);
        bool is_error = entry->severity == COMPILE_ERROR;
        print_head(d, out, diagnostic->span, is_error ? "error" : "warning",
                   is_error ? "\033[1;31m" : "\033[1;35m", colour);
        fprintf(out, "%s", diagnostic->message);
        if (diagnostic->repeats > 0)
            fprintf(out, " (and %u more like it)", diagnostic->repeats);
        fprintf(out, " [%s]\n", entry->code);
        print_source(d, out, diagnostic->span, colour);
        for (uint32_t n = 0; n < diagnostic->notes.count; n++) {
            const struct diagnostic_note *note = &diagnostic->notes.items[n];
            print_head(d, out, note->span, note->is_help ? "help" : "note", "\033[1;36m", colour);
            fprintf(out, "%s\n", note->message);
            print_source(d, out, note->span, colour);
        }
    }
    if (d->is_flooded)
        fprintf(out, "heddle: only the first %d diagnostics are shown\n", DIAGNOSTIC_MAX);
    if (d->error_count > 0 || d->warning_count > 0) {
        fprintf(out, "%u error%s", d->error_count, d->error_count == 1 ? "" : "s");
        if (d->warning_count > 0)
            fprintf(out, ", %u warning%s", d->warning_count, d->warning_count == 1 ? "" : "s");
        fputc('\n', out);
    }
}
