"""Builds a platform for a sweep: python3 .../builder.py WORDS.json BUILT

An engine starts it (see heddle.sweeps.engine). What is said goes to BUILT.log, and BUILT is made
however it ends: points whose platform cannot be built fail by themselves, and say why.
"""
import json
import subprocess
import sys


def main() -> int:
    words, built = sys.argv[1:]
    with open(words, encoding="utf-8") as file, open(f"{built}.log", "wb") as log:
        try:
            subprocess.run(json.load(file), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           check=False)
        except OSError as error:
            log.write(f"{error}\n".encode())
    with open(built, "wb"):
        return 0


if __name__ == "__main__":
    sys.exit(main())
