#!/usr/bin/env python3
"""What packets add to a copy: platforms/packet_trace.heddle, step by step, 4 bytes to 1 MiB.

run.py HEDDLE            prints the page docs/evidence/packets-cost.md
run.py HEDDLE --write D  writes it and its plots into the folder D
run.py HEDDLE --check P  are some of the numbers of page P (with --all, all) what is simulated now?

A copy's cycles are the difference of traces with one and with two copies. Numbers are cycles of the
simulation and do not depend on the machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'micro'))
import plot

ROOT = HERE.parent.parent.parent
PLATFORM = ROOT / 'platforms' / 'packet_trace.heddle'
MAKER = ROOT / 'tests/system/api_calls/packets/make_trace.py'
# The copy does not depend on the size of the GPU; a small one is quickly built.
SMALL = ['--set', 'arrays=1', '--set', 'banks=2']
SIZES = [4, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]
QUICK = [4, 4096]
WAYS = {'to': 'host to device', 'from': 'device to host'}
STEPS = ['packet to memory', 'address to device', 'packet fetched', 'call', 'answer to memory',
         'answer read']
HEAD = ['bytes', 'way', *STEPS, 'all', 'added by packets', 'bytes a cycle']


def sums(heddle, size, count, way, sets):
    """Cycles of each step, summed over all packets of a trace."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, MAKER, 'copies', folder, str(size), str(count), way],
                       check=True)
        stats = pathlib.Path(folder) / 'stats.json'
        command = [heddle, 'run', str(PLATFORM), *SMALL, *sets, '--play', f'api={folder}',
                   '--stats', str(stats)]
        done = subprocess.run(command, capture_output=True, text=True)
        if (done.returncode
                or 'ratio 1.000000' not in done.stdout + 'ratio 1.000000' * (way == 'to')):
            sys.exit(f'{" ".join(command)}:\n{done.stdout}{done.stderr}')
        components = json.loads(stats.read_text())['components']
    cpu, device = components['cpu'], components['device']
    fetch, call, answer = (device[name]['sum'] for name in ('fetch', 'execute', 'answer'))
    return [cpu['write_packet']['sum'], cpu['wait_device']['sum'] - fetch - call - answer,
            fetch, call, answer, cpu['read_answer']['sum']]


def copy(heddle, size, way, sets=()):
    one, two = (sums(heddle, size, n, way, sets) for n in (1, 2))
    return [b - a for a, b in zip(one, two)]


def row(heddle, size, way):
    """`added`: what the call takes when the driver's own copy takes no time at all."""
    steps = copy(heddle, size, way)
    added = sum(copy(heddle, size, way, ['--set', 'driver.copy=magic_copy']))
    total = sum(steps)
    return [str(size), WAYS[way], *map(str, steps), str(total), str(added), f'{size / total:.2f}']


def line(cells):
    return '| ' + ' | '.join(cells) + ' |'


def page(rows):
    words = (HERE / 'page.md').read_text()
    table = ([line(HEAD), line(['---:', '---', *['---:'] * (len(HEAD) - 2)])]
             + [line(r) for r in rows])
    return words.replace('TABLE', '\n'.join(table))


def pictures(rows):
    to = [r for r in rows if r[1] == WAYS['to']]
    small = [r for r in to if int(r[0]) <= 16384]
    cost = plot.lines('A copy to the device as a packet: cycles of its steps', 'bytes', 'cycles',
                      [r[0] for r in small],
                      {'packet written, address given': [int(r[2]) + int(r[3]) for r in small],
                       'packet fetched': [int(r[4]) for r in small],
                       'call': [int(r[5]) for r in small],
                       'answer written, read': [int(r[6]) + int(r[7]) for r in small]})
    rate = {'copy to the device': [float(r[-1]) for r in to],
            'packets alone': [int(r[0]) / int(r[-2]) for r in to]}
    return {'generated/packets-cost.svg': cost,
            'generated/packets-rate.svg': plot.lines('Bytes a cycle of a copy as a packet', 'bytes',
                                           'bytes a cycle', [r[0] for r in to], rate)}


def main():
    parser = argparse.ArgumentParser(description='the cost of packets')
    parser.add_argument('heddle')
    parser.add_argument('--write', metavar='FOLDER')
    parser.add_argument('--check', metavar='PAGE')
    parser.add_argument('--all', action='store_true')
    arguments = parser.parse_args()
    sizes = QUICK if arguments.check and not arguments.all else SIZES
    rows = [row(arguments.heddle, size, way) for size in sizes for way in WAYS]
    if arguments.check:
        there = pathlib.Path(arguments.check).read_text().splitlines()
        for cells in rows:
            if line(cells) not in there:
                sys.exit(f'{arguments.check} is out of date; today:\n{line(cells)}')
        print(f'{len(rows)} copies simulated, as on the page')
    elif arguments.write:
        folder = pathlib.Path(arguments.write)
        (folder / 'packets-cost.md').write_text(page(rows))
        for name, picture in pictures(rows).items():
            (folder / name).write_text(picture)
    else:
        print(page(rows), end='')


if __name__ == '__main__':
    main()
