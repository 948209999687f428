/* See estimate_trace.h. Components are told apart by their statistics and parameters, not by their
 * names: memory counts bytes_read. */
#include "codegen/report/estimate_trace.h"

#include "codegen/report/statistics_read.h"

#define SECTOR_BYTES 32

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Cycles of the fastest clock in a picosecond. */
static double clock_rate(json_t *run)
{
    const char *name;
    json_t *clock;
    double hz = 0;
    json_object_foreach(json_object_get(run, "clocks"), name, clock) hz =
        number(clock, "hz") > hz ? number(clock, "hz") : hz;
    return hz / 1e12;
}

/* An unloaded access to a row that is not open: the controller, activation, column, burst. A memory
 * without timing has a latency. */
static double memory_latency(json_t *run)
{
    const char *path;
    json_t *values;
    double ideal = 0;
    json_object_foreach(json_object_get(json_object_get(run, "stamp"), "parameters"), path, values)
    {
        double ps = number(values, "controller") + number(values, "trcd_read")
                    + number(values, "tcl") + number(values, "tburst");
        if (json_object_get(values, "trcd_read"))
            return ps * clock_rate(run);
        if (json_object_get(values, "slices") && json_object_get(values, "width"))
            ideal = number(values, "latency");
    }
    return ideal;
}

static void read_memory(struct estimate_trace *in, json_t *kernel)
{
    const char *path;
    json_t *stats;
    double busiest = 0;
    json_object_foreach(json_object_get(kernel, "components"), path, stats)
    {
        double reads = json_object_get(stats, "bytes_read") ? number(stats, "reads") : 0;
        in->reads += reads;
        busiest = reads > busiest ? reads : busiest;
    }
    in->controllers = busiest > 0 ? in->reads / busiest : 1;
}

bool estimate_trace_read(struct estimate_trace *in, json_t *cold, json_t *profile, uint64_t launch)
{
    json_t *kernel = statistics_launch(cold, launch);
    json_t *own = json_object_get(statistics_launch(profile, launch), "profile");
    json_t *before =
        launch > 1 ? json_object_get(statistics_launch(profile, launch - 1), "profile") : NULL;
    if (json_object_get(own, "lines_read")) /* a profile of a program */
        return false;
    *in = (struct estimate_trace){.cycles = number(kernel, "cycles"),
                                  .extra = memory_latency(cold),
                                  .trips_cold = number(own, "trips_cold"),
                                  .trips = number(own, "trips")};
    read_memory(in, kernel);
    double sectors = number(own, "lines") * ESTIMATE_TRACE_LINE / SECTOR_BYTES;
    in->unique_reads = in->reads < sectors ? in->reads : sectors;
    double lines = number(before, "lines");
    in->reuse = lines > 0 ? number(own, "reused") / lines : 0;
    return true;
}

double estimate_trace_formula(const struct estimate_trace *in)
{
    /* Unique accesses to DRAM are a number of sectors, the line a number of bytes: so it is
     * printed. */
    return in->cycles
           - in->unique_reads / (in->controllers * ESTIMATE_TRACE_LINE) * in->reuse * in->extra;
}

double estimate_trace_chain(const struct estimate_trace *in)
{
    double saved = (in->trips_cold - in->trips) * in->extra;
    return saved > 0 && saved < in->cycles ? in->cycles - saved : in->cycles;
}
