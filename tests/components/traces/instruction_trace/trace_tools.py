#!/usr/bin/env python3
"""The tools of `heddle trace` against small programs that do the same the slow way: sort, filter,
count.

trace_tools.py HEDDLE FIXTURES SCRATCH. With SASS_DATA naming a folder of real traces these are
counted, too."""
import csv
import functools
import io
import itertools
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

HEDDLE, FIXTURES, SCRATCH = sys.argv[1:4]
SCRATCH = os.path.join(SCRATCH, f"tools-{os.getpid()}")
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("not as expected:", text)


def trace(*arguments, status=0, limit=None):
    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run([HEDDLE, "trace", *arguments], capture_output=True, text=True,
                          preexec_fn=limited)
    check(done.returncode == status,
          f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}")
    return done


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def read(path):
    with open(path) as file:
        return file.read()


def listing(folder):
    return sorted(os.listdir(folder))


# A reader of its own: by words, for traces of any version.
REGISTER = re.compile(r"^U?R\d+$")
OPCODE = re.compile(r"^[A-Z][A-Z0-9_]*(\.[A-Za-z0-9_]+)*$")


class Step:
    def __init__(self, words):
        at = next(i for i, w in enumerate(words) if OPCODE.match(w) and not REGISTER.match(w))
        mask = at - 1 - 1
        while not re.match(r"^([0-9a-f]{16}|[0-9a-f]{8})$", words[mask]):
            mask -= 1
        self.opcode = words[at]
        self.mask = int(words[mask], 16)
        lanes = bin(self.mask).count("1")
        rest = words[at + 2 + int(words[at + 1]):]
        self.width = int(rest[0])
        self.addresses = []
        if self.width and lanes:
            mode, numbers = rest[1], rest[2:]
            if mode == "0":
                self.addresses = [int(n, 16) for n in numbers[:lanes]]
            elif mode == "1":
                self.addresses = [int(numbers[0], 16) + i * int(numbers[1]) for i in range(lanes)]
            else:
                self.addresses = [int(numbers[0], 16)]
                for delta in numbers[1:lanes]:
                    self.addresses.append(self.addresses[-1] + int(delta))


def steps_of(text):
    header = {}
    steps = []
    for line in text.split("\n"):
        words = line.split()
        if line.startswith("-") and " = " in line:
            key, value = line[1:].split(" = ", 1)
            header[key] = value.strip()
        elif words and re.match(r"^[0-9a-f]+$", words[0]):
            steps.append((line, Step(words)))
    return header, steps


def space_of(header, step, address):
    name = step.opcode.split(".")[0]
    if name in ("LDS", "STS", "ATOMS", "LDSM"):
        return "shared"
    if name in ("LDL", "STL"):
        return "local"
    if name in ("LD", "ST", "ATOM", "RED", "LDGSTS"):
        shared, local = (int(header[k], 16) for k in ("shmem base_addr", "local mem base_addr"))
        if address < 1 << 24 or shared <= address < shared + (1 << 24):
            return "shared"
        if local <= address < local + (1 << 24):
            return "local"
    return "global"


@functools.lru_cache(maxsize=None)
def count(path, line_bytes):
    """What the cold-start thesis defines, by brute force."""
    header, steps = steps_of(read(path))
    row = dict(steps=0, threads=0, line_references=0, shared=0, local=0)
    row["global"] = 0
    addresses, lines = set(), set()
    for _, step in steps:
        row["steps"] += 1
        row["threads"] += bin(step.mask).count("1")
        touched = set()
        for address in step.addresses:
            space = space_of(header, step, address)
            row[space] += 1
            if space == "global":
                addresses.add(address)
                touched.update(byte // line_bytes for byte in range(address, address + step.width))
        row["line_references"] += len(touched)
        lines |= touched
    row["addresses"] = len(addresses)
    return row, lines


def compare_stats(paths, arguments, line_bytes):
    rows = list(csv.DictReader(io.StringIO(trace("stats", "--csv", "--line", str(line_bytes),
                                                 *arguments).stdout)))
    check(len(rows) == len(paths), f"{len(rows)} rows of {len(paths)} kernels")
    counted = [count(path, line_bytes) for path in paths]
    for i, (got, (row, lines)) in enumerate(zip(rows, counted)):
        behind = len(lines & counted[i + 1][1]) if i + 1 < len(counted) else 0
        before = len(lines & counted[i - 1][1]) if i > 0 else 0
        want = {
            "warp_instructions": row["steps"], "thread_instructions": row["threads"],
            "global_references": row["global"], "shared_references": row["shared"],
            "local_references": row["local"], "addresses": row["addresses"],
            "line_references": row["line_references"], "lines": len(lines),
            "footprint_bytes": len(lines) * line_bytes,
            "forward_reuse": "%.6f" % (behind / len(lines) if lines else 0),
            "backward_reuse": "%.6f" % (before / len(lines) if lines else 0),
            "degree_of_reuse": "%.6f" % (row["global"] / row["addresses"]
                                         if row["addresses"] else 0),
        }
        for key, value in want.items():
            check(got[key] == str(value),
                  f"{paths[i]}, {line_bytes}: {key} is {got[key]}, counted {value}")
        classes = [int(got[c]) for c in
                   list(got)[list(got).index("sp"):list(got).index("unknown") + 1]]
        check(sum(classes) == row["steps"], f"{paths[i]}: classes sum up to {sum(classes)}")
    return sum(row["steps"] for row, _ in counted)


def make_step(random_source, number, lanes):
    """A line of a trace, which tells its number."""
    digits = lanes // 4
    front = f"{16 * (number % 40):04x} "
    mask = random_source.choice([(1 << lanes) - 1, 0, 5, 1 << (lanes - 1),
                                 random_source.getrandbits(lanes)])
    active = bin(mask).count("1")
    base = (random_source.choice([0x7f0020000000, 0x7f0010000010, 0x7f000e000000, 0x40000])
            + 4 * random_source.randrange(5000))
    kind = random_source.randrange(5)
    if kind == 0:
        return front + (f"{mask:0{digits}x} 1 R{number % 255} IADD3 2 R1 R2 0 "
                        f"{random_source.randrange(-9, 9)} ")
    if kind == 1 and active >= 2:
        deltas = " ".join(str(random_source.randrange(-500, 500)) for _ in range(active - 1))
        return front + f"{mask:0{digits}x} 1 R4 LD.E.64 1 R2 8 2 0x{base:x} {deltas} 0 "
    if kind == 2:
        listed = " ".join(f"0x{base + 4 * random_source.randrange(3000):016x}"
                          for _ in range(active))
        return front + (f"{mask:0{digits}x} 0 STG.E 2 R2 R4 4 0 "
                        f"{listed}{' ' if listed else ''}0 ")
    if kind == 3:
        return front + "0" * (digits - 1) + "f 1 R4 LDGSTS.E.128 1 R2 16 1 0x%x 16 0 " % base
    return front + "0" * digits + " 1 R4 LDS 1 R2 4 1 0x0 0 0 "


def make_trace(random_source, grid, warps, instructions, lanes=32):
    lines = [
        "-kernel name = made", "-kernel id = 7", "-grid dim = (%d,%d,%d)" % grid,
        "-block dim = (%d,1,1)" % (warps * 32),
        "-shmem = 0", "-nregs = 8", "-binary version = 80", "-cuda stream id = 0",
        "-shmem base_addr = 0x00007f0010000000", "-local mem base_addr = 0x00007f000e000000",
        "-nvbit version = 1.7",
        "-accelsim tracer version = 5", "-enable lineinfo = 0", "",
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
        "[adrrescompress?] [mem_addresses] immediate", ""]
    for z, y, x in itertools.product(*(range(size) for size in reversed(grid))):
        lines += ["#BEGIN_TB", "", f"thread block = {x},{y},{z}", ""]
        for warp in range(warps):
            lines += [f"warp = {warp}", f"insts = {instructions}",
                      *(make_step(random_source, n, lanes) for n in range(instructions - 1)),
                      f"{16 * ((instructions - 1) % 40):04x} {'f' * (lanes // 4)} 0 EXIT 0 0 0 "]
        lines += ["#END_TB", ""]
    return "\n".join(lines) + "\n"


def body(text):
    return [line for line in text.split("\n")
            if line and line[0] != "-" and not line.startswith("#traces")]


def test_stats():
    """Files whose addresses mean something: stats against the counter."""
    source = random.Random(20260)
    folder = os.path.join(SCRATCH, "stats")
    os.makedirs(folder)
    paths = []
    for number, (grid, warps, instructions, lanes) in enumerate(
            [((1, 1, 1), 1, 1, 32), ((3, 2, 2), 2, 30, 32), ((40, 3, 1), 3, 60, 32),
             ((300, 1, 1), 1, 7, 64)]):
        paths.append(write(os.path.join(folder, f"kernel-{number}.traceg"),
                           make_trace(source, grid, warps, instructions, lanes)))
        check(" 0 errors" in trace("check", paths[-1]).stdout, f"{paths[-1]} is good")
    lists = write(os.path.join(folder, "kernelslist.g"),
                  "MemcpyHtoD,0x00007f0020000000,64\n"
                  + "".join(os.path.basename(path) + "\n" for path in paths))
    for line_bytes in (32, 128):
        compare_stats(paths, [lists], line_bytes)
        compare_stats(paths, [lists], line_bytes)  # from the cache
        compare_stats(paths, ["--no-cache", *paths], line_bytes)
    return paths, lists


def test_mem(paths, lists):
    out = os.path.join(SCRATCH, "mem")
    trace("mem", "-o", out, lists)
    check(read(os.path.join(out, "kernelslist-mem.g"))
          == read(lists).replace("kernel-", "kernel-mem-"), "list of mem")
    for path in paths:
        got = read(os.path.join(out, os.path.basename(path).replace("kernel-", "kernel-mem-")))
        want = [line for line, step in steps_of(read(path))[1]
                if step.width or step.opcode == "EXIT"]
        check([line for line, _ in steps_of(got)[1]] == want, f"memory instructions of {path}")
        structure = [l for l in body(read(path)) if l.startswith(("#", "thread", "warp"))]
        check([l for l in body(got) if l.startswith(("#", "thread", "warp"))] == structure,
              f"blocks of {path}")
        check(got.split("\n\n")[0] == read(path).split("\n\n")[0], "the header")
    check(" 0 errors, 0 warnings"
          in trace("check", os.path.join(out, "kernel-mem-2.traceg")).stdout, "mem is good")
    # A warp of many lines, cluster lines, a packed input.
    long = read(os.path.join(FIXTURES, "v5_new.traceg"))
    line = "0130 00000003 1 R11 LDG.E 1 R2 4 1 0x7f0020000100 4 8 -1 \n"
    long = long.replace("insts = 5", "insts = 60004").replace(line, line * 60000)
    packed = write(os.path.join(SCRATCH, "kernel-8.traceg"), long)
    subprocess.run(["xz", "-0", packed], check=True)
    trace("mem", packed + ".xz")
    got = read(os.path.join(SCRATCH, "kernel-mem-8.traceg"))
    check(got.count(line) == 60000 and "insts = 60001\n" in got and "cluster rank = 0\n" in got,
          "a long warp")


def test_check():
    path = write(os.path.join(SCRATCH, "kernel-9.traceg"),
                 read(os.path.join(FIXTURES, "v3.traceg"))
                 .replace("STG.E.128 2", "STG.E.128 3").replace("LDS 1", "LDS x"))
    done = trace("check", path, status=1)
    lines = re.findall(r"kernel-9.traceg:(\d+): error", done.stderr)
    want = [str(i + 1) for i, l in enumerate(read(path).split("\n"))
            if "STG.E.128 3" in l or "LDS x" in l]
    check(lines == want and len(want) == 2, f"{lines} named, {want} are wrong")
    lists = write(os.path.join(SCRATCH, "kernelslist.g"),
                  "MemcpyHtoD,0x10,4\nfoo\nkernel-missing.traceg\nMemcpyPeer,0x1,4\n")
    done = trace("check", lists, status=1)
    check(":2: warning: " in done.stderr and ":4: warning: " in done.stderr, done.stderr)
    check("kernel-missing.traceg: error: cannot be read: No such file" in done.stderr, done.stderr)
    trace("check", os.path.join(SCRATCH, "nothing"), status=1)
    trace("chekc", path, status=2)
    trace("check", "--csv", path, status=2)
    trace("stats", "--line", "100", path, status=2)
    raw = os.path.join(FIXTURES, "raw.trace")
    for tool in ("check", "stats", "mem"):
        done = trace(tool, raw, status=1)
        check(f"{raw}:17: error: a raw trace: group it first, by `heddle trace group`"
              in done.stderr, done.stderr)
    trace("stats", status=2)


def test_signals(paths):
    """A signal while the output is being written: it is gone afterwards, or by SIGKILL has no name
    of a trace, and the status is the signal's."""
    folder = os.path.join(SCRATCH, "signals")
    os.makedirs(folder)
    text = read(paths[2])
    block = text[text.index("#BEGIN_TB"):]
    big = write(os.path.join(folder, "kernel-1.traceg"), text + block * 12)
    done = trace("mem", big, status=1, limit=100000)
    check("kernel-mem-1.traceg' cannot be written: File too large" in done.stderr, done.stderr)
    check(listing(folder) == ["kernel-1.traceg"], f"left by a limit of sizes: {listing(folder)}")
    made = os.path.join(folder, "kernel-mem-1.traceg")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for _ in range(20):
            process = subprocess.Popen([HEDDLE, "trace", "mem", big], stdout=subprocess.DEVNULL,
                                       preexec_fn=heed_interrupts)
            unfinished = f"{made}.unfinished-{process.pid}"
            while process.poll() is None and not (os.path.exists(unfinished)
                                                  and os.path.getsize(unfinished)):
                time.sleep(0.0005)
            if process.poll() is None:
                process.send_signal(number)
            status = process.wait()
            if status == -number:
                break
            if os.path.exists(made):
                os.remove(made)
        if number == signal.SIGKILL and os.path.exists(unfinished):
            os.remove(unfinished)
        check(status == -number and listing(folder) == ["kernel-1.traceg"],
              f"left by {number}: {listing(folder)}, status {status}")


def heed_interrupts():
    """In a child: what was started in the background of a script ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_real():
    data = os.environ.get("SASS_DATA", "")
    if not os.path.isdir(data):
        print("SKIPPED: SASS_DATA names no folder with real traces; only made ones were read")
        return
    for name, kernels, instructions in (("bfs-rodinia", 16, 159509), ("vectoradd", 1, 26601)):
        copy = os.path.join(SCRATCH, name)
        shutil.copytree(os.path.join(data, name), copy)
        paths = [os.path.join(copy, f"kernel-{n + 1}.traceg") for n in range(kernels)]
        lists = os.path.join(copy, "kernelslist.g")
        for _ in range(2):
            got = compare_stats(paths, [lists], 128)
            check(got == instructions, f"{name}: {got} warp instructions, not {instructions}")
        check_classes(lists)
    for name in ("atax-v5new-head.traceg", "atax-v6-head.traceg"):
        copy = shutil.copy(os.path.join(data, "excerpts", name), SCRATCH)
        compare_stats([copy], [copy], 128)
        check_classes(copy)


def check_classes(path):
    """Every opcode of a real trace is in the table of its architecture."""
    done = trace("stats", "--csv", path)
    unknown = sum(int(row["unknown"]) for row in csv.DictReader(io.StringIO(done.stdout)))
    check(unknown == 0 and "in no table" not in done.stderr,
          f"{path}: unknown opcodes: {done.stderr}")


os.makedirs(SCRATCH)
try:
    made_paths, made_list = test_stats()
    test_mem(made_paths, made_list)
    test_check()
    test_signals(made_paths)
    test_real()
finally:
    shutil.rmtree(SCRATCH)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
