"""Small line and bar charts as SVG, so that the pages of docs/ need no other program."""

# Okabe and Ito: also for colour-blind readers
COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7']
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 64, 16, 48, 60


def text(x, y, words, anchor='middle', more=''):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def frame(title, y_label, top, parts, names):
    """A chart with ticks on its left axis from 0 to `top` around `parts`, and a legend."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(WIDTH / 2, 18, title, more=' font-size="14"')]
    for i in range(5):
        y = height(top * i / 4, top)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 6, y + 4, f'{top * i / 4:g}', 'end'))
    out.append(text(16, HEIGHT / 2, y_label, more=f' transform="rotate(-90 16 {HEIGHT / 2})"'))
    for i, name in enumerate(names):
        x = LEFT + 8 + i * (WIDTH - LEFT - RIGHT) / max(len(names), 1)
        out.append(f'<rect x="{x:.1f}" y="28" width="10" height="10" fill="{COLOURS[i]}"/>')
        out.append(text(x + 15, 37, name, 'start'))
    return '\n'.join(out + parts + ['</svg>', ''])


def height(value, top):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def round_up(value):
    """The next of 1, 2, 4, 5, 8 times a power of ten."""
    scale = 1
    while scale * 10 < value:
        scale *= 10
    return next(scale * i for i in (1, 2, 4, 5, 8, 10) if scale * i >= value)


def lines(title, x_label, y_label, labels, series):
    """Points at equal distances: labels of the x axis, and {name: values}; None leaves a point
    out."""
    top = round_up(max(v for values in series.values() for v in values if v is not None))
    step = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    at = [LEFT + step * (i + 0.5) for i in range(len(labels))]
    parts = [text(x, HEIGHT - BOTTOM + 18, label) for x, label in zip(at, labels)]
    parts.append(text(WIDTH / 2, HEIGHT - 14, x_label))
    for colour, values in zip(COLOURS, series.values()):
        points = [(x, height(v, top)) for x, v in zip(at, values) if v is not None]
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return frame(title, y_label, top, parts, list(series))


def bars(title, y_label, labels, series):
    """Groups of bars: labels of the groups, a line for each of their parts between commas, and
    {name: values}."""
    top = round_up(max(v for values in series.values() for v in values))
    step = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    wide = step * 0.8 / len(series)
    parts = [text(LEFT + step * (i + 0.5), HEIGHT - BOTTOM + 16 + 14 * n, words)
             for i, label in enumerate(labels) for n, words in enumerate(label.split(', '))]
    for n, (colour, values) in enumerate(zip(COLOURS, series.values())):
        for i, value in enumerate(values):
            x, y = LEFT + step * (i + 0.1) + wide * n, height(value, top)
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" '
                         f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{colour}"/>')
    return frame(title, y_label, top, parts, list(series))
