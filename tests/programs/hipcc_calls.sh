#!/bin/sh
# The compiler that hipcc calls, with its options, a word a line; a line `--` stands for the input
# and the output: hipcc_calls.sh HIPCC. For a small program the script of hipcc takes a fifth of the
# time, and clang looks into each library that is named for code of the device: libgcc has what its
# own has. The linker of another version, which clang finds first in /usr/bin, puts strings of the
# device elsewhere, so the compiler's own is named.
set -eu
line=$(HIPCC_VERBOSE=1 "$1" '-###' input.hip.cpp -o output 2>/dev/null |
    sed -n 's/^hipcc-cmd: //p')
eval "set -- $line"
compiler=$1
for word; do
    case $word in
    '-###' | -o | output | -lclang_rt.builtins-*) ;;
    *input.hip.cpp) echo -- ;;
    *) echo "$word" ;;
    esac
    [ "$word" != "$compiler" ] || echo "-B$(dirname "$(readlink -f "$compiler")")"
done
