/* Measures as tables: for people, arrays as one row; for programs, everything. */
#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/report/measure_print.h"
#include "codegen/views/dot_kind.h"
#include "codegen/views/params_value.h"

static void csv_field(FILE *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fputs(quoted ? "\"," : ",", out);
}

const struct view_share *measure_share(const struct measured *m, const struct model *model,
                                       unsigned kind, uint32_t index)
{
    return index < model->instance_count ? &m->instances[kind][index] : &m->own[kind][index];
}

void measure_print_named(const struct measure_named *what, FILE *out)
{
    csv_field(out, what->path);
    csv_field(out, what->type);
    csv_field(out, what->kind);
}

static void csv_row(const struct measured *m, struct measure_named what, unsigned kind,
                    const struct view_share *share, uint64_t cycles, FILE *out)
{
    csv_field(out, m->scope);
    measure_print_named(&what, out);
    csv_field(out, model_measure_names[kind]);
    fprintf(out, "%.17g,%.17g,%llu,%llu\n", share->part, share->whole, (unsigned long long)cycles,
            (unsigned long long)m->time_ps);
}

static const char *connection_text(char *text, size_t size, const struct model_connection *c)
{
    char element[16] = "";
    if (c->from->decl->is_array)
        snprintf(element, sizeof element, "[%u]", (unsigned)c->from->element);
    snprintf(text, size, "%s.%s%s -> %s%s%s", c->from->owner->path, c->from->decl->name, element,
             c->to->owner->path, c->link ? " via " : "", c->link ? c->link->name : "");
    return text;
}

struct measure_named measure_name(const struct model *model, uint32_t index)
{
    if (index >= model->instance_count) {
        const struct model_part *part = model->parts[index - model->instance_count];
        return (struct measure_named){part->path, part->type->name, "part"};
    }
    const struct model_instance *instance = model->instances[index];
    return (struct measure_named){instance->path, instance->type->name,
                                  dot_kind_style(dot_kind_of(instance->type))->word};
}

struct measure_named measure_connection_name(struct arena *arena, const struct model_connection *c)
{
    char text[512];
    const char *what = c->link ? "link" : "connection";
    return (struct measure_named){arena_strdup(arena, connection_text(text, sizeof text, c)), what,
                                  what};
}

static void csv_connection(const struct measured *m, const struct model_connection *c,
                           unsigned kind, FILE *out)
{
    char text[512];
    const struct view_share *share = &m->connections[kind][c->id];
    const char *what = c->link ? "link" : "connection";
    if (share->whole > 0)
        csv_row(m, (struct measure_named){connection_text(text, sizeof text, c), what, what}, kind,
                share, m->cycles[c->to->owner->domain], out);
}

void measure_print_csv(const struct measured *m, const struct model *model, bool head, FILE *out)
{
    if (head)
        fputs("scope,path,type,kind,measure,part,whole,cycles,time_ps\n", out);
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        for (uint32_t i = 0; i < model->instance_count + model->part_count; i++)
            if (measure_share(m, model, k, i)->whole > 0)
                csv_row(m, measure_name(model, i), k, measure_share(m, model, k, i),
                        m->cycles[m->domains[i]], out);
        for (uint32_t i = 0; i < model->connection_count; i++)
            csv_connection(m, model->connections[i], k, out);
    }
}

struct row {
    const char *path;
    double part, whole, least, most;
};

static void print_row(const struct row *row, const char *measure, FILE *out)
{
    fprintf(out, "  %-40s %-12s %6.1f %%", row->path, measure, row->part / row->whole * 100);
    if (row->most > row->least)
        fprintf(out, "  %.1f to %.1f %%", row->least * 100, row->most * 100);
    fputc('\n', out);
}

void measure_print(const struct measured *m, struct arena *arena, const struct model *model,
                   FILE *out)
{
    fprintf(out, "%s\n", m->scope);
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        struct intern index;
        VECTOR(struct row) rows = {0};
        intern_init(&index, arena);
        for (uint32_t i = 0; i < model->instance_count + model->part_count; i++) {
            const struct view_share *s = measure_share(m, model, k, i);
            if (s->whole <= 0)
                continue;
            const char *path = params_collapse(
                arena, i < model->instance_count ? model->instances[i]->path
                                                 : model->parts[i - model->instance_count]->path);
            const struct intern_entry *known = intern_find(&index, path);
            double share = s->part / s->whole;
            if (!known) {
                intern_add(&index, path, (uint32_t)rows.count);
                vector_push(arena, &rows, ((struct row){path, s->part, s->whole, share, share}));
                continue;
            }
            struct row *row = &rows.items[known->value];
            row->part += s->part;
            row->whole += s->whole;
            row->least = share < row->least ? share : row->least;
            row->most = share > row->most ? share : row->most;
        }
        for (uint32_t i = 0; i < rows.count; i++)
            print_row(&rows.items[i], model_measure_names[k], out);
    }
}
