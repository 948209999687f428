/* See residency.h. Recording: a hash table of the units that the launch has accessed, with what was
 * found the first time. Knowing: the file's runs as they stand there; for the launch that is
 * simulated, its units in order, of which each can be taken once. None of it is state of the
 * simulation. */
#include "residency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/version.h"
#include "runtime/observe/json.h"

#define LINE_BYTES 512
#define FIRST_LINE "heddle residency 1"
#define MOST_UNITS (1u << 22) /* of a launch: 256 MiB of lines */

#define HEAD_LINES 4
#define START_SUM  0xcbf29ce484222325u
#define NOT_A_LINE                                                                                 \
    "not a line of what --mode functional --profile memory --residency FILE writes, or not in "    \
    "its order"

struct unit {
    uint64_t address, launch; /* knowing: launch 0 */
    uint32_t instance, bytes; /* bytes 0: no unit stands here */
    bool found;               /* recording: was there; knowing: has not been taken yet */
};

/* A launch of the file. */
struct known_launch {
    uint64_t number, shape;
};

struct run {
    uint64_t launch, first, count;
    uint32_t instance, bytes;
};

static struct output_file file; /* recording */
static bool recording;
static struct json out;  /* a writer of text; no stdio, whose buffers children would write, too */
static uint64_t sum;     /* of what has been written, or read */
static uint64_t written; /* lines of runs and launches */
static const char *name;
static struct known_launch *launches;
static size_t launch_count;
/* A hash table with room for `room` units, a power of two; or sorted ones. */
static struct unit *units;
static size_t unit_count, room;
static struct run *runs; /* knowing */
static size_t run_count, run_room;
static bool known;
static uint64_t turn; /* the launch whose accesses are recorded */

/* ---- recording ---- */

static bool is_same(const struct unit *a, const struct unit *b)
{
    return a->instance == b->instance && a->address == b->address && a->launch == b->launch;
}

static struct unit *place_of(const struct unit *u)
{
    uint64_t h = (u->address ^ (uint64_t)u->instance << 48) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 20) & (room - 1);
    while (units[at].bytes && !is_same(&units[at], u))
        at = (at + 1) & (room - 1);
    return &units[at];
}

static void grow(void)
{
    struct unit *old = units;
    size_t old_room = room;
    room = room ? 2 * room : 4096;
    units = arena_reserve(room * sizeof *units);
    for (size_t i = 0; i < old_room; i++)
        if (old[i].bytes)
            *place_of(&old[i]) = old[i];
    arena_release(old, old_room * sizeof *old);
}

bool residency_is_recorded(void)
{
    return recording;
}

void residency_turn(uint64_t number)
{
    turn = number;
}

void residency_record(uint32_t instance, uint64_t address, uint32_t bytes, bool found)
{
    const struct unit now = {address, turn, instance, bytes, found};
    if (2 * (unit_count + 1) > room)
        grow();
    struct unit *u = place_of(&now);
    if (u->bytes)
        return;
    *u = now;
    unit_count++;
}

static int by_place(const void *one, const void *two)
{
    const struct unit *a = one, *b = two;
    if (a->instance != b->instance)
        return a->instance < b->instance ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static bool follows(const struct unit *u, const struct unit *first, uint64_t count)
{
    return u->instance == first->instance && u->bytes == first->bytes
           && u->address == first->address + count * first->bytes;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t add_sum(uint64_t before, const char *text)
{
    for (; *text; text++)
        before = (before ^ (unsigned char)*text) * 0x100000001b3u;
    return before;
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sum = add_sum(sum, text);
    written++;
    json_raw(&out, text, strlen(text));
}

uint64_t residency_shape(const char *kernel, const uint64_t *numbers, unsigned count)
{
    uint64_t shape = add_sum(START_SUM, kernel);
    for (unsigned i = 0; i < count; i++) {
        char text[24];
        snprintf(text, sizeof text, ",%" PRIu64, numbers[i]);
        shape = add_sum(shape, text);
    }
    return shape;
}

static void put_runs(uint64_t number, struct unit *found, size_t count)
{
    size_t next;
    qsort(found, count, sizeof *found, by_place);
    for (size_t i = 0; i < count; i = next) {
        for (next = i + 1; next < count && follows(&found[next], &found[i], next - i);)
            next++;
        put("%" PRIu64 " %" PRIu32 " %" PRIu32 " 0x%" PRIx64 " %zu\n", number, found[i].instance,
            found[i].bytes, found[i].address, next - i);
    }
}

/* Moves units of other launches, which take turns with this one, to the end of the table, and those
 * of the launch that were found to its beginning. Returns how many of the latter there are. */
static size_t divide(uint64_t number, size_t *others)
{
    size_t kept = 0, end = room;
    for (size_t i = 0; i < end;) {
        struct unit u = units[i];
        if (u.bytes && u.launch != number) {
            units[i] = units[--end];
            units[end] = u;
            continue;
        }
        units[i++].bytes = 0;
        if (u.found)
            units[kept++] = u;
    }
    *others = room - end;
    return kept;
}

void residency_record_launch(uint64_t number, uint64_t shape)
{
    put("launch %" PRIu64 " 0x%" PRIx64 "\n", number, shape);
    if (!room)
        return;
    struct unit *of = units;
    size_t others, found = divide(number, &others);
    put_runs(number, of, found);
    if (others) {
        units = arena_reserve(room * sizeof *units);
        for (size_t i = room - others; i < room; i++)
            *place_of(&of[i]) = of[i];
        arena_release(of, room * sizeof *of);
    } else {
        memset(units, 0, room * sizeof *units);
    }
    unit_count = others;
}

/* ---- knowing ---- */

bool residency_is_known(void)
{
    return known;
}

const char *residency_begin(uint64_t number, uint64_t shape)
{
    size_t first = 0, end, l = 0;
    unit_count = 0;
    if (!known)
        return NULL;
    while (l < launch_count && launches[l].number != number)
        l++;
    if (l == launch_count)
        return "the file says nothing of this launch: the profile that wrote it was of other "
               "arguments, or was interrupted before";
    if (launches[l].shape != shape)
        return "the file is of another kernel or grid at this launch: the profile that wrote it "
               "was "
               "of other arguments";
    while (first < run_count && runs[first].launch != number)
        first++;
    for (end = first; end < run_count && runs[end].launch == number;)
        end++;
    for (size_t i = first; i < end; i++)
        for (uint64_t n = 0; n < runs[i].count; n++)
            units[unit_count++] = (struct unit){runs[i].first + n * runs[i].bytes, 0,
                                                runs[i].instance, runs[i].bytes, true};
    return NULL;
}

bool residency_take(uint32_t instance, uint64_t address)
{
    const struct unit wanted = {.address = address, .instance = instance};
    if (!known)
        return true;
    struct unit *u = bsearch(&wanted, units, unit_count, sizeof *units, by_place);
    bool first = u && u->found;
    if (first)
        u->found = false;
    return first;
}

/* ---- files ---- */

static bool complain(const char *what, size_t line)
{
    if (line)
        fprintf(stderr, "heddle: %s:%zu: %s\n", name, line, what);
    else
        fprintf(stderr, "heddle: '--residency %s': %s\n", name, what);
    return false;
}

/* Is `r` behind `before`, and does it end where addresses do? */
static bool is_next(const struct run *r, const struct run *before)
{
    if (!r->launch || !r->bytes || !r->count || r->count > (UINT64_MAX - r->first) / r->bytes)
        return false;
    if (r->launch != before->launch)
        return true;
    if (r->instance != before->instance)
        return r->instance > before->instance;
    return r->first >= before->first + before->count * before->bytes;
}

/* A line that is to say what the first ones of every file say. */
static bool expect_line(FILE *in, size_t line, const char *want, const char *mistake)
{
    char text[LINE_BYTES];
    bool same = fgets(text, sizeof text, in) && strcspn(text, "\n") == strlen(want)
                && strncmp(text, want, strlen(want)) == 0;
    if (!same)
        return complain(mistake, line);
    sum = add_sum(sum, text);
    return true;
}

struct head {
    char line[4][LINE_BYTES];
};

/* What the file belongs to. */
static struct head make_head(const struct residency_identity *of)
{
    struct head h;
    snprintf(h.line[0], LINE_BYTES, FIRST_LINE " of " HEDDLE_VERSION);
    snprintf(h.line[1], LINE_BYTES, "model %s", of->model ? of->model : "-");
    snprintf(h.line[2], LINE_BYTES, "program %s", of->program ? of->program : "-");
    snprintf(h.line[3], LINE_BYTES, "unified %s", of->unified ? of->unified : "-");
    return h;
}

static bool read_head(FILE *in, const struct residency_identity *of)
{
    static const char *const mistakes[] = {
        NOT_A_LINE ", or of another version of heddle",
        "it is of another platform, or of other parameters; name the same file, --platform and "
        "--set as for --profile memory",
        "it is of another program; write it again with this one",
        "it was written with another --unified"};
    const struct head head = make_head(of);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (!expect_line(in, i + 1, head.line[i], mistakes[i]))
            return false;
    return true;
}

/* A line "launch". */
static bool read_launch(const char *text)
{
    struct known_launch *l = &launches[launch_count];
    int end = 0;
    sscanf(text, "launch %" SCNu64 " 0x%" SCNx64 "%n", &l->number, &l->shape, &end);
    if (!end || text[end] != '\n' || !l->number
        || (launch_count && l->number == launches[launch_count - 1].number))
        return false;
    launch_count++;
    return true;
}

static bool read_run(const char *text, const struct run *before)
{
    struct run *r = runs + run_count;
    int end = 0;
    *r = (struct run){0};
    sscanf(text, "%" SCNu64 " %" SCNu32 " %" SCNu32 " 0x%" SCNx64 " %" SCNu64 "%n", &r->launch,
           &r->instance, &r->bytes, &r->first, &r->count, &end);
    return end && text[end] == '\n' && launch_count && is_next(r, before)
           && r->launch == launches[launch_count - 1].number;
}

/* The last line, and nothing behind it. */
static bool read_end(FILE *in, const char *text, size_t lines, size_t line)
{
    char want[LINE_BYTES], more;
    snprintf(want, sizeof want, "end %zu %016" PRIx64 "\n", lines, sum);
    if (strcmp(text, want) == 0 && fread(&more, 1, 1, in) == 0)
        return true;
    return complain("it is damaged: its contents do not fit its checksum", line);
}

/* `most` is the longest launch, in units. */
static bool read_lines(FILE *in, uint64_t *most)
{
    char text[LINE_BYTES];
    struct run before = {0};
    uint64_t of_launch = 0;
    size_t line = HEAD_LINES;
    while (fgets(text, sizeof text, in)) {
        line++;
        if (strncmp(text, "end ", 4) == 0)
            return read_end(in, text, launch_count + run_count, line);
        sum = add_sum(sum, text);
        if (strncmp(text, "launch ", 7) == 0) {
            if (!read_launch(text))
                return complain(NOT_A_LINE, line);
            continue;
        }
        if (!read_run(text, &before))
            return complain(NOT_A_LINE, line);
        const struct run *r = runs + run_count++;
        of_launch = r->launch == before.launch ? of_launch + r->count : r->count;
        *most = of_launch > *most ? of_launch : *most;
        if (r->count > MOST_UNITS || *most > MOST_UNITS)
            return complain("more than caches and TLBs can hold", line);
        before = *r;
    }
    return complain("its end is missing", line);
}

/* Reads the file twice: counts its lines, then fills `runs` and `launches`. */
static bool read_file(FILE *in, const struct residency_identity *of)
{
    char text[LINE_BYTES];
    size_t lines = 0;
    uint64_t most = 0;
    while (fgets(text, sizeof text, in))
        lines++;
    rewind(in);
    run_room = lines + 1;
    runs = arena_reserve(run_room * sizeof *runs);
    launches = arena_reserve(run_room * sizeof *launches);
    if (!read_head(in, of) || !read_lines(in, &most))
        return false;
    room = (size_t)most + 1;
    units = arena_reserve(room * sizeof *units);
    return true;
}

static void forget(void)
{
    arena_release(units, room * sizeof *units);
    arena_release(runs, run_room * sizeof *runs);
    arena_release(launches, run_room * sizeof *launches);
    recording = known = false;
    units = NULL;
    runs = NULL;
    launches = NULL;
    unit_count = room = run_count = run_room = launch_count = 0;
    written = 0;
    sum = START_SUM;
}

static bool begin_recording(const struct residency_identity *of)
{
    const struct head head = make_head(of);
    recording = output_file_open(&file, name);
    if (!recording)
        return complain(strerror(errno), 0);
    json_start(&out, file.fd);
    for (size_t i = 0; i < HEAD_LINES; i++)
        put("%s\n", head.line[i]);
    written = 0;
    return true;
}

bool residency_open(const char *path, bool record, const struct residency_identity *of)
{
    forget();
    name = path;
    if (!path)
        return true;
    if (record)
        return begin_recording(of);
    FILE *in = fopen(path, "re");
    if (!in)
        return complain(strerror(errno), 0);
    known = read_file(in, of);
    fclose(in);
    return known;
}

bool residency_close(void)
{
    if (!recording)
        return true;
    recording = false;
    put("end %" PRIu64 " %016" PRIx64 "\n", written, sum);
    int reason = json_publish(&out, &file);
    return !reason || complain(strerror(reason), 0);
}
