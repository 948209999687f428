"""The transformer of docs/examples makes the tokens of a model in numpy."""
import re
import struct

import numpy as np
import pytest

from harness import PROGRAMS, call
from programs import built, only_full
from transformer_model import (GGUF_TYPES, TINY, TYPES, Model, gguf, prompt_of, seeded, write_bin,
                               write_tokenizer)

SEED = 2
MACHINES = ["r9nano", "mi210", "mi300x"]


def program_for(machine, name="transformer"):
    return built(PROGRAMS / (f"{name}.gfx90a" if machine.startswith("mi210") else name))


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
    ("r9nano", "fp16", "timing"), ("mi300x", "fp32", "timing"), ("r9nano", "int8", "functional"),
    ("mi300x", "bf16", "functional"),
    *only_full(*((machine, kind, mode) for machine in MACHINES for kind in TYPES
                 for mode in ("timing", "functional")))])
def test_tokens_are_those_of_the_model(heddle, tmp_path, machine, kind, mode):
    """A prompt of ten goes through the products of matrices, the others through those of a
    vector."""
    same_as_model(heddle, tmp_path, f"platforms/{machine}.heddle --mode {mode} -- "
                  f"{program_for(machine)} --seed {SEED} --prompt-tokens 10", TINY,
                  seeded(TINY, SEED), kind, prompt_of(TINY, 10), 5)


FUNCTIONAL = f"platforms/r9nano.heddle --mode functional -- {PROGRAMS}/transformer"
# Rows and columns that fill no tile and no group, heads of 12 values, three queries for a key.
ODD = (72, 100, 3, 6, 2, 300, 40)


@pytest.mark.parametrize("kind", ["fp32", *only_full("fp16", "bf16", "int8")])
def test_sizes_need_not_fill_tiles(heddle, tmp_path, kind):
    shape = ",".join(map(str, ODD))
    for machine in "r9nano", "mi300x":
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


# Machines of several GPUs, made small, and how many they have.
SMALL = "--set vram=1GiB --max-cycles 40000000"
# Of a platform and a setting: GB/s of a link, GPUs, other settings.
NODES = {"mi210_x2": (150, 2, f"{SMALL} --set arrays=2 --set channels=4 --set l2=256KiB"),
         "r9nano_x4": (32, 4, "--set gpu.arrays=2 --set gpu.banks=4"),
         "mi300x_x8": (64, 8, f"{SMALL} --set xcds=2 --set arrays=1"),
         "mi300x_x8 --set gpus=2": (64, 2, f"{SMALL} --set xcds=2 --set arrays=1")}


def file_of(node):
    name, *settings = node.split(maxsplit=1)
    return " ".join([f"{name}.heddle", *settings])


@pytest.mark.parametrize("node", ["mi300x_x8 --set gpus=2",
                                  *only_full("mi210_x2", "r9nano_x4", "mi300x_x8")])
def test_collectives_are_right_and_take_what_their_bytes_take(heddle, node):
    """Between what the bytes need alone and, with what a step costs, half as much again."""
    rate, _, options = NODES[node]
    done = heddle(f"run platforms/{file_of(node)} {options} -- "
                  f"{program_for(node, 'ring_collectives')} 40001 {rate}", "PASS")
    times = re.findall(r"^(\S+) +([\d.]+) us, closed form +([\d.]+) us$", done.stdout, re.M)
    assert [name for name, *_ in times] == ["reduce-scatter", "all-gather", "all-reduce",
                                            "broadcast"]
    for _, time, closed_form in times:
        assert 0.7 < float(time) / float(closed_form) < 1.5


@pytest.mark.parametrize("node, kind", [
    ("mi300x_x8 --set gpus=2", "fp32"),
    *only_full(("mi210_x2", "fp32"), ("r9nano_x4", "int8"), ("mi300x_x8", "bf16"))])
def test_gpus_that_share_a_model_make_its_tokens(heddle, tmp_path, node, kind):
    """On eight GPUs two have each head of keys."""
    _, gpus, options = NODES[node]
    same_as_model(heddle, tmp_path, f"platforms/{file_of(node)} {options} -- {program_for(node)} "
                  f"--seed {SEED} --gpus {gpus} --prompt-tokens 9", TINY, seeded(TINY, SEED), kind,
                  prompt_of(TINY, 9), 3)


def refused(tmp_path, content, *says, status=1):
    """The program reads a file before it asks for a GPU, so it needs no machine for this."""
    file = tmp_path / "bad"
    file.write_bytes(content)
    return call([PROGRAMS / "transformer", "--model", file], *says, status=status)


def test_checkpoint_with_a_mistake_is_refused(tmp_path):
    head = list(TINY)
    write_bin(tmp_path / "good", TINY, seeded(TINY, 1))
    good = (tmp_path / "good").read_bytes()
    refused(tmp_path, b"", "the file is empty")
    refused(tmp_path, good[:20], "ends after 20 bytes")
    for wrong in good[:-4], good + b"\0":
        refused(tmp_path, wrong, f"has {len(wrong)} bytes, and its header says {len(good)}")
    for at, value, says in [
            (0, 0, "a dimension of 0 is not"), (0, 2**31 - 1, "a dimension of 2147483647 is not"),
            (1, -5, "a hidden dimension of -5 is not"), (2, 1 << 20, "number of layers of 1048576"),
            (3, 7, "64 values, 7 heads and 4 KV heads do not divide each other"),
            (4, 3, "8 heads and 3 KV heads"), (3, 32, "a head of 2 values"),
            (5, -2**31, "a vocabulary of -2147483648"), (6, 1 << 30, "number of positions of"),
            (5, 1 << 20, "its header says"), (2, 512, "its header says")]:
        numbers = [*head[:at], value, *head[at + 1:]]
        refused(tmp_path, struct.pack("<7i", *numbers) + good[28:], says)
    call([PROGRAMS / "transformer", "--model", tmp_path], "cannot be read|not a file", status=1)
    call([PROGRAMS / "transformer", "--model", tmp_path / "none"], "No such file", status=1)


def test_gguf_with_a_mistake_is_refused(tmp_path):
    weights = seeded(TINY, 1)
    good = gguf(TINY, weights, "F16")[0]
    end = len(good)
    refused(tmp_path, good[:4] + b"\1" + good[5:], "GGUF of version 1; 2 and 3")
    refused(tmp_path, good[:8] + b"\xff" * 8 + good[16:], "ends after|has type|dimensions")
    refused(tmp_path, good[:end - 64], "'(blk.1.ffn_up|output_norm).weight' ends behind")
    refused(tmp_path, good.replace(b"attn_v", b"attn_w"), "'blk.0.attn_v.weight' is missing")
    at = good.index(b"blk.0.attn_q.weight") + len("blk.0.attn_q.weight")
    refused(tmp_path, good[:at + 4] + b"\x20" + good[at + 5:],
            "'blk.0.attn_q.weight' is 64 x 32, and the model needs 64 x 64")
    refused(tmp_path, good[:at + 20] + b"\2" + good[at + 21:], "type 2; F32, F16, BF16 and Q8_0")
    refused(tmp_path, good[:at] + b"\5" + good[at + 1:], "has 5 dimensions")
    refused(tmp_path, good[:at + 24] + b"\xff" * 8 + good[at + 32:], "ends behind the end")
    for values, says in [({"general.architecture": "bert"}, "architecture 'bert'"),
                         ({"llama.block_count": 0}, "a number of layers of 0 is not"),
                         ({"llama.rope.dimension_count": 4}, "only a part of each head"),
                         ({"general.alignment": 3}, "an alignment of 3")]:
        refused(tmp_path, gguf(TINY, weights, "F16", **values)[0], says)


@pytest.mark.parametrize("step", [97, *only_full(7)])
def test_damaged_gguf_never_crashes(tmp_path, step):
    """Cut short, and with bytes that are others: what is read is checked, or is none of its
    business. A file that passes fails later, for want of a GPU."""
    good = gguf(TINY, seeded(TINY, 1), "F32")[0]
    head = good.index(b"output_norm.weight") + 50
    for at in range(0, head, step):
        refused(tmp_path, good[:at], "transformer: .*/bad: ")
        refused(tmp_path, good[:at] + bytes([good[at] ^ 0xff]) + good[at + 1:])
