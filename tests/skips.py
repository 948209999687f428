#!/usr/bin/python3
"""What the last ./dev test has left out, by reason: skips.py BUILD... Under CI (in the environment)
a reason that skips.txt does not list is a failure."""
import collections
import fnmatch
import json
import os
import re
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("skips.txt")


def skipped(build):
    """(Reason, how many tests) of the logs in a build folder."""
    for log in build.glob("log-*.txt"):
        text = log.read_text(errors="replace")
        for number, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+: (.+)$", text, re.MULTILINE):
            yield reason, int(number)
    log = build / "meson-logs/testlog.json"
    for line in log.read_text().splitlines() if log.exists() else []:
        test = json.loads(line)
        reasons = re.findall(r"^ok .*# SKIP *(.*)$", test.get("stdout", ""), re.MULTILINE)
        if test["result"] == "SKIP" and not reasons:
            reasons = [f"{test['name']} says so"]
        for reason in reasons:
            yield reason or test["name"], 1


def main():
    allowed = [line for line in ALLOWED.read_text().splitlines() if line and line[0] != "#"]
    found = collections.Counter()
    for build in sys.argv[1:]:
        for reason, number in skipped(Path(build)):
            found[reason] += number
    if found:
        print(f"{found.total()} skipped:")
    unknown = 0
    for reason, number in found.most_common():
        listed = any(fnmatch.fnmatchcase(reason, pattern) for pattern in allowed)
        unknown += not listed
        print(f"{number:6}  {reason}{'' if listed else '   (not in tests/skips.txt)'}")
    return bool(unknown and os.environ.get("CI"))


if __name__ == "__main__":
    sys.exit(main())
