#!/usr/bin/env python3
"""Migration policies of managed memory: cycles, traffic between GPUs, pages moved and copied,
pauses, on platforms/managed4.heddle.

managed.py HEDDLE PROGRAMS           prints the page docs/evidence/migration-policies.md
managed.py HEDDLE PROGRAMS --write D writes it into the folder D
managed.py HEDDLE PROGRAMS --check P runs one of the programs again, with --all every one, and
                                     compares pages moved and copied with the page P, where they
                                     do not follow from cycles

PROGRAMS is tests/programs of a build. Numbers are the simulation's own and do not depend on the
machine.
"""
import pathlib
import sys

import measured
from measured import line, statistics

PROGRAMS = (('managed_pingpong', '4', '2'), ('managed_both', '2', '2'), ('managed_reads', '3', '3'))
QUICK = PROGRAMS[2:]
POLICIES = ('pinned', 'first_touch', 'on_touch', 'access_counter', 'read_duplicate')
TIMES = (('any_time', 'any time'), ('between_kernels', 'between kernels'))
HEAD = ('program', 'policy', 'pages move', 'cycles', 'KiB between GPUs', 'pages moved',
        'copies made', 'writes that ended copies', 'pauses', 'cycles paused')


def measure(heddle, programs, program, policy, time):
    sets = ['--set', f'driver.migration={time}']
    if policy != 'first_touch':
        sets += ['--set', f'gpu.policy={policy}']
    if policy == 'access_counter':
        sets += ['--set', 'gpu.policy.threshold=4']
    path = pathlib.Path(programs) / program[0]
    return numbers(statistics(heddle, 'platforms/managed4.heddle', sets, [path, *program[1:]]))


def numbers(stats):
    driver = stats['components']['driver']
    fabric = sum(link['forward']['bytes'] + link['backward']['bytes']
                 for name, link in stats['links'].items() if 'fabric' in name)
    kernels = stats['kernels']
    cycles = (max(k['end_ps'] for k in kernels) - min(k['start_ps'] for k in kernels)) // 1000
    return [cycles, fabric // 1024,
            *(driver[name] for name in ('migrations', 'copies_made', 'copies_written', 'pauses',
                                        'pause_cycles'))]


def rows(heddle, programs, which):
    for program in which:
        for policy in POLICIES:
            for time, words in TIMES if policy != 'pinned' else (('any_time', '-'),):
                yield [' '.join(program), policy, words,
                       *map(str, measure(heddle, programs, program, policy, time))]


def without_cycles(cells):
    by_cycles = cells[2] == 'any time' and cells[1] in ('on_touch', 'access_counter')
    return cells[:3] + ([] if by_cycles else cells[5:8])


def page(table):
    words = (pathlib.Path(__file__).parent / 'managed.md').read_text()
    return words.replace('TABLE', '\n'.join([
        line(HEAD), line(['---', '---', '---', *['---:'] * (len(HEAD) - 3)]), *map(line, table)]))


def main():
    options = measured.options()
    table = list(rows(options.heddle, options.programs,
                      QUICK if options.check and not options.all else PROGRAMS))
    if options.check:
        there = [without_cycles(row[2:-2].split(' | '))
                 for row in pathlib.Path(options.check).read_text().splitlines()
                 if row.startswith('| managed')]
        wrong = [line(cells) for cells in table if without_cycles(cells) not in there]
        if wrong:
            sys.exit('these are not in ' + options.check + ':\n' + '\n'.join(wrong))
        print(f'{len(table)} rows: the numbers are those of {options.check}')
    elif options.write:
        (pathlib.Path(options.write) / 'migration-policies.md').write_text(page(table))
    else:
        print(page(table), end='')


main()
