#!/usr/bin/env python3
"""The examples of docs/reference/traces.md print what stands there. doc_examples.py HEDDLE DOCUMENT
FIXTURES SCRATCH [--update]"""
import os
import shutil
import subprocess
import sys

heddle, document, fixtures, scratch = (os.path.realpath(argument) for argument in sys.argv[1:5])
folder = os.path.join(scratch, f"doc-{os.getpid()}")
os.makedirs(os.path.join(folder, "bin"))
os.symlink(heddle, os.path.join(folder, "bin", "heddle"))
for name in os.listdir(fixtures):
    shutil.copy(os.path.join(fixtures, name), folder)
environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
made, is_inside, commands = [], False, 0
with open(document) as file:
    lines = file.read().split("\n")
for line in lines:
    if line.startswith("```"):
        is_inside = line == "```console"
    elif is_inside and line.startswith("$ "):
        commands += 1
        done = subprocess.run(line[2:], shell=True, cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        made += [line, *done.stdout.rstrip("\n").split("\n")]
        continue
    elif is_inside:
        continue
    made.append(line)
shutil.rmtree(folder)
if sys.argv[5:] == ["--update"]:
    with open(document, "w") as file:
        file.write("\n".join(made))
elif made != lines or commands == 0:
    print(f"{document} differs from what its {commands} commands print; with --update it is "
          "rewritten:")
    print("\n".join(f"  {line}" for line in made if line not in lines))
    sys.exit(1)
