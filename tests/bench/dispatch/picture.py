#!/usr/bin/env python3
"""Draws kernels and their work-groups from a trace: picture.py TRACE > PICTURE.svg

The trace is what `heddle run --record perfetto` writes. One row for each kernel, from its launch to
its end, and below one for each compute unit, with a bar for each work-group in the colour of its
kernel; work-groups that are there at the same time lie above each other."""
import json
import sys

# Okabe and Ito
COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442', '#999999']
WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 900, 150, 20, 50, 16, 5


def read(file):
    """Spans of kernels and of work-groups: [name, component, begin, end] in microseconds."""
    names, open_spans, kernels, groups = {}, {}, [], []
    data = json.load(open(file))
    for e in data['traceEvents'] if isinstance(data, dict) else data:
        if e['ph'] == 'M' and e['name'] == 'thread_name' and e['pid'] == 1:
            names[e['tid']] = e['args']['name']
        elif e['ph'] == 'b' and e['pid'] == 1:
            open_spans[e['tid'], e['name'], e['id']] = e['ts']
        elif e['ph'] == 'e' and e['pid'] == 1:
            begin = open_spans.pop((e['tid'], e['name'], e['id']))
            to = {'command_processor': kernels, 'compute_unit': groups}.get(e['cat'])
            if to is not None and e['name'] != 'wavefront':
                to.append([e['name'], names[e['tid']], begin, e['ts']])
    return sorted(kernels, key=lambda k: k[2]), sorted(groups, key=lambda g: (g[1], g[2]))


def lanes(groups):
    """Number of a free lane for each, so that no two overlap in one."""
    ends, out = [], []
    for g in groups:
        lane = next((i for i, end in enumerate(ends) if end <= g[2]), len(ends))
        ends[lane:lane + 1] = [g[3]]
        out.append(lane)
    return out, len(ends)


def text(x, y, words, anchor='start', size=12):
    words = words.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def draw(kernels, groups):
    names = list(dict.fromkeys(k[0] for k in kernels))
    colour = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(names)}
    begin, end = min(k[2] for k in kernels), max(k[3] for k in kernels)

    def x(time):
        return LEFT + (WIDTH - LEFT - RIGHT) * (time - begin) / (end - begin)

    out, y = [], TOP
    for name, _, b, e in kernels:
        out.append(text(LEFT - 8, y + 11, name.replace('void ', '').split('(')[0], 'end'))
        out.append(f'<rect x="{x(b):.1f}" y="{y}" width="{x(e) - x(b):.1f}" height="{ROW - 4}" '
                   f'fill="{colour[name]}"/>')
        y += ROW
    y += ROW
    for unit in sorted({g[1] for g in groups}):
        own = [g for g in groups if g[1] == unit]
        lane, count = lanes(own)
        out.append(text(LEFT - 8, y + count * (BAR + 1) / 2 + 4, unit, 'end'))
        for (name, _, b, e), at in zip(own, lane):
            out.append(f'<rect x="{x(b):.1f}" y="{y + at * (BAR + 1)}" '
                       f'width="{max(x(e) - x(b), 0.5):.1f}" height="{BAR}" '
                       f'fill="{colour[name]}"/>')
        y += count * (BAR + 1) + 10
    for i in range(6):
        at = begin + (end - begin) * i / 5
        out.append(f'<path d="M{x(at):.1f} {TOP - 6}V{y}" stroke="#ddd"/>')
        out.append(text(x(at), y + 14, f'{at:.1f} µs', 'middle', 11))
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}" '
            'font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{y + 24}" fill="white"/>',
            text(WIDTH / 2, 24,
                 'Kernels (above) and their work-groups on each compute unit (below)', 'middle',
                 14)]
    lines = [o for o in out if o.startswith('<path')]
    return '\n'.join(head + lines + [o for o in out if not o.startswith('<path')] + ['</svg>', ''])


kernels, groups = read(sys.argv[1])
if not kernels:
    sys.exit(f'{sys.argv[1]}: no kernel in this trace')
sys.stdout.write(draw(kernels, groups))
