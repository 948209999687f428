/* CSV, plots and page of `heddle experiment`; see experiment.h. Plots follow the two figures of
 * "gpu-cold-start-mitigation": perfect in black, full memory in light brown, memory:N in blue; what
 * the document does not have is dashed green (functional) or marks (corrections). */
#include "codegen/report/experiment.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen/views/html_page.h"

const char *experiment_mode_name(unsigned mode)
{
    static char text[24];
    switch (mode) {
    case EXPERIMENT_PERFECT:
        return "perfect";
    case EXPERIMENT_NONE:
        return "none";
    case EXPERIMENT_FULL_MEMORY:
        return "full-memory";
    case EXPERIMENT_FUNCTIONAL:
        return "functional";
    case EXPERIMENT_FORMULA:
        return "formula";
    case EXPERIMENT_ESTIMATE:
        return "estimate";
    default:
        snprintf(text, sizeof text, "memory:%u", mode - EXPERIMENT_MEMORY + 1);
        return text;
    }
}

double experiment_ipc(const struct experiment_kernel *k, unsigned mode)
{
    return k->point[mode].cycles > 0 ? k->instructions / k->point[mode].cycles : 0;
}

double experiment_accuracy(const struct experiment_kernel *k, unsigned mode)
{
    double perfect = experiment_ipc(k, EXPERIMENT_PERFECT);
    return perfect > 0 ? 100 - 100 * fabs(experiment_ipc(k, mode) - perfect) / perfect : 0;
}

void experiment_write_csv(FILE *out, const struct experiment_kernel *kernels, uint32_t count)
{
    fprintf(out, "launch,kernel,mode,cycles,ipc,accuracy_percent,cpu_seconds\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct experiment_kernel *k = &kernels[i];
        for (unsigned mode = 0; mode < EXPERIMENT_MODES; mode++)
            if (k->point[mode].cycles > 0)
                fprintf(out, "%" PRIu64 ",\"%s\",%s,%.0f,%.4f,%.3f,%.3f\n", k->launch, k->name,
                        experiment_mode_name(mode), k->point[mode].cycles, experiment_ipc(k, mode),
                        experiment_accuracy(k, mode), k->point[mode].seconds);
    }
}

static void write_correction(FILE *out, const struct experiment_kernel *k, unsigned mode,
                             const struct estimate_account *a)
{
    fprintf(out, "%" PRIu64 ",\"%s\",%s,%.15g,\"%s\",", k->launch, k->name,
            experiment_mode_name(mode), k->point[mode].cycles, a->law);
    estimate_account_write(out, a);
    fputc('\n', out);
}

void experiment_write_corrections(FILE *out, const struct experiment_kernel *kernels,
                                  uint32_t count)
{
    fprintf(out, "launch,kernel,mode,corrected_cycles,law,inputs\n");
    for (uint32_t i = 0; i < count; i++) {
        write_correction(out, &kernels[i], EXPERIMENT_FORMULA, &kernels[i].formula);
        write_correction(out, &kernels[i], EXPERIMENT_ESTIMATE, &kernels[i].estimate);
    }
}

/* ---- plots ---- */

enum { PANEL_WIDTH = 360, PANEL_HEIGHT = 240, LEFT = 52, TOP = 30, INNER_W = 290, INNER_H = 160 };

struct panel {
    FILE *out;
    double x, y;        /* upper left corner */
    double least, most; /* of the values */
};

static double place_x(const struct panel *p, double n)
{
    return p->x + LEFT + n / 10 * INNER_W;
}

static double place_y(const struct panel *p, double value)
{
    return p->y + TOP + (p->most - value) / (p->most - p->least) * INNER_H;
}

static double value_of(const struct experiment_kernel *k, unsigned mode, int accuracy)
{
    return accuracy ? experiment_accuracy(k, mode) : experiment_ipc(k, mode);
}

static void level(const struct panel *p, double value, const char *style)
{
    fprintf(p->out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' %s/>\n", place_x(p, 0),
            place_y(p, value), place_x(p, 10), place_y(p, value), style);
}

static void mark(const struct panel *p, double value, const char *colour, const char *title)
{
    fprintf(
        p->out,
        "<rect x='%.1f' y='%.1f' width='7' height='7' fill='%s'><title>%s: %.4g</title></rect>\n",
        place_x(p, 0) - 3.5, place_y(p, value) - 3.5, colour, title, value);
}

static void axes(const struct panel *p, const struct experiment_kernel *k, int accuracy)
{
    fprintf(p->out, "<rect x='%.1f' y='%.1f' width='%d' height='%d' fill='none' stroke='#999'/>\n",
            place_x(p, 0), p->y + TOP, INNER_W, INNER_H);
    fprintf(p->out, "<text x='%.1f' y='%.1f'>launch %" PRIu64 ": ", p->x + LEFT, p->y + TOP - 8,
            k->launch);
    for (const char *c = k->name; *c && *c != '(' && c - k->name < 40; c++)
        fprintf(p->out, *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : "%c", *c);
    fprintf(p->out, "</text>\n");
    for (unsigned i = 0; i <= 4; i++) {
        double value = p->least + (p->most - p->least) * i / 4;
        fprintf(p->out, "<text x='%.1f' y='%.1f' text-anchor='end'>%.*f</text>\n",
                place_x(p, 0) - 5, place_y(p, value) + 4, accuracy ? 1 : 3, value);
    }
    for (unsigned n = 0; n <= 10; n += 2)
        fprintf(p->out, "<text x='%.1f' y='%.1f' text-anchor='middle'>%u</text>\n", place_x(p, n),
                p->y + TOP + INNER_H + 14, n);
    fprintf(p->out, "<text x='%.1f' y='%.1f' text-anchor='middle'>preceding launches, %s</text>\n",
            place_x(p, 5), p->y + TOP + INNER_H + 28, accuracy ? "accuracy in %" : "IPC");
}

static void find_range(struct panel *p, const struct experiment_kernel *k, int accuracy)
{
    p->least = p->most = value_of(k, EXPERIMENT_PERFECT, accuracy);
    for (unsigned mode = 0; mode < EXPERIMENT_MODES; mode++) {
        p->least = fmin(p->least, value_of(k, mode, accuracy));
        p->most = fmax(p->most, value_of(k, mode, accuracy));
    }
    double room = (p->most - p->least) * 0.05;
    room = room > 0 ? room : p->most * 0.01 + 0.001;
    p->least -= room;
    p->most += room;
}

static void draw_panel(struct panel *p, const struct experiment_kernel *k, int accuracy)
{
    find_range(p, k, accuracy);
    axes(p, k, accuracy);
    level(p, value_of(k, EXPERIMENT_PERFECT, accuracy), "stroke='black'");
    level(p, value_of(k, EXPERIMENT_FULL_MEMORY, accuracy), "stroke='#c8a27a' stroke-width='2'");
    level(p, value_of(k, EXPERIMENT_FUNCTIONAL, accuracy),
          "stroke='#2a8f3a' stroke-dasharray='5 3'");
    fprintf(p->out, "<polyline fill='none' stroke='#2a60c0' stroke-width='1.5' points='%.1f,%.1f",
            place_x(p, 0), place_y(p, value_of(k, EXPERIMENT_NONE, accuracy)));
    for (unsigned n = 1; n <= 10; n++)
        fprintf(p->out, " %.1f,%.1f", place_x(p, n),
                place_y(p, value_of(k, EXPERIMENT_MEMORY + n - 1, accuracy)));
    fprintf(p->out, "'/>\n");
    mark(p, value_of(k, EXPERIMENT_FORMULA, accuracy), "#c03030", "formula");
    mark(p, value_of(k, EXPERIMENT_ESTIMATE, accuracy), "#8030b0", "estimate");
}

void experiment_write_svg(FILE *out, const struct experiment_kernel *kernels, uint32_t count,
                          int accuracy)
{
    static const struct {
        const char *colour, *name;
    } legend[] = {{"black", "perfect"},      {"#c8a27a", "full-memory"}, {"#2a60c0", "memory:N"},
                  {"#2a8f3a", "functional"}, {"#c03030", "formula"},     {"#8030b0", "estimate"}};
    uint32_t rows = (count + 1) / 2;
    fprintf(
        out,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%u' font-family='sans-serif' "
        "font-size='11'>\n",
        2 * PANEL_WIDTH, rows * PANEL_HEIGHT + 30);
    fprintf(out, "<rect width='100%%' height='100%%' fill='white'/>\n");
    for (uint32_t i = 0; i < count; i++) {
        struct panel p = {
            .out = out, .x = i % 2 * PANEL_WIDTH, .y = (double)(i / 2) * PANEL_HEIGHT};
        draw_panel(&p, &kernels[i], accuracy);
    }
    for (unsigned i = 0; i < sizeof legend / sizeof legend[0]; i++)
        fprintf(
            out,
            "<rect x='%u' y='%u' width='10' height='10' fill='%s'/><text x='%u' y='%u'>%s</text>\n",
            LEFT + i * 105, rows * PANEL_HEIGHT + 8, legend[i].colour, LEFT + i * 105 + 14,
            rows * PANEL_HEIGHT + 17, legend[i].name);
    fprintf(out, "</svg>\n");
}

/* ---- page ---- */

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : "%c", *text);
}

static void write_row(FILE *out, const struct experiment_kernel *k, unsigned mode)
{
    double perfect = k->point[EXPERIMENT_PERFECT].seconds;
    fprintf(out, "<tr><td>%s</td><td>%.0f</td><td>%.4f</td><td>%.2f</td><td>%.3f</td>",
            experiment_mode_name(mode), k->point[mode].cycles, experiment_ipc(k, mode),
            experiment_accuracy(k, mode), k->point[mode].seconds);
    fprintf(out, "<td>%.3f</td></tr>\n", perfect > 0 ? k->point[mode].seconds / perfect : 0);
}

/* The law, the same with numbers, and what they are. */
static void write_account(FILE *out, const struct experiment_kernel *k, unsigned mode,
                          const struct estimate_account *a)
{
    fprintf(out, "<h3>%s, corrected: %.15g cycles</h3>\n<pre>%s\n= ", experiment_mode_name(mode),
            k->point[mode].cycles, a->law);
    estimate_account_write_filled(out, a);
    fprintf(out, "\n= %.15g</pre>\n<table><tr><th>input</th><th>value</th><th>what it is</th></tr>",
            k->point[mode].cycles);
    for (unsigned i = 0; i < a->count; i++)
        fprintf(out, "\n<tr><td>%s</td><td>%.15g</td><td>%s</td></tr>", a->terms[i].name,
                a->terms[i].value, estimate_term_meaning(a->terms[i].name));
    fprintf(out, "</table>\n");
}

void experiment_write_html(FILE *out, const char *title, const struct experiment_kernel *kernels,
                           uint32_t count)
{
    html_write_head(out, title);
    fprintf(out, "<h1>");
    write_escaped(out, title);
    fprintf(out, "</h1>\n<h2>IPC</h2>\n");
    experiment_write_svg(out, kernels, count, 0);
    fprintf(out, "<h2>Accuracy</h2>\n");
    experiment_write_svg(out, kernels, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "<h2>Launch %" PRIu64 ": ", kernels[i].launch);
        write_escaped(out, kernels[i].name);
        fprintf(out, "</h2>\n<table><tr><th>warm-up</th><th>cycles</th><th>IPC</th><th>accuracy, "
                     "%%</th><th>CPU, s</th><th>of perfect's</th></tr>\n");
        for (unsigned mode = 0; mode < EXPERIMENT_MODES; mode++)
            write_row(out, &kernels[i], mode);
        fprintf(out, "</table>\n");
        write_account(out, &kernels[i], EXPERIMENT_FORMULA, &kernels[i].formula);
        write_account(out, &kernels[i], EXPERIMENT_ESTIMATE, &kernels[i].estimate);
    }
    fprintf(out, "</body></html>\n");
}
