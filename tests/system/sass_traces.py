"""Makes small SASS traces and plays them on rtx3070, for sass_play.py and sass_warmup.py: their arguments are HEDDLE PLATFORMS
SCRATCH.
"""
import json
import lzma
import os
import subprocess
import sys

heddle, platforms, scratch = sys.argv[1:4]
os.makedirs(scratch, exist_ok=True)
FULL = "ffffffff"
CHAIN = f"{{pc:04x}} {FULL} 1 R4 FFMA 3 R4 R5 R6 0"
EXIT = f"fff0 {FULL} 0 EXIT 0 0"


def chain(length):
    return [CHAIN.format(pc=16 * i) for i in range(length)]


def trace(name, blocks, warps, lines, stream=0, shared=0, registers=16, threads=None, pack=False, symbol=None):
    """`lines`: of each warp, or a function of block and warp."""
    path = os.path.join(scratch, name)
    out = [f"-kernel name = {symbol or name.split('.')[0].replace('-', '_')}", "-kernel id = 1", f"-grid dim = ({blocks},1,1)",
           f"-block dim = ({threads or 32 * warps},1,1)", f"-shmem = {shared}", f"-nregs = {registers}",
           "-binary version = 86", f"-cuda stream id = {stream}", "-shmem base_addr = 0x00007f0001000000",
           "-local mem base_addr = 0x00007f0003000000", "-nvbit version = 1.7", "-accelsim tracer version = 4", "",
           "#traces format = x", ""]
    for b in range(blocks):
        out += ["#BEGIN_TB", f"thread block = {b},0,0"]
        for w in range(warps):
            body = lines(b, w) if callable(lines) else lines
            out += [f"warp = {w}", f"insts = {len(body)}"] + body
        out.append("#END_TB")
    data = ("\n".join(out) + "\n").encode()
    with open(path, "wb") as f:
        f.write(lzma.compress(data) if pack else data)
    return name


def make_list(name, commands):
    path = os.path.join(scratch, name)
    with open(path, "w") as f:
        f.write("\n".join(commands) + "\n")
    return path


def run(play, *options, status=0, says="", platform="rtx3070"):
    command = [heddle, "run", f"{platforms}/{platform}.heddle", "--generic", "--no-cache", "--stats-no-host", *options]
    if play:
        command += ["--play", "sass=" + play]
    got = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if got.returncode != status or says not in got.stderr:
        sys.exit(f"{' '.join(command)}: status {got.returncode}, not {status}, or no '{says}' in:\n{got.stderr}")
    return got.stderr


def play(commands, *options, name="list.g", **more):
    stats = os.path.join(scratch, "stats.json")
    said = run(make_list(name, commands), "--stats", stats, *options, **more)
    with open(stats) as f:
        result = json.load(f)
    result["said"] = said
    return result


def check(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got}, not {expected}")


def total(stats, ends, name):
    return sum(values.get(name, 0) for path, values in stats["components"].items() if path.endswith(ends))
