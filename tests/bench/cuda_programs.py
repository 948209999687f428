"""Writes the table of docs/evidence/cuda.md: python3 tests/bench/cuda_programs.py BUILD, in the
root of the sources.

Each program of CUDA in tests/system/helpers/programs.py is compiled by `heddle cuda-cc` and run on
three machines in both modes, and as a HIP program on tiny."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system/helpers"))
from programs import CUDA, CUDA_OPTIONS  # noqa: E402  (its folder is in the path only now)

MACHINES = ["rtx3070", "a100", "h100"]


def outcome(heddle, folder, machine, mode, program):
    """What it prints, and its kernels."""
    stats = folder / "stats.json"
    stats.unlink(missing_ok=True)
    done = subprocess.run([heddle, "run", f"platforms/{machine}.heddle", "--generic",
                           "--mode", mode, "--stats", stats, "--", program], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    kernels = json.loads(stats.read_text())["kernels"] if done.returncode == 0 else []
    return done.stdout, kernels


def total(kernels, name):
    return sum(kernel[name] for kernel in kernels)


def row(build, folder, name):
    heddle = build / "codegen/heddle"
    subprocess.run([ROOT / "tests/programs/as_cuda.sh", name, folder], check=True)
    subprocess.run([heddle, "cuda-cc", folder / f"{name}.cu", "-o", folder / name,
                    *CUDA_OPTIONS.get(name, [])], check=True)
    hip = outcome(heddle, folder, "tiny", "timing", build / "tests/programs" / name)
    timed = [outcome(heddle, folder, machine, "timing", folder / name) for machine in MACHINES]
    function = [outcome(heddle, folder, machine, "functional", folder / name)
                for machine in MACHINES]
    cells = [name, f"{total(timed[0][1], 'wavefront_instructions'):,}"]
    cells += [f"{total(kernels, 'cycles'):,}" if "PASS" in out else "FAIL"
              for out, kernels in timed]
    passed = sum("PASS" in out for out, _ in function)
    cells.append("yes" if passed == len(MACHINES) else f"{passed} of {len(MACHINES)}")
    cells.append("yes" if all(out == hip[0] for out, _ in timed) else "no")
    return "| " + " | ".join(cells) + " |\n"


def main():
    build, page = Path(sys.argv[1]).resolve(), ROOT / "docs/evidence/cuda.md"
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(row(build, Path(folder), name) for name in sorted(CUDA))
    text = page.read_text()
    head = re.search(r"^\| --- .*\n", text, re.MULTILINE).end()
    tail = re.compile(r"(\|.*\n)*").match(text, head).end()
    page.write_text(text[:head] + rows + text[tail:])


main()
