/* See view_state.h. */
#define _GNU_SOURCE /* memfd_create */
#include "codegen/command/view_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "codegen/report/statistics_make.h"
#include "runtime/engine/version.h"

#define TRIES 1000 /* to copy a board that is being written */

bool view_state_open(struct view_state *s, struct arena *arena, const struct model *model)
{
    *s = (struct view_state){.arena = arena, .model = model};
    measure_groups_open(&s->groups, arena, model);
    s->file = memfd_create("heddle view", MFD_CLOEXEC);
    return s->file >= 0 && ftruncate(s->file, (off_t)(BOARD_PLACES * BOARD_BYTES)) == 0;
}

void view_state_close(struct view_state *s)
{
    for (unsigned i = 0; i < BOARD_PLACES; i++)
        if (s->boards[i])
            munmap(s->boards[i], BOARD_BYTES);
    free(s->values);
    close(s->file);
}

struct board *view_state_board(struct view_state *s, unsigned place)
{
    if (place >= BOARD_PLACES)
        return NULL;
    if (!s->boards[place]) {
        void *at = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->file,
                        (off_t)(place * BOARD_BYTES));
        s->boards[place] = at == MAP_FAILED ? NULL : at;
    }
    struct board *b = s->boards[place];
    return b && __atomic_load_n(&b->magic, __ATOMIC_ACQUIRE) == BOARD_MAGIC ? b : NULL;
}

bool view_state_ended(struct view_state *s)
{
    for (unsigned i = 0; i < BOARD_PLACES; i++) {
        const struct board *b = view_state_board(s, i);
        if (b && __atomic_load_n(&b->state, __ATOMIC_RELAXED) != BOARD_ENDED)
            return false;
    }
    return true;
}

/* ---- copies ---- */

static bool is_sound(const struct board *b)
{
    return b->names <= BOARD_BYTES && b->name_bytes <= BOARD_BYTES - b->names
           && b->values <= BOARD_BYTES && b->values % sizeof(uint64_t) == 0
           && b->value_count <= (BOARD_BYTES - b->values) / sizeof(uint64_t);
}

/* The structure and its values as they were at one time. */
static bool copy_board(struct view_state *s, const struct board *b, struct board *copy)
{
    const struct timespec nap = {.tv_nsec = 100000};
    for (int i = 0; i < TRIES; i++) {
        uint32_t sequence = __atomic_load_n(&b->sequence, __ATOMIC_ACQUIRE);
        *copy = *b;
        if (!is_sound(copy))
            return false;
        if (copy->value_count > s->room) {
            free(s->values);
            s->room = copy->value_count;
            s->values = malloc(s->room * sizeof *s->values);
        }
        if (!s->values && copy->value_count)
            return false;
        memcpy(s->values, (const char *)b + copy->values, copy->value_count * sizeof *s->values);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (sequence % 2 == 0 && __atomic_load_n(&b->sequence, __ATOMIC_RELAXED) == sequence)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

/* ---- counters ---- */

/* "SECTION\tPATH\tCOUNTER"; a counter may be "forward.bytes". */
static void add_value(json_t *root, char *line, uint64_t value)
{
    char *path = strchr(line, '\t'), *counter = path ? strchr(path + 1, '\t') : NULL;
    if (!counter)
        return;
    *path++ = '\0';
    *counter++ = '\0';
    json_t *place = statistics_below(statistics_below(root, line), path);
    char *dot = strchr(counter, '.');
    if (dot) {
        *dot++ = '\0';
        place = statistics_below(place, counter);
        counter = dot;
    }
    json_object_set_new(place, counter, json_integer((json_int_t)value));
}

static void add_values(const struct view_state *s, const struct board *at, const struct board *copy,
                       json_t *root)
{
    const char *line = (const char *)at + copy->names, *end = line + copy->name_bytes;
    char text[1024];
    for (uint64_t i = 0; i < copy->value_count && line < end; i++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = stop ? (size_t)(stop - line) : 0;
        if (!stop)
            return;
        if (length < sizeof text) {
            memcpy(text, line, length);
            text[length] = '\0';
            add_value(root, text, s->values[i]);
        }
        line = stop + 1;
    }
}

static json_t *make_statistics(const struct view_state *s, const struct board *at,
                               const struct board *copy)
{
    json_t *root = statistics_make(s->model, copy->time_ps),
           *stamp = statistics_below(root, "stamp");
    json_object_set_new(stamp, "version", json_string(HEDDLE_VERSION));
    json_object_set_new(stamp, "model",
                        json_stringn(copy->model, strnlen(copy->model, BOARD_HASH)));
    json_object_set_new(root, "platform",
                        json_stringn(copy->platform, strnlen(copy->platform, BOARD_NAME)));
    json_object_set_new(root, "mode", json_string("timing"));
    json_object_set_new(root, "partial", json_string("view"));
    json_object_set_new(root, "kernels", json_array());
    add_values(s, at, copy, root);
    statistics_below(root, "components"); /* there may be none */
    return root;
}

json_t *view_state_statistics(struct view_state *s, unsigned place)
{
    struct board copy;
    const struct board *b = view_state_board(s, place);
    return b && copy_board(s, b, &copy) ? make_statistics(s, b, &copy) : NULL;
}

/* ---- the page's own ---- */

static json_t *text_of(const char *text, size_t most)
{
    json_t *string = json_stringn(text, strnlen(text, most));
    return string ? string : json_string("?"); /* no UTF-8 */
}

static json_t *processes_of(struct view_state *s)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < BOARD_PLACES; i++) {
        const struct board *b = view_state_board(s, i);
        if (b)
            json_array_append_new(list, json_pack("{s:i,s:i,s:o}", "number", (int)i + 1, "pid",
                                                  (int)b->pid, "program",
                                                  text_of(b->program, BOARD_NAME)));
    }
    return list;
}

static json_t *kernels_of(const struct board *b)
{
    json_t *list = json_array();
    uint64_t most = b->kernels_begun > BOARD_KERNELS ? b->kernels_begun - BOARD_KERNELS : 0;
    for (uint64_t number = most; number < b->kernels_begun; number++) {
        const struct board_kernel *k = &b->launches[number % BOARD_KERNELS];
        if (k->number != number + 1)
            continue;
        json_array_append_new(
            list, json_pack("{s:I,s:o,s:I,s:I,s:I}", "number", (json_int_t)k->number, "name",
                            text_of(k->name, BOARD_NAME), "start_ps", (json_int_t)k->start_ps,
                            "end_ps", (json_int_t)k->end_ps, "cycles", (json_int_t)k->cycles));
    }
    return list;
}

static json_t *measures_of(struct view_state *s, const struct board *at, const struct board *copy)
{
    struct arena arena;
    struct measured m;
    json_t *list = json_array(), *root = make_statistics(s, at, copy);
    arena_init(&arena);
    measure_run(&m, &arena, s->model, root);
    measure_groups_set(&s->groups, &m);
    for (uint32_t i = 0; i < s->groups.list.count; i++) {
        const struct measure_group *g = &s->groups.list.items[i];
        for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++)
            if (g->whole[k] > 0)
                json_array_append_new(list, json_pack("[s,s,s,f,f,f]", g->what.path, g->what.kind,
                                                      model_measure_names[k], g->part[k],
                                                      g->whole[k], g->most[k]));
    }
    arena_release(&arena);
    json_decref(root);
    return list;
}

json_t *view_state_read(struct view_state *s, unsigned place)
{
    static const char *const states[] = {[BOARD_RUNNING] = "running",
                                         [BOARD_PAUSED] = "paused",
                                         [BOARD_HOST] = "host",
                                         [BOARD_ENDED] = "ended"};
    struct board copy;
    const struct board *b = view_state_board(s, place);
    json_t *state = json_object();
    json_object_set_new(state, "processes", processes_of(s));
    if (!b || !copy_board(s, b, &copy)) {
        json_object_set_new(state, "state", json_string("none"));
        return state;
    }
    json_object_set_new(state, "state",
                        json_string(copy.state <= BOARD_ENDED ? states[copy.state] : "?"));
    json_object_set_new(state, "platform", text_of(copy.platform, BOARD_NAME));
    json_object_set_new(state, "progress", text_of(copy.progress, BOARD_NAME));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"time_ps", copy.time_ps},
                   {"cycles", copy.cycles},
                   {"instructions", copy.instructions},
                   {"messages", copy.messages},
                   {"kernels_begun", copy.kernels_begun},
                   {"kernels_ended", copy.kernels_ended}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        json_object_set_new(state, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    json_object_set_new(state, "kernels", kernels_of(&copy));
    json_object_set_new(state, "measures", measures_of(s, b, &copy));
    return state;
}

json_t *view_state_waits(struct view_state *s, unsigned place)
{
    struct board copy;
    const struct board *b = view_state_board(s, place);
    if (!b || !copy_board(s, b, &copy))
        return NULL;
    return json_pack("{s:I,s:o}", "told", (json_int_t)copy.waits_told, "text",
                     text_of(copy.waits, BOARD_WAITS));
}
