/* See line_table.h. */
#include "line_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grown.h"
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

struct program {
    const struct line_sections *sections;
    struct line_table *table;
    uint64_t offset;      /* in its section */
    uint32_t file[FILES]; /* offsets of names */
    bool foreign[FILES];  /* a header of the toolchain's */
    bool folder[FOLDERS]; /* the same of folders */
    unsigned folders;
    unsigned files, first; /* number of the first file */
    unsigned version, offset_bytes, least, range, base;
    int line_base;
    const uint8_t *lengths; /* operands of opcodes, from 1 */
};

static const char *text_at(const struct dwarf_bytes *section, uint64_t offset)
{
    struct dwarf_reader r = dwarf_open(section, offset);
    return dwarf_take_text(&r);
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
static const char *take_form(struct program *p, struct dwarf_reader *r, uint64_t form,
                             uint64_t *number)
{
    switch (form) {
    case FORM_STRING:
        return dwarf_take_text(r);
    case FORM_LINE_STRP:
        return text_at(&p->sections->line_str, dwarf_take(r, p->offset_bytes));
    case FORM_STRP:
        return text_at(&p->sections->str, dwarf_take(r, p->offset_bytes));
    case FORM_UDATA:
        *number = dwarf_take_leb(r, false);
        return "";
    case FORM_DATA1:
    case FORM_DATA2:
        *number = dwarf_take(r, form == FORM_DATA1 ? 1 : 2);
        return "";
    case FORM_DATA4:
    case FORM_DATA8:
        *number = dwarf_take(r, form == FORM_DATA4 ? 4 : 8);
        return "";
    case FORM_DATA16:
        dwarf_take(r, 8);
        dwarf_take(r, 8);
        return "";
    default:
        r->bad = true;
        return "";
    }
}

/* Folders or files of version 5. */
static void read_entries(struct program *p, struct dwarf_reader *r, bool files)
{
    uint64_t form[FORMATS], content[FORMATS];
    unsigned formats = (unsigned)dwarf_take(r, 1);
    r->bad |= formats > FORMATS;
    for (unsigned i = 0; i < formats && !r->bad; i++) {
        content[i] = dwarf_take_leb(r, false);
        form[i] = dwarf_take_leb(r, false);
    }
    for (uint64_t left = dwarf_take_leb(r, false); left && !r->bad; left--) {
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

static void read_files(struct program *p, struct dwarf_reader *r)
{
    p->first = p->version < VERSION_FILES;
    if (!p->first) {
        read_entries(p, r, false);
        read_entries(p, r, true);
        return;
    }
    add_folder(p, "");
    for (const char *path = dwarf_take_text(r); *path && !r->bad; path = dwarf_take_text(r))
        add_folder(p, path);
    for (const char *name = dwarf_take_text(r); *name && !r->bad; name = dwarf_take_text(r)) {
        add_file(p, name, dwarf_take_leb(r, false));
        for (unsigned i = 0; i < 2; i++)
            dwarf_take_leb(r, false);
    }
}

static bool is_own(const struct program *p, uint64_t file)
{
    return file - p->first < p->files && !p->foreign[file - p->first];
}

/* What comes from headers of the toolchain belongs to the line of the program's own source that
 * calls it, or to the line before; what the compiler has made of several lines, or of none, is near
 * it. */
static void add_row(struct program *p, uint64_t address, uint64_t line, uint64_t file, bool ends)
{
    struct line_table *t = p->table;
    const struct inlined_calls *calls = &p->sections->calls;
    if (!ends && file - p->first < p->files && !is_own(p, file)) {
        const struct inlined_call *c = inlined_call_at(calls, p->offset, address);
        while (c && !is_own(p, c->file))
            c = inlined_call_around(calls, c);
        line = c ? c->line : line;
        file = c ? c->file : file;
    }
    if (file - p->first >= p->files || (!ends && !is_own(p, file)))
        return;
    bool near = !ends && !line;
    if (near && t->count)
        line = t->rows[t->count - 1].line;
    line = ends ? 0 : line;
    t->rows = grown(t->rows, &t->room, t->count, sizeof *t->rows);
    t->rows[t->count++] =
        (struct line_row){address, (uint32_t)line, p->file[file - p->first], near};
}

struct state {
    uint64_t address, line, file;
};

static void run_extended(struct program *p, struct dwarf_reader *r, struct state *s)
{
    uint64_t size = dwarf_take_leb(r, false);
    uint8_t operation = (uint8_t)dwarf_take(r, 1);
    if (operation == EXTENDED_ADDRESS && size == 9) {
        s->address = dwarf_take(r, 8);
        return;
    }
    if (operation == EXTENDED_END) {
        add_row(p, s->address, 0, s->file, true);
        *s = (struct state){0, 1, 1};
    }
    for (; size > 1 && !r->bad; size--)
        dwarf_take(r, 1);
}

static void run_standard(struct program *p, struct dwarf_reader *r, struct state *s,
                         unsigned operation)
{
    switch (operation) {
    case OP_COPY:
        add_row(p, s->address, s->line, s->file, false);
        break;
    case OP_ADVANCE_PC:
        s->address += dwarf_take_leb(r, false) * p->least;
        break;
    case OP_ADVANCE_LINE:
        s->line += dwarf_take_leb(r, true);
        break;
    case OP_SET_FILE:
        s->file = dwarf_take_leb(r, false);
        break;
    case OP_CONST_ADD_PC:
        s->address += (255 - p->base) / p->range * p->least;
        break;
    case OP_FIXED_ADVANCE_PC:
        s->address += dwarf_take(r, 2);
        break;
    default:
        for (unsigned i = 0; i < p->lengths[operation - 1]; i++)
            dwarf_take_leb(r, false);
    }
}

static void run(struct program *p, struct dwarf_reader *r)
{
    struct state s = {0, 1, 1};
    while (r->at < r->end && !r->bad) {
        unsigned operation = (unsigned)dwarf_take(r, 1);
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

static void read_program(struct program *p, struct dwarf_reader *r)
{
    p->version = (unsigned)dwarf_take(r, 2);
    if (p->version < 4 || p->version > VERSION_FILES)
        return;
    if (p->version == VERSION_FILES)
        dwarf_take(r, 2); /* sizes of addresses and segments */
    uint64_t head = dwarf_take(r, p->offset_bytes);
    if (head > (uint64_t)(r->end - r->at))
        return;
    const uint8_t *code = r->at + head;
    p->least = (unsigned)dwarf_take(r, 1);
    dwarf_take(r, 2); /* operations of an instruction, whether rows are statements */
    p->line_base = (int8_t)dwarf_take(r, 1);
    p->range = (unsigned)dwarf_take(r, 1);
    p->base = (unsigned)dwarf_take(r, 1);
    p->lengths = r->at;
    for (unsigned i = 1; i < p->base; i++)
        dwarf_take(r, 1);
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
    struct dwarf_reader all = dwarf_open(&sections->line, 0);
    if (!p)
        die("out of memory for lines of source");
    p->sections = sections;
    p->table = table;
    while (all.at < all.end && !all.bad) {
        p->offset = (uint64_t)(all.at - sections->line.at);
        struct dwarf_reader one = dwarf_take_unit(&all, &p->offset_bytes);
        if (!one.bad)
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
