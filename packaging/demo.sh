#!/bin/sh
# Checks and draws the R9 Nano, then compiles a HIP program and runs it there. Writes into the
# folder heddle-demo of the one that it is started in.
set -eu

heddle=$(command -v heddle) || { echo "demo: heddle is not on the PATH" >&2; exit 1; }
prefix=$(dirname "$(dirname "$(readlink -f "$heddle")")")
platform=$prefix/share/heddle/platforms/r9nano.heddle
program=$(dirname "$(readlink -f "$0")")/vectoradd.hip.cpp
out=heddle-demo
mkdir -p "$out"

echo "== heddle check $platform"
heddle check "$platform"
if command -v dot >/dev/null; then
    echo "== heddle dot: diagram"
    heddle dot "$platform" --svg -o "$out/r9nano.svg"
else
    echo "demo: without Graphviz there is no diagram: apt install graphviz" >&2
fi
if ! command -v hipcc >/dev/null; then
    echo "demo: hipcc is not there to compile a program:" \
        "apt install --install-recommends heddle" >&2
    exit 1
fi
echo "== hipcc: an ordinary HIP program"
hipcc --offload-arch=gfx803 "$program" -o "$out/vectoradd" 2>"$out/hipcc.log" ||
    { cat "$out/hipcc.log" >&2; exit 1; }
echo "== heddle run $platform -- $out/vectoradd"
heddle run "$platform" --stats "$out/vectoradd.json" -- "$out/vectoradd"
heddle stats "$out/vectoradd.json" >"$out/report.txt"
sed -n '/^kernel/,/^$/p;/^host/,$p' "$out/report.txt"
echo "in $out: $(ls "$out" | tr '\n' ' ')"
