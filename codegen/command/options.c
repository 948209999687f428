/* The table comes first, then what is made from it. An option belongs to the commands in its mask;
 * one that stands with the wrong command is an error that says where it belongs. */
#include "codegen/command/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/version.h"

/* KIND_OPTIONAL: its value, if any, stands behind '='; without one it is "". KIND_NAMED: the value
 * is KIND=PATH, and each kind has a row of its own, whose argument begins with it. */
enum kind { KIND_FLAG, KIND_TEXT, KIND_LIST, KIND_NUMBER, KIND_NAMED, KIND_OPTIONAL };

#define ON(command) (1u << COMMAND_##command)
#define MODEL_COMMANDS                                                                             \
    (ON(CHECK) | ON(GEN) | ON(DOT) | ON(DUMP) | ON(PARAMS) | ON(DOC) | ON(BUILD) | ON(RUN))
#define TRIAL_COMMANDS    (ON(EXPERIMENT) | ON(SAMPLE))
#define PLATFORM_COMMANDS ((MODEL_COMMANDS & ~ON(DOC)) | TRIAL_COMMANDS | ON(CALIBRATE) | ON(SWEEP))
#define BUILD_COMMANDS    (ON(GEN) | ON(BUILD) | ON(RUN) | TRIAL_COMMANDS)

static const struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *text;
    unsigned least, most; /* arguments */
} commands[COMMAND_COUNT] = {
    [COMMAND_CHECK] = {"check", "FILE...", "report every mistake in a description",
                       "Prints all diagnostics with their places and likely fixes. Exit status 0 "
                       "when there are no errors.",
                       1, UINT32_MAX},
    [COMMAND_GEN] =
        {"gen", "FILE -o DIR", "write the generated C",
         "Writes a header for each enumeration, protocol, packet, component and part in scope, "
         "and for a file with a platform "
         "a wrapper for each unit and platform.c. Files whose content does not change "
         "are not touched.",
         1, 1},
    [COMMAND_DOT] = {"dot", "[FILE]", "draw the topology",
                     "Graphviz source on standard output; --svg lays it out, --html makes a page "
                     "to click through. Both need "
                     "Graphviz. With --stats the file may be left out: that of the platform "
                     "that ran is looked for as for `stats --report measures`.",
                     0, 1},
    [COMMAND_DUMP] = {"dump", "FILE --json", "print the elaborated platform",
                      "The whole platform after elaboration, as JSON.", 1, 1},
    [COMMAND_PARAMS] = {"params", "FILE", "list all parameters",
                        "Each parameter's value, unit and where it comes from; then each slot, and "
                        "the parts that it takes with their parameters.",
                        1, 1},
    [COMMAND_FMT] =
        {"fmt", "FILE...", "lay out descriptions canonically",
         "Rewrites the files in place; with --check only tells which ones would change (status 1).",
         1, UINT32_MAX},
    [COMMAND_DOC] = {"doc", "[FILE...] -o DIR", "write the component and platform reference",
                     "Documents the library, and the given files, as Markdown and HTML.", 0,
                     UINT32_MAX},
    [COMMAND_EXPLAIN] =
        {"explain", "CODE", "explain a diagnostic",
         "What the diagnostic means, why it is one, and examples. Without a code, lists all.", 0,
         1},
    [COMMAND_NEW] =
        {"new", "component|part|platform NAME", "start a component, a part or a platform",
         "Writes a description, a C file and a test that compile and pass. A part starts as a "
         "replacement policy of caches. Nothing is overwritten.",
         2, 2},
    [COMMAND_BUILD] = {"build", "FILE", "generate and compile a platform",
                       "Compiles the platform for exactly these parameters. Everything is cached "
                       "by content; what has not changed is "
                       "not compiled again. Prints the path of platform.so.",
                       1, 1},
    [COMMAND_RUN] =
        {"run", "FILE [-- PROGRAM ARGS...]", "simulate",
         "Builds the platform if need be and runs the program on it; without a "
         "program, a platform that drives itself. "
         "The exit status is the program's, or that of a failed simulation: 3 a "
         "component gave up, 4 deadlock, "
         "5 stall, 6 cycle limit, 7 not started or a file not written, 8 what an option "
         "asked for did not happen, 128 + N ended by signal N. "
         "docs/reference/outputs.md says who writes which file, and what is "
         "written of a run that does not come to its end.",
         1, 1},
    [COMMAND_EXPERIMENT] =
        {"experiment", "FILE [--kernels LIST] -o DIR [-- PROGRAM ARGS...]",
         "compare ways to warm up before kernels",
         "Simulates each chosen launch of the program, or kernel of --play sass, after every kind "
         "of warm-up (perfect, none, memory:1 to memory:10, full-memory, functional), and corrects "
         "the cold one by the formula of the document. Without --kernels, simulates every launch "
         "cold and warm, ranks them in ranking.csv by the cycles that the cold start costs, and "
         "chooses the first four. Writes results.csv, corrections.csv, ipc.svg, accuracy.svg and "
         "index.html to DIR, with --corrections only the first two. corrections.csv and the page "
         "have the inputs of each corrected number. docs/evidence/warmup.md explains them.",
         1, 1},
    [COMMAND_SAMPLE] =
        {"sample", "FILE [-- PROGRAM ARGS...]", "cycles of all kernels from a few of them",
         "Runs the program, or plays SASS traces: groups launches by what they execute, simulates "
         "a few of each "
         "group in detail, executes the others without timing, and extrapolates, with a 95 % "
         "interval. docs/evidence/warmup.md explains it.",
         1, 1},
    [COMMAND_CALIBRATE] =
        {"calibrate", "DESCRIPTION.toml [--fit PARAM=LO..HI]",
         "compare a platform with measured times, and fit parameters",
         "Runs each row of a measured table on the platform: DESCRIPTION.toml names both, and the "
         "command line of each label. Prints the error of each label and of all, the worst points "
         "and what limited them, what was left out and why, and writes them with plots to the "
         "folder of -o (default: DESCRIPTION.calibration). The folder keeps what is done: the same "
         "command goes on after an interruption, and runs again only what a changed platform or "
         "program concerns. --fit fits parameters within intervals, with --folds N on the labels "
         "of all folds but one, which judges. docs/guide/calibrate.md shows it. Exit status 1: a "
         "point failed.",
         1, 1},
    [COMMAND_SWEEP] =
        {"sweep", "FILE... --vary PATH=VALUES -o DIR [-- PROGRAM ARGS...]",
         "run all combinations of parameters, and tabulate them",
         "FILE is a platform, or a sweep file (.toml) that says what follows and more: several "
         "programs, inputs, constraints. Runs each combination of the values of --vary, several at "
         "a time. {NAME} in an argument of the program may be varied, too. DIR keeps a database "
         "(sweep.sqlite), tables (points.csv, host.csv) and logs; after an interruption the same "
         "command goes on, and it runs again only what a changed platform or program concerns. "
         "`heddle report DIR` makes a page of it. docs/guide/sweep.md shows it. Exit status 1: a "
         "point failed.",
         1, UINT32_MAX},
    [COMMAND_STATS] =
        {"stats", "A.json [B.json...]", "show statistics, or how runs differ",
         "Tables of what `heddle run --stats` wrote. Of several runs: the settings that differ, "
         "then the statistics that do. --csv: a row for each kernel, component, connection and "
         "link of each run; columns for the file, the settings that differ (param:NAME), and each "
         "statistic. "
         "--report cpi: of kernels' time, for one run or two.",
         1, UINT32_MAX},
    [COMMAND_REPORT] =
        {"report", "S.json [S2.json] | DIR", "make a page about a run, about two, or about a sweep",
         "Writes one HTML page that needs no network: what limits each kernel in words, where "
         "cycles went, a roofline with the platform's own limits, the topology coloured by what "
         "was measured, hit rates and traffic, the fullest components. Of two runs also what "
         "differs, side by side. docs/guide/results.md shows it. Of the folder of a sweep: any "
         "result over any setting, Pareto fronts, what each setting is worth "
         "(docs/guide/sweep.md). --plot writes single figures as SVG instead.",
         1, 2},
    [COMMAND_API_TRACE] =
        {"api-trace", "check FILE|DIR", "work on traces of API calls",
         "check: reads cuda_calls.trace (or FILE) as balar's trace player does, with heddle's "
         "extension, and reports every mistake with its line: unknown calls, bad numbers, memory "
         "that is not allocated, data files that are missing or short, and kernels that the code "
         "objects of the trace and of --module do not have.",
         2, 2},
    [COMMAND_DISASM] = {"disasm", "[FILE | -]", "disassemble GPU code",
                        "Code objects (also those that are not linked), HIP programs and offload "
                        "bundles by kernel; anything else as raw machine code for --mcpu, or as "
                        "hexadecimal text of it. Its targets are gfx803, gfx900, gfx906, gfx908, "
                        "and gfx90a and gfx942. The text is that of LLVM 19.",
                        0, 1},
    [COMMAND_TRACE] =
        {"trace", "group|mem|stats|check FILE...", "work on SASS instruction traces",
         "Tools for the traces of Accel-Sim's NVBit tracer: single files (.trace, "
         ".traceg, also packed with xz or zstd) or lists (kernelslist, "
         "kernelslist.g). group: sorts raw traces by thread block and warp, in "
         "bounded memory. mem: writes kernel-mem-N.traceg with the memory "
         "instructions and EXIT. stats: instructions by class, footprint and reuse of "
         "each kernel; keeps a binary copy beside each trace, which the next run reads "
         "instead. check: names each malformed line.",
         2, UINT32_MAX},
    [COMMAND_LSP] = {"lsp", "", "serve an editor",
                     "The language server, on standard input and output: diagnostics while a "
                     "description is written, completion, hover, definitions, references, rename, "
                     "fixes, layout. Editors start it; docs/guide/editors.md sets them up.",
                     0, 0},
    [COMMAND_HELP] = {"help", "[COMMAND]", "explain a command", "", 0, 1},
};

#define FIELD(member) offsetof(struct options, member)

static const struct option_spec {
    const char *name;
    const char *argument; /* NULL: a flag */
    enum kind kind;
    size_t field;
    unsigned commands;
    const char *help;
} specs[] = {
    {"--set", "PATH=VALUE", KIND_LIST, FIELD(set), PLATFORM_COMMANDS,
     "override a parameter; arrays without an index and globs mean all that match, later ones win"},
    {"--platform", "NAME", KIND_TEXT, FIELD(platform),
     PLATFORM_COMMANDS & ~ON(CALIBRATE) & ~ON(SWEEP),
     "which platform of the file (default: the last)"},
    {"-I", "DIR", KIND_LIST, FIELD(include), MODEL_COMMANDS | TRIAL_COMMANDS | ON(LSP),
     "search imports here, before the library"},
    {"-o", "PATH", KIND_TEXT, FIELD(output),
     ON(CHECK) | ON(GEN) | ON(DOT) | ON(DUMP) | ON(PARAMS) | ON(DOC) | ON(NEW) | ON(BUILD)
         | ON(STATS) | ON(TRACE) | ON(REPORT) | TRIAL_COMMANDS | ON(CALIBRATE) | ON(SWEEP),
     "where to write: a folder (gen, doc, new, build, experiment, calibrate, sweep, trace group, "
     "trace mem) or a file (the others; default standard output)"},
    {"--module", "FILE", KIND_LIST, FIELD(module), ON(API_TRACE) | ON(RUN),
     "a code object or bundle with kernels of the trace of API calls"},
    {"--json", NULL, KIND_FLAG, FIELD(json), ON(CHECK) | ON(DUMP) | ON(PARAMS), "as JSON"},
    {"--sources", NULL, KIND_FLAG, FIELD(sources), ON(PARAMS),
     "what each number rests on: who measured or published it"},
    {"--csv", NULL, KIND_FLAG, FIELD(csv), ON(PARAMS) | ON(STATS) | ON(TRACE),
     "as comma-separated values"},
    {"--level", "LEVEL", KIND_TEXT, FIELD(level), ON(DOT), "platform, gpu (default) or full"},
    {"--expand", "PATH", KIND_LIST, FIELD(expand), ON(DOT), "open this instance, too"},
    {"--only", "KIND", KIND_TEXT, FIELD(only), ON(DOT),
     "memory (and translations), or control (and work) connections only"},
    {"--controls", NULL, KIND_FLAG, FIELD(controls), ON(DOT),
     "draw the wires by which caches and TLBs are emptied, too (level full always does)"},
    {"--layout", "LAYOUT", KIND_TEXT, FIELD(layout), ON(DOT),
     "wide (default), or column for a column of a paper"},
    {"--svg", NULL, KIND_FLAG, FIELD(svg), ON(DOT), "lay out with Graphviz"},
    {"--html", "DIR", KIND_TEXT, FIELD(html_folder), ON(DOT), "write a page to click through"},
    {"--plot", "NAME", KIND_LIST, FIELD(plot), ON(REPORT),
     "instead of the page: cycles, roofline, heat-MEASURE, topology-MEASURE or (with --series) "
     "time-MEASURE, as STEM-NAME.svg in the folder of -o, or as that file when there is one plot; "
     "of a sweep RESULT:SETTING, RESULT:SETTING:GROUP or pareto:RESULT:COST, with the numbers as "
     "CSV beside it"},
    {"--measure", "MEASURE", KIND_TEXT, FIELD(measure), ON(DOT),
     "of --stats: utilisation (default), hit_rate, bandwidth, stall or issue"},
    {"--scale", "PERCENT", KIND_NUMBER, FIELD(scale), ON(DOT),
     "of --stats: the share that has the darkest colour (default: 1, 2, 5, 10, 20, 50 or 100, the "
     "first that is large enough)"},
    {"--kernel", "NAME", KIND_TEXT, FIELD(kernel), ON(DOT),
     "of --stats: colour by all launches of this kernel instead of the whole run"},
    {"--check", NULL, KIND_FLAG, FIELD(check), ON(FMT),
     "change nothing, status 1 when a file is not canonical"},
    {"--allow-incoherent", NULL, KIND_FLAG, FIELD(allow_incoherent),
     (PLATFORM_COMMANDS & ~ON(CALIBRATE) & ~ON(SWEEP)) | ON(LSP),
     "only warn of caches that do not show what others wrote (E0507): to study what goes wrong"},
    {"--generic", NULL, KIND_FLAG, FIELD(generic), BUILD_COMMANDS | ON(SWEEP),
     "read parameters at run time: slower, but a changed parameter needs no compiler (sweep: "
     "chosen by what points cost)"},
    {"--vary", "PATH=VALUES", KIND_LIST, FIELD(vary), ON(SWEEP),
     "a parameter and its values, as in gpu.l2=256KiB,1MiB or gpu.cus=1..4 or gpu.l2=64KiB..1MiB*2 "
     "or n=0..100+10; or {NAME}=VALUES, which stands for {NAME} in the program's arguments"},
    {"--constraint", "EXPRESSION", KIND_LIST, FIELD(constraint), ON(SWEEP),
     "only combinations for which it holds, as in 'gpu.l2 >= gpu.cus * 64KiB'"},
    {"--sample", "N", KIND_NUMBER, FIELD(sample), ON(SWEEP),
     "only so many of the combinations, at random by --seed"},
    {"--read", "NAME=REGEX", KIND_LIST, FIELD(read), ON(SWEEP),
     "a number that the program prints, which the one group of REGEX finds; of several the last"},
    {"--engine", "WORDS", KIND_TEXT, FIELD(engine), ON(SWEEP),
     "what starts the points: ninja (default) or snakemake, with options of its own behind it, as "
     "in 'snakemake --slurm --jobs 8'"},
    {"--keep", NULL, KIND_FLAG, FIELD(keep), ON(SWEEP),
     "keep the statistics file of each point, too, in DIR/statistics"},
    {"--jobs", "N", KIND_NUMBER, FIELD(jobs), ON(BUILD) | ON(RUN) | ON(CALIBRATE) | ON(SWEEP),
     "compilers, or (calibrate, sweep) points at a time (default: as many as processors)"},
    {"--labels", "LIST", KIND_TEXT, FIELD(labels), ON(CALIBRATE),
     "only these labels of the description, as in vectoradd,nbody"},
    {"--points", "N", KIND_NUMBER, FIELD(points), ON(CALIBRATE),
     "at most so many points of each label, evenly spread over its sizes"},
    {"--limit", "SECONDS", KIND_NUMBER, FIELD(limit), ON(CALIBRATE) | ON(SWEEP),
     "CPU time of a point, beyond which it fails (sweep; default: none), or it and larger ones of "
     "its label are left out (calibrate; default: that of the description, or 300)"},
    {"--budget", "SECONDS", KIND_NUMBER, FIELD(budget), ON(CALIBRATE),
     "CPU time of all points together; the sizes of each label are run from coarse to fine, and "
     "what does not fit waits for the next time"},
    {"--retry", NULL, KIND_FLAG, FIELD(retry), ON(CALIBRATE) | ON(SWEEP),
     "run points that failed again"},
    {"--estimate", NULL, KIND_FLAG, FIELD(estimate), ON(CALIBRATE),
     "run nothing; say what is done of each label and what the rest is expected to cost"},
    {"--fit", "PARAM=LO..HI", KIND_LIST, FIELD(fit), ON(CALIBRATE),
     "fit this parameter within the interval; may be given several times"},
    {"--folds", "N", KIND_NUMBER, FIELD(folds), ON(CALIBRATE),
     "deal the labels to N folds; each is judged with parameters fitted to the others"},
    {"--seed", "N", KIND_NUMBER, FIELD(seed), ON(CALIBRATE) | ON(SWEEP),
     "of dealing the labels and of the optimiser, or of --sample (default 1)"},
    {"--method", "NAME", KIND_TEXT, FIELD(method), ON(CALIBRATE),
     "of the fit: powell (default; few parameters, smooth) or evolution (many tries)"},
    {"--evaluations", "N", KIND_NUMBER, FIELD(evaluations), ON(CALIBRATE),
     "of the fit: so many tries at most, for each fold (default 60)"},
    {"--verbose", NULL, KIND_FLAG, FIELD(verbose), ON(GEN) | ON(BUILD) | ON(RUN) | TRIAL_COMMANDS,
     "say what is done, on standard error"},
    {"--mode", "MODE", KIND_TEXT, FIELD(mode), ON(RUN),
     "timing; functional: the same instructions at once, without timing; or sampled: all of them "
     "executed, some of them with timing, and cycles estimated with an interval"},
    {"--error", "PERCENT", KIND_TEXT, FIELD(error), ON(RUN),
     "with --mode sampled: how wide half of the interval may be; less is simulated where it is "
     "narrower (default 2)"},
    {"--kernels", "LIST", KIND_TEXT, FIELD(kernels), ON(RUN) | ON(EXPERIMENT),
     "launches to simulate in detail: numbers from 1, ranges and kernels' names, as in "
     "3,7-9,scale; or (run) auto: a few of each kind, chosen while the program runs, from which "
     "the statistics tell all; the others are executed without timing"},
    {"--warmup", "HOW", KIND_TEXT, FIELD(warmup), ON(RUN) | ON(SAMPLE),
     "before each of them: none, perfect, full-memory, memory:N, functional (default) or "
     "functional:N, of all or the N preceding launches"},
    {"--interval", "PERCENT", KIND_TEXT, FIELD(interval), ON(RUN) | ON(SAMPLE),
     "of launches chosen while the program runs: how wide half of the interval may be; less is "
     "simulated where it is narrower (default 1)"},
    {"--profile", "KIND", KIND_TEXT, FIELD(profile), ON(RUN) | ON(REPORT),
     "report: the file of a profile of instructions, for the hottest of them; run: instructions: "
     "at the end, for each instruction of each kernel its executions and where its "
     "cycles went, on standard error, or with instructions=FILE as CSV; with --mode functional, in "
     "the statistics of each launch: blocks, what it executed; memory, "
     "also what it accessed, and what of that caches and TLBs would not have had"},
    {"--addresses", "FILE", KIND_TEXT, FIELD(addresses), ON(RUN),
     "with --profile memory: write the different lines that each launch reads, which it asks "
     "memory "
     "for when all caches are empty, and writes, as a table (launch, address, access)"},
    {"--corrections", NULL, KIND_FLAG, FIELD(corrections), ON(EXPERIMENT),
     "only perfect, none and the formula, all launches in one run each"},
    {"--full", NULL, KIND_FLAG, FIELD(full), ON(SAMPLE),
     "simulate everything in detail, too, and compare"},
    {"--bounds", "HOW", KIND_TEXT, FIELD(bounds), ON(RUN),
     "what kernels may access of an allocation: exact (default), the bytes that were asked for; or "
     "page, up to the end of its last page, as hardware does"},
    {"--unified", "GPUS", KIND_TEXT, FIELD(unified), ON(RUN),
     "GPUs, such as 0,1,2,3, that the program sees as one device: memory and work-groups are "
     "spread "
     "over them"},
    {"--stats", "FILE", KIND_TEXT, FIELD(stats), ON(RUN) | ON(DOT) | ON(CHECK),
     "run: write statistics as JSON; dot: colour components by what this run measured, with its "
     "settings unless there are others here; check --ranks: work and traffic as this run counted"},
    {"--stats-no-host", NULL, KIND_FLAG, FIELD(stats_no_host), ON(RUN),
     "leave out what depends on the host"},
    {"--kernel-stats", "WHICH", KIND_TEXT, FIELD(kernel_stats), ON(RUN),
     "components' statistics of each kernel: sum (default; over arrays inside a GPU), all or none"},
    {"--report", "KIND", KIND_TEXT, FIELD(report), ON(RUN) | ON(STATS),
     "cpi: where the time of each kernel's wavefronts went, and what limits it (run: on standard "
     "error at the end); measures (stats): utilisation, hit rate, bandwidth and stall of every "
     "component; limits (stats): what limits each kernel, in words, from both; series (stats): the "
     "measures "
     "in each interval of --series, as CSV"},
    {"--description", "FILE", KIND_TEXT, FIELD(description), ON(STATS) | ON(REPORT),
     "of report, and of --report measures and limits: the description of the platform that ran "
     "(default: NAME.heddle beside "
     "the statistics, here, in platforms, or among those of heddle)"},
    {"--series", "FILE", KIND_TEXT, FIELD(series), ON(RUN) | ON(REPORT) | ON(STATS),
     "run: write what each counter grew by in every interval of --every, as CSV, a row for each "
     "interval; report and stats: such a file, for what happened over time"},
    {"--every", "INTERVAL", KIND_TEXT, FIELD(every), ON(RUN),
     "of --series, and as counter tracks of --record perfetto: the interval, in simulated time "
     "(10us) or cycles of the fastest clock (1000cy)"},
    {"--series-counter", "NAME", KIND_LIST, FIELD(series_counter), ON(RUN) | ON(STATS),
     "stats: of --report series: this counter of components, too, by its name; run: of --every: "
     "this counter only, as in gpu.l2.hits, or all of this component and what is below "
     "it; * stands for anything, an index that is left out for all"},
    {"--view", NULL, KIND_OPTIONAL, FIELD(view), ON(RUN),
     "serve a page that shows the run while it goes on, at the address that is printed; "
     "--view=PORT: at this port of 127.0.0.1"},
    {"--view-paused", NULL, KIND_FLAG, FIELD(view_paused), ON(RUN),
     "of --view: wait at the beginning until the page says to go on"},
    {"--record", "perfetto=FILE", KIND_NAMED, FIELD(record_perfetto), ON(RUN),
     "write every message and command with its time, for Perfetto or chrome://tracing"},
    {"--record-window", "FROM..TO", KIND_TEXT, FIELD(record_window), ON(RUN),
     "of --record perfetto: this simulated time only, as in 2us..5us; either end may be left out"},
    {"--record-path", "PATH", KIND_LIST, FIELD(record_path), ON(RUN),
     "of --record perfetto: this component and what is below it only; * stands for anything, an "
     "index that is left out for all"},
    {"--record-kernel", "KERNEL", KIND_LIST, FIELD(record_kernel), ON(RUN),
     "of --record perfetto: only while this kernel runs, by name or by its number from 1"},
    {"--record", "api=DIR", KIND_NAMED, FIELD(record_api), ON(RUN),
     "record the program's calls of HIP, with their data, in a new folder for --play api"},
    {"--record", "instructions=DIR", KIND_NAMED, FIELD(record_instructions), ON(RUN),
     "record what each wavefront of the program's kernels executes, in a new folder for --play "
     "instructions"},
    {"--play", "api=FILE|DIR", KIND_NAMED, FIELD(play_api), ON(RUN),
     "play a trace of API calls instead of a program, and compare what it copies to the host"},
    {"--play", "instructions=DIR|LIST", KIND_NAMED, FIELD(play_instructions), ON(RUN),
     "play the recorded instructions of an AMD program instead of running one"},
    {"--play", "sass=LIST", KIND_NAMED, FIELD(play_sass), ON(RUN) | TRIAL_COMMANDS,
     "play the SASS traces that this kernelslist.g names, or one .traceg, on a platform with a "
     "trace_player"},
    {"--checkpoint", "FILE", KIND_TEXT, FIELD(checkpoint), ON(RUN),
     "write the state of the simulation at --checkpoint-at and go on; without a program, or with "
     "--play api"},
    {"--checkpoint-at", "WHEN", KIND_TEXT, FIELD(checkpoint_at), ON(RUN),
     "when: a cycle of the fastest clock, a time with its unit (25us), or with --play api when a "
     "launch begins (kernel:3, kernel:NAME)"},
    {"--restore", "FILE", KIND_TEXT, FIELD(restore), ON(RUN),
     "continue from the checkpoint in FILE, of the same platform; with --play api of the same "
     "trace; parameters may differ that change no sizes"},
    {"--watch", "ADDRESS", KIND_LIST, FIELD(watch), ON(RUN),
     "print every message about the line of 64 bytes at ADDRESS; only without a program"},
    {"--ranks", "N", KIND_NUMBER, FIELD(ranks), ON(CHECK),
     "which of N processes of mpirun would run what: work of each, what crosses, how often they "
     "meet, and how much faster that can be"},
    {"--place", "FILE|LIST", KIND_TEXT, FIELD(place), ON(CHECK) | ON(RUN),
     "with several ranks: which runs what, as in 'gpu[0..3]=0, gpu[4..7]=1, *=0'; the last one "
     "that "
     "fits holds (default: by work and traffic)"},
    {"--threads", "N", KIND_NUMBER, FIELD(threads), ON(RUN) | TRIAL_COMMANDS,
     "threads of the simulation (default 1); must change no result, only the time it takes"},
    {"--progress", "HOW", KIND_TEXT, FIELD(progress), ON(RUN),
     "simulated time, kernels and an estimate, on standard error: auto (default: a line, on "
     "terminals), lines (for logs, every 10 seconds) or none"},
    {"--max-cycles", "N", KIND_NUMBER, FIELD(max_cycles), ON(RUN),
     "end the run after so many cycles of the fastest clock"},
    {"--stall-limit", "N", KIND_NUMBER, FIELD(stall_limit), ON(RUN),
     "cycles without progress that count as a hang"},
    {"--tick-order", "ORDER", KIND_TEXT, FIELD(tick_order), ON(RUN),
     "ascending, descending or random:SEED; must change nothing"},
    {"--tick-all", NULL, KIND_FLAG, FIELD(tick_all), ON(RUN),
     "tick every component at every edge; must change nothing"},
    {"--mcpu", "TARGET", KIND_TEXT, FIELD(mcpu), ON(DISASM),
     "the target, such as gfx906 (default: what the code object says)"},
    {"--lines", NULL, KIND_FLAG, FIELD(lines), ON(DISASM),
     "each line is hexadecimal text of instructions for --mcpu and makes one line of output, which "
     "says 'invalid' where there is none; that makes the status 1"},
    {"--memory", "MIB", KIND_NUMBER, FIELD(memory), ON(TRACE),
     "group: how much memory to sort in (default 160)"},
    {"--line", "BYTES", KIND_NUMBER, FIELD(line), ON(TRACE),
     "stats: bytes of a line (default 128)"},
    {"--no-cache", NULL, KIND_FLAG, FIELD(no_cache), ON(TRACE) | ON(RUN) | TRIAL_COMMANDS,
     "stats, --play sass: neither read nor write the binary copies"},
    {"--allow-incomplete", NULL, KIND_FLAG, FIELD(allow_incomplete), ON(RUN) | TRIAL_COMMANDS,
     "--play sass: play what is there of a list or of traces that lack something; what is missing "
     "is a warning, and stands in the statistics"},
    {"--markdown", NULL, KIND_FLAG, FIELD(markdown), ON(HELP), "all commands as Markdown"},
    {"--man", NULL, KIND_FLAG, FIELD(man), ON(HELP), "all commands as a man page"},
    {"--completion", "SHELL", KIND_TEXT, FIELD(completion), ON(HELP),
     "what makes a shell complete commands, options and paths: bash, zsh or fish"},
    {"--paths", "PREFIX", KIND_TEXT, FIELD(paths), ON(PARAMS),
     "only the paths for --set that go on from PREFIX, a step further: for shells"},
};
#define SPEC_COUNT (sizeof specs / sizeof specs[0])

/* Spellings of earlier versions, which are answered with today's. */
static const struct renamed {
    const char *before, *now;
} renamed[] = {
    {"--trace", "--record perfetto=FILE"},
    {"--record-api-trace", "--record api=DIR"},
    {"--record-trace", "--record instructions=DIR"},
    {"--api-trace", "--play api=FILE|DIR"},
    {"--play-trace", "--play instructions=DIR|LIST"},
    {"--sass-trace", "--play sass=LIST"},
    {"--dump", "--checkpoint FILE"},
    {"--dump-at", "--checkpoint-at WHEN"},
    {"--load", "--restore FILE"},
};

const char *options_command_name(enum options_command command)
{
    return commands[command].name;
}

bool options_shown(size_t index, struct option_shown *shown)
{
    static const struct {
        const char *name, *values;
    } values[] = {
        {"--level", "platform gpu full"},
        {"--only", "memory control"},
        {"--layout", "wide column"},
        {"--mode", "timing functional sampled"},
        {"--warmup", "none perfect full-memory functional"},
        {"--profile", "blocks memory instructions"},
        {"--bounds", "exact page"},
        {"--kernel-stats", "sum all none"},
        {"--report", "cpi"},
        {"--progress", "auto lines none"},
        {"--tick-order", "ascending descending"},
        {"--record", "perfetto= api= instructions="},
        {"--play", "api= instructions= sass="},
        {"--engine", "ninja snakemake"},
        {"--completion", "bash zsh fish"},
    };
    if (index >= SPEC_COUNT)
        return false;
    const struct option_spec *spec = &specs[index];
    *shown = (struct option_shown){spec->name, spec->argument, spec->help, "", spec->commands};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcmp(values[i].name, spec->name) == 0)
            shown->values = values[i].values;
    return true;
}

const char *options_command_summary(enum options_command command)
{
    return commands[command].summary;
}

const char *options_command_words(enum options_command command)
{
    static const char *const words[COMMAND_COUNT] = {
        [COMMAND_NEW] = "component part platform",
        [COMMAND_API_TRACE] = "check",
        [COMMAND_TRACE] = "group mem stats check",
    };
    return words[command] != NULL ? words[command] : "";
}

static void print_option(FILE *out, const struct option_spec *spec)
{
    char left[40];
    snprintf(left, sizeof left, "%s%s%s", spec->name, spec->argument ? " " : "",
             spec->argument ? spec->argument : "");
    fprintf(out, "  %-22s %s\n", left, spec->help);
}

void options_print_help(FILE *out, enum options_command command)
{
    if (command == COMMAND_COUNT) {
        fprintf(out, "usage: heddle COMMAND [OPTIONS] ARGUMENTS\n\nCommands:\n");
        for (int i = 0; i < COMMAND_COUNT; i++)
            fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
        fprintf(out,
                "\n`heddle help COMMAND` tells more. `heddle --version` prints the version.\n");
        return;
    }
    fprintf(out, "usage: heddle %s %s\n\n%s\n", commands[command].name, commands[command].arguments,
            commands[command].text);
    bool any = false;
    for (size_t i = 0; i < SPEC_COUNT; i++) {
        if (!(specs[i].commands >> command & 1))
            continue;
        if (!any)
            fprintf(out, "\nOptions:\n");
        any = true;
        print_option(out, &specs[i]);
    }
}

void options_print_markdown(FILE *out)
{
    fprintf(out, "# The command line\n\nMade by `heddle help --markdown` from the table that "
                 "parses the options.\n\n");
    fprintf(out, "Exit status: 0 clean, 1 errors, 2 wrong usage; `run` has more.\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        fprintf(out, "\n## heddle %s\n\n```\nheddle %s %s\n```\n\n%s\n", commands[c].name,
                commands[c].name, commands[c].arguments,
                *commands[c].text ? commands[c].text : "Explains a command.");
        bool any = false;
        for (size_t i = 0; i < SPEC_COUNT; i++) {
            if (!(specs[i].commands >> c & 1))
                continue;
            if (!any)
                fprintf(out, "\n| option | meaning |\n| --- | --- |\n");
            any = true;
            fprintf(out, "| `%s%s%s` | %s |\n", specs[i].name, specs[i].argument ? " " : "",
                    specs[i].argument ? specs[i].argument : "", specs[i].help);
        }
    }
}

void options_print_man(FILE *out)
{
    fprintf(out, ".TH HEDDLE 1 \"\" \"heddle " HEDDLE_VERSION
                 "\"\n.SH NAME\nheddle \\- describe, check, build and run GPU platforms\n");
    fprintf(out, ".SH SYNOPSIS\n.B heddle\n.I COMMAND\n[OPTIONS] ARGUMENTS\n.SH COMMANDS\n");
    for (int c = 0; c < COMMAND_COUNT; c++) {
        fprintf(out, ".SS heddle %s %s\n%s\n", commands[c].name, commands[c].arguments,
                commands[c].text);
        for (size_t i = 0; i < SPEC_COUNT; i++)
            if (specs[i].commands >> c & 1)
                fprintf(out, ".TP\n.B \\%s%s%s\n%s\n", specs[i].name, specs[i].argument ? " " : "",
                        specs[i].argument ? specs[i].argument : "", specs[i].help);
    }
    fprintf(out, ".SH EXIT STATUS\n0 clean, 1 errors, 2 wrong usage.\n.SH ENVIRONMENT\n");
    fprintf(out, ".TP\n.B HEDDLE_HOME\nan installation prefix or a build folder to use instead of "
                 "the command's own\n");
    fprintf(out, ".TP\n.B HEDDLE_PYTHON\nthe Python of commands that are written in it (default "
                 "/usr/bin/python3)\n");
    fprintf(out,
            ".TP\n.B HEDDLE_PARENT\nif it is the number of the process that starts the command, "
            "the command is killed when that ends\n");
    fprintf(out, ".TP\n.B HEDDLE_CACHE\nwhere built platforms are kept (default "
                 "$XDG_CACHE_HOME/heddle or ~/.cache/heddle)\n");
    fprintf(out,
            ".TP\n.B HEDDLE_CACHE_LIMIT\nhow large that may become before what was used longest "
            "ago is removed (default 2GiB; 0: no bound)\n");
    fprintf(out, ".TP\n.B HEDDLE_CC, HEDDLE_CFLAGS\nthe compiler (default cc) and flags behind the "
                 "default ones\n");
}

static int usage(const char *command)
{
    fprintf(stderr, "help: `heddle help%s%s` lists what there is\n", command ? " " : "",
            command ? command : "");
    return EXIT_USAGE;
}

static void did_you_mean(options_suggest *suggest, const char *word, const char *const *candidates,
                         size_t count)
{
    const char *near = suggest ? suggest(word, candidates, count) : NULL;
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
}

static int find_command(const char *word, options_suggest *suggest)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, word) == 0)
            return i;
        names[i] = commands[i].name;
    }
    fprintf(stderr, "heddle: unknown command '%s'\n", word);
    did_you_mean(suggest, word, names, COMMAND_COUNT);
    usage(NULL);
    return -1;
}

/* "--set", "--set=x" and "-Ix" name their option; `*value` is what stands behind it, or NULL. */
static const struct option_spec *find_option(const char *word, const char **value)
{
    for (size_t i = 0; i < SPEC_COUNT; i++) {
        size_t size = strlen(specs[i].name);
        if (strncmp(word, specs[i].name, size) != 0)
            continue;
        *value = NULL;
        if (word[size] == '\0')
            return &specs[i];
        if (word[size] == '=' && word[1] == '-') {
            *value = word + size + 1;
            return &specs[i];
        }
        if (word[1] != '-') {
            *value = word + size;
            return &specs[i];
        }
    }
    return NULL;
}

static int unknown_option(const struct options *options, const char *word, options_suggest *suggest)
{
    size_t size = strcspn(word, "=");
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strlen(renamed[i].before) == size && strncmp(word, renamed[i].before, size) == 0) {
            fprintf(stderr, "heddle %s: '%s' is now '%s'\n", commands[options->command].name,
                    renamed[i].before, renamed[i].now);
            return usage(commands[options->command].name);
        }
    const char *names[SPEC_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < SPEC_COUNT; i++)
        if (specs[i].commands >> options->command & 1)
            names[count++] = specs[i].name;
    fprintf(stderr, "heddle %s: unknown option '%s'\n", commands[options->command].name, word);
    did_you_mean(suggest, word, names, count);
    return usage(commands[options->command].name);
}

/* How long the kind is with which the argument of a KIND_NAMED row begins. */
static size_t kind_length(const struct option_spec *spec)
{
    return strcspn(spec->argument, "=");
}

static int wrong_command(const struct options *options, const struct option_spec *spec)
{
    bool named = spec->kind == KIND_NAMED;
    fprintf(stderr, "heddle %s: '%s%s%.*s' does not belong to this command; it does to",
            commands[options->command].name, spec->name, named ? " " : "",
            named ? (int)kind_length(spec) : 0, named ? spec->argument : "");
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (spec->commands >> c & 1)
            fprintf(stderr, " %s", commands[c].name);
    fputc('\n', stderr);
    return usage(commands[options->command].name);
}

/* The row of an option whose value is KIND=PATH, of those that `first` begins; NULL: no such kind.
 */
static const struct option_spec *find_kind(const struct option_spec *first, const char *value)
{
    size_t size = strcspn(value, "=");
    for (const struct option_spec *spec = first; spec < specs + SPEC_COUNT; spec++)
        if (strcmp(spec->name, first->name) == 0 && kind_length(spec) == size
            && strncmp(spec->argument, value, size) == 0)
            return spec;
    return NULL;
}

/* `--record api` without a path, and kinds that there are not. */
static int wrong_kind(const struct options *options, const struct option_spec *first,
                      const char *value)
{
    fprintf(stderr, "heddle %s: '%s %s' is not one of", commands[options->command].name,
            first->name, value);
    for (const struct option_spec *spec = first; spec < specs + SPEC_COUNT; spec++)
        if (strcmp(spec->name, first->name) == 0 && (spec->commands >> options->command & 1))
            fprintf(stderr, " '%s %s'", spec->name, spec->argument);
    fputc('\n', stderr);
    return usage(commands[options->command].name);
}

static int given_twice(const struct options *options, const struct option_spec *spec)
{
    bool is_named = spec->kind == KIND_NAMED;
    fprintf(stderr, "heddle %s: '%s%s%s' is given twice\n", commands[options->command].name,
            spec->name, is_named ? " " : "", is_named ? spec->argument : "");
    return EXIT_USAGE;
}

static int store_path(struct options *options, const struct option_spec *spec, const char *value)
{
    const char **field = (const char **)(void *)((char *)options + spec->field);
    if (*field != NULL)
        return given_twice(options, spec);
    *field = value + kind_length(spec) + 1;
    return -1;
}

static int store(struct options *options, const struct option_spec *spec, const char *value)
{
    char *field = (char *)options + spec->field;
    if (spec->kind == KIND_NAMED) {
        return store_path(options, spec, value);
    } else if (spec->kind == KIND_TEXT || spec->kind == KIND_OPTIONAL) {
        const char **text = (const char **)(void *)field;
        if (*text)
            return given_twice(options, spec);
        *text = value ? value : "";
    } else if (spec->kind == KIND_LIST) {
        struct options_list *list = (struct options_list *)(void *)field;
        list->items[list->count++] = value;
    } else if (spec->kind == KIND_NUMBER) {
        char *end;
        errno = 0;
        unsigned long long number = strtoull(value, &end, 10);
        bool is_digit = *value >= '0' && *value <= '9';
        if (errno != 0 || !is_digit || *end || number == 0) {
            fprintf(stderr, "heddle %s: '%s' wants a positive whole number, not '%s'\n",
                    commands[options->command].name, spec->name, value);
            return EXIT_USAGE;
        }
        if (*(uint64_t *)(void *)field)
            return given_twice(options, spec);
        *(uint64_t *)(void *)field = number;
    } else {
        *(bool *)field = true;
    }
    return -1;
}

/* One option at argv[*at]; moves past its value. */
static int parse_option(struct options *options, int argc, char **argv, int *at,
                        options_suggest *suggest)
{
    const char *value, *word = argv[*at];
    const struct option_spec *spec = find_option(word, &value);
    if (!spec)
        return unknown_option(options, word, suggest);
    if (!(spec->commands >> options->command & 1) && spec->kind != KIND_NAMED)
        return wrong_command(options, spec);
    if (!spec->argument && value && spec->kind != KIND_OPTIONAL) {
        fprintf(stderr, "heddle %s: '%s' takes no value\n", commands[options->command].name,
                spec->name);
        return EXIT_USAGE;
    }
    if (spec->argument && !value) {
        if (*at + 1 >= argc) {
            fprintf(stderr, "heddle %s: '%s' needs a %s\n", commands[options->command].name,
                    spec->name, spec->argument);
            return EXIT_USAGE;
        }
        value = argv[++*at];
        if (value[0] == '-' && value[1] == '-') {
            fprintf(stderr, "heddle %s: '%s' needs a %s, and '%s' is an option\n",
                    commands[options->command].name, spec->name, spec->argument, value);
            return EXIT_USAGE;
        }
    }
    if (spec->argument && !*value) {
        fprintf(stderr, "heddle %s: the %s of '%s' is empty\n", commands[options->command].name,
                spec->argument, spec->name);
        return EXIT_USAGE;
    }
    if (spec->kind == KIND_NAMED) {
        const struct option_spec *named = find_kind(spec, value);
        if (named != NULL && !(named->commands >> options->command & 1))
            return wrong_command(options, named);
        if (named == NULL || value[kind_length(named)] != '='
            || value[kind_length(named) + 1] == '\0')
            return wrong_kind(options, spec, value);
        spec = named;
    }
    return store(options, spec, value);
}

static bool is_given(const struct options *options, const char *name)
{
    for (size_t i = 0; i < SPEC_COUNT; i++) {
        const void *field = (const char *)options + specs[i].field;
        if (strcmp(specs[i].name, name) == 0)
            return specs[i].kind == KIND_FLAG ? *(const bool *)field
                                              : *(const char *const *)field != NULL;
    }
    return false;
}

/* Two that say different things, of which one would be ignored. */
static int check_pairs(const struct options *options)
{
    static const char *const pairs[][2] = {
        {"--json", "--csv"}, {"--svg", "--html"}, {"-o", "--html"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (is_given(options, pairs[i][0]) && is_given(options, pairs[i][1])) {
            fprintf(stderr, "heddle %s: either '%s' or '%s', not both\n",
                    commands[options->command].name, pairs[i][0], pairs[i][1]);
            return EXIT_USAGE;
        }
    if (options->view_paused && !options->view) {
        fprintf(stderr, "heddle run: '--view-paused' waits for the page; give '--view', too\n");
        return EXIT_USAGE;
    }
    if (options->command == COMMAND_RUN && options->stats_no_host && !options->stats) {
        fprintf(stderr, "heddle run: '--stats-no-host' is about the statistics; give '--stats "
                        "FILE', too\n");
        return EXIT_USAGE;
    }
    return -1;
}

static int check_arguments(const struct options *options)
{
    const struct command *command = &commands[options->command];
    size_t count = options->arguments.count;
    if (count >= command->least && count <= command->most)
        return check_pairs(options);
    if (count < command->least)
        fprintf(stderr, "heddle %s: %s expected: heddle %s %s\n", command->name,
                command->least == 1 ? "an argument is" : "more arguments are", command->name,
                command->arguments);
    else
        fprintf(stderr, "heddle %s: '%s' is one argument too many%s\n", command->name,
                options->arguments.items[command->most],
                options->command == COMMAND_RUN ? "; the program stands behind `--`" : "");
    return usage(command->name);
}

static int parse_words(struct options *options, int argc, char **argv, options_suggest *suggest)
{
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        int status = -1;
        if (strcmp(word, "--") == 0) {
            if (!((ON(RUN) | TRIAL_COMMANDS | ON(SWEEP)) >> options->command & 1)) {
                fprintf(stderr, "heddle %s: '--' belongs to `run` and commands that run programs\n",
                        commands[options->command].name);
                return EXIT_USAGE;
            }
            options->program = argv + i + 1;
            break;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            options_print_help(stdout, options->command);
            return EXIT_CLEAN;
        }
        if (word[0] == '\0') {
            fprintf(stderr, "heddle %s: argument %d is empty\n", commands[options->command].name,
                    i - 1);
            return EXIT_USAGE;
        }
        if (word[0] == '-' && word[1] != '\0')
            status = parse_option(options, argc, argv, &i, suggest);
        else
            options->arguments.items[options->arguments.count++] = word;
        if (status >= 0)
            return status;
    }
    return check_arguments(options);
}

static struct options_list *list_of(struct options *options, const struct option_spec *spec)
{
    return (struct options_list *)(void *)((char *)options + spec->field);
}

static void make_list(struct options_list *list, int room)
{
    list->items = calloc((size_t)room, sizeof *list->items);
    if (!list->items) {
        fprintf(stderr, "heddle: out of memory\n");
        exit(EXIT_USAGE);
    }
}

static void make_lists(struct options *options, int room)
{
    make_list(&options->arguments, room);
    for (size_t i = 0; i < SPEC_COUNT; i++)
        if (specs[i].kind == KIND_LIST)
            make_list(list_of(options, &specs[i]), room);
}

int options_parse(struct options *options, int argc, char **argv, options_suggest *suggest)
{
    *options = (struct options){0};
    if (argc < 2) {
        options_print_help(stderr, COMMAND_COUNT);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        options_print_help(stdout, COMMAND_COUNT);
        return EXIT_CLEAN;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("heddle " HEDDLE_VERSION "\n");
        return EXIT_CLEAN;
    }
    int command = find_command(argv[1], suggest);
    if (command < 0)
        return EXIT_USAGE;
    options->command = (enum options_command)command;
    make_lists(options, argc);
    return parse_words(options, argc, argv, suggest);
}

void options_release(struct options *options)
{
    free(options->arguments.items);
    for (size_t i = 0; i < SPEC_COUNT; i++)
        if (specs[i].kind == KIND_LIST)
            free(list_of(options, &specs[i])->items);
    *options = (struct options){0};
}
