#!/usr/bin/env bash
# Prints build/docs/guide/mistakes.md: what `heddle check` says about ten mistakes.
# document.sh HEDDLE; docs/generate.sh runs it.
#
# Each file NN-name.heddle is one of base/ with an edit. Its first two lines are the title and the
# sentence of its section; which base it is follows from its component or platform.
set -euo pipefail
heddle=$(realpath "$1")
cd "$(dirname "$0")"

section() {
    local file=$1 number title base
    number=$((10#${file%%-*}))
    title=$(sed -n '1s/^\/\/ //; 1s/\.$//p' "$file")
    base=base/$(sed -nE 's/^(platform|component) ([a-z]+) .*/\2/p' "$file").heddle
    printf '## %d. %s\n\n```diff\n' "$number" "$title"
    diff -U0 "$base" <(tail -n +3 "$file") | tail -n +3 | grep -v '^@@' || true
    printf '```\n\n```\n$ heddle check %s\n' "$file"
    "$heddle" check "$file" 2>&1 | sed -E 's|^/[^ ]*/components/|components/|' || true
    printf '```\n\n%s\n\n' "$(sed -n '2s/^\/\/ //p' "$file" | fold -s -w 98 | sed 's/ $//')"
}

cat <<'END'
# Ten mistakes and their messages

For somebody whose description was just refused. Each section has a beginner's mistake and what
`heddle check` says about it. `heddle explain CODE` tells more about each.

END
for file in [0-9][0-9]-*.heddle; do
    section "$file"
done | sed '$d'
