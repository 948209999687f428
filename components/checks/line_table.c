/* See line_table.h. */
#include "line_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"

enum { FILES = 4096, FOLDERS = 256, FORMATS = 16, VERSION_FILES = 5 };

/* DWARF 7.5.6 and 7.22. */
enum {
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f
};
enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };
enum {
    OP_EXTENDED,
    OP_COPY,
    OP_ADVANCE_PC,
    OP_ADVANCE_LINE,
    OP_SET_FILE,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9
};
enum { EXTENDED_END = 1, EXTENDED_ADDRESS = 2 };

struct reader {
    const uint8_t *at, *end;
    bool bad;
};

struct program {
    const struct line_sections *sections;
    struct line_table *table;
    uint32_t file[FILES]; /* offsets of names */
    bool foreign[FILES];  /* a header of the toolchain's */
    bool folder[FOLDERS]; /* the same of folders */
    unsigned folders;
    unsigned files, first; /* number of the first file */
    unsigned version, offset_bytes, least, range, base;
    int line_base;
    const uint8_t *lengths; /* operands of opcodes, from 1 */
};

static uint64_t take(struct reader *r, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->bad = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, bytes);
    r->at += bytes;
    return value;
}

static uint64_t take_leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    while (byte & 0x80 && !r->bad) {
        byte = take(r, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    }
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

/* Text up to its NUL; "" when there is none. */
static const char *take_text(struct reader *r)
{
    const uint8_t *end = memchr(r->at, 0, (size_t)(r->end - r->at));
    const char *text = (const char *)r->at;
    r->bad |= !end;
    r->at = end ? end + 1 : r->end;
    return end ? text : "";
}

static const char *text_at(const struct line_bytes *section, uint64_t offset)
{
    struct reader r = {section->at + section->size, section->at + section->size, false};
    if (offset < section->size)
        r.at = section->at + offset;
    return r.at < r.end ? take_text(&r) : "";
}

static bool is_foreign(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/opt/", 5) == 0;
}

static void add_folder(struct program *p, const char *path)
{
    if (p->folders < FOLDERS)
        p->folder[p->folders++] = is_foreign(path);
}

/* `folder`: its number. */
static void add_file(struct program *p, const char *path, uint64_t folder)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t size = strlen(name) + 1;
    if (p->files == FILES)
        return;
    p->table->names = realloc(p->table->names, p->table->name_bytes + size);
    if (!p->table->names)
        die("out of memory for lines of source");
    memcpy(p->table->names + p->table->name_bytes, name, size);
    p->foreign[p->files] =
        is_foreign(path) || (*path != '/' && folder < p->folders && p->folder[folder]);
    p->file[p->files++] = (uint32_t)p->table->name_bytes;
    p->table->name_bytes += size;
}

/* A value of an entry: the text, if it is one, or the number. */
static const char *take_form(struct program *p, struct reader *r, uint64_t form, uint64_t *number)
{
    switch (form) {
    case FORM_STRING:
        return take_text(r);
    case FORM_LINE_STRP:
        return text_at(&p->sections->line_str, take(r, p->offset_bytes));
    case FORM_STRP:
        return text_at(&p->sections->str, take(r, p->offset_bytes));
    case FORM_UDATA:
        *number = take_leb(r, false);
        return "";
    case FORM_DATA1:
    case FORM_DATA2:
        *number = take(r, form == FORM_DATA1 ? 1 : 2);
        return "";
    case FORM_DATA4:
    case FORM_DATA8:
        *number = take(r, form == FORM_DATA4 ? 4 : 8);
        return "";
    case FORM_DATA16:
        take(r, 8);
        take(r, 8);
        return "";
    default:
        r->bad = true;
        return "";
    }
}

/* Folders or files of version 5. */
static void read_entries(struct program *p, struct reader *r, bool files)
{
    uint64_t form[FORMATS], content[FORMATS];
    unsigned formats = (unsigned)take(r, 1);
    r->bad |= formats > FORMATS;
    for (unsigned i = 0; i < formats && !r->bad; i++) {
        content[i] = take_leb(r, false);
        form[i] = take_leb(r, false);
    }
    for (uint64_t left = take_leb(r, false); left && !r->bad; left--) {
        const char *path = "";
        uint64_t folder = FOLDERS, number = 0;
        for (unsigned i = 0; i < formats && !r->bad; i++) {
            const char *text = take_form(p, r, form[i], &number);
            path = content[i] == CONTENT_PATH ? text : path;
            folder = content[i] == CONTENT_FOLDER ? number : folder;
        }
        if (files)
            add_file(p, path, folder);
        else
            add_folder(p, path);
    }
}

static void read_files(struct program *p, struct reader *r)
{
    p->first = p->version < VERSION_FILES;
    if (!p->first) {
        read_entries(p, r, false);
        read_entries(p, r, true);
        return;
    }
    add_folder(p, "");
    for (const char *path = take_text(r); *path && !r->bad; path = take_text(r))
        add_folder(p, path);
    for (const char *name = take_text(r); *name && !r->bad; name = take_text(r)) {
        add_file(p, name, take_leb(r, false));
        for (unsigned i = 0; i < 2; i++)
            take_leb(r, false);
    }
}

/* What comes from headers of the toolchain belongs to the line before; what the compiler has made
 * of several lines, or of none, is near it. */
static void add_row(struct program *p, uint64_t address, uint64_t line, uint64_t file, bool ends)
{
    struct line_table *t = p->table;
    if (file - p->first >= p->files || (!ends && p->foreign[file - p->first]))
        return;
    bool near = !ends && !line;
    if (near && t->count)
        line = t->rows[t->count - 1].line;
    line = ends ? 0 : line;
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 256;
        t->rows = realloc(t->rows, t->room * sizeof *t->rows);
        if (!t->rows)
            die("out of memory for lines of source");
    }
    t->rows[t->count++] =
        (struct line_row){address, (uint32_t)line, p->file[file - p->first], near};
}

struct state {
    uint64_t address, line, file;
};

static void run_extended(struct program *p, struct reader *r, struct state *s)
{
    uint64_t size = take_leb(r, false);
    uint8_t operation = (uint8_t)take(r, 1);
    if (operation == EXTENDED_ADDRESS && size == 9) {
        s->address = take(r, 8);
        return;
    }
    if (operation == EXTENDED_END) {
        add_row(p, s->address, 0, s->file, true);
        *s = (struct state){0, 1, 1};
    }
    for (; size > 1 && !r->bad; size--)
        take(r, 1);
}

static void run_standard(struct program *p, struct reader *r, struct state *s, unsigned operation)
{
    switch (operation) {
    case OP_COPY:
        add_row(p, s->address, s->line, s->file, false);
        break;
    case OP_ADVANCE_PC:
        s->address += take_leb(r, false) * p->least;
        break;
    case OP_ADVANCE_LINE:
        s->line += take_leb(r, true);
        break;
    case OP_SET_FILE:
        s->file = take_leb(r, false);
        break;
    case OP_CONST_ADD_PC:
        s->address += (255 - p->base) / p->range * p->least;
        break;
    case OP_FIXED_ADVANCE_PC:
        s->address += take(r, 2);
        break;
    default:
        for (unsigned i = 0; i < p->lengths[operation - 1]; i++)
            take_leb(r, false);
    }
}

static void run(struct program *p, struct reader *r)
{
    struct state s = {0, 1, 1};
    while (r->at < r->end && !r->bad) {
        unsigned operation = (unsigned)take(r, 1);
        if (operation >= p->base) {
            unsigned step = operation - p->base;
            s.address += step / p->range * p->least;
            s.line += (uint64_t)(int64_t)(p->line_base + (int)(step % p->range));
            add_row(p, s.address, s.line, s.file, false);
        } else if (operation == OP_EXTENDED) {
            run_extended(p, r, &s);
        } else {
            run_standard(p, r, &s, operation);
        }
    }
}

static void read_program(struct program *p, struct reader *r)
{
    p->version = (unsigned)take(r, 2);
    if (p->version < 4 || p->version > VERSION_FILES)
        return;
    if (p->version == VERSION_FILES)
        take(r, 2); /* sizes of addresses and segments */
    uint64_t head = take(r, p->offset_bytes);
    if (head > (uint64_t)(r->end - r->at))
        return;
    const uint8_t *code = r->at + head;
    p->least = (unsigned)take(r, 1);
    take(r, 2); /* operations of an instruction, whether rows are statements */
    p->line_base = (int8_t)take(r, 1);
    p->range = (unsigned)take(r, 1);
    p->base = (unsigned)take(r, 1);
    p->lengths = r->at;
    for (unsigned i = 1; i < p->base; i++)
        take(r, 1);
    p->files = p->folders = 0;
    read_files(p, r);
    if (r->bad || !p->range || !p->base || code < r->at)
        return;
    r->at = code;
    run(p, r);
}

static int by_address(const void *a, const void *b)
{
    const struct line_row *first = a, *second = b;
    if (first->address != second->address)
        return first->address < second->address ? -1 : 1;
    return (first->line != 0) - (second->line != 0); /* the end of a function before the next one */
}

void line_table_read(struct line_table *table, const struct line_sections *sections)
{
    struct program *p = calloc(1, sizeof *p);
    struct reader all = {sections->line.at, sections->line.at + sections->line.size, false};
    if (!p)
        die("out of memory for lines of source");
    p->sections = sections;
    p->table = table;
    while (all.at && all.at < all.end && !all.bad) {
        uint64_t size = take(&all, 4);
        p->offset_bytes = size == UINT32_MAX ? 8 : 4;
        size = size == UINT32_MAX ? take(&all, 8) : size;
        if (size > (uint64_t)(all.end - all.at))
            break;
        struct reader one = {all.at, all.at + size, false};
        all.at += size;
        read_program(p, &one);
    }
    free(p);
    if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, by_address);
}

bool line_table_find(const struct line_table *table, uint64_t address, char *text, size_t size)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !table->rows[low - 1].line)
        return false;
    const struct line_row *row = &table->rows[low - 1];
    snprintf(text, size, "%s%s:%u", row->near ? "near " : "", table->names + row->file, row->line);
    return true;
}

void line_table_free(struct line_table *table)
{
    free(table->rows);
    free(table->names);
    *table = (struct line_table){0};
}
