#!/bin/sh
# Compiles the code objects that the readers' tests read: make_objects.sh CLANG SOURCE_FOLDER
# OUTPUT_FOLDER STAMP. The linker that comes with clang 15 refuses version 5, whose ELF differs from
# version 4 in one byte of the header (EI_ABIVERSION, offset 8): it is linked as version 4 and
# marked as 5 again.
set -eu
clang=$1 source=$2 output=$3 stamp=$4
libraries=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
mkdir -p "$output"
compile() { # VERSION MCPU OUTPUT [OPTIONS]
    version=$1 mcpu=$2 to=$3
    shift 3
    "$clang" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa "-mcpu=$mcpu" \
        "-mcode-object-version=$version" -O3 \
        "--rocm-device-lib-path=$libraries" "$source/kernels.cl" -o "$output/$to" "$@"
}
mark() { # FILE VERSION
    printf "\\$(printf %03o $(($2 - 2)))" | dd of="$1" bs=1 seek=8 conv=notrunc status=none
}
for version in 2 3 4; do
    compile $version gfx803 v$version.hsaco
done
compile 5 gfx803 v5.o -c
mark "$output/v5.o" 4
ld.lld-15 -shared "$output/v5.o" -o "$output/v5.hsaco"
mark "$output/v5.hsaco" 5
compile 4 gfx906:sramecc+:xnack- gfx906.hsaco
compile 4 gfx90a gfx90a.hsaco
"$clang" -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx803 -mcode-object-version=4 \
    "$source/relocations.s" -o "$output/relocations.hsaco"
assemble() { # VERSION MCPU SOURCE OUTPUT
    llvm-mc-19 -triple=amdgcn-amd-amdhsa "-mcpu=$2" "--amdhsa-code-object-version=$1" \
        -filetype=obj "$source/$3" -o "$output/$4.o"
    ld.lld-19 -shared "$output/$4.o" -o "$output/$4.hsaco"
}
for version in 4 5 6; do
    assemble $version gfx90a preload.s preload-gfx90a-v$version
    assemble $version gfx942 preload.s preload-gfx942-v$version
done
assemble 6 gfx9-generic empty.s generic
touch "$stamp"
