"""The checkout's files, and where a rule of the house is not kept yet."""
import fcntl
import fnmatch
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
CODE = ("dsl", "codegen", "runtime", "components")
GOLDEN = "tests/codegen/golden/*"  # as the generator writes them


def all_files():
    """Of a checkout what git knows or would add; of an unpacked archive everything but builds."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    names = git.stdout.splitlines()
    if git.returncode:
        names = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for folder, _, found in os.walk(ROOT) for name in found]
        names = [name for name in names if not name.startswith(("build", ".git/"))]
    return sorted(name for name in names if (ROOT / name).is_file())


FILES = all_files()


def files(*patterns, folders=None):
    """Paths that match one of the patterns, in the given folders of the checkout."""
    return [f for f in FILES if any(fnmatch.fnmatch(f, p) for p in patterns)
            and (folders is None or f.split("/")[0] in folders)]


def text_of(file):
    return (ROOT / file).read_text(encoding="utf-8", errors="replace")


def exceptions(rule):
    """Patterns of what need not keep a rule yet. The list only shrinks."""
    lines = (line.split("#")[0].split() for line in EXCEPTIONS.read_text().splitlines())
    return [" ".join(words[1:]) for words in lines if words and words[0] == rule]


def shrink(rule, unneeded):
    """Takes exceptions off the list. Other workers take off others."""
    with open(EXCEPTIONS, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lines = [line for line in file.readlines()
                 if line.split("#")[0].split()[:1] != [rule]
                 or " ".join(line.split("#")[0].split()[1:]) not in unneeded]
        file.seek(0)
        file.writelines(lines)
        file.truncate()


def check(rule, found, advice):
    """`found`: {what: message}. Everything found is a failure, but what is an exception; so is an
    exception that is no longer needed, which SHRINK_EXCEPTIONS=1 takes off the list."""
    patterns = exceptions(rule)
    wrong = [message for what, message in sorted(found.items())
             if not any(fnmatch.fnmatch(what, p) for p in patterns)]
    kept = [p for p in patterns if not any(fnmatch.fnmatch(what, p) for what in found)]
    text = "\n".join(wrong[:40]) + ("\n..." if len(wrong) > 40 else "")
    assert not wrong, f"{len(wrong)} times: {advice}\n{text}"
    if os.environ.get("SHRINK_EXCEPTIONS"):
        shrink(rule, kept)
        return
    assert not kept, f"no longer needed in tests/lint/exceptions.txt: {rule} " + ", ".join(kept)
