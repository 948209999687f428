#!/usr/bin/env python3
"""Runs the micro-benchmarks on platforms/r9nano.heddle and compares each number with its closed
form.

run.py HEDDLE PROGRAMS           prints the page docs/evidence/accuracy.md
run.py HEDDLE PROGRAMS --write D writes it and its plots into the folder D
run.py HEDDLE PROGRAMS --check P runs the quick part again, with --all everything, and compares it
                                 with the page P

PROGRAMS is tests/programs/micro of a build. Numbers are the simulation's own and do not depend on
the machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import closed_forms as form
import plot
import prose

PLATFORM = 'platforms/r9nano.heddle'
IDEAL, LARGE_PAGES = ('memory=ideal',), ('driver.page_size=2MiB',)
FEW_PAGES = ('gpu.l2tlb.sets=1',)  # in the L2 TLB


class Bench:
    def __init__(self, heddle, programs):
        self.heddle, self.programs = heddle, pathlib.Path(programs)
        self.platforms, self.results = {}, {}

    def platform(self, sets):
        if sets not in self.platforms:
            command = [self.heddle, 'dump', PLATFORM, '--json'] + options(sets)
            self.platforms[sets] = form.Platform(json.loads(run(command)))
        return self.platforms[sets]

    def results_of(self, program, arguments, sets):
        key = (program, arguments, sets)
        if key not in self.results:
            command = ([self.heddle, 'run', PLATFORM] + options(sets)
                       + ['--', str(self.programs / program), *arguments])
            found = dict(line.split() for line in run(command).splitlines()
                         if not line.startswith('PASS'))
            self.results[key] = {name: float(value) for name, value in found.items()}
        return self.results[key]


def options(sets):
    return [word for s in sets for word in ('--set', s)]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


class Row:
    """One number: what it is, which run prints it under which name, what it should be and why
    not."""

    def __init__(self, title, name, expected, note='', sets=(), arguments=(), hardware=''):
        self.title, self.name, self.expected, self.note = title, name, expected, note
        self.sets, self.arguments, self.hardware = sets, arguments, hardware


def command_text(program, arguments, sets):
    words = (['heddle run', PLATFORM] + [f'--set {s}' for s in sets]
             + ['--', 'build/tests/programs/micro/' + program, *arguments])
    return ' '.join(words)


def number(value):
    return f'{value:.2f}'.rstrip('0').rstrip('.') if value < 1000 else f'{value:.0f}'


LATENCY = [
    Row('vector load, L1 hit', 'vector_l1', lambda p: form.turn(p, form.vector_l1(p)),
        hardware='134, 136'),
    Row('vector load, L2 hit', 'vector_l2',
        lambda p: form.turn(p, form.vector_l1(p) + form.to_l2(p)), hardware='268, 344'),
    Row('vector load, DRAM, ideal', 'vector_dram',
        lambda p: form.turn(p, form.vector_l1(p) + form.to_l2(p) + form.to_dram(p)),
        sets=IDEAL, hardware='460, 591'),
    Row('vector load, DRAM, hbm, at random', 'vector_dram',
        lambda p: form.turn(p, form.vector_l1(p) + form.to_l2(p) + form.to_hbm(p, 'trcd_read')),
        hardware='460, 591',
        note='the form is that of a closed row; an open one takes {hit}, another open row '
             '{conflict}'),
    Row('vector load, L2 hit, L2 TLB hit', 'vector_tlb',
        lambda p: form.turn(p, form.vector_l1(p) + form.to_l2(p) + form.to_l2_tlb(p)),
        note='one of the 256 loads still finds its line in the L1'),
    Row('vector load, L2 hit, page walk', 'vector_tlb',
        lambda p: form.turn(p, form.vector_l1(p) + form.to_l2(p) + form.to_l2_tlb(p)
                            + form.to_walk(p)), sets=FEW_PAGES, note='likewise'),
    Row('scalar load, L1 hit', 'scalar_l1', lambda p: form.turn(p, form.scalar_l1(p)),
        hardware='50'),
    Row('scalar load, L2 hit', 'scalar_l2',
        lambda p: form.turn(p, form.scalar_l1(p) + form.to_l2(p)), hardware='205'),
    Row('LDS load', 'lds', lambda p: form.turn(p, form.lds(p)), hardware='50'),
]

BANDWIDTH = [
    Row('L1, all compute units', 'read_l1',
        lambda p: form.units(p) * form.LINE * p.get(form.CU, 'vmem_width')),
    Row('L2', 'read_l2',
        lambda p: form.l2_peak(p) * form.head_of_line(form.units(p), form.l2_banks(p)),
        note='of {l2_peak} B/cy; compute units wait for each other at the inputs of the crossbar. '
             'The form is that of random targets, these read runs of two lines of a bank'),
    Row('DRAM, ideal, read', 'read_dram', lambda p: form.mshr_bound(p, form.to_dram(p)),
        sets=IDEAL + LARGE_PAGES,
        note='of {dram_peak} B/cy; the MSHRs of the L2, 256 a bank, are the limit; each wavefront '
             'has only one load on its way'),
    Row('DRAM, ideal, copy', 'copy_dram',
        lambda p: form.l2_peak(p) * form.head_of_line(form.units(p), form.l2_banks(p)),
        sets=IDEAL + LARGE_PAGES,
        note='writes need no MSHR; a bank of the L2 takes one request a cycle, and the crossbar '
             'is as above'),
    Row('DRAM, ideal, read, pages of 4 KiB', 'read_dram',
        lambda p: form.mshr_bound(p, form.to_dram(p)), sets=IDEAL,
        note='every page is walked for once, {walks} cycles'),
    Row('DRAM, hbm, read', 'read_dram', lambda p: form.hbm_peak(p) * (1 - form.hbm_refresh(p)),
        sets=LARGE_PAGES,
        note='of {hbm_peak} B/cy less refresh. The rows that 1024 wavefronts read at a time meet '
             'in 8 banks of a channel; with 64 (`--set gpu.dram.timing.banks=16`) see below'),
    Row('DRAM, hbm with 64 banks a channel, read', 'read_dram',
        lambda p: form.hbm_peak(p) * (1 - form.hbm_refresh(p)),
        sets=LARGE_PAGES + ('gpu.dram.timing.banks=16',),
        note='a refresh also closes all rows; the MSHRs of the L2; start and end of 33,000 cycles'),
    Row('DRAM, hbm, copy', 'copy_dram', lambda p: form.hbm_peak(p) * (1 - form.hbm_refresh(p)),
        sets=LARGE_PAGES,
        note='the same, and the bus turns round between reads and writes'),
    Row('LDS, a dword a lane', 'read_lds', lambda p: form.units(p) * 128,
        hardware='128 a compute unit'),
    Row('LDS, four dwords a lane', 'read_lds_wide', lambda p: form.units(p) * 128,
        hardware='128 a compute unit'),
]


def rate(name):
    return lambda p: p.get(form.CU, name)


ALU = [
    Row('v_add_f32', 'f32_add/4', rate('full_rate'), hardware='4'),
    Row('v_add_f32, dependent, one wavefront a SIMD', 'f32_add_chain/1', rate('full_rate'),
        hardware='4'),
    Row('v_mul_f32', 'f32_multiply/4', rate('full_rate'), hardware='4'),
    Row('v_fma_f32', 'f32_fma/4', rate('full_rate'), hardware='4 or 16, by the card'),
    Row('v_add_u32', 'i32_add/4', rate('full_rate'), hardware='4'),
    Row('v_mul_lo_u32', 'i32_multiply/4', rate('integer_multiply'), hardware='16'),
    Row('v_rcp_f32', 'f32_reciprocal/4', rate('quarter_rate'), hardware='16'),
    Row('v_sqrt_f32', 'f32_square_root/4', rate('quarter_rate'), hardware='16'),
    Row('v_sin_f32', 'f32_sine/4', rate('quarter_rate'), hardware='16'),
    Row('v_exp_f32', 'f32_exponential/4', rate('quarter_rate'), hardware='16'),
    Row('v_add_f64', 'f64_add/4', rate('f64_add'), hardware='32'),
    Row('v_mul_f64', 'f64_multiply/4', rate('f64_multiply'), hardware='64'),
    Row('v_fma_f64', 'f64_fma/4', rate('f64_multiply'), hardware='64'),
    Row('v_rcp_f64', 'f64_reciprocal/4', rate('f64_multiply'), hardware='64'),
    Row('s_add_u32, dependent on nothing, one wavefront a SIMD', 'scalar_add/1',
        rate('scalar_latency')),
    Row('s_mul_i32, 4 wavefronts a SIMD', 'scalar_multiply/4', rate('scalar_latency')),
]

STRIDES = (0, 1, 2, 3, 4, 8, 16, 17, 32, 64)


def lds_cycles(stride):
    """Two groups of 32 lanes; each takes as many cycles as its fullest bank of 32 has different
    dwords."""
    words = {lane * stride for lane in range(32)}
    fullest = max(sum(1 for w in words if w % 32 == bank) for bank in range(32))
    return lambda p: 2 * fullest


LDS = [Row(f'ds_read_b32, lanes {s} dwords apart', f'lds_stride_{s}', lds_cycles(s),
           hardware='2' if s == 1 else '')
       for s in STRIDES]


def held(kernel, threads, **needs):
    return Row(f'{kernel.replace("_", " ")}, {threads} threads', f'{kernel}/{threads}',
               lambda p: form.resident(p, (threads + 63) // 64, **needs))


OCCUPANCY = [held('plain', n) for n in (64, 256, 320, 1024)]
OCCUPANCY += [held(f'vgpr_{n}', t, vgprs=n) for n, t in ((28, 256), (36, 256), (64, 256),
                                                         (84, 64), (128, 64), (256, 64))]
OCCUPANCY += [held(f'sgpr_{n}', 256, sgprs=n) for n in (80, 96, 102)]
OCCUPANCY += [held(f'lds_{n}', t, lds_bytes=n) for n, t in ((4096, 256), (8192, 256), (20000, 256),
                                                            (32768, 128), (65536, 1024))]

SECTIONS = [
    ('Latency', 'latency', 'cycles', LATENCY,
     'One wavefront with one lane executes a chain of 256 dependent loads '
     '([latency.hip.cpp](../../tests/programs/micro/latency.hip.cpp)). The column *hardware* has '
     'load-to-use latencies of an MI100, the measured card nearest to Fiji (RRZE gpu-benches, '
     'mt4g; scalar and LDS by mt4g). Latencies of caches are in cycles, the share of DRAM beyond '
     'the L2 in nanoseconds, which are cycles here. The agreement is no evidence, because the R9 '
     'Nano has not been measured and its description has the MI100\'s numbers, for L2 and DRAM '
     'those of RRZE.'),
    ('Bandwidth', 'bandwidth', 'bytes a cycle', BANDWIDTH,
     'All 64 compute units run 16 wavefronts each, and each lane accesses 16 bytes at a time '
     '([bandwidth.hip.cpp](../../tests/programs/micro/bandwidth.hip.cpp)). At 1 GHz a byte a '
     'cycle is 1 GB/s. The column *hardware* has the numbers that AMD documents for GCN and CDNA '
     '(rocprofiler-compute).'),
    ('Vector and scalar ALU', 'alu', 'cycles of a SIMD', ALU,
     'Each wavefront executes 256 instructions in a row, with 4 wavefronts on each SIMD of a '
     'compute unit unless a row says otherwise '
     '([alu.hip.cpp](../../tests/programs/micro/alu.hip.cpp)). The column *hardware* has CLRX\'s '
     'measurements of GCN 1.0 to 1.4 (GcnTimings), with the factor of cards that run double '
     'precision at 1/16 of the rate.'),
    ('LDS bank conflicts', 'alu', 'cycles of the LDS', LDS,
     '16 wavefronts execute 256 reads of the LDS in a row. The column *hardware* has CLRX\'s '
     'measurement, half an instruction a cycle.'),
    ('Occupancy', 'occupancy', 'wavefronts of a compute unit', OCCUPANCY,
     'Each kernel needs much of one resource. The table has the largest number of wavefronts '
     'that were on a compute unit at a time '
     '([occupancy.hip.cpp](../../tests/programs/micro/occupancy.hip.cpp)). The closed form is '
     'the least of the numbers that wavefront slots, vector and scalar registers, LDS and '
     'work-group slots allow, each rounded to its granularity.'),
]
QUICK = ('Latency', 'Vector and scalar ALU', 'LDS bank conflicts')


def note_of(bench, row):
    p = bench.platform(row.sets)
    words = {}
    if 'hit' in row.note:
        path = form.vector_l1(p) + form.to_l2(p)
        words['hit'] = form.turn(p, path + form.to_hbm(p))
        words['conflict'] = form.turn(p, path + form.to_hbm(p, 'trp', 'trcd_read'))
    if 'walks' in row.note:
        words['walks'] = form.to_walk(p)
    for name in ('l2_peak', 'dram_peak', 'hbm_peak'):
        if name in row.note:
            words[name] = number(getattr(form, name)(p))
    return row.note.format(**words)


def measured(bench, program, row):
    return bench.results_of(program, row.arguments, row.sets)[row.name]


def line_of(bench, program, row):
    value, expected = measured(bench, program, row), row.expected(bench.platform(row.sets))
    difference = f'{(value / expected - 1) * 100:+.1f} %'.replace('-0.0', '0.0')\
        .replace('+0.0', '0.0')
    return (f'| {row.title} | {number(value)} | {number(expected)} | {difference} | '
            f'{row.hardware} | {note_of(bench, row)} |')


def table(bench, program, unit, rows):
    out = [f'| {unit} | measured | closed form | difference | hardware | |',
           '| --- | ---: | ---: | ---: | ---: | --- |']
    return out + [line_of(bench, program, row) for row in rows]


def commands(program, rows):
    sets = []
    for row in rows:
        if row.sets not in sets:
            sets.append(row.sets)
    return ['```sh'] + [command_text(program, (), s) for s in sets] + ['```']


CURVES = {'hbm, pages of 4 KiB': (), 'hbm, pages of 2 MiB': LARGE_PAGES,
          'ideal memory, pages of 2 MiB': IDEAL + LARGE_PAGES}


def size_text(size):
    return f'{size >> 20} MiB' if size >= 1 << 20 else f'{size >> 10} KiB'


def plots(bench):
    curves = {name: bench.results_of('latency', ('footprints',), sets)
              for name, sets in CURVES.items()}
    sizes = [int(name.split('_')[1]) for name in next(iter(curves.values()))
             if name.startswith('footprint_')]
    curve = plot.lines('Latency of a chain of loads in random order',
                       'memory that the chain goes through', 'cycles a load',
                       [size_text(s).replace(' ', '\u00a0') for s in sizes],
                       {n: [c[f'footprint_{s}'] for s in sizes] for n, c in curves.items()})
    rows = [r for r in BANDWIDTH if 'pages' not in r.title and 'banks' not in r.title]
    bandwidth = plot.bars('Bandwidth of all compute units together', 'bytes a cycle',
                          [r.title.replace(', all compute units', '') for r in rows],
                          {'measured': [measured(bench, 'bandwidth', r) for r in rows],
                           'closed form': [r.expected(bench.platform(r.sets)) for r in rows]})
    lds = plot.lines('LDS: cycles of a read of 64 lanes', 'distance of the lanes in dwords',
                     'cycles', [str(s) for s in STRIDES],
                     {'measured': [measured(bench, 'alu', r) for r in LDS],
                      'closed form': [r.expected(bench.platform(())) for r in LDS]})
    return {'accuracy-latency.svg': curve, 'accuracy-bandwidth.svg': bandwidth,
            'accuracy-lds.svg': lds}


PICTURES = {'Latency': ('accuracy-latency.svg', 'latency by footprint', CURVES),
            'Bandwidth': ('accuracy-bandwidth.svg', 'bandwidth of each level', None),
            'LDS bank conflicts': ('accuracy-lds.svg', 'cycles by stride', None)}


def page(bench):
    out = ['# Accuracy: what small programs measure', '',
           'Does the model do what its description says? Small programs measure '
           'platforms/r9nano.heddle. Beside each number is its closed form, which follows from the '
           'parameters alone (tests/bench/micro/closed_forms.py). If the two differ, the last '
           'column gives the reason. The column *hardware* has measurements of others on cards. '
           '**No R9 Nano was measured.**', '',
           '```sh', 'tests/bench/micro/run.py HEDDLE PROGRAMS --write docs/evidence', '```', '',
           'makes this page. The programs are ordinary HIP programs; the commands of each table '
           'are above it. The simulation is deterministic, so every run gives the same '
           'numbers.', '']
    for title, program, unit, rows, words in SECTIONS:
        out += ([f'## {title}', '', words, ''] + commands(program, rows) + ['']
                + table(bench, program, unit, rows) + [''])
        if title in PICTURES:
            file, name, curves = PICTURES[title]
            out += [f'![{name}]({file})', '']
            if curves:
                out += (['```sh'] + [command_text(program, ('footprints',), s)
                                     for s in curves.values()] + ['```', ''])
    return prose.wrap('\n'.join(out))


def check(bench, file, everything):
    """The lines must stand in the page as they are; returns how many do not."""
    lines = set(pathlib.Path(file).read_text().splitlines())
    wrong = seen = 0
    for title, program, _, rows, _ in SECTIONS:
        for row in rows if everything or title in QUICK else ():
            line = line_of(bench, program, row)
            seen += 1
            if line not in lines:
                print(f'not in {file}: {line}')
                wrong += 1
    print(f'{seen - wrong} of {seen} numbers are those of {file}')
    return wrong


def main():
    parser = argparse.ArgumentParser(description='micro-benchmarks against their closed forms')
    parser.add_argument('heddle')
    parser.add_argument('programs')
    parser.add_argument('--write', metavar='FOLDER')
    parser.add_argument('--check', metavar='PAGE')
    parser.add_argument('--all', action='store_true')
    arguments = parser.parse_args()
    bench = Bench(arguments.heddle, arguments.programs)
    if arguments.check:
        sys.exit(1 if check(bench, arguments.check, arguments.all) else 0)
    if arguments.write:
        folder = pathlib.Path(arguments.write)
        for file, picture in plots(bench).items():
            (folder / file).write_text(picture)
        (folder / 'accuracy.md').write_text(page(bench))
    else:
        print(page(bench))


main()
