#!/usr/bin/env python3
"""Memory and disk of a raw trace of any size, grouped and played: bounds.py HEDDLE BYTES FOLDER
[MIB] [GENERIC OPTIONS...].

Writes a trace of at least BYTES (raw_trace.py) into FOLDER, groups it in MIB of memory (default
160), plays it on rtx3070, and removes it. Exit status 1 when the peak of memory is more than 200
MB, or MIB and a quarter, or the temporary file is larger than 1.2 times the trace, or playing takes
100 MB. Disk is that of files without a name, looked at while the program runs.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.abspath(os.path.join(here, "../../.."))
MB = 1000 * 1000


def nameless_bytes(pid):
    """Of the files that a program reads and writes and that no folder has."""
    total = 0
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            link = f"/proc/{pid}/fd/{name}"
            with open(f"/proc/{pid}/fdinfo/{name}") as info:
                flags = int(re.search(r"flags:\s*(\d+)", info.read()).group(1), 8)
            if os.readlink(link).endswith("(deleted)") and flags & os.O_ACCMODE == os.O_RDWR:
                total += os.stat(link).st_blocks * 512
    except OSError:
        pass  # it has ended
    return total


def resident_bytes(pid):
    """At most, so far. (The rusage of a child counts what its parent had when it was born.)"""
    try:
        with open(f"/proc/{pid}/status") as status:
            return int(re.search(r"VmHWM:\s*(\d+) kB", status.read()).group(1)) * 1024
    except (OSError, AttributeError):
        return 0  # it has ended


def watched(command):
    """Runs it; what it says, its peak of memory, its processor time, and its temporary disk."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = disk = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        disk = max(disk, nameless_bytes(process.pid))
        peak = max(peak, resident_bytes(process.pid))
        time.sleep(0.002)
    said = process.stdout.read()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: status {process.returncode}")
    return said, peak, usage.ru_utime + usage.ru_stime, disk


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    heddle, size, folder = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    memory, options = (int(sys.argv[4]) if len(sys.argv) > 4 else 160), sys.argv[5:]
    os.makedirs(folder)
    try:
        raw, bad = os.path.join(folder, "kernel-1.trace"), []
        with open(raw, "w") as out:
            subprocess.run([sys.executable, os.path.join(here, "raw_trace.py"), size], stdout=out,
                           check=True)
        whole = os.path.getsize(raw)
        said, peak, seconds, disk = watched(
            [heddle, "trace", "group", "--memory", str(memory), raw])
        instructions, parts, reported = (int(n) for n in re.search(
            r"(\d+) instructions, (\d+) parts, (\d+) bytes", said).groups())
        print(f"{whole / MB:.0f} MB raw, {instructions} instructions\ngroup: peak memory "
              f"{peak / MB:.1f} MB, {parts} parts, temporary file {reported / MB:.0f} MB (seen: "
              f"{disk / MB:.0f} MB), {reported / whole:.2f} of the trace, {seconds:.1f} s of "
              "processor time")
        if (not 0 < peak <= min(200 * MB, 1.25 * memory * 2**20 + 6 * MB)
                or max(reported, disk) > 1.2 * whole or parts < 2):
            bad.append("group is out of bounds")
        os.remove(raw)
        stats = os.path.join(folder, "stats.json")
        _, _, seconds, _ = watched([heddle, "run", f"{root}/platforms/rtx3070.heddle", *options,
                                    "--play", "sass=" + raw + "g", "--no-cache",
                                    "--kernel-stats", "none", "--stats", stats])
        with open(stats) as f:
            result = json.load(f)
        kernel, peak = result["kernels"][0], result["host"]["peak_rss_bytes"]
        print(f"run: peak memory {peak / MB:.1f} MB, {kernel['work_groups']} blocks, "
              f"{kernel['cycles']} cycles, {seconds:.1f} s of processor time")
        if peak > 100 * MB or kernel["wavefront_instructions"] != instructions:
            bad.append("run is out of bounds")
    finally:
        shutil.rmtree(folder)
    if bad:
        sys.exit("; ".join(bad))
    print("within bounds")


main()
