"""The transformer of docs/examples makes the tokens of a model in numpy."""
import re

import numpy as np
import pytest

from harness import PROGRAMS
from programs import only_full
from transformer_model import (GGUF_TYPES, TINY, TYPES, Model, gguf, prompt_of, seeded, write_bin,
                               write_tokenizer)

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
    most = {"fp32": 2e-5, "bf16": 2e-2}.get(kind, 4e-3)
    assert np.abs(got - logits).max() < most * logits.std()
    assert tokens_of(done) == tokens
    return done


@pytest.mark.parametrize("machine, kind, mode", [
    ("r9nano", "fp32", "timing"), ("mi210", "fp32", "functional"), ("mi300x", "fp32", "timing"),
    ("r9nano", "int8", "functional"), ("mi210", "fp16", "timing"), ("mi300x", "bf16", "functional"),
    *only_full(*((machine, kind, mode) for machine in MACHINES for kind in TYPES
                 for mode in ("timing", "functional")))])
def test_tokens_are_those_of_the_model(heddle, tmp_path, machine, kind, mode):
    """A prompt of ten goes through the products of matrices, the others through those of a
    vector."""
    same_as_model(heddle, tmp_path, f"platforms/{machine}.heddle --mode {mode} -- "
                  f"{PROGRAMS}/transformer --seed {SEED} --prompt-tokens 10", TINY,
                  seeded(TINY, SEED), kind, prompt_of(TINY, 10), 5)


FUNCTIONAL = f"platforms/r9nano.heddle --mode functional -- {PROGRAMS}/transformer"
# Rows and columns that fill no tile and no group, heads of 12 values, three queries for a key.
ODD = (72, 100, 3, 6, 2, 300, 40)


@pytest.mark.parametrize("kind", ["fp32", *only_full("fp16", "bf16", "int8")])
def test_sizes_need_not_fill_tiles(heddle, tmp_path, kind):
    shape = ",".join(map(str, ODD))
    for machine in "r9nano", "mi210":
        same_as_model(heddle, tmp_path, f"platforms/{machine}.heddle --mode functional -- "
                      f"{PROGRAMS}/transformer --shape {shape} --prompt-tokens 9", ODD,
                      seeded(ODD, 1), kind, prompt_of(ODD, 9), 4)


@pytest.mark.parametrize("own", [False, True])
def test_checkpoint_of_small_stories_is_read(heddle, tmp_path, own):
    weights, file = seeded(TINY, SEED), tmp_path / "model.bin"
    if own:
        weights["classifier"] = seeded(TINY, 3)["embedding"]
    for name in "attention_norm", "ffn_norm", "final_norm":
        weights[name] = [one + np.float32(0.1 * i) for i, one in enumerate(weights[name], 1)]
    write_bin(file, TINY, weights, own)
    same_as_model(heddle, tmp_path, f"{FUNCTIONAL} --model {file}", TINY, weights, "fp32",
                  prompt_of(TINY), 4)


@pytest.mark.parametrize("kind", GGUF_TYPES)
def test_gguf_is_read(heddle, tmp_path, kind):
    """As it is, and Q8_0 as the int8 that it is."""
    content, weights = gguf(TINY, seeded(TINY, SEED), kind)
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    same_as_model(heddle, tmp_path, f"{FUNCTIONAL} --model {file}", TINY, weights,
                  "int8" if kind == "Q8_0" else "fp32", prompt_of(TINY), 3, base=5000.0)


def test_text_becomes_tokens_and_tokens_text(heddle, tmp_path):
    """The pair with the best score is joined first; bytes stand for what is no token."""
    words = [(b"<unk>", 0), (b"<s>", 0), (b"</s>", 0), *((f"<0x{i:02X}>".encode(), 0)
                                                          for i in range(256))]
    words += [(word.encode(), score) for word, score in [
        (" ", -9), ("a", -9), ("b", -9), ("c", -9), ("ab", -3), ("bc", -2), ("abc", -6),
        (" a", -5), ("\u00e9", -9)]]
    numbers = (*TINY[:5], len(words), TINY[6])
    file = tmp_path / "tokenizer.bin"
    write_tokenizer(file, words)
    shape = ",".join(map(str, numbers))
    done = heddle(f"run {FUNCTIONAL} --shape {shape} --tokenizer {file} --tokens 3 "
                  "--prompt 'abc b!\u00e9'")
    known = {word: i for i, (word, _) in enumerate(words)}
    prompt = [1, *(known[word] for word in [b" a", b"bc", b" ", b"b", b"<0x21>", b"\xc3\xa9"])]
    tokens, _ = Model(numbers, seeded(numbers, 1)).run(prompt, 3)
    assert tokens_of(done) == tokens
    told = b"".join(bytes([i - 3]) if 3 <= i < 259 else words[i][0] for i in tokens[1:])[1:]
    assert f"text: {told.decode(errors='replace')}" in done.stdout
