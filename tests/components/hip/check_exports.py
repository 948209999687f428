#!/usr/bin/env python3
"""Every name of the table is exported by our library under its version, and nothing else is.

Usage: check_exports.py TABLE LIBRARY. Speaks TAP.
"""
import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="ascii") as table:
        wanted = {(line.split()[1], line.split()[0].replace("-", "", line[0] == "-"))
                  for line in table if line.strip() and line[0] != "#"}
    listing = subprocess.run(["readelf", "-W", "--dyn-syms", sys.argv[2]], check=True,
                             capture_output=True, text=True).stdout
    got = set()
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[3] == "FUNC" and fields[6] != "UND":
            name, _, version = fields[7].partition("@@")
            got.add((name, version))
    print("1..3")
    for number, (what, names) in enumerate((("is exported", wanted - got),
                                            ("is wanted", got - wanted)), 1):
        for name in sorted(names):
            print(f"# {name[0]}@@{name[1]} differs")
        print(f"{'not ' if names else ''}ok {number} - everything {what}")
    soname = subprocess.run(["readelf", "-d", sys.argv[2]], check=True, capture_output=True,
                            text=True).stdout
    print(f"{'' if 'soname: [libamdhip64.so.5]' in soname else 'not '}"
          "ok 3 - soname is libamdhip64.so.5")


main()
