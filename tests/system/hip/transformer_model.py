"""A transformer of Llama's kind in numpy, beside which docs/examples/transformer is tested: written
from the model's formulas and the file formats, not from the kernels."""
import struct

import numpy as np

TINY = (64, 160, 2, 8, 4, 256, 64)
NAMES = ["embedding", "attention_norm", "query", "key", "value", "output", "ffn_norm", "gate",
         "down", "up", "final_norm", "classifier"]
GROUP = 32


def shape_of(numbers, name):
    """Rows and columns of a tensor."""
    dim, hidden, _, heads, kv_heads, vocabulary, _ = numbers
    rows = {"embedding": vocabulary, "classifier": vocabulary, "gate": hidden, "up": hidden,
            "key": dim // heads * kv_heads, "value": dim // heads * kv_heads}
    norm = name.endswith("norm")
    return (1 if norm else rows.get(name, dim)), (hidden if name == "down" else dim)


def seeded(numbers, seed):
    """The weights that a seed stands for: {name: [an array for each layer]}."""
    weights = {}
    for number, name in enumerate(NAMES[:-1]):
        rows, columns = shape_of(numbers, name)
        weights[name] = []
        for layer in range(1 if name in ("embedding", "final_norm") else numbers[2]):
            first = (number * 512 + layer << 40) + 1
            z = np.arange(rows * columns, dtype=np.uint64) + np.uint64(first)
            z = z * np.uint64(0x9e3779b97f4a7c15) + np.uint64(seed)
            z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
            z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
            z = ((z ^ z >> np.uint64(31)) >> np.uint64(40)).astype(np.float32) - 2**23
            scale = np.float32(0.02 if name == "embedding" else np.sqrt(np.float32(3 / columns)))
            values = z * (scale / np.float32(2**23))
            weights[name].append(np.ones((1, columns), np.float32) if "norm" in name
                                 else values.reshape(rows, columns))
    weights["classifier"] = weights["embedding"]
    return weights


def bf16(x):
    """Rounded to the nearest value with 8 bits of precision, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
    return bits.astype(np.uint32).view(np.float32)


def half(x):
    return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)


def groups(w):
    """Integers and scales of int8 weights."""
    rows, columns = w.shape
    padded = np.zeros((rows, -(-columns // GROUP) * GROUP), np.float32)
    padded[:, :columns] = w
    blocks = padded.reshape(rows, -1, GROUP)
    scales = np.abs(blocks).max(axis=2, keepdims=True) / np.float32(127)
    return np.rint(blocks / np.where(scales > 0, scales, 1)), scales


def int8(w):
    whole, scales = groups(w)
    return (whole * scales).reshape(len(w), -1)[:, :w.shape[1]]


# How a type rounds weights and what they are multiplied with.
TYPES = {"fp32": (np.float32, np.float32), "fp16": (half, half), "bf16": (bf16, bf16),
         "int8": (int8, half)}


class Model:
    """Tokens one after the other, in double precision but for what types round."""

    def __init__(self, numbers, weights, kind="fp32", epsilon=1e-5, base=10000.0):
        self.numbers, self.epsilon = numbers, epsilon
        weight, self.operand = TYPES[kind]
        self.weights = {name: [np.float64(w if "norm" in name else weight(w)) for w in layers]
                        for name, layers in weights.items()}
        head = numbers[0] // numbers[3]
        self.rates = base ** (-np.arange(0, head, 2) / head)
        self.cache = [([], []) for _ in range(numbers[2])]

    def norm(self, x, weight):
        return weight[0] * x / np.sqrt((x * x).mean() + self.epsilon)

    def product(self, name, layer, x):
        return self.weights[name][layer] @ np.float64(self.operand(x))

    def turned(self, x, position):
        """Pairs of a head's values as complex numbers."""
        angles = np.exp(1j * position * self.rates)
        pairs = x.reshape(-1, len(self.rates), 2)
        turned = (pairs[..., 0] + 1j * pairs[..., 1]) * angles
        return np.stack([turned.real, turned.imag], axis=-1).reshape(len(pairs), -1)

    def attention(self, layer, x):
        heads, kv_heads = self.numbers[3:5]
        keys, values = self.cache[layer]
        position = len(keys)
        query = self.turned(self.product("query", layer, x), position)
        keys.append(self.turned(self.product("key", layer, x), position))
        values.append(self.product("value", layer, x).reshape(kv_heads, -1))
        many_keys, many_values = (np.repeat(np.stack(one, axis=1), heads // kv_heads, axis=0)
                                  for one in (keys, values))
        scores = np.einsum("hd,hpd->hp", query, many_keys) / np.sqrt(query.shape[1])
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        parts /= parts.sum(axis=1, keepdims=True)
        return np.einsum("hp,hpd->hd", parts, many_values).ravel()

    def logits(self, token):
        x, w = self.weights["embedding"][0][token], self.weights
        for layer in range(self.numbers[2]):
            inner = self.attention(layer, self.norm(x, w["attention_norm"][layer]))
            x = x + self.product("output", layer, inner)
            inner = self.norm(x, w["ffn_norm"][layer])
            gate, up = (self.product(name, layer, inner) for name in ("gate", "up"))
            x = x + self.product("down", layer, gate / (1 + np.exp(-gate)) * up)
        return self.product("classifier", 0, self.norm(x, w["final_norm"][0]))

    def run(self, prompt, count):
        """All tokens, and the logits of each new one."""
        tokens, told = list(prompt), []
        for at in range(len(prompt) + count - 1):
            logits = self.logits(tokens[at])
            if at >= len(prompt) - 1:
                told.append(logits)
                tokens.append(int(np.argmax(logits)))
        return tokens, np.array(told)


def prompt_of(numbers, count=4):
    return [(1 + 37 * i) % numbers[5] for i in range(count)]


def write_bin(path, numbers, weights, own_classifier=False):
    """A checkpoint of the small-stories models."""
    dim, _, _, heads, _, vocabulary, positions = numbers
    head = (*numbers[:5], -vocabulary if own_classifier else vocabulary, positions)
    angles = [np.zeros(positions * (dim // heads))]
    order = [*(weights[name] for name in NAMES[:-1]), angles,
             *([weights["classifier"]] if own_classifier else [])]
    path.write_bytes(struct.pack("<7i", *head) + b"".join(
        np.float32(tensor).tobytes() for tensors in order for tensor in tensors))


GGUF_NAMES = ["token_embd", "blk.{}.attn_norm", "blk.{}.attn_q", "blk.{}.attn_k", "blk.{}.attn_v",
              "blk.{}.attn_output", "blk.{}.ffn_norm", "blk.{}.ffn_gate", "blk.{}.ffn_down",
              "blk.{}.ffn_up", "output_norm", "output"]


def as_q8_0(w):
    """Groups of 32 bytes behind a scale in half precision; what they stand for, too."""
    blocks = w.reshape(-1, GROUP)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    whole = np.rint(blocks / np.where(scales > 0, np.float32(scales), 1)).astype(np.int8)
    packed = b"".join(s.tobytes() + q.tobytes() for s, q in zip(scales, whole))
    return packed, (whole * np.float32(scales)).reshape(w.shape)


# Number of a type, and its bytes for an array with the values that these have.
GGUF_TYPES = {
    "F32": (0, lambda w: (w.tobytes(), w)),
    "F16": (1, lambda w: (w.astype(np.float16).tobytes(), half(w))),
    "Q8_0": (8, as_q8_0),
    "BF16": (30, lambda w: ((bf16(w).view(np.uint32) >> 16).astype(np.uint16).tobytes(), bf16(w)))}


def text(word):
    return struct.pack("<Q", len(word)) + word.encode()


def gguf(numbers, weights, kind, **values):
    """The bytes of a file with all matrices of one type, and the weights that it has."""
    dim, hidden, layers, heads, kv_heads, _, positions = numbers
    known = {"llama.embedding_length": dim, "llama.feed_forward_length": hidden,
             "llama.block_count": layers, "llama.attention.head_count": heads,
             "llama.attention.head_count_kv": kv_heads, "llama.context_length": positions,
             "general.alignment": 64, "llama.rope.freq_base": 5000.0,
             "general.architecture": "llama", "a.list": ["one", "two"], **values}
    alignment = 64
    out, kinds = b"", {int: (4, "<I"), float: (6, "<f")}
    for key, value in known.items():
        out += text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            out += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
        else:
            out += struct.pack("<I", kinds[type(value)][0])
            out += struct.pack(kinds[type(value)][1], value)
    data, read, count = b"", {}, 0
    for name, pattern in zip(NAMES[:-1], GGUF_NAMES):
        number, pack = GGUF_TYPES["F32" if "norm" in name else kind]
        read[name] = []
        for layer, tensor in enumerate(weights[name]):
            packed, became = pack(np.float32(tensor))
            read[name].append(became)
            sizes = tensor.shape[::-1] if len(tensor) > 1 else tensor.shape[1:]
            out += text(pattern.format(layer) + ".weight") + struct.pack(
                f"<I{len(sizes)}QIQ", len(sizes), *sizes, number, len(data))
            data += packed + b"\0" * (-len(packed) % alignment)
            count += 1
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(known)) + out
    read["classifier"] = read["embedding"]
    return head + b"\0" * (-len(head) % alignment) + data, read


def write_tokenizer(path, words):
    """Words with scores."""
    path.write_bytes(struct.pack("<i", max(len(word) for word, _ in words)) + b"".join(
        struct.pack("<fi", score, len(word)) + word for word, score in words))
