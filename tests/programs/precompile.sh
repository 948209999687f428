#!/bin/sh
# Compiles a header once for all programs that begin with `-include OUTPUT`:
# precompile.sh HEADER OUTPUT DEPFILE TARGETS COMPILER [OPTIONS]. The folder OUTPUT.pch gets a file
# for the host and one for each target, among which clang chooses.
set -eu
header=$1 output=$2 depfile=$3 targets=$4
shift 4

compile() { # file, options: the last of two actions counts, and nothing is linked
    file=$1
    shift
    "$@" -Wno-unused-command-line-argument -x hip -S -Xclang -emit-pch \
        -fpch-instantiate-templates "$header" -o "$output.pch/$file"
}

rm -rf "$output.pch"
mkdir -p "$output.pch"
compile host "$@" --offload-arch="${targets%% *}" --cuda-host-only -MD -MF "$depfile" -MT "$output"
for target in $targets; do
    compile "$target" "$@" --offload-arch="$target" --cuda-device-only
done
cp "$header" "$output"
