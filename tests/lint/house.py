"""The checkout's files, and what a rule of the house finds in them."""
import fnmatch
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("base", "dsl", "codegen", "command", "lsp", "runtime", "components")
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


def check(found, advice):
    """`found`: {what: message}. Everything found is a failure."""
    wrong = [message for _, message in sorted(found.items())]
    text = "\n".join(wrong[:40]) + ("\n..." if len(wrong) > 40 else "")
    assert not wrong, f"{len(wrong)} times: {advice}\n{text}"
