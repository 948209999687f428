#!/usr/bin/env bash
# The page of doorbells between a fast writer and a slow reader: check.sh HEDDLE FOLDER.
set -euo pipefail
heddle=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
export HEDDLE_CACHE=${HEDDLE_CACHE:-$work/cache}
cd "$(dirname "$0")"
for settings in "--set ringer.pace=9cy" "--set doorbells=1" \
    "--set doorbells=500 --set ringer.pace=40cy" "--set doorbells=3 --set ringer.pace=1cy"; do
    # shellcheck disable=SC2086
    "$heddle" run doorbell_test.heddle --generic $settings --stats "$work/stats.json"
    # Everything that was written came out or was merged.
    python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))["components"]
page, ringer = c["page"], c["ringer"]
assert page["rings"] == 5000 and page["rings"] == page["merged"] + ringer["taken"], \
    (page, ringer)' "$work/stats.json"
done
echo ok
