/* Names, scopes, labels and messages of a text that is being parsed. A name's symbols form a stack;
 * closing a scope takes its symbols off. Labels are found at a function's end, since they may be
 * used before they are declared. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#include "ptx_build.h"

enum { FIRST_BUCKETS = 1024, LABEL_BUCKETS = 256 };

static const char *source_place(struct ptx_parser *parser, char *text, size_t size)
{
    const struct ptx_module *module = parser->module;
    const char *file = parser->loc_line && parser->function && parser->loc_file < module->file_count
                           ? module->files[parser->loc_file]
                           : NULL;
    text[0] = 0;
    if (file)
        snprintf(text, size, " (%s:%u)", file, parser->loc_line);
    return text;
}

void ptx_error_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
{
    struct ptx_error *error = parser->error;
    char place[300];
    if (error->count == 0)
        error->line = line;
    if (error->count++ >= PTX_MESSAGES_MAX)
        return;
    size_t used = strlen(error->text);
    used += (size_t)snprintf(error->text + used, sizeof error->text - used, "%s%s:%u:%s ",
                             used ? "\n" : "", parser->name, line,
                             source_place(parser, place, sizeof place));
    if (used >= sizeof error->text)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + used, sizeof error->text - used, format, arguments);
    va_end(arguments);
}

void ptx_warning_at(struct ptx_parser *parser, uint32_t line, const char *format, ...)
{
    enum { WARNINGS_BYTES = 4096 };
    struct ptx_module *module = parser->module;
    char message[600], place[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!*module->warnings)
        module->warnings = region_take(parser->region, WARNINGS_BYTES);
    size_t used = parser->warning_bytes;
    int length =
        snprintf(module->warnings + used, WARNINGS_BYTES - used, "%s%s:%u:%s %s", used ? "\n" : "",
                 parser->name, line, source_place(parser, place, sizeof place), message);
    if ((size_t)length < WARNINGS_BYTES - used)
        parser->warning_bytes += (size_t)length;
    else
        module->warnings[used] = 0;
}

static uint32_t hash_of(const char *text, size_t length)
{
    return (uint32_t)(hash_bytes(0, text, length) >> 32);
}

static void rehash(struct ptx_parser *parser)
{
    uint32_t count = parser->bucket_count ? 4 * parser->bucket_count : FIRST_BUCKETS;
    struct ptx_name **buckets = region_take(parser->region, count * sizeof *buckets);
    for (uint32_t i = 0; i < parser->bucket_count; i++)
        for (struct ptx_name *name = parser->buckets[i], *next; name; name = next) {
            next = name->next;
            name->next = buckets[name->hash % count];
            buckets[name->hash % count] = name;
        }
    parser->buckets = buckets;
    parser->bucket_count = count;
}

static struct ptx_name *find_name(struct ptx_parser *parser, const char *text, size_t length,
                                  uint32_t hash)
{
    if (!parser->bucket_count)
        return NULL;
    struct ptx_name *name = parser->buckets[hash % parser->bucket_count];
    while (
        name
        && (name->hash != hash || name->length != length || memcmp(name->text, text, length) != 0))
        name = name->next;
    return name;
}

const char *ptx_intern(struct ptx_parser *parser, const char *text, size_t length)
{
    uint32_t hash = hash_of(text, length);
    struct ptx_name *name = find_name(parser, text, length, hash);
    if (name)
        return name->text;
    if (parser->name_count >= parser->bucket_count)
        rehash(parser);
    name = region_take(parser->region, sizeof *name + length + 1);
    memcpy(name->text, text, length);
    name->hash = hash;
    name->length = (uint32_t)length;
    struct ptx_name **bucket = &parser->buckets[hash % parser->bucket_count];
    name->next = *bucket;
    *bucket = name;
    parser->name_count++;
    return name->text;
}

struct ptx_name *ptx_name_of(const char *interned)
{
    /* An interned text is the end of its name. */
    return (struct ptx_name *)(uintptr_t)(interned - offsetof(struct ptx_name, text));
}

void ptx_scope_open(struct ptx_parser *parser)
{
    uint32_t parent = parser->scope_count ? parser->scope : PTX_NONE;
    if (++parser->depth == PTX_DEPTH_MAX)
        ptx_error_at(parser, parser->line, "blocks are nested more than %d deep", PTX_DEPTH_MAX);
    struct ptx_scope *scope = region_append(parser->region, parser->scopes, parser->scope_count);
    scope->id = parser->scope_count - 1;
    scope->parent = parent;
    parser->scope = scope->id;
}

void ptx_scope_close(struct ptx_parser *parser)
{
    struct ptx_scope *scope = &parser->scopes[parser->scope];
    for (struct ptx_symbol *symbol = scope->symbols; symbol; symbol = symbol->before)
        symbol->name->top = symbol->outer;
    scope->symbols = NULL;
    parser->scope = scope->parent;
    parser->depth--;
}

struct ptx_symbol *ptx_declare(struct ptx_parser *parser, const char *text, uint32_t line)
{
    struct ptx_name *name = ptx_name_of(text);
    struct ptx_scope *scope = &parser->scopes[parser->scope];
    if (name->top && name->top->scope == parser->scope)
        ptx_error_at(parser, line, "'%.80s' is declared twice in one block", text);
    struct ptx_symbol *symbol = region_take(parser->region, sizeof *symbol);
    symbol->name = name;
    symbol->scope = parser->scope;
    symbol->outer = name->top;
    symbol->before = scope->symbols;
    scope->symbols = symbol;
    name->top = symbol;
    return symbol;
}

/* "%r12" is number 12 of the range "%r", if that was declared with more registers than 12. */
static struct ptx_symbol *lookup_range(struct ptx_parser *parser, struct ptx_name *name)
{
    uint32_t prefix = name->length;
    while (prefix && name->text[prefix - 1] >= '0' && name->text[prefix - 1] <= '9')
        prefix--;
    uint32_t digits = name->length - prefix;
    if (!prefix || !digits || digits > 7 || (digits > 1 && name->text[prefix] == '0'))
        return NULL;
    uint32_t number = 0;
    for (uint32_t i = prefix; i < name->length; i++)
        number = 10 * number + (uint32_t)(name->text[i] - '0');
    struct ptx_name *range = find_name(parser, name->text, prefix, hash_of(name->text, prefix));
    struct ptx_symbol *range_symbol = range ? range->top : NULL;
    while (range_symbol
           && (range_symbol->meaning != PTX_MEANS_RANGE || range_symbol->count <= number))
        range_symbol = range_symbol->outer;
    if (!range_symbol)
        return NULL;
    struct ptx_symbol *symbol = region_take(parser->region, sizeof *symbol);
    *symbol = (struct ptx_symbol){.name = name,
                                  .outer = name->top,
                                  .range = range_symbol,
                                  .meaning = PTX_MEANS_REGISTER,
                                  .index = range_symbol->index + number,
                                  .count = 1,
                                  .scope = range_symbol->scope};
    struct ptx_scope *scope = &parser->scopes[range_symbol->scope];
    symbol->before = scope->symbols;
    scope->symbols = symbol;
    parser->function->registers[symbol->index].name = name->text;
    name->top = symbol; /* until the range's scope ends */
    return symbol;
}

struct ptx_symbol *ptx_lookup(struct ptx_parser *parser, const char *text)
{
    struct ptx_name *name = ptx_name_of(text);
    struct ptx_symbol *top = name->top;
    bool hidden = top && top->range && top->range->name->top != top->range;
    if (top && !hidden)
        return top;
    struct ptx_symbol *symbol = parser->function ? lookup_range(parser, name) : NULL;
    return symbol ? symbol : top;
}

const char *ptx_similar_name(struct ptx_parser *parser, const char *text)
{
    struct ptx_nearest nearest = ptx_nearest_begin(text);
    for (uint32_t i = parser->scope; i != PTX_NONE; i = parser->scopes[i].parent)
        for (struct ptx_symbol *symbol = parser->scopes[i].symbols; symbol; symbol = symbol->before)
            if (symbol->meaning != PTX_MEANS_RANGE)
                ptx_nearest_try(&nearest, symbol->name->text);
    return nearest.best;
}

static struct ptx_label *find_label(struct ptx_parser *parser, const char *name, uint32_t scope)
{
    if (!parser->label_buckets)
        return NULL;
    uint32_t at = parser->label_buckets[ptx_name_of(name)->hash % LABEL_BUCKETS];
    while (at != PTX_NONE) {
        struct ptx_label *label = &parser->labels[at];
        if (label->name == name && label->scope == scope)
            return label;
        at = label->next;
    }
    return NULL;
}

void ptx_label_define(struct ptx_parser *parser, const char *name, uint32_t line)
{
    if (find_label(parser, name, parser->scope)) {
        ptx_error_at(parser, line, "label '%.80s' stands twice in one block", name);
        return;
    }
    if (!parser->label_buckets) {
        parser->label_buckets = region_take(parser->region, LABEL_BUCKETS * sizeof(uint32_t));
        memset(parser->label_buckets, 0xff, LABEL_BUCKETS * sizeof(uint32_t));
    }
    uint32_t *bucket = &parser->label_buckets[ptx_name_of(name)->hash % LABEL_BUCKETS];
    struct ptx_label *label = region_append(parser->region, parser->labels, parser->label_count);
    *label = (struct ptx_label){.name = name,
                                .scope = parser->scope,
                                .instruction = parser->function->instruction_count,
                                .next = *bucket};
    *bucket = parser->label_count - 1;
}

void ptx_label_use(struct ptx_parser *parser, const char *name, uint32_t line, uint32_t *index)
{
    struct ptx_fixup *fixup = region_append(parser->region, parser->fixups, parser->fixup_count);
    *fixup = (struct ptx_fixup){name, parser->scope, line, index};
}

static void report_missing_label(struct ptx_parser *parser, const struct ptx_fixup *fixup)
{
    struct ptx_nearest nearest = ptx_nearest_begin(fixup->name);
    for (uint32_t i = 0; i < parser->label_count; i++)
        ptx_nearest_try(&nearest, parser->labels[i].name);
    parser->loc_line = 0; /* the last .loc belongs to the end of the function */
    char hint[PTX_MESSAGE_BYTES];
    ptx_error_at(parser, fixup->line, "there is no label '%.80s' in this function%s", fixup->name,
                 ptx_hint(hint, false, nearest.best));
}

void ptx_labels_resolve(struct ptx_parser *parser)
{
    for (uint32_t i = 0; i < parser->fixup_count; i++) {
        const struct ptx_fixup *fixup = &parser->fixups[i];
        struct ptx_label *label = NULL;
        for (uint32_t scope = fixup->scope; scope != PTX_NONE && !label;
             scope = parser->scopes[scope].parent)
            label = find_label(parser, fixup->name, scope);
        if (label)
            *fixup->index = label->instruction;
        else
            report_missing_label(parser, fixup);
    }
    parser->label_count = parser->fixup_count = 0;
    parser->labels = NULL;
    parser->fixups = NULL;
    parser->label_buckets = NULL;
}
