#!/usr/bin/env python3
"""Write-back against write-through L2 caches: traffic to memory and between GPUs, and cycles, on
one GPU, four, four whose L2s keep lines of all memory, and an APU.

run.py HEDDLE PROGRAMS           prints the page docs/evidence/write-policies.md
run.py HEDDLE PROGRAMS --write D writes it and its plots into the folder D
run.py HEDDLE PROGRAMS --check P runs two of the kernels again, with --all every one, and compares
                                 their traffic, which says what the caches do, with the page P

PROGRAMS is tests/programs of a build. Numbers are the simulation's own and do not depend on the
machine.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'micro'))
import measured
import plot
from measured import line, statistics

KERNELS = ('vectoradd', 'accumulate', 'stencil', 'transpose', 'scatter', 'gather', 'histogram',
           'reduction', 'matmul', 'strided')
QUICK = ('scatter', 'histogram')
ELEMENTS = 16384
HBM = ('--set', 'memory=hbm')
PLATFORMS = (('platforms/r9nano.heddle', '1', HBM), ('platforms/r9nano_x4.heddle', '4', HBM),
             ('platforms/r9nano_x4_l2_all.heddle', '4, all', HBM),
           ('platforms/apu.heddle', 'APU', ()))
POLICIES = ('back', 'through')
HEAD = ('kernel', 'GPUs', 'lines read, back', 'through', 'lines written, back', 'through',
        'KiB between GPUs, back', 'through', 'cycles, back', 'through', 'cycles, through / back')

TRAFFIC = 8  # columns before the cycles


def measure(heddle, programs, platform, sets, policy, kernel):
    through = ('--set', 'gpu.l2_write=through') if policy == 'through' else ()
    return numbers(statistics(heddle, platform, [*sets, *through],
                              [pathlib.Path(programs) / 'spread', kernel, ELEMENTS]))


def numbers(stats):
    """What the L2s ask of memory: all that memory has seen, without the copies of the DMA engines,
    whose lines are whole."""
    total = {'read': 0, 'asked': 0, 'bytes': 0}
    for path, component in stats['components'].items():
        if '.dram[' in path and 'reads' in component:
            total['read'] += component['reads']
        elif path.endswith('.dma'):
            total['read'] -= component['bytes_read'] // 64
    for name, connection in stats['connections'].items():
        if '.l2[' in name and name.endswith('.bottom'):
            total['asked'] += connection['requests']
    for name, link in stats['links'].items():
        ways = [(name, link[half]) for half in ('forward', 'backward')]
        if 'forward_channels' in link:  # a wire that several connections share
            ways = [way for half in ('forward', 'backward')
                    for way in link[half + '_channels'].items()]
        total['bytes'] += sum(way['bytes'] for port, way in ways if 'fabric' in port
                              or 'router' in port or 'switch' in port)
    kernels = stats['kernels']
    cycles = (max(k['end_ps'] for k in kernels) - min(k['start_ps'] for k in kernels)) // 1000
    return {'read': total['read'], 'written': total['asked'] - total['read'],
            'link': total['bytes'] // 1024, 'cycles': cycles}


def row(heddle, programs, kernel, platform, gpus, sets):
    back, through = (measure(heddle, programs, platform, sets, policy, kernel)
                     for policy in POLICIES)
    cells = [kernel, gpus]
    for name in ('read', 'written', 'link', 'cycles'):
        cells += [str(back[name]), str(through[name])]
    return cells + [f'{through["cycles"] / back["cycles"]:.2f}']


def page(rows):
    words = (pathlib.Path(__file__).parent / 'page.md').read_text()
    table = [line(HEAD), line(['---', *['---:'] * (len(HEAD) - 1)])] + [line(r) for r in rows]
    return words.replace('TABLE', '\n'.join(table)).replace('ELEMENTS', str(ELEMENTS))


def picture(rows):
    four = [r for r in rows if r[1] == '4']
    series = {'write-back, 1 GPU': [int(r[4]) for r in rows if r[1] == '1'],
              'write-through, 1 GPU': [int(r[5]) for r in rows if r[1] == '1'],
              'write-back, 4 GPUs': [int(r[4]) for r in four],
              'write-through, 4 GPUs': [int(r[5]) for r in four]}
    return plot.bars('Lines that the L2 writes to memory', 'lines of 64 bytes',
                     [r[0] for r in four], series)


def links(rows):
    own, every = ([r for r in rows if r[1] == gpus] for gpus in ('4', '4, all'))
    series = {'L2s of own memory': [int(r[6]) for r in own],
              'of all, write-back': [int(r[6]) for r in every],
              'of all, write-through': [int(r[7]) for r in every]}
    return plot.bars('Traffic between four GPUs', 'KiB', [r[0] for r in own], series)


def check(arguments, kernels):
    there = pathlib.Path(arguments.check).read_text().splitlines()
    for kernel in kernels:
        for platform, gpus, sets in PLATFORMS:
            now = line(row(arguments.heddle, arguments.programs, kernel, platform,
                           gpus, sets)[:TRAFFIC])
            if not any(then.startswith(now) for then in there):
                sys.exit(f'{arguments.check} is out of date; today:\n{now}')
    print(f'the numbers are those of {arguments.check}')


def main():
    arguments = measured.options()
    if arguments.check:
        check(arguments, KERNELS if arguments.all else QUICK)
        return
    rows = [row(arguments.heddle, arguments.programs, kernel, *where) for kernel in KERNELS
            for where in PLATFORMS]
    if not arguments.write:
        print(page(rows), end='')
        return
    folder = pathlib.Path(arguments.write)
    (folder / 'write-policies.md').write_text(page(rows))
    (folder / 'generated/write-policies.svg').write_text(picture(rows))
    (folder / 'generated/write-policies-links.svg').write_text(links(rows))


if __name__ == '__main__':
    main()
