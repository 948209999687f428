"""The transformer of docs/examples makes the tokens of a model in numpy."""
import re

import numpy as np
import pytest

from harness import PROGRAMS
from programs import only_full
from transformer_model import TINY, TYPES, Model, prompt_of, seeded

SEED = 2
MACHINES = ["r9nano", "mi210", "mi300x"]


def tokens_of(done):
    return [int(word) for word in re.search("^tokens:(.*)$", done.stdout, re.M)[1].split()]


def same_as_model(heddle, tmp_path, text, numbers, weights, kind, prompt, count, **model):
    """Tokens, and logits as exact as sums in another order are. Where an operand is rounded, one
    that lies at the edge goes the other way at times."""
    out = tmp_path / "logits"
    done = heddle(f"run {text} --type {kind} --tokens {count} --logits {out}")
    tokens, logits = Model(numbers, weights, kind, **model).run(prompt, count)
    got = np.fromfile(out, np.float32).reshape(count, numbers[5])
    assert np.abs(got - logits).max() < {"fp32": 2e-5, "bf16": 1e-2}.get(kind, 2e-3) * logits.std()
    assert tokens_of(done) == tokens
    return done


@pytest.mark.parametrize("machine, kind, mode", [
    ("r9nano", "fp32", "timing"), ("mi210", "fp32", "functional"), ("mi300x", "fp32", "timing"),
    ("r9nano", "int8", "functional"), ("mi210", "fp16", "timing"), ("mi300x", "bf16", "functional"),
    *only_full(*((machine, kind, mode) for machine in MACHINES for kind in TYPES
                 for mode in ("timing", "functional")))])
def test_tokens_are_those_of_the_model(heddle, tmp_path, machine, kind, mode):
    same_as_model(heddle, tmp_path, f"platforms/{machine}.heddle --mode {mode} -- "
                  f"{PROGRAMS}/transformer --seed {SEED}", TINY, seeded(TINY, SEED), kind,
                  prompt_of(TINY), 6)
