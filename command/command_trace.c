/* `heddle trace`: tools for the instruction traces of Accel-Sim's NVBit tracer. Each takes traces
 * and lists of traces (kernelslist.g), in the order in which they are given.
 *
 * What a tool writes stands whole at its place or not at all. Traces are read through
 * components/traces/instruction_trace. */
#include "command_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "components/traces/instruction_trace/reader/itrace_list.h"
#include "components/traces/instruction_trace/tools/itrace_filter.h"
#include "components/traces/instruction_trace/tools/itrace_group.h"
#include "components/traces/instruction_trace/tools/itrace_output.h"
#include "components/traces/instruction_trace/tools/itrace_stats.h"
#include "dsl/source.h"
#include "runtime/engine/unfinished.h"

#include "command.h"
#include "command_say.h"

struct tool {
    struct command *c;
    const char *folder; /* -o of mem; NULL: beside the input */
    uint64_t errors, warnings;
    struct itrace_stats_run stats;
};

static void report(void *context, bool is_error, const char *path, uint64_t line, const char *text)
{
    struct tool *tool = context;
    *(is_error ? &tool->errors : &tool->warnings) += 1;
    fflush(stdout); /* both streams stay in order in one log */
    if (line)
        fprintf(stderr, "%s:%" PRIu64 ": %s: %s\n", path, line, is_error ? "error" : "warning",
                text);
    else
        fprintf(stderr, "%s: %s: %s\n", path, is_error ? "error" : "warning", text);
}

__attribute__((format(printf, 2, 3))) static bool fail(struct tool *tool, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    command_vsay(format, args);
    va_end(args);
    tool->errors++;
    return false;
}

static bool open_trace(struct tool *tool, struct itrace *trace, const char *path, bool use_cache,
                       enum itrace_demand demand)
{
    struct itrace_options options = {
        .report = report, .context = tool, .use_cache = use_cache, .demand = demand};
    return itrace_open(trace, path, &options);
}

/* `name` in -o, or in the folder of `input`. */
static const char *place_output(struct tool *tool, const char *input, const char *name)
{
    if (tool->folder)
        return region_printf(tool->c->region, "%s/%s", tool->folder, name);
    return region_printf(tool->c->region, "%.*s%s", (int)(source_base_name(input) - input), input,
                         name);
}

/* The name without .xz or .zst: what is written is not packed. */
static const char *unpacked_name(struct tool *tool, const char *name)
{
    static const char *const suffixes[] = {".xz", ".zst"};
    size_t size = strlen(name);
    for (size_t i = 0; i < 2; i++) {
        size_t tail = strlen(suffixes[i]);
        if (size > tail && strcmp(name + size - tail, suffixes[i]) == 0)
            return region_strndup(tool->c->region, name, size - tail);
    }
    return name;
}

/* kernel-1.traceg.xz, kernel-1.tracez -> kernel-mem-1.traceg */
static const char *memory_name(struct tool *tool, const char *path)
{
    const char *name = unpacked_name(tool, source_base_name(path));
    size_t size = strlen(name), tail = strlen(".tracez");
    if (size > tail && strcmp(name + size - tail, ".tracez") == 0)
        name = region_printf(tool->c->region, "%.*sg", (int)size - 1, name);
    if (strncmp(name, "kernel-", 7) == 0)
        return region_printf(tool->c->region, "kernel-mem-%s", name + 7);
    return region_printf(tool->c->region, "mem-%s", name);
}

static bool filter_one(struct tool *tool, const char *path, const char *to)
{
    struct itrace trace;
    uint64_t kept;
    bool ok = open_trace(tool, &trace, path, false, ITRACE_GAPS_COUNTED);
    if (ok && command_files_are_same(path, to))
        ok = fail(tool, "'%s' would be written over itself: use -o", path);
    if (ok && itrace_filter(&trace, to, &kept)) {
        itrace_report_unknown(&trace);
        printf("%s: %" PRIu64 " of %" PRIu64 " instructions\n", to, kept, trace.steps);
    } else {
        ok = false;
    }
    itrace_close(&trace);
    return ok;
}

/* All traces of a list, then the list of what was written. A trace by itself has no list. */
static void filter(struct tool *tool, const char *path)
{
    struct itrace_list list;
    struct itrace_output output = {.slot = -1};
    const char *list_path = place_output(tool, path, "kernelslist-mem.g");
    bool ok = itrace_list_read(&list, &(struct itrace_list_reader){path, report, tool, true, NULL}),
         is_list = ok && list.commands[0].line;
    if (is_list && command_files_are_same(path, list_path))
        ok = fail(tool, "'%s' would be written over itself: use -o", path);
    if (ok && is_list && !itrace_output_open(&output, list_path))
        ok = fail(tool, "'%s' cannot be written: %s", list_path, strerror(errno));
    for (size_t i = 0; ok && i < list.count; i++) {
        const struct itrace_command *command = &list.commands[i];
        if (!command->name) {
            fprintf(output.file, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", command->address,
                    command->bytes);
            continue;
        }
        const char *to = memory_name(tool, command->path);
        ok = filter_one(tool, command->path, place_output(tool, path, to));
        if (is_list)
            fprintf(output.file, "%s\n", to);
    }
    if (ok && is_list && !itrace_output_commit(&output))
        fail(tool, "'%s' cannot be written: %s", list_path, strerror(errno));
    itrace_output_abandon(&output);
    itrace_list_release(&list);
}

/* kernel-1.trace.xz -> kernel-1.traceg; kernelslist -> kernelslist.g */
static const char *grouped_name(struct tool *tool, const char *path)
{
    const char *name = unpacked_name(tool, source_base_name(path));
    return region_printf(tool->c->region, "%sg", name);
}

static bool group_one(struct tool *tool, const char *path)
{
    struct itrace_group_result result;
    const char *to = place_output(tool, path, grouped_name(tool, path));
    if (!itrace_group(path, to, &result))
        return result.line
                   ? fail(tool, "%s:%" PRIu64 ": error: %s", path, result.line, result.error)
                   : fail(tool, "%s: error: %s", path, result.error);
    printf("%s: %" PRIu64 " instructions, %" PRIu64 " thread blocks\n", to, result.instructions,
           result.blocks);
    return true;
}

/* All raw traces of a list, then the list of what was written; or one trace. */
static void group(struct tool *tool, const char *path)
{
    struct itrace_list list;
    struct itrace_output output = {.slot = -1};
    const char *list_path =
        place_output(tool, path, region_printf(tool->c->region, "%s.g", source_base_name(path)));
    bool ok = itrace_list_read(&list, &(struct itrace_list_reader){path, report, tool, true, NULL});
    bool is_list = ok && list.commands[0].line;
    if (ok && is_list && !itrace_output_open(&output, list_path))
        ok = fail(tool, "'%s' cannot be written: %s", list_path, strerror(errno));
    for (size_t i = 0; ok && i < list.count; i++) {
        const struct itrace_command *command = &list.commands[i];
        if (command->name)
            ok = group_one(tool, command->path);
        if (is_list)
            fprintf(output.file, "%s\n",
                    command->name ? grouped_name(tool, command->path) : command->text);
    }
    if (ok && is_list && !itrace_output_commit(&output))
        fail(tool, "'%s' cannot be written: %s", list_path, strerror(errno));
    itrace_output_abandon(&output);
    itrace_list_release(&list);
}

static bool check_one(struct tool *tool, const char *path)
{
    struct itrace trace;
    bool ok = open_trace(tool, &trace, path, false, ITRACE_GAPS_WARNED);
    if (ok)
        while (itrace_next(&trace) != ITRACE_END)
            ;
    itrace_report_unknown(&trace);
    printf("%s: %" PRIu64 " errors, %" PRIu64 " warnings, %" PRIu64
           " instructions, %zu static, %" PRIu64 " thread blocks\n",
           path, trace.errors, trace.warnings, trace.steps, trace.program.count, trace.blocks);
    itrace_close(&trace);
    return true;
}

static bool stats_one(struct tool *tool, const char *path)
{
    struct itrace trace;
    bool ok = open_trace(tool, &trace, path, !tool->c->options->no_cache, ITRACE_GAPS_COUNTED)
              && itrace_stats_add(&tool->stats, &trace);
    if (ok)
        itrace_report_unknown(&trace);
    itrace_close(&trace);
    return ok;
}

static void each(struct tool *tool, const char *path, bool (*one)(struct tool *, const char *))
{
    struct itrace_list list;
    bool ok = itrace_list_read(&list, &(struct itrace_list_reader){path, report, tool, true, NULL});
    for (size_t i = 0; ok && i < list.count; i++)
        if (list.commands[i].name)
            ok = one(tool, list.commands[i].path);
    itrace_list_release(&list);
}

static void check_trace(struct tool *tool, const char *path)
{
    each(tool, path, check_one);
}

static void stats(struct tool *tool, const char *path)
{
    each(tool, path, stats_one);
}

static const struct {
    const char *name;
    void (*take)(struct tool *tool, const char *path);
} tools[] = {{"mem", filter}, {"stats", stats}, {"check", check_trace}, {"group", group}};
enum { TOOLS = ARRAY_COUNT(tools) };

static int unknown_tool(const char *word)
{
    const char *names[TOOLS];
    for (int i = 0; i < TOOLS; i++)
        names[i] = tools[i].name;
    const char *near = compile_suggest(word, names, TOOLS);
    command_say("there is no tool '%s': mem, stats, check or group%s%s%s", word,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return EXIT_USAGE;
}

/* Options that are not for this tool are mistakes, too. */
static bool options_fit(struct command *c, const char *tool)
{
    const struct options *o = c->options;
    const struct {
        const char *option, *tools;
        bool given;
    } limits[] = {{"--csv", "stats", o->csv},
                  {"--line", "stats", o->line != 0},
                  {"--no-cache", "stats", o->no_cache},
                  {"-o", "mem stats group", o->output != NULL}};
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (limits[i].given && !strstr(limits[i].tools, tool)) {
            command_say("'%s' is an option of: %s", limits[i].option, limits[i].tools);
            return false;
        }
    if (o->line && (o->line < 32 || o->line > 4096 || (o->line & (o->line - 1)))) {
        command_say("'--line' takes a power of two from 32 to 4096");
        return false;
    }
    return true;
}

static int print_stats(struct tool *tool)
{
    struct command_output out;
    if (!command_output_open(&out))
        return EXIT_ERRORS;
    if (tool->c->options->csv)
        command_trace_print_csv(&tool->stats, out.file);
    else
        command_trace_print(&tool->stats, out.file);
    return command_output_close(&out, tool->c->options->output, true);
}

int command_trace(struct command *c)
{
    const struct options *o = c->options;
    const char *word = o->arguments.items[0];
    struct tool tool = {.c = c, .folder = o->output};
    int index = 0;
    while (index < TOOLS && strcmp(tools[index].name, word) != 0)
        index++;
    if (index == TOOLS)
        return unknown_tool(word);
    if (!options_fit(c, word))
        return EXIT_USAGE;
    if ((tools[index].take == filter || tools[index].take == group) && tool.folder
        && mkdir(tool.folder, 0777) != 0 && errno != EEXIST) {
        fail(&tool, "'%s' cannot be made: %s", tool.folder, strerror(errno));
        return EXIT_ERRORS;
    }
    unfinished_guard();
    tool.stats.line_bytes = o->line ? (uint32_t)o->line : ITRACE_STATS_LINE_BYTES;
    for (size_t i = 1; i < o->arguments.count; i++)
        tools[index].take(&tool, o->arguments.items[i]);
    int status = tool.errors ? EXIT_ERRORS : EXIT_CLEAN;
    if (tools[index].take == stats && !tool.errors)
        status = print_stats(&tool);
    itrace_stats_release(&tool.stats);
    return status;
}
