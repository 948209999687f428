#!/usr/bin/env python3
"""A small network for leela-zero, with random weights, and its choice of a matrix kernel.

go_network.py HOME DEVICE MHZ writes HOME/network, in the first version of leela-zero's format, and
the file where leela-zero keeps the result of its tuner, which would try 290 kernels otherwise."""
import random
import sys
from pathlib import Path

FILTERS, BLOCKS, PLANES, POINTS, HIDDEN = 16, 1, 18, 19 * 19, 256
KERNEL = ("-DKWG=32 -DKWI=8 -DMDIMA=8 -DMDIMC=8 -DMWG=32 -DNDIMB=8 -DNDIMC=8 -DNWG=32 -DSA=1"
          " -DSB=1 -DSTRM=0 -DSTRN=0 -DTCE=0 -DVWM=4 -DVWN=2")


def numbers(count, size):
    return " ".join(f"{random.uniform(-size, size):.4f}" for _ in range(count))


def layer(inputs, outputs, side):
    """Weights of a convolution, its biases, and means and variances of what comes out."""
    zeros, ones = (" ".join([digit] * outputs) for digit in "01")
    return [numbers(inputs * outputs * side * side, 1 / side / inputs ** 0.5), zeros, zeros, ones]


def network():
    lines = ["1", *layer(PLANES, FILTERS, 3)]
    for _ in range(2 * BLOCKS):
        lines += layer(FILTERS, FILTERS, 3)
    lines += layer(FILTERS, 2, 1)
    lines += [numbers(2 * POINTS * (POINTS + 1), 0.05), numbers(POINTS + 1, 0.05)]
    lines += layer(FILTERS, 1, 1)
    lines += [numbers(POINTS * HIDDEN, 0.05), *(numbers(HIDDEN, 0.05) for _ in range(2)),
              numbers(1, 0.05)]
    return "\n".join(lines) + "\n"


def main(home, device, mhz):
    random.seed(7)
    home = Path(home)
    (home / "network").write_text(network())
    tuned = home / ".local/share/leela-zero/leelaz_opencl_tuning"
    tuned.parent.mkdir(parents=True, exist_ok=True)
    # Version, kernel, sizes of the transformed matrices, their number, options, device.
    tuned.write_text(f"1;XgemmBatched;{FILTERS};25;{FILTERS};36;{KERNEL};"
                     f"OpenCL: heddle {device} @ {mhz}MHz\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
