"""The documents say what is so: generated pages, commands, and numbers that can be measured again.

Pictures depend on the version of Graphviz and are not compared."""
import os
import re
import sys
from pathlib import Path

import pytest

from harness import HEDDLE, PROGRAMS, ROOT, call, same_file


def test_generated_pages_are_up_to_date(tmp_path):
    call(["docs/generate.sh", HEDDLE, tmp_path])
    pages = [page.relative_to(tmp_path) for page in tmp_path.rglob("*.md")]
    assert len(pages) > 30
    for page in pages:
        same_file(Path("docs") / page, tmp_path / page, f"docs/{page}: run docs/generate.sh")


def test_beginners_mistakes_get_the_messages_of_the_page():
    """docs/guide/mistakes.md is what the checker says today about tests/system/newcomer."""
    page = call(["tests/system/newcomer/document.sh", HEDDLE]).stdout
    assert len(re.findall("^1 error$", page, re.MULTILINE)) == 10  # exactly one for each mistake
    assert page == Path("docs/guide/mistakes.md").read_text(encoding="utf-8")


def test_commands_of_the_readme_work_in_an_empty_folder(tmp_path):
    """Without an error or a warning."""
    page = Path("README.md").read_text(encoding="utf-8")
    part = re.search(r"^## A platform of your own.*?^The \[guide\]", page, re.M | re.S)[0]
    commands = "".join(re.findall(r"^```\n(.*?)^```$", part, re.M | re.S))
    commands = re.sub("^export PATH=.*", f"export PATH={HEDDLE.parent}:$PATH", commands, flags=re.M)
    commands = commands.replace("../tests/", f"{ROOT}/tests/")
    assert commands.count("\n") >= 8
    (tmp_path / "commands").write_text(commands)
    done = call(["bash", "-ec", f"cd '{tmp_path}' && . ./commands"], "no errors", "^PASS", "cycles",
                env={"HEDDLE_CFLAGS": ""})
    assert "warning" not in done.output


GUIDE = ["start", "results", "watch", "component", "policy", "coherence", "multi-gpu", "placement",
         "traces-and-sampling", "calibrate", "sweep"]


def guide_script():
    """The guide's blocks as one script: ```sh is run, a block with a file's name behind its
    language is that file, and others are only to read."""
    page = "".join(Path(f"docs/guide/{name}.md").read_text(encoding="utf-8") for name in GUIDE)
    for kind, name, body in re.findall(r"^```([a-z]*)(?: (\S+))?\n(.*?)^```", page, re.M | re.S):
        if name:
            yield f"mkdir -p $(dirname {name})\ncat > {name} <<'END_OF_FILE'\n{body}END_OF_FILE\n"
        elif kind == "sh":
            yield body


@pytest.mark.first
def test_commands_of_the_guide_work(tmp_path):
    """In the order of the pages, in an empty folder; the first that fails ends it."""
    script = tmp_path / "guide.sh"
    script.write_text("set -euxo pipefail\n" + "".join(guide_script()))
    call(["bash", "-c", f"cd {tmp_path} && source {script}"],
         env={"HEDDLE": str(ROOT), "PATH": f"{HEDDLE.parent}:{os.environ['PATH']}"})


def check_numbers(*command, says, full):
    call([sys.executable, *command, *(["--all"] if full else [])], says, seconds=3600)


# Each page has a part that is measured always; with --full it is all of it.
def test_numbers_of_the_micro_benchmarks(full):
    check_numbers("tests/bench/micro/run.py", HEDDLE, PROGRAMS / "micro", "--check",
                  "docs/evidence/accuracy.md", says="numbers are those of", full=full)


def test_numbers_of_dispatching():
    """What an empty kernel costs, as measured on the card, and what it would cost with ACK and
    NAK."""
    check_numbers("tests/bench/dispatch/run.py", HEDDLE, PROGRAMS / "micro/dispatch", "--check",
                  "docs/evidence/dispatching.md", says="416 numbers simulated, 0 wrong", full=False)


def test_numbers_of_write_policies(full):
    check_numbers("tests/bench/policies/run.py", HEDDLE, PROGRAMS, "--check",
                  "docs/evidence/write-policies.md", says="numbers are those of", full=full)


def test_numbers_of_migration_policies(full):
    check_numbers("tests/bench/policies/managed.py", HEDDLE, PROGRAMS, "--check",
                  "docs/evidence/migration-policies.md", says="numbers are those of", full=full)


def test_numbers_of_packets(full):
    check_numbers("tests/bench/packets/run.py", HEDDLE, "--check", "docs/evidence/packets-cost.md",
                  says="copies simulated, as on the page", full=full)


# Real traces lie outside of the repository.
SASS_DATA = os.environ.get("SASS_DATA", "../shared/data/sass")


@pytest.mark.skipif(not os.path.isdir(ROOT / SASS_DATA),
                    reason=f"no real traces in '{SASS_DATA}'; name their folder with SASS_DATA")
def test_real_traces_beside_another_simulator(full):
    call([sys.executable, "tests/bench/sass/run.py", HEDDLE, SASS_DATA, "--check", "--page",
          "docs/evidence/nvidia.md"], "rank correlation", seconds=3600)
    if full:
        call([sys.executable, "tests/bench/sass/warmup.py", HEDDLE, SASS_DATA, "--page",
              "docs/evidence/warmup.md"], seconds=3600)
