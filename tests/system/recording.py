"""Compares a recording of instructions with what else is known of the run, for test_recordings.py.

Nothing of heddle's readers is used: lines are taken apart here, and units told by the names of
instructions."""
import collections
import csv
import glob
import io
import os
import re
import subprocess

from harness import HEDDLE

LINE = 64
BRANCHES = ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")
SPECIAL = ("s_waitcnt", "s_nop", "s_barrier", "s_endpgm", "s_sleep", "s_sendmsg", "s_setprio",
           "s_trap", "s_sethalt", "s_icache", "s_ttrace", "s_incperf", "s_decperf", "s_setkill",
           "s_wakeup", "s_set_gpr_idx_mode", "s_set_gpr_idx_off")
SCALAR_MEMORY = ("s_load", "s_store", "s_buffer", "s_memtime", "s_memrealtime", "s_dcache",
                 "s_scratch", "s_atc")
UNITS = ("valu", "salu", "vmem_instructions", "smem_instructions", "lds_instructions", "branches")


def fail(text):
    raise AssertionError(text)


def text_of(path):
    return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True, text=True).stdout


def unit_of(name):
    if name.startswith("v_"):
        return "valu"
    if name.startswith("ds_"):
        return "lds_instructions"
    if name.startswith(("flat_", "global_", "scratch_", "buffer_")):
        return "vmem_instructions"
    if name.startswith(SCALAR_MEMORY):
        return "smem_instructions"
    if name.startswith(BRANCHES):
        return "branches"
    return "special" if name.startswith(SPECIAL) else "salu"


Step = collections.namedtuple("Step", "pc mask name width addresses rest")


def take_step(line):
    words = line.split()
    at = 3 + int(words[2])
    name = words[at]
    at += 2 + int(words[at + 1])
    width = int(words[at])
    mask, at, addresses = int(words[1], 16), at + 1, []
    if width:
        count, mode, base = bin(mask).count("1"), int(words[at]), int(words[at + 1], 16)
        addresses = [base] if count else []
        if mode == 0:
            addresses = [int(w, 16) for w in words[at + 1:at + 1 + count]]
            at += 1 + count
        elif mode == 1:
            addresses = [base + i * int(words[at + 2]) for i in range(count)]
            at += 3
        else:
            for i in range(1, count):
                addresses.append(addresses[-1] + int(words[at + 1 + i]))
            at += 1 + count
    return Step(int(words[0], 16), mask, name, width, addresses, [int(w, 0) for w in words[at:]])


class Kernel:
    """A trace: header, and {(x, y, z): {warp: [step]}}."""

    def __init__(self, path):
        self.path, self.header, self.code, self.groups = path, {}, {}, {}
        left = 0
        for line in text_of(path).splitlines():
            if left:
                left -= 1
                self.groups[group][warp].append(take_step(line))
            elif line.startswith("-"):
                key, value = line[1:].split(" = ", 1)
                self.header[key] = value
                if key == "code":
                    address, digits = value.split()
                    for i, byte in enumerate(bytes.fromhex(digits)):
                        self.code[int(address, 16) + i] = byte
            elif line.startswith("thread block = "):
                group = tuple(int(n) for n in line[15:].split(","))
                self.groups[group] = {}
            elif line.startswith("warp = "):
                warp = int(line[7:])
                self.groups[group][warp] = []
            elif line.startswith("insts = "):
                left = int(line[8:])
            elif line and not line.startswith("#"):
                fail(f"{path}: a line that is none: {line[:60]}")

    def portable(self):
        """The steps with addresses of private memory as they lie in the wavefront's area: which one
        it gets, depends on time."""
        if "scratch" not in self.header:
            return self.groups
        start, size = (int(n, 0) for n in self.header["scratch"].split(","))
        private = int.from_bytes(bytes.fromhex(self.header["packet"])[24:28], "little")
        area = (64 * private + 1023) // 1024 * 1024

        def move(a):
            return (a - start) % area if start <= a < start + size else a

        def moved(steps):
            return [s._replace(addresses=[move(a) for a in s.addresses]) for s in steps]

        return {group: {warp: moved(steps) for warp, steps in waves.items()}
                for group, waves in self.groups.items()}

    def waves(self):
        return [steps for group in self.groups.values() for steps in group.values()]

    def numbers(self):
        """What the statistics count."""
        units, lines, atomics = collections.Counter(), 0, 0
        for steps in self.waves():
            for s in steps:
                unit = unit_of(s.name)
                units[unit] += 1
                if unit != "vmem_instructions" or not s.addresses:
                    continue
                atomics += "atomic" in s.name
                apart = s.rest[-1] if len(s.rest) > 1 else 0
                runs = [(a, s.width) for a in s.addresses]
                if apart:
                    runs = [(a + i * apart, 4) for a in s.addresses for i in range(s.width // 4)]
                lines += len({line for a, w in runs
                              for line in range(a // LINE, (a + w - 1) // LINE + 1)})
        return units, lines, atomics


def kernels_of(folder):
    paths = glob.glob(os.path.join(folder, "kernel-*.traceg.zst"))
    return [Kernel(p) for p in sorted(paths, key=lambda p: int(re.search(r"kernel-(\d+)", p)[1]))]


def told(*command):
    """What heddle says on standard output; it must have no complaints."""
    done = subprocess.run([HEDDLE, *command], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stdout[-500:] + done.stderr[-500:]
    return done.stdout


def disassembly(code, isa):
    """{address: [(words, mnemonic)]}: one for each kernel that has something there."""
    out = subprocess.run([HEDDLE, "disasm", code, "--mcpu", isa], capture_output=True,
                         text=True).stdout
    found = {}
    for line in out.splitlines():
        m = re.match(r" +([0-9a-f]+): ((?:[0-9a-f]{8} )+) +(\w+)", line)
        if m:
            found.setdefault(int(m.group(1), 16), []).append((m.group(2).split(), m.group(3)))
    return found


def check_code(kernel, listing):
    """Opcodes are those of the disassembler, at the same places; the header has the very bytes."""
    base, seen = int(kernel.header["code base"], 16), set()
    for steps in kernel.waves():
        for s in steps:
            if (s.pc, s.name) in seen:
                continue
            seen.add((s.pc, s.name))
            words = listing.get(s.pc, [])
            got = [bytes(kernel.code.get(base + s.pc + i, 0) for i in range(4 * len(w)))
                   for w, _ in words]
            want = [b"".join(int(x, 16).to_bytes(4, "little") for x in w) for w, _ in words]
            if not any(name == s.name and g == w for (_, name), g, w in zip(words, got, want)):
                fail(f"{kernel.path}: {s.name} at {s.pc:x} is not what disasm says: {words}")
    return len(seen)


def check_shape(kernel):
    grid = [int(n) for n in kernel.header["grid dim"].strip("()").split(",")]
    order = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    if list(kernel.groups) != order:
        fail(f"{kernel.path}: work-groups are missing or out of order")
    for group, waves in kernel.groups.items():
        if list(waves) != list(range(len(waves))) or not waves:
            fail(f"{kernel.path}: wavefronts of {group}: {list(waves)}")
    if any(not steps or steps[-1].name != "s_endpgm" for steps in kernel.waves()):
        fail(f"{kernel.path}: a wavefront does not end with s_endpgm")


def row_of_run(k):
    """What the statistics say of a kernel."""
    row = {name: k[name] for name in ("symbol", "wavefront_instructions", "work_groups")}
    if "profile" in k:  # of functional mode, in the order of enum isa_unit
        names = ("salu", "valu", "smem_instructions", "vmem_instructions", "lds_instructions",
                 "branches", "special")
        row.update(zip(names, map(int, k["profile"]["units"].split())))
    elif "components" in k and not k["overlaps"]:
        units = [v for path, v in k["components"].items() if re.search(r"\.cu(\[[^]]*\])?$", path)]
        for name in (*UNITS, "vmem_lines"):
            row[name] = sum(u.get(name, 0) for u in units)
    return row


def row_of_trace(k):
    """What the recording says of a kernel."""
    units, lines, atomics = k.numbers()
    row = {"symbol": k.header["kernel name"], "wavefront_instructions": sum(units.values()),
           "work_groups": len(k.groups)}
    row.update({n: units[n] for n in (*UNITS, "special")})
    row["vmem_lines"] = None if atomics else lines
    return row


def check_stats(kernels, stats):
    """Numbers of the kernels that ran alone, and the sums of all."""
    left = [row_of_trace(k) for k in kernels]
    for row in map(row_of_run, stats["kernels"]):
        match = [r for r in left if all(row[name] == r[name] for name in row
                                        if r.get(name) is not None)]
        if not match:
            alike = [r for r in left if r["symbol"] == row["symbol"]][:3]
            fail(f"no trace agrees with {row}; there are {alike}")
        left.remove(match[0])
    assert not left, f"{len(left)} traces without a kernel in the statistics"


def check_csv(folder, kernels):
    """What `heddle trace stats` counts is what stands there."""
    out = told("trace", "stats", "--csv", "--no-cache", "--line", str(LINE),
               os.path.join(folder, "kernelslist.g"))
    rows = list(csv.DictReader(io.StringIO(out)))
    columns = {"valu": "valu", "salu": "salu", "vmem": "vmem_instructions",
               "smem": "smem_instructions", "lds": "lds_instructions", "branches": "branches",
               "special": "special"}
    assert len(rows) == len(kernels)
    for row, kernel in zip(rows, kernels):
        units, lines, _ = kernel.numbers()
        got = {name: int(row[column]) for column, name in columns.items()}
        assert got == {name: units[name] for name in columns.values()}, kernel.path
        assert int(row["unknown"]) == 0, kernel.path
        if int(row["local_references"]) == 0:
            assert int(row["vector_line_references"]) == lines, kernel.path


def check(folder, stats, code):
    """Against the run's statistics, and the disassembly of its code object."""
    said = told("trace", "check", os.path.join(folder, "kernelslist.g")).splitlines()
    kernels = kernels_of(folder)
    assert len(said) == len(kernels)
    assert all(" 0 errors, 0 warnings, " in line for line in said)
    listings, opcodes = {}, 0
    for kernel in kernels:
        isa = kernel.header["isa"]
        if isa not in listings:
            listings[isa] = disassembly(code, isa)
        check_shape(kernel)
        opcodes += check_code(kernel, listings[isa])
    check_stats(kernels, stats)
    check_csv(folder, kernels)
    assert kernels and opcodes, "nothing to compare"


def same(a, b):
    """The same steps, whatever the headers say."""
    x, y = kernels_of(a), kernels_of(b)
    assert x and len(x) == len(y)
    for k, other in zip(x, y):
        if k.portable() != other.portable():
            fail(f"{k.path} and {other.path} have different steps")


def check_list(lines):
    """What the program calls, in its order; the fourth allocation is its code."""
    copy = ["Malloc", "MemcpyHtoD", "Wait"]
    launch = ["kernel-1.traceg.zst", "Wait", "MemcpyDtoH", "Wait"]
    want = ["Stream"] + 4 * copy + launch + 4 * ["Free"]
    if [line.split(",")[0] for line in lines] != want:
        fail(f"the list has {lines}")
    waits = [int(line.split(",")[1]) for line in lines if line.startswith("Wait")]
    if waits != [1, 2, 3, 4, 5, 6]:
        fail(f"the host waits for {waits}")


def check_scalars(kernel, steps):
    """The kernel's arguments are where its packet says; the packet is where the header says."""
    arguments = int.from_bytes(bytes.fromhex(kernel.header["packet"])[40:48], "little")
    places = {arguments, int(kernel.header["packet address"], 16)}
    loads = [s for s in steps if s.name.startswith("s_load")]
    if len(loads) < 3 or {s.addresses[0] - s.rest[0] for s in loads} != places:
        fail(f"{kernel.path}: scalar loads touch {[hex(s.addresses[0]) for s in loads]}")


def check_masks(path, steps, items, first):
    """All lanes are active until those beyond the end are switched off."""
    mask = sum(1 << (i - first) for i in items)
    off = next(i for i, s in enumerate(steps) if s.name == "s_and_saveexec_b64")
    memory = ("smem_instructions", "vmem_instructions")
    plain = [s.mask for s in steps[off + 1:] if unit_of(s.name) not in memory]
    before = [s.mask for s in steps[:off + 1] if unit_of(s.name) != "smem_instructions"]
    if set(before) != {2 ** 64 - 1} or set(plain) != {mask}:
        fail(f"{path}: masks {[hex(m) for m in before + plain]}, not {mask:x}")


def check_vectoradd(folder):
    """c[i] = a[i] + b[i] for 10000 floats in work-groups of 256; allocations are in the list."""
    n = 10000
    with open(os.path.join(folder, "kernelslist.g")) as file:
        lines = [line.strip() for line in file]
    check_list(lines)
    a, b, c = [int(line.split(",")[1], 16) for line in lines
               if re.fullmatch(f"Malloc,0x[0-9a-f]+,{4 * n}", line)]
    (kernel,) = kernels_of(folder)
    assert len(kernel.groups) == 40
    for (x, _, _), waves in kernel.groups.items():
        for warp, steps in waves.items():
            first = 256 * x + 64 * warp
            items = [i for i in range(first, first + 64) if i < n]
            check_masks(kernel.path, steps, items, first)
            touched = [(s.name.split("_")[1], s.addresses) for s in steps
                       if unit_of(s.name) == "vmem_instructions"]
            want = [("load", [v + 4 * i for i in items]) for v in (a, b)]
            want += [("store", [c + 4 * i for i in items])]
            if items:
                check_scalars(kernel, steps)
            assert touched == (want if items else []), f"work-group {x}, wavefront {warp}"
