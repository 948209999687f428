/* See residency.h. Recording: a hash table of the units that the launch has accessed, with what was
 * found the first time. Knowing: the file's runs as they stand there; for the launch that is
 * simulated, its units in order, of which each can be taken once. None of it is state of the
 * simulation. */
#include "residency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/engine/arena.h"

#define PATH_BYTES 4096
#define MOST_UNITS (1u << 22) /* of a launch: 256 MiB of lines */

struct unit {
    uint64_t address;
    uint32_t instance, bytes; /* bytes 0: no unit stands here */
    bool found;               /* recording: was there; knowing: has not been taken yet */
};

struct run {
    uint64_t launch, first, count;
    uint32_t instance, bytes;
};

static FILE *file; /* recording: without a name until it is whole */
static const char *name;
static char temporary[PATH_BYTES + 32];
/* A hash table with room for `room` units, a power of two; or sorted ones. */
static struct unit *units;
static size_t unit_count, room;
static struct run *runs; /* knowing */
static size_t run_count, run_room;
static bool known;

/* ---- recording ---- */

static size_t place_of(uint32_t instance, uint64_t address)
{
    uint64_t h = (address ^ (uint64_t)instance << 48) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 20) & (room - 1);
    while (units[at].bytes && (units[at].instance != instance || units[at].address != address))
        at = (at + 1) & (room - 1);
    return at;
}

static void grow(void)
{
    struct unit *old = units;
    size_t old_room = room;
    room = room ? 2 * room : 4096;
    units = arena_reserve(room * sizeof *units);
    for (size_t i = 0; i < old_room; i++)
        if (old[i].bytes)
            units[place_of(old[i].instance, old[i].address)] = old[i];
    arena_release(old, old_room * sizeof *old);
}

bool residency_is_recorded(void)
{
    return file != NULL;
}

void residency_record(uint32_t instance, uint64_t address, uint32_t bytes, bool found)
{
    if (2 * (unit_count + 1) > room)
        grow();
    struct unit *u = units + place_of(instance, address);
    if (u->bytes)
        return;
    *u = (struct unit){address, instance, bytes, found};
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

void residency_record_launch(uint64_t number)
{
    size_t kept = 0, next;
    for (size_t i = 0; i < room; i++)
        if (units[i].found)
            units[kept++] = units[i];
    qsort(units, kept, sizeof *units, by_place);
    for (size_t i = 0; i < kept; i = next) {
        for (next = i + 1; next < kept && follows(&units[next], &units[i], next - i);)
            next++;
        fprintf(file, "%" PRIu64 " %" PRIu32 " %" PRIu32 " 0x%" PRIx64 " %zu\n", number,
                units[i].instance, units[i].bytes, units[i].address, next - i);
    }
    if (room)
        memset(units, 0, room * sizeof *units);
    unit_count = 0;
}

/* ---- knowing ---- */

bool residency_is_known(void)
{
    return known;
}

void residency_begin(uint64_t number)
{
    size_t first = 0, end;
    while (first < run_count && runs[first].launch != number)
        first++;
    for (end = first; end < run_count && runs[end].launch == number;)
        end++;
    unit_count = 0;
    for (size_t i = first; i < end; i++)
        for (uint64_t n = 0; n < runs[i].count; n++)
            units[unit_count++] = (struct unit){runs[i].first + n * runs[i].bytes, runs[i].instance,
                                                runs[i].bytes, true};
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
        return r->launch > before->launch;
    if (r->instance != before->instance)
        return r->instance > before->instance;
    return r->first >= before->first + before->count * before->bytes;
}

/* Reads the file twice: counts its lines, then fills `runs`. */
static bool read_runs(FILE *in)
{
    char text[128];
    struct run before = {0};
    size_t lines = 0;
    uint64_t of_launch = 0, most = 0;
    while (fgets(text, sizeof text, in))
        lines++;
    rewind(in);
    run_room = lines + 1;
    runs = arena_reserve(run_room * sizeof *runs);
    for (run_count = 0; run_count < lines && fgets(text, sizeof text, in); run_count++) {
        struct run *r = runs + run_count;
        int end = 0;
        *r = (struct run){0};
        sscanf(text, "%" SCNu64 " %" SCNu32 " %" SCNu32 " 0x%" SCNx64 " %" SCNu64 "%n", &r->launch,
               &r->instance, &r->bytes, &r->first, &r->count, &end);
        if (!end || text[end] != '\n' || !is_next(r, &before))
            return complain(
                "not a line of what --mode functional --profile memory --residency FILE "
                "writes, or not in its order",
                run_count + 1);
        of_launch = r->launch == before.launch ? of_launch + r->count : r->count;
        most = of_launch > most ? of_launch : most;
        if (r->count > MOST_UNITS || most > MOST_UNITS)
            return complain("more than caches and TLBs can hold", run_count + 1);
        before = *r;
    }
    room = (size_t)most + 1;
    units = arena_reserve(room * sizeof *units);
    return true;
}

bool residency_open(const char *path, bool record)
{
    arena_release(units, room * sizeof *units);
    arena_release(runs, run_room * sizeof *runs);
    file = NULL;
    known = false;
    units = NULL;
    runs = NULL;
    unit_count = room = run_count = run_room = 0;
    name = path;
    if (!path)
        return true;
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length >= (int)sizeof temporary)
        return complain("the path is too long", 0);
    FILE *opened = record ? fopen(temporary, "w+") : fopen(path, "r");
    if (!opened)
        return complain(strerror(errno), 0);
    if (record) {
        unlink(temporary);
        file = opened;
        return true;
    }
    known = read_runs(opened);
    fclose(opened);
    return known;
}

/* What has been recorded gets its name. */
static bool publish(void)
{
    char text[4096];
    size_t size;
    rewind(file);
    FILE *to = fopen(temporary, "w");
    bool good = to != NULL;
    while (good && (size = fread(text, 1, sizeof text, file)) > 0)
        good = fwrite(text, 1, size, to) == size;
    good = good && !ferror(file);
    if (to && fclose(to) != 0)
        good = false;
    if (good && rename(temporary, name) == 0)
        return true;
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return false;
}

bool residency_close(void)
{
    if (!file)
        return true;
    bool good = !ferror(file) && fflush(file) == 0 && publish();
    if (!good)
        complain(strerror(errno), 0);
    fclose(file);
    file = NULL;
    return good;
}
