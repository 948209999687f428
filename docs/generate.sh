#!/usr/bin/env bash
# Writes the generated pages of docs/: generate.sh HEDDLE DOCS. A system test compares them with what is checked in.
set -euo pipefail
heddle=$(realpath "$1")
docs=$2
cd "$(dirname "$0")/.."
mkdir -p "$docs"

{
    echo "# Diagnostics"
    echo
    echo "Made by \`docs/generate.sh\` from \`heddle explain\`."
    "$heddle" explain | awk '{ print $1 }' | while read -r code; do
        printf '\n## %s\n\n```\n' "$code"
        "$heddle" explain "$code"
        printf '```\n'
    done
} >"$docs/errors.md"

"$heddle" help --markdown >"$docs/reference-cli.md"
"$heddle" dot platforms/r9nano.heddle --svg -o "$docs/r9nano.svg"
"$heddle" doc platforms/tiny.heddle platforms/r9nano.heddle platforms/ring4.heddle platforms/r9nano_x4.heddle platforms/r9nano_x8_fabric.heddle \
    platforms/apu.heddle platforms/managed4.heddle platforms/rtx3070.heddle platforms/qv100.heddle platforms/packet_trace.heddle \
    platforms/packet_direct.heddle components/protocols/api_packet/api_packet.heddle components/network/endpoint/endpoint.heddle -o "$docs/reference"
find "$docs/reference" -name '*.html' -delete
sed -i "s|$PWD/||g" "$docs"/reference/*.md # places relative to the checkout
