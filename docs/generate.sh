#!/usr/bin/env bash
# Writes the generated pages of docs/: generate.sh HEDDLE DOCS. A system test compares them with
# what is checked in.
set -euo pipefail
heddle=$(realpath "$1")
docs=$2
cd "$(dirname "$0")/.."
mkdir -p "$docs/reference"

{
    echo "# Diagnostics"
    echo
    echo "Made by \`docs/generate.sh\` from \`heddle explain\`."
    "$heddle" explain | awk '{ print $1 }' | while read -r code; do
        printf '\n## %s\n\n```\n' "$code"
        "$heddle" explain "$code"
        printf '```\n'
    done
} >"$docs/reference/errors.md"

"$heddle" help --markdown >"$docs/reference/cli.md"
library=$docs/reference/library
platforms=(platforms/{tiny,r9nano,r9nano_mgpusim,ring4,r9nano_x4,r9nano_x4_l2_all}.heddle
    platforms/{r9nano_x8_fabric,apu,managed4,node8,pod64}.heddle
    platforms/{mi210,mi300a,mi300x,mi300x_x8}.heddle
    platforms/{rtx3070,qv100}.heddle
    platforms/packet_{trace,direct}.heddle)
"$heddle" doc "${platforms[@]}" -o "$library"
find "$library" -name '*.html' -delete
sed -i "s|$PWD/||g" "$library"/*.md # places relative to the checkout

# What the HIP library has stands in strong symbols, what it refuses in weak ones.
hip=$(dirname "$heddle")/../components/hip/libamdhip64.so
functions() { # KIND
    nm -D "$hip" |
        awk -v kind="$1" '$2 == kind && $3 ~ /^hip[A-Z]/ { sub("@.*", "", $3); print $3 }' |
        LC_ALL=C sort -u | paste -sd ' ' | fold -s -w 98 | sed 's/ *$//'
}
if [ -e "$hip" ]; then
    cat <<END >"$docs/reference/hip.md"
# HIP functions

Made by \`docs/generate.sh\` from the library that \`heddle run\` puts in front of a program. It is
HIP 5.2's, with each name that the distribution's library has. Kernels may use everything but
images and the global data share ([instructions](../evidence/instructions.md)). Work-groups of a
cooperative launch can meet (grid sync).

## These work

\`\`\`
$(functions T)
\`\`\`

## These answer hipErrorNotSupported

The first call of each says so on standard error. Among them are nodes of events in graphs, arrays,
textures, graphics, and memory that processes share. Nodes of a graph that is launched are made one
after the other, so branches do not run side by side.

\`\`\`
$(functions W)
\`\`\`
END
fi
