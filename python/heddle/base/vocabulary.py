"""Words of NVIDIA for what reports say in AMD's, for machines of streaming multiprocessors. One
mechanism has one rule and one sentence; only the words differ."""
from __future__ import annotations

import re

# The longer ones first, since one word may be a part of another.
_NVIDIA = (
    ("bank conflicts of the LDS", "bank conflicts of shared memory"), ("the LDS", "shared memory"),
    ("LDS", "shared memory"), ("vector memory", "global memory"), ("vector registers", "registers"),
    ("instruction of the vector ALU", "instruction"), ("scratch memory", "local memory"),
    ("command processor", "player"), ("compute units", "SMs"), ("compute unit", "SM"),
    ("SIMDs", "sub-cores"), ("SIMD", "sub-core"), ("wavefront-cycles", "warp-cycles"),
    ("wavefronts", "warps"), ("wavefront", "warp"), ("work-groups", "blocks"),
    ("work-group", "block"), ("s_barrier", "a barrier"), ("dispatcher", "player"))
_WORDS = re.compile("|".join(re.escape(word) for word, _ in _NVIDIA))


def nvidia(sentence: str) -> str:
    return _WORDS.sub(lambda found: dict(_NVIDIA)[found[0]], sentence)
