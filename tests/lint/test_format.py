"""Layout of C sources is what clang-format makes of them (.clang-format; Debian 12 has version
14)."""
import subprocess

import pytest

import house
from house import GOLDEN, ROOT, files


def test_sources_are_formatted():
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if "version 14." not in version:
        pytest.skip(f"another version lays out otherwise: {version.strip()}")
    golden = set(files(GOLDEN))
    sources = [file for file in files("*.c", "*.h") if file not in golden]
    told = subprocess.run(["clang-format", "--dry-run", *sources], cwd=ROOT, capture_output=True,
                          text=True).stderr
    found = {line.split(":")[0]: line for line in told.splitlines() if "[-Wclang-format" in line}
    house.check(found, "run ./dev format")
