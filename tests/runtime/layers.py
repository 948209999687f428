"""The runtime knows no GPU, and its rooms include only those below them: layers.py RUNTIME_FOLDER.

A word or an include that breaks the rule is named with its file and line.
"""
import os
import re
import sys

ROOMS = ["engine", "link", "state", "observe", "scheduler", "session"]  # each may include those before it
# The kinds of statistics, plain counters that every unit embeds.
EXCEPT = {("engine", "observe/stat.h")}

WORDS = re.compile(r"\b(gpus?|kernels?|wavefronts?|warps?|work.?groups?|amd|nvidia|rtx\w*|r9nano|qv100)\b", re.I)
# Options that the runtime only passes on have the names of the command line.
PASSED_ON = {"engine/options.h", "session/options_env.c"}

root = sys.argv[1]
bad = []
for room in sorted(os.listdir(root)):
    if not os.path.isdir(os.path.join(root, room)):
        continue
    for name in sorted(os.listdir(os.path.join(root, room))):
        if not name.endswith((".c", ".h")):
            continue
        path = f"{room}/{name}"
        for number, line in enumerate(open(os.path.join(root, path)), 1):
            place = f"runtime/{path}:{number}"
            include = re.match(r'#include "([a-z_]+)/(.*)"', line)
            if include and include[1] != "runtime":
                bad.append(f"{place}: includes {include[1]}/{include[2]}, which is no part of the runtime")
            elif include and (room, include[2]) not in EXCEPT:
                other = include[2].split("/")[0]
                if ROOMS.index(other) > ROOMS.index(room):
                    bad.append(f"{place}: includes {include[2]}, but {other}/ stands above {room}/")
            word = WORDS.search(line)
            if word and path not in PASSED_ON:
                bad.append(f"{place}: knows the word '{word[0]}'")
for line in bad:
    print(line)
sys.exit(bool(bad))
