"""Damage of traces by seed: lines that are gone, stand twice or changed places, texts that are cut,
numbers that are huge, negative or those of something else."""
import random
import re

NUMBERS = ["18446744073709551615", "18446744073709551616", "4294967296", "-1", "0", "1",
           "0xffffffffffffffff", "99999999999999999999999", "65536", ""]


def damaged(text, seed):
    """The text, damaged once to three times."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 3)):
        lines = text.splitlines(keepends=True) or ["\n"]
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        kind = draw.choice(["gone", "twice", "swapped", "cut", "number", "number"])
        if kind == "gone":
            del lines[at]
        elif kind == "twice":
            lines.insert(at, lines[at])
        elif kind == "swapped":
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == "cut":
            lines[at:] = [lines[at][:len(lines[at]) // 2]]
        else:
            numbers = list(re.finditer(r"\b(0x)?[0-9a-f]+\b", lines[at]))
            if numbers:
                begin, end = draw.choice(numbers).span()
                lines[at] = lines[at][:begin] + draw.choice(NUMBERS) + lines[at][end:]
        text = "".join(lines)
    return text


def check(done, seed, place):
    """Played, or refused with its place: no crash, no hang, no bug."""
    assert 0 <= done.status < 124 and "BUG" not in done.output, (seed, done.status, done.output)
    assert done.status == 0 or re.search(place, done.output), (seed, done.status, done.output)
