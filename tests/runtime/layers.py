"""The runtime knows no GPU, and its rooms include only the base and those below them:
layers.py RUNTIME_FOLDER.

A word or an include that breaks the rule is named with its file and line.
"""
import os
import re
import sys

# Each may include those before it.
ROOMS = ["engine", "mpi", "link", "state", "observe", "scheduler", "session"]

# Options of the command line keep their names.
OPTION = re.compile(r'option_\w+\("[^"]*"')
WORDS = re.compile(r"(?<!--)\b(gpus?|kernels?|wavefronts?|warps?|work.?groups?|amd|nvidia|rtx\w*|"
                   r"r9nano|qv100)\b", re.I)

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
            if include and include[1] not in ("base", "runtime"):
                bad.append(f"{place}: includes {include[1]}/{include[2]}, "
                           "which is neither base nor runtime")
            elif include and include[1] == "runtime":
                other = include[2].split("/")[0]
                if ROOMS.index(other) > ROOMS.index(room):
                    bad.append(f"{place}: includes {include[2]}, but {other}/ is above {room}/")
            word = WORDS.search(OPTION.sub("", line))
            if word:
                bad.append(f"{place}: knows the word '{word[0]}'")
for line in bad:
    print(line)
sys.exit(bool(bad))
