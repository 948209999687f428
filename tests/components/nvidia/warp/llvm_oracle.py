#!/usr/bin/python3
"""Random functions in LLVM's intermediate representation, compiled to PTX and to x86-64: both must
give the same words. llvm_oracle.py RUN_KERNEL [FUNCTIONS [FIRST_SEED]]"""
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

THREADS = 128
WIDTHS = (8, 16, 32, 64)
FLOATS = {"float": "f32", "double": "f64"}


class Body:
    """One function i64 (i64, i64, i64): values by type, instructions, blocks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.count = 0
        self.block = "entry"
        self.values = {f"i{w}": [] for w in WIDTHS} | {name: [] for name in FLOATS}
        self.values["i64"] = ["%a", "%b", "%c"]
        self.declared = set()
        for w in (8, 16, 32):
            self.add(f"i{w}", f"trunc i64 {self.pick('i64')} to i{w}")
        self.add("float", f"sitofp i32 {self.pick('i32')} to float")
        self.add("double", f"sitofp i64 {self.pick('i64')} to double")
        self.add("float", f"bitcast i32 {self.pick('i32')} to float")
        self.add("double", f"bitcast i64 {self.pick('i64')} to double")

    def name(self, stem="v"):
        self.count += 1
        return f"%{stem}{self.count}"

    def add(self, kind, text):
        value = self.name()
        self.lines.append(f"  {value} = {text}")
        self.values.setdefault(kind, []).append(value)
        return value

    def pick(self, kind):
        if kind.startswith("i") and self.random.random() < 0.15:
            return str(self.random.choice((0, 1, -1, 7, 100, -128, 127)))
        return self.random.choice(self.values[kind])

    def call(self, kind, intrinsic, *arguments):
        types = ", ".join(a.split()[0] for a in arguments)
        self.declared.add(f"declare {kind} @{intrinsic}({types})")
        return self.add(kind, f"call {kind} @{intrinsic}({', '.join(arguments)})")

    # ---- one step each ----

    def integer(self):
        w = self.random.choice(WIDTHS)
        kind = f"i{w}"
        op = self.random.choice(("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr",
                                 "udiv", "urem", "sdiv", "srem"))
        x, y = self.pick(kind), self.pick(kind)
        if op in ("shl", "lshr", "ashr"):
            y = self.add(kind, f"and {kind} {y}, {w - 1}")
        if op in ("udiv", "urem"):
            y = self.add(kind, f"or {kind} {y}, 1")
        if op in ("sdiv", "srem"):
            y = self.add(kind, f"and {kind} {y}, {(1 << (w - 1)) - 1}")
            y = self.add(kind, f"or {kind} {y}, 1")
        self.add(kind, f"{op} {kind} {x}, {y}")

    def bits(self):
        w = self.random.choice((32, 64))
        kind = f"i{w}"
        x, y, z = (f"{kind} {self.pick(kind)}" for _ in range(3))
        name = self.random.choice(("ctpop", "ctlz", "cttz", "bswap", "bitreverse", "fshl", "fshr",
                                   "smax", "smin", "umax", "umin", "uadd.sat", "ssub.sat", "abs"))
        arguments = {"ctlz": [x, "i1 false"], "cttz": [x, "i1 false"], "abs": [x, "i1 false"],
                     "ctpop": [x], "bswap": [x], "bitreverse": [x], "fshl": [x, y, z],
                     "fshr": [x, y, z]}.get(name, [x, y])
        self.call(kind, f"llvm.{name}.{kind}", *arguments)

    def width(self):
        a, b = self.random.sample(WIDTHS, 2)
        if a > b:
            self.add(f"i{b}", f"trunc i{a} {self.pick(f'i{a}')} to i{b}")
        else:
            how = self.random.choice(("zext", "sext"))
            self.add(f"i{b}", f"{how} i{a} {self.pick(f'i{a}')} to i{b}")

    def select(self):
        kind = f"i{self.random.choice(WIDTHS)}"
        how = self.random.choice(("eq", "ne", "slt", "sle", "ugt", "uge", "sgt", "ult"))
        p = self.name("p")
        self.lines.append(f"  {p} = icmp {how} {kind} {self.pick(kind)}, {self.pick(kind)}")
        other = self.random.choice(list(self.values))
        self.add(other, f"select i1 {p}, {other} {self.pick(other)}, {other} {self.pick(other)}")

    def number(self):
        kind = self.random.choice(list(FLOATS))
        x, y, z = (self.pick(kind) for _ in range(3))
        op = self.random.choice(("fadd", "fsub", "fmul", "fdiv", "fma", "sqrt", "fneg", "compare",
                                 "floor", "trunc", "fabs"))
        if op in ("fma", "sqrt", "floor", "trunc", "fabs"):
            n = 3 if op == "fma" else 1
            self.call(kind, f"llvm.{op}.{FLOATS[kind]}", *[f"{kind} {v}" for v in (x, y, z)[:n]])
        elif op == "fneg":
            self.add(kind, f"fneg {kind} {x}")
        elif op == "compare":
            how = self.random.choice(("oeq", "one", "olt", "oge", "ult", "ueq", "uno", "ord"))
            p = self.name("p")
            self.lines.append(f"  {p} = fcmp {how} {kind} {x}, {y}")
            self.add("i32", f"zext i1 {p} to i32")
        else:
            self.add(kind, f"{op} {kind} {x}, {y}")

    def conversion(self):
        kind = self.random.choice(list(FLOATS))
        w = self.random.choice((32, 64))
        how = self.random.choice(("sitofp", "uitofp", "to int", "other"))
        if how == "to int":
            name = self.random.choice(("fptosi", "fptoui"))
            self.call(f"i{w}", f"llvm.{name}.sat.i{w}.{FLOATS[kind]}", f"{kind} {self.pick(kind)}")
        elif how == "other":
            self.add("double", f"fpext float {self.pick('float')} to double")
            self.add("float", f"fptrunc double {self.pick('double')} to float")
        else:
            self.add(kind, f"{how} i{w} {self.pick(f'i{w}')} to {kind}")

    def steps(self, n):
        for _ in range(n):
            self.random.choice((self.integer, self.integer, self.bits, self.width, self.select,
                                self.number, self.conversion))()

    # ---- control flow ----

    def begin(self, label):
        self.lines.append(f"{label[1:]}:")
        self.block = label[1:]

    def branch(self):
        """A diamond; what its sides make is joined in one value."""
        p, yes, no, end = (self.name(s) for s in ("p", "yes", "no", "end"))
        self.lines.append(f"  {p} = icmp ult i32 {self.pick('i32')}, {self.pick('i32')}")
        self.lines.append(f"  br i1 {p}, label {yes}, label {no}")
        outer, joined = {k: list(v) for k, v in self.values.items()}, []
        for label in (yes, no):
            self.begin(label)
            self.steps(self.random.randrange(1, 6))
            if self.random.random() < 0.3:
                self.loop()
            joined.append((self.values["i64"][-1], self.block))
            self.lines.append(f"  br label {end}")
            self.values = {k: list(v) for k, v in outer.items()}
        self.begin(end)
        self.add("i64", "phi i64 " + ", ".join(f"[ {v}, %{b} ]" for v, b in joined))

    def loop(self):
        """As often as bits of a value say, so differently by lane."""
        most = self.add("i64", f"and i64 {self.pick('i64')}, {self.random.choice((3, 7, 15))}")
        before, start, end = self.block, self.name("loop"), self.name("end")
        first = self.pick("i64")
        self.lines.append(f"  br label {start}")
        self.begin(start)
        index, value = self.name("i"), self.name("x")
        at = len(self.lines)
        outer = {k: list(v) for k, v in self.values.items()}
        self.values["i64"] += [index, value]
        self.steps(self.random.randrange(2, 6))
        after = self.add("i64", f"xor i64 {value}, {self.pick('i64')}")
        following = self.add("i64", f"add i64 {index}, 1")
        self.lines[at:at] = [f"  {index} = phi i64 [ 0, %{before} ], "
                             f"[ {following}, %{self.block} ]",
                             f"  {value} = phi i64 [ {first}, %{before} ],"
                             f" [ {after}, %{self.block} ]"]
        p = self.name("p")
        self.lines.append(f"  {p} = icmp ult i64 {following}, {most}")
        self.lines.append(f"  br i1 {p}, label {start}, label {end}")
        self.begin(end)
        self.values = outer
        self.values["i64"].append(after)

    def text(self):
        for _ in range(self.random.randrange(3, 8)):
            self.steps(self.random.randrange(2, 8))
            self.random.choice((self.branch, self.loop))()
        result = self.pick("i64")
        for kind, values in list(self.values.items()):
            for value in values[-4:]:
                result = self.fold(kind, value, result)
        return "\n".join(["define internal i64 @body(i64 %a, i64 %b, i64 %c) {", "entry:",
                          *self.lines, f"  ret i64 {result}", "}"])

    def fold(self, kind, value, result):
        """The value's bits into the result; all NaNs count as one."""
        if kind in FLOATS:
            w = 32 if kind == "float" else 64
            p, bits = self.name("p"), self.name()
            self.lines.append(f"  {p} = fcmp uno {kind} {value}, {value}")
            self.lines.append(f"  {bits} = bitcast {kind} {value} to i{w}")
            value = self.add(f"i{w}", f"select i1 {p}, i{w} 12345, i{w} {bits}")
            kind = f"i{w}"
        if kind != "i64":
            value = self.add("i64", f"zext {kind} {value} to i64")
        turned = self.add("i64", f"mul i64 {result}, 6364136223846793005")
        return self.add("i64", f"xor i64 {turned}, {value}")


PTX = """target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @kernel(ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
"""
X86 = """target triple = "x86_64-pc-linux-gnu"
define void @one(ptr %p, i64 %i) {
"""
ACCESS = """  %w = getelementptr i64, ptr SPACE %p, i64 %at0
  %x = load i64, ptr SPACE %w
  %w1 = getelementptr i64, ptr SPACE %w, i64 1
  %y = load i64, ptr SPACE %w1
  %w2 = getelementptr i64, ptr SPACE %w, i64 2
  %z = load i64, ptr SPACE %w2
  %d = call i64 @body(i64 %x, i64 %y, i64 %z)
  %w3 = getelementptr i64, ptr SPACE %w, i64 3
  store i64 %d, ptr SPACE %w3
  ret void
}
"""
KERNEL = ("!nvvm.annotations = !{!0}\n"
          '!0 = !{ptr @kernel, !"kernel", i32 1}\n')
MAIN = """#include <stdio.h>
#include <stdint.h>
void one(void *p, int64_t i);
int main(void) { static uint64_t w[1 << 16]; size_t n = fread(w, 32, 1 << 14, stdin);
for (size_t i = 0; i < n; i++) one(w, (int64_t)i); fwrite(w, 32, n, stdout); return 0; }
"""


def operands(seed):
    r = random.Random(seed)
    words = []
    for _ in range(THREADS):
        for _ in range(3):
            words.append(r.choice((r.getrandbits(64), r.getrandbits(64) >> r.randrange(64),
                                   (1 << 64) - 1 - (r.getrandbits(8)), r.getrandbits(4))))
        words.append(0)
    return struct.pack(f"<{len(words)}Q", *words)


def module(head, space, body, tail=""):
    access = "  %at0 = mul i64 %i, 4\n" + ACCESS.replace("SPACE ", space)
    return head + access + body.code + "\n" + "\n".join(sorted(body.declared)) + "\n" + tail


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr.decode()}")
    return done.stdout


def check(run_kernel, folder, seed):
    body = Body(seed)
    body.code = body.text()
    level = ("-O0", "-O2")[seed % 2]
    device, host = folder / "device.ll", folder / "host.ll"
    device.write_text(module(PTX, "addrspace(1) ", body, KERNEL))
    host.write_text(module(X86, "", body))
    run(["llc-19", level, "-mcpu=sm_80", "--fp-contract=off", "-nvptx-prec-divf32=2",
         str(device), "-o", str(folder / "device.ptx")])
    run(["clang-19", "-O1", "-w", "-ffp-contract=off", str(host), str(folder / "main.c"), "-lm",
         "-o", str(folder / "host")])
    data = operands(seed)
    on_device = run([run_kernel, str(folder / "device.ptx"), "kernel", "1", str(THREADS)],
                    input=data)
    on_host = run([str(folder / "host")], input=data)
    if on_device == on_host:
        return
    a, b = (struct.unpack(f"<{THREADS * 4}Q", x) for x in (on_device, on_host))
    thread = next(i for i in range(THREADS) if a[4 * i + 3] != b[4 * i + 3])
    sys.exit(f"seed {seed} ({level}), thread {thread}: {a[4 * thread + 3]:#x} on the device,"
             f" {b[4 * thread + 3]:#x} on the host; "
             f"operands {[hex(x) for x in a[4 * thread:][:3]]}")


def main():
    if any(not Path("/usr/bin", tool).exists() for tool in ("llc-19", "clang-19")):
        print("llc-19 and clang-19 are not installed: ./dev setup")
        sys.exit(77)
    usual = int(os.environ.get("HEDDLE_WARP_FUNCTIONS", 8))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else usual
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "main.c").write_text(MAIN)
        for seed in range(first, first + count):
            check(sys.argv[1], folder, seed)
    print(f"{count} functions, {count * THREADS} threads: the same words")


if __name__ == "__main__":
    main()
