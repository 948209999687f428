#!/usr/bin/env bash
# Builds the whole set of pages into a folder: generate.sh HEDDLE FOLDER, or `./dev docs`.
#
# The set has the pages of docs/ and those that are made from the tools themselves. A committed page
# names a built one as `build/docs/PAGE`, in code; here that becomes a link. Links to files outside
# docs/ lead to the checkout.
set -euo pipefail
heddle=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."

# Each page of docs/, with links that work from where the copy lies.
copy_pages() {
    local page up
    git ls-files -co --exclude-standard docs | while read -r page; do
        [ -f "$page" ] || continue
        mkdir -p "$out/$(dirname "${page#docs/}")"
        cp "$page" "$out/${page#docs/}"
        [[ $page = *.md ]] || continue
        up=$(dirname "${page#docs/}" | sed 's|^\.$||; s|[^/][^/]*|..|g; s|\.\.$|../|')
        sed -i "s|](${up//./\\.}\.\./|]($PWD/|g; s|\`build/docs/\([^\`]*\)\`|[\1]($up\1)|g" \
            "$out/${page#docs/}"
    done
}

errors_page() {
    echo "# Diagnostics"
    echo
    echo "What \`heddle explain\` says, code by code."
    "$heddle" explain | awk '{ print $1 }' | while read -r code; do
        printf '\n## %s\n\n```\n' "$code"
        "$heddle" explain "$code"
        printf '```\n'
    done
}

# A page for each component and platform, with a diagram and a page to click through.
library_pages() { # FOLDER
    "$heddle" doc platforms/{tiny,r9nano,r9nano_mgpusim,ring4,r9nano_x4,r9nano_x4_l2_all}.heddle \
        platforms/{r9nano_x8_fabric,apu,managed4,node8,pod64}.heddle \
        platforms/{mi100,mi210,mi210_x2,mi250x,mi300a,mi300x,mi300x_x8,titanx,qv100}.heddle \
        platforms/{rtx2060,rtx3070,a100,h100}.heddle \
        platforms/packet_{trace,direct}.heddle -o "$1"
    sed -i "s|$PWD/||g" "$1"/*.md # places relative to the checkout
}

# What the HIP library has stands in strong symbols, what it refuses in weak ones. Some are C++.
hip_functions() { # KIND
    nm -D "$(dirname "$heddle")/../components/hip/libamdhip64.so" |
        awk -v kind="$1" '$2 == kind { sub("@.*", "", $3); print $3 }' | c++filt -p |
        grep -E '^(hip_impl::)?hip(rtc)?[A-Z]' |
        LC_ALL=C sort -u | paste -sd ' ' | fold -s -w 98 | sed 's/ *$//'
}

hip_page() {
    cat <<END
# HIP functions

The library that \`heddle run\` puts in front of a program is HIP 5.2's, with each name that the
distribution's library has. libhiprtc.so.5, a library of its own in other releases of HIP, is a
second name of it. Names that a later HIP has added, such as hiprtcGetBitcode, are not there: the
loader ends a program that was linked with them, and says which is missing.

Kernels may use everything but images and the global data share
([instructions](../evidence/instructions.md)). Work-groups of a cooperative launch can meet (grid
sync).

## These work

\`\`\`
$(hip_functions T)
\`\`\`

## These answer hipErrorNotSupported

The program goes on with that error. A message on standard error says so at the first call of each,
and another one at the end how many more there were. Among them are nodes of events in graphs,
arrays, textures, graphics, and memory that processes share.

\`\`\`
$(hip_functions W)
\`\`\`
END
}

cuda_page() {
    table=components/cuda/api/cuda_calls.tab
    cat <<END
# CUDA functions

The libraries that \`heddle run\` puts in front of a program are libcudart.so.12 and
libcudart.so.13. They also have the names that headers choose, with \`_v2\`, \`_ptsz\` or
\`_ptds\` at the end. A program needs PTX for the GPU or an older one, and the runtime as a shared
library (nvcc: \`-cudart shared\`; CMake: \`CUDA_RUNTIME_LIBRARY Shared\`; clang: \`-lcudart\`).

## These work

\`\`\`
$(sed -n 's/^\(1[23]: \)\?\([a-zA-Z_ ]*[ *]\)\?\(cuda[A-Za-z0-9_]*\)(.*/\3/p' $table |
    sed '/_v[0-9]$/d; /_pt[ds][sz]$/d' | sort -u | paste -sd ' ' | fold -sw 96)
\`\`\`

## These answer cudaErrorNotSupported

The program goes on with that error. A message on standard error says so at the first call of each.

\`\`\`
$(sed -n 's/^! //p' $table | tr ' ' '\n' | sed '/_v[0-9]$/d; /_pt[ds][sz]$/d; /_v[0-9]_/d' |
    sort -u | paste -sd ' ' | fold -sw 96)
\`\`\`
END
}

copy_pages
errors_page >"$out/reference/errors.md"
"$heddle" help --markdown >"$out/reference/cli.md"
library_pages "$out/reference/library"
hip_page >"$out/reference/hip.md"
cuda_page >"$out/reference/cuda.md"
PYTHONPATH=python /usr/bin/python3 -m heddle.counters.table >"$out/reference/counters.md"
tests/system/language/newcomer/document.sh "$heddle" >"$out/guide/mistakes.md"
