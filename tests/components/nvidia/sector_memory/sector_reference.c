/* See sector_reference.h. Written from the description of sector_cache, not from its code. */
#include "sector_reference.h"

#include <string.h>

void reference_start(struct reference *r, struct reference_shape shape)
{
    memset(r, 0, sizeof *r);
    r->shape = shape;
}

/* Smallest irreducible polynomial of a degree, found by trying all divisors. */
static uint64_t remainder_of(uint64_t value, uint64_t divisor)
{
    int degree = 63 - __builtin_clzll(divisor);
    for (int bit = 63; bit >= degree; bit--)
        if (value >> bit & 1)
            value ^= divisor << (bit - degree);
    return value;
}

static uint64_t smallest_irreducible(int degree)
{
    for (uint64_t p = (uint64_t)1 << degree;; p++) {
        bool divided = false;
        for (uint64_t d = 2; d < (uint64_t)1 << degree && !divided; d++)
            divided = !remainder_of(p, d);
        if (!divided)
            return p;
    }
}

unsigned reference_set(const struct reference_shape *s, uint64_t number)
{
    uint64_t chunk = s->interleave / 128, local = number;
    if (s->slices > 1)
        local = number / (chunk * s->slices) * chunk + number % chunk;
    if (s->sets == 1)
        return 0;
    int bits = 63 - __builtin_clzll(s->sets);
    if (s->index == REFERENCE_POLYNOMIAL)
        return (unsigned)remainder_of(local, smallest_irreducible(bits));
    if (s->index == REFERENCE_PLAIN)
        return (unsigned)(local % s->sets);
    uint64_t folded = 0;
    for (; local; local /= s->sets)
        folded ^= local % s->sets;
    return (unsigned)folded;
}

static struct reference_line *set_of(struct reference *r, uint64_t number)
{
    return r->lines + reference_set(&r->shape, number) * r->shape.ways;
}

static struct reference_line *peek(struct reference *r, uint64_t number)
{
    struct reference_line *set = set_of(r, number);
    for (unsigned w = 0; w < r->shape.ways; w++)
        if (set[w].used && set[w].number == number)
            return &set[w];
    return NULL;
}

static struct reference_line *find(struct reference *r, uint64_t number)
{
    struct reference_line *l = peek(r, number);
    if (l)
        l->time = ++r->time;
    return l;
}

static void clean(struct reference *r, struct reference_line *l)
{
    for (int i = 0; i < 4; i++) {
        r->counts.writebacks += l->dirty[i];
        r->counts.dirty_partial += l->dirty[i] && l->sector[i] == PART;
        l->dirty[i] = false;
    }
}

static struct reference_line *place(struct reference *r, uint64_t number)
{
    struct reference_line *set = set_of(r, number), *victim = set;
    for (unsigned w = 1; w < r->shape.ways && victim->used; w++)
        if (!set[w].used || set[w].time < victim->time)
            victim = &set[w];
    if (victim->used) {
        clean(r, victim);
        r->counts.evictions++;
    }
    *victim = (struct reference_line){.used = true, .number = number, .time = ++r->time};
    return victim;
}

void reference_load(struct reference *r, uint64_t number, unsigned sectors)
{
    struct reference_line *l = find(r, number);
    bool fresh = !l;
    if (fresh)
        l = place(r, number);
    for (int i = 0; i < 4; i++) {
        if (!(sectors >> i & 1))
            continue;
        if (l->sector[i] == WHOLE) {
            r->counts.hits++;
            continue;
        }
        fresh ? r->counts.misses++ : r->counts.sector_misses++;
        fresh = false;
        r->counts.fetches++;
        l->sector[i] = WHOLE;
    }
}

void reference_store(struct reference *r, uint64_t number, unsigned sectors, unsigned partial)
{
    struct reference_line *l = find(r, number);
    bool fresh = !l;
    if (fresh && r->shape.places)
        l = place(r, number);
    for (int i = 0; i < 4; i++) {
        if (!(sectors >> i & 1))
            continue;
        bool part = partial >> i & 1, known = l && l->sector[i] != ABSENT;
        if (known) {
            r->counts.hits++;
        } else {
            fresh ? r->counts.misses++ : r->counts.sector_misses++;
            fresh = false;
            r->counts.fetches += r->shape.fetches && part;
        }
        if (!l || (!known && !r->shape.places))
            continue;
        if (!part || (!known && r->shape.fetches))
            l->sector[i] = WHOLE;
        else if (!known)
            l->sector[i] = PART;
        l->dirty[i] = r->shape.back;
    }
}

void reference_atomic(struct reference *r, uint64_t number, unsigned sectors)
{
    if (r->shape.atomics_here)
        reference_load(r, number, sectors);
    struct reference_line *l = peek(r, number);
    for (int i = 0; i < 4; i++) {
        if (!(sectors >> i & 1))
            continue;
        r->counts.passed += !r->shape.atomics_here;
        if (l && r->shape.atomics_here)
            l->dirty[i] = true;
        else if (l)
            l->sector[i] = ABSENT;
    }
}

void reference_fill(struct reference *r, uint64_t number, unsigned sectors)
{
    struct reference_line *l = find(r, number);
    if (!l)
        l = place(r, number);
    for (int i = 0; i < 4; i++)
        if (sectors >> i & 1) {
            l->sector[i] = WHOLE;
            l->dirty[i] = false;
        }
}

void reference_flush(struct reference *r)
{
    for (unsigned i = 0; i < r->shape.sets * r->shape.ways; i++)
        if (r->lines[i].used)
            clean(r, &r->lines[i]);
}
