#!/bin/sh
# Compiles CUDA's headers once for all programs: precompile_cuda.sh HEDDLE SOURCE OUTPUT DEPFILE.
# The folder OUTPUT.pch gets a file for the device and one for the host, among which clang chooses:
# `heddle cuda-cc -Xclang -include-pch -Xclang OUTPUT.pch`. The last of two actions counts.
set -eu
heddle=$1 source=$2 output=$3 depfile=$4
rm -rf "$output.pch"
mkdir -p "$output.pch"
"$heddle" cuda-cc --ptx -Xclang -emit-pch -fpch-instantiate-templates "$source" \
    -o "$output.pch/device"
"$heddle" cuda-cc -c -Xcompiler -Xclang,-emit-pch,-fpch-instantiate-templates \
    -Xcompiler "-MD,-MF,$depfile,-MT,$output" "$source" -o "$output.pch/host"
cp "$source" "$output"
