#!/usr/bin/env bash
# Does what the guide says: writes the files and runs the commands, in the order of the pages. guide.sh HEDDLE FOLDER
#
# A block "```sh" is run, in FOLDER, which is made anew; a block with a file's name behind its language is that file; others are
# only to read. The first command that fails ends it.
set -euo pipefail
command=$(realpath "$1")
folder=$2
pages=(start.md results.md component.md policy.md multi-gpu.md traces-and-sampling.md)
HEDDLE=$(realpath "$(dirname "$0")/../..")
export HEDDLE PATH=${command%/*}:$PATH
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
awk '
    /^```sh$/ { into = "guide.sh"; next }
    /^```[a-z]+ [^ ]+$/ {
        into = $2
        print "mkdir -p $(dirname " into ")\ncat > " into " <<\"END_OF_FILE\"" >"guide.sh"
        file = 1
        next
    }
    /^```/ && into != "" { if (file) print "END_OF_FILE" >"guide.sh"; into = ""; file = 0; next }
    into != "" { print >"guide.sh" }
' "${pages[@]/#/$HEDDLE/docs/guide/}"
set -x
# shellcheck disable=SC1091
source ./guide.sh
