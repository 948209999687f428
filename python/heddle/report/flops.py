"""Floating-point operations of kernels, counted from a profile of instructions: lanes that were
not off, times what the instruction does in one. A multiply-add is two; matrix instructions do the
same for all lanes. Conversions, comparisons, minima and moves are none."""
from __future__ import annotations

import re

from heddle.statistics import profile
from heddle.statistics.statistics_file import Identity

ONE = r"add|sub|subrev|mul|mul_legacy|rcp|rsq|sqrt|exp|log|sin|cos"
TWO = r"fma|fmac|mac|mad|madak|madmk|fmaak|fmamk|mad_legacy|div_fmas|mac_legacy"
VECTOR = re.compile(rf"v_(pk_)?(?:({ONE})|({TWO}))_(f16|f32|f64)(?:_|\b)")
MATRIX = re.compile(r"v_mfma_f\w+?_\d+x(\d+)x\d+_?(?:\d+b_)?(f64|f32|xf32|f16|bf16|fp8|bf8)(_1k)?")
LANES = 64  # of a wavefront: these are instructions of AMD's
# Values of a lane in one operand of a matrix instruction; all lanes hold M * K of each block.
HELD = {"f64": 1, "f32": 1, "xf32": 2, "f16": 4, "bf16": 2, "fp8": 8, "bf8": 8}


def of_instruction(text: str, executions: int, lanes: int) -> tuple[str, int]:
    """Kind of operands, and the operations; "": none."""
    if found := VECTOR.match(text):
        packed, _, two, kind = found.groups()
        return kind, lanes * (2 if two else 1) * (2 if packed else 1)
    if found := MATRIX.match(text):
        columns, kind, wide = found.groups()
        held = 4 if wide else HELD[kind]
        return f"matrix {kind}", executions * 2 * int(columns) * 64 * held
    return "", 0


def by_kernel(path: str) -> dict[Identity, dict[str, int]]:
    """Operations of each kernel, by kind."""
    found: dict[Identity, dict[str, int]] = {}
    for row in profile.read(path):
        if "idle_lanes" in row:
            executions = int(row["executions"])
            kind, operations = of_instruction(row["instruction"], executions,
                                              LANES * executions - int(row["idle_lanes"]))
            if operations:
                counts = found.setdefault(profile.kernel(row), {})
                counts[kind] = counts.get(kind, 0) + operations
    return found
