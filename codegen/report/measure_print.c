/* Measures as tables: for people, arrays as one row; for programs, everything. */
#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/report/measure.h"
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

static void csv_row(const struct measured *m, const char *path, const char *type, unsigned kind,
                    const struct view_share *share, uint64_t cycles, FILE *out)
{
    csv_field(out, m->scope);
    csv_field(out, path);
    csv_field(out, type);
    csv_field(out, model_measure_names[kind]);
    fprintf(out, "%.17g,%.17g,%llu,%llu\n", share->part, share->whole, (unsigned long long)cycles,
            (unsigned long long)m->time_ps);
}

static const char *connection_text(char *text, size_t size, const struct model_connection *c)
{
    snprintf(text, size, "%s.%s -> %s.%s%s%s", c->from->owner->path, c->from->decl->name,
             c->to->owner->path, c->to->decl->name, c->link ? " via " : "",
             c->link ? c->link->name : "");
    return text;
}

void measure_print_csv(const struct measured *m, const struct model *model, bool head, FILE *out)
{
    char text[512];
    if (head)
        fputs("scope,path,type,measure,part,whole,cycles,time_ps\n", out);
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        for (uint32_t i = 0; i < model->instance_count + model->part_count; i++) {
            bool is_part = i >= model->instance_count;
            const struct model_part *part = is_part ? model->parts[i - model->instance_count] : 0;
            const struct model_instance *instance = is_part ? NULL : model->instances[i];
            if (m->own[k][i].whole > 0)
                csv_row(m, is_part ? part->path : instance->path,
                        is_part ? part->type->name : instance->type->name, k, &m->own[k][i],
                        m->cycles[m->domains[i]], out);
        }
        for (uint32_t i = 0; i < model->connection_count; i++)
            if (m->connections[k][i].whole > 0)
                csv_row(m, connection_text(text, sizeof text, model->connections[i]),
                        model->connections[i]->link ? "link" : "connection", k,
                        &m->connections[k][i], m->cycles[model->connections[i]->to->owner->domain],
                        out);
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
            const struct view_share *s = &m->own[k][i];
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
