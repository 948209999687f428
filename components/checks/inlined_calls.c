/* See inlined_calls.h. Sections and numbers in comments are those of "DWARF Debugging Information
 * Format", version 5. */
#include "inlined_calls.h"

#include <stdlib.h>

#include "grown.h"
#include "runtime/engine/bug.h"

enum { CODES = 4096, TAG_UNIT = 0x11, TAG_INLINED = 0x1d, UNIT_COMPILE = 1 };

/* 7.5.6 */
enum form {
    FORM_ADDR = 0x01,
    FORM_BLOCK2 = 0x03,
    FORM_BLOCK4 = 0x04,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a,
    FORM_SDATA = 0x0d,
    FORM_SEC_OFFSET = 0x17,
    FORM_EXPRLOC = 0x18,
    FORM_ADDRX = 0x1b,
    FORM_IMPLICIT_CONST = 0x21,
    FORM_RNGLISTX = 0x23,
    FORM_ADDRX1 = 0x29,
    FORM_ADDRX4 = 0x2c
};

/* How many bytes a form has; L: LEB128, O: those of an offset, N: none. The others have a case. */
enum { L = 100, O, N };
static const uint8_t form_bytes[] = {
    [0x01] = 8, [0x05] = 2, [0x06] = 4, [0x07] = 8, [0x0b] = 1, [0x0c] = 1, [0x0e] = O,
    [0x0f] = L, [0x10] = O, [0x11] = 1, [0x12] = 2, [0x13] = 4, [0x14] = 8, [0x15] = L,
    [0x17] = O, [0x19] = N, [0x1a] = L, [0x1b] = L, [0x1c] = 4, [0x1d] = O, [0x1f] = O,
    [0x20] = 8, [0x22] = L, [0x23] = L, [0x24] = 8, [0x25] = 1, [0x26] = 2, [0x27] = 3,
    [0x28] = 4, [0x29] = 1, [0x2a] = 2, [0x2b] = 3, [0x2c] = 4};

/* The attributes that count (7.5.5). */
enum attribute { STMT_LIST, LOW, HIGH, RANGES, CALL_FILE, CALL_LINE, ADDR_BASE, LISTS_BASE, COUNT };
static const uint8_t attributes[COUNT] = {0x10, 0x11, 0x12, 0x55, 0x58, 0x59, 0x73, 0x74};

struct value {
    uint64_t number, form; /* form 0: it is not there */
};

struct unit {
    const struct inlined_sections *sections;
    struct inlined_calls *calls;
    struct dwarf_reader abbrev[CODES]; /* by code: behind it; at NULL: none */
    unsigned version, offset_bytes;
    uint64_t lines, low, addr_base, lists_base;
};

static void read_abbrevs(struct unit *u, uint64_t offset)
{
    struct dwarf_reader r = dwarf_open(&u->sections->abbrev, offset);
    for (uint64_t code = dwarf_take_leb(&r, false); code && !r.bad;
         code = dwarf_take_leb(&r, false)) {
        if (code < CODES)
            u->abbrev[code] = r;
        dwarf_take_leb(&r, false);
        dwarf_take(&r, 1);
        uint64_t name = 1, form = 1;
        while ((name || form) && !r.bad) {
            name = dwarf_take_leb(&r, false);
            form = dwarf_take_leb(&r, false);
            if (form == FORM_IMPLICIT_CONST)
                dwarf_take_leb(&r, true);
        }
    }
}

static uint64_t take_form(const struct unit *u, struct dwarf_reader *r, uint64_t form)
{
    unsigned bytes = form < sizeof form_bytes ? form_bytes[form] : 0;
    switch (form) {
    case FORM_STRING:
        dwarf_take_text(r);
        return 0;
    case FORM_SDATA:
        return dwarf_take_leb(r, true);
    case FORM_BLOCK:
    case FORM_EXPRLOC:
        dwarf_skip(r, dwarf_take_leb(r, false));
        return 0;
    case FORM_BLOCK1:
    case FORM_BLOCK2:
    case FORM_BLOCK4:
        dwarf_skip(r, dwarf_take(r, form == FORM_BLOCK1 ? 1 : form == FORM_BLOCK2 ? 2 : 4));
        return 0;
    case 0x1e: /* data16 */
        dwarf_skip(r, 16);
        return 0;
    default:
        r->bad |= !bytes;
        return bytes == L   ? dwarf_take_leb(r, false)
               : bytes == O ? dwarf_take(r, u->offset_bytes)
               : bytes == N ? 0
                            : dwarf_take(r, bytes);
    }
}

static uint64_t number_at(const struct dwarf_bytes *section, uint64_t offset, unsigned bytes)
{
    struct dwarf_reader r = dwarf_open(section, offset);
    return dwarf_take(&r, bytes);
}

static uint64_t indexed(const struct unit *u, uint64_t index)
{
    return number_at(&u->sections->addr, u->addr_base + 8 * index, 8);
}

static uint64_t address_of(const struct unit *u, struct value v)
{
    bool is_indexed = v.form == FORM_ADDRX || (v.form >= FORM_ADDRX1 && v.form <= FORM_ADDRX4);
    return is_indexed ? indexed(u, v.number) : v.number;
}

static void add(const struct unit *u, const struct value *v, uint64_t start, uint64_t end)
{
    struct inlined_calls *c = u->calls;
    if (start >= end)
        return;
    c->call = grown(c->call, &c->room, c->count, sizeof *c->call);
    c->call[c->count++] =
        (struct inlined_call){u->lines, start, end, v[CALL_LINE].number, v[CALL_FILE].number, 0};
}

/* 2.17.3 of version 4: pairs from the unit's beginning. */
static void add_old_ranges(const struct unit *u, const struct value *v)
{
    struct dwarf_reader r = dwarf_open(&u->sections->ranges, v[RANGES].number);
    uint64_t base = u->low, start = 1, end = 1;
    while ((start || end) && !r.bad) {
        start = dwarf_take(&r, 8);
        end = dwarf_take(&r, 8);
        if (start == UINT64_MAX)
            base = end;
        else
            add(u, v, base + start, base + end);
    }
}

/* 7.25 */
static void add_ranges(const struct unit *u, const struct value *v)
{
    enum { LIST_END, BASEX, STARTX_ENDX, STARTX_LENGTH, PAIR, BASE, START_END, START_LENGTH };
    uint64_t at = v[RANGES].number, base = u->low;
    if (v[RANGES].form == FORM_RNGLISTX)
        at = u->lists_base
             + number_at(&u->sections->rnglists, u->lists_base + at * u->offset_bytes,
                         u->offset_bytes);
    struct dwarf_reader r = dwarf_open(&u->sections->rnglists, at);
    for (uint64_t kind = dwarf_take(&r, 1); kind && kind <= START_LENGTH && !r.bad;
         kind = dwarf_take(&r, 1)) {
        bool by_index = kind <= STARTX_LENGTH;
        uint64_t first = kind >= BASE ? dwarf_take(&r, 8) : dwarf_take_leb(&r, false);
        first = by_index ? indexed(u, first) : first;
        if (kind == BASEX || kind == BASE) {
            base = first;
            continue;
        }
        uint64_t second = kind == START_END ? dwarf_take(&r, 8) : dwarf_take_leb(&r, false);
        if (kind == STARTX_ENDX)
            second = indexed(u, second);
        else if (kind == STARTX_LENGTH || kind == START_LENGTH)
            second += first;
        add(u, v, kind == PAIR ? base + first : first, kind == PAIR ? base + second : second);
    }
}

static void note(struct unit *u, uint64_t tag, const struct value *v)
{
    if (tag == TAG_UNIT) {
        u->lines = v[STMT_LIST].number;
        u->addr_base = v[ADDR_BASE].number;
        u->lists_base = v[LISTS_BASE].number;
        u->low = address_of(u, v[LOW]);
    }
    if (tag != TAG_INLINED || !v[CALL_LINE].form)
        return;
    if (v[RANGES].form && u->version < 5)
        add_old_ranges(u, v);
    else if (v[RANGES].form)
        add_ranges(u, v);
    else if (v[LOW].form && v[HIGH].form)
        add(u, v, address_of(u, v[LOW]),
            v[HIGH].form == FORM_ADDR ? v[HIGH].number : address_of(u, v[LOW]) + v[HIGH].number);
}

/* Entries in the order of the file; which of them are children does not matter. */
static void read_entries(struct unit *u, struct dwarf_reader *r)
{
    while (r->at < r->end && !r->bad) {
        uint64_t code = dwarf_take_leb(r, false), name = 1, form = 1;
        if (!code)
            continue;
        if (code >= CODES || !u->abbrev[code].at)
            return;
        struct dwarf_reader a = u->abbrev[code];
        struct value found[COUNT] = {{0, 0}};
        uint64_t tag = dwarf_take_leb(&a, false);
        dwarf_take(&a, 1); /* has it children? */
        while (!a.bad && !r->bad) {
            name = dwarf_take_leb(&a, false);
            form = dwarf_take_leb(&a, false);
            if (!name && !form)
                break;
            uint64_t value =
                form == FORM_IMPLICIT_CONST ? dwarf_take_leb(&a, true) : take_form(u, r, form);
            for (unsigned i = 0; i < COUNT; i++)
                if (attributes[i] == name)
                    found[i] = (struct value){value, form};
        }
        note(u, tag, found);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct inlined_call *x = a, *y = b;
    if (x->lines != y->lines)
        return x->lines < y->lines ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

void inlined_calls_read(struct inlined_calls *c, const struct inlined_sections *sections)
{
    struct dwarf_reader all = dwarf_open(&sections->info, 0);
    while (all.at < all.end && !all.bad) {
        struct unit *u = calloc(1, sizeof *u);
        if (!u)
            die("out of memory for lines of source");
        u->sections = sections;
        u->calls = c;
        struct dwarf_reader one = dwarf_take_unit(&all, &u->offset_bytes);
        u->version = (unsigned)dwarf_take(&one, 2);
        bool is_new = u->version >= 5, is_whole = !is_new || dwarf_take(&one, 1) == UNIT_COMPILE;
        if (is_new)
            dwarf_take(&one, 1); /* size of addresses */
        read_abbrevs(u, dwarf_take(&one, u->offset_bytes));
        if (!is_new)
            dwarf_take(&one, 1);
        if (u->version >= 4 && u->version <= 5 && is_whole)
            read_entries(u, &one);
        free(u);
    }
    if (c->count)
        qsort(c->call, c->count, sizeof *c->call, by_start);
    for (size_t i = 1; i < c->count; i++) {
        size_t around = i; /* 1 + the one before */
        while (around
               && (c->call[around - 1].end <= c->call[i].start
                   || c->call[around - 1].lines != c->call[i].lines))
            around = c->call[around - 1].within;
        c->call[i].within = around;
    }
}

const struct inlined_call *inlined_call_around(const struct inlined_calls *c,
                                               const struct inlined_call *call)
{
    return call->within ? &c->call[call->within - 1] : NULL;
}

const struct inlined_call *inlined_call_at(const struct inlined_calls *c, uint64_t lines,
                                           uint64_t address)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct inlined_call *m = &c->call[middle];
        if (m->lines < lines || (m->lines == lines && m->start <= address))
            low = middle + 1;
        else
            high = middle;
    }
    const struct inlined_call *found = low ? &c->call[low - 1] : NULL;
    while (found && (found->lines != lines || found->end <= address))
        found = inlined_call_around(c, found);
    return found;
}

void inlined_calls_free(struct inlined_calls *calls)
{
    free(calls->call);
    *calls = (struct inlined_calls){0};
}
