#!/bin/sh
# A compiler of HIP programs for gfx942, which hipcc 5.2 does not know: compile_gfx942.sh CLANG
# ARGUMENTS. Debian's device libraries have a file for gfx940, whose constant serves gfx942 as well,
# but none of that name: it is given one in a folder of links.
set -eu
clang=$1
shift
libraries=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
links=$(mktemp -d)
trap 'rm -rf "$links"' EXIT
ln -s "$libraries"/*.bc "$links"
ln -sf "$libraries/oclc_isa_version_940.bc" "$links/oclc_isa_version_942.bc"
target=--offload-arch=gfx942
case " $* " in *' --cuda-device-only '*) target='' ;; esac # which names its target
"$clang" -x hip $target --rocm-path=/usr "--rocm-device-lib-path=$links" "$@"
